//===- Gathers.cpp - all_gather, gather, broadcast, scatter -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Strided.h"
#include "MPI/Transfers/Transfer.h"
#include "Reduce/Reduce.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;

/// The staging of a piece whose data are not contiguous.
static constexpr int64_t gatheredPieceBytes = int64_t(4) << 20;

/// An all_gather by messages: for results too large for the ints of a
/// collective, and between two members, where messages can start beside the
/// check.
static Step exchangeParts(const Transfer &transfer, const Operand &operand) {
  // Two pointers fit into a std::function without an allocation.
  return {FirstLane,
          [&transfer, &operand](MPI_Comm comm, Requests &requests) {
            int64_t size = transfer.groupSize(), self = transfer.member();
            int64_t bytes = operand.sourceBytes();
            exchange(
                comm, size, self,
                [&](int64_t) { return std::pair(operand.source, bytes); },
                [&](int64_t m) {
                  return std::pair(operand.destination + m * bytes, bytes);
                },
                requests);
            copyBytes(operand.destination + self * bytes, operand.source, bytes,
                      false);
          },
          nullptr,
          /*isMessages=*/true};
}

static void planAllGather(Transfer &transfer, const Operand &operand) {
  int64_t size = transfer.groupSize(), self = transfer.member();
  Strided strided(operand.sourceSizes, transfer.operation.dim, size,
                  operand.elementBytes());
  int64_t bytes = strided.partBytes();
  if (bytes == 0)
    return;
  if (strided.isContiguous()) {
    if (size == 2 || size * bytes > mostCallBytes)
      return transfer.add(exchangeParts(transfer, operand));
    bool inPlace = operand.source == operand.destination + self * bytes;
    return transfer.add(
        {FirstLane,
         [=](MPI_Comm comm, Requests &requests) {
           int count = static_cast<int>(bytes);
           checkMPI(MPI_Iallgather(inPlace ? MPI_IN_PLACE : operand.source,
                                   count, MPI_BYTE, operand.destination, count,
                                   MPI_BYTE, comm, addRequest(requests)),
                    "MPI_Iallgather");
         },
         nullptr});
  }
  int64_t length =
      std::min(bytes, std::max<int64_t>(1, gatheredPieceBytes / size));
  Staging &staging = transfer.staging();
  auto makePiece = [=, &staging](int64_t index) {
    int64_t begin = index * length, end = std::min(bytes, begin + length);
    Staging::Buffer received = staging.borrow(size * (end - begin));
    Piece piece;
    piece.steps.push_back(
        {FirstLane,
         [=](MPI_Comm comm, Requests &requests) {
           int count = static_cast<int>(end - begin);
           checkMPI(MPI_Iallgather(operand.source + begin, count, MPI_BYTE,
                                   received.get(), count, MPI_BYTE, comm,
                                   addRequest(requests)),
                    "MPI_Iallgather");
         },
         [=]() {
           for (int64_t m = 0; m < size; ++m)
             strided.unpack(received.get() + m * (end - begin), m, begin, end,
                            operand.destination);
         }});
    return piece;
  };
  transfer.add(Part{(bytes + length - 1) / length, size * length, makePiece});
}

static void planGatherToRoot(Transfer &transfer, const Operand &operand) {
  int64_t size = transfer.groupSize(), self = transfer.member();
  int64_t root = transfer.operation.root;
  int64_t bytes = operand.sourceBytes();
  if (bytes == 0)
    return;
  bool inPlace = operand.source == operand.destination + self * bytes;
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    if (size * bytes <= mostCallBytes) {
      int count = static_cast<int>(bytes);
      bool own = self == root && inPlace;
      checkMPI(MPI_Igather(own ? MPI_IN_PLACE : operand.source, count, MPI_BYTE,
                           operand.destination, count, MPI_BYTE,
                           static_cast<int>(root), comm, addRequest(requests)),
               "MPI_Igather");
      return;
    }
    if (self != root)
      return sendTo(comm, root, operand.source, bytes, requests);
    for (int64_t m = 0; m < size; ++m)
      if (m != self)
        receiveFrom(comm, m, operand.destination + m * bytes, bytes, requests);
    copyBytes(operand.destination + self * bytes, operand.source, bytes, false);
  };
  // The source may be a part of the destination, so the destination is zeroed
  // after the send.
  auto finish = [=]() {
    if (self != root)
      std::memset(operand.destination, 0,
                  static_cast<size_t>(operand.destinationBytes()));
  };
  transfer.add({FirstLane, issue, finish});
}

void braid::rt::planGather(Transfer &transfer) {
  for (const Operand &operand : transfer.operation.operands) {
    if (transfer.operation.traits().hasRoot)
      planGatherToRoot(transfer, operand);
    else
      planAllGather(transfer, operand);
  }
}

static void planBroadcast(Transfer &transfer, const Operand &operand) {
  int64_t bytes = operand.sourceBytes();
  int64_t root = transfer.operation.root;
  bool isRoot = transfer.member() == root;
  auto makePiece = [=](int64_t index) {
    int64_t begin = index * mostMessageBytes;
    int64_t count = std::min(mostMessageBytes, bytes - begin);
    Piece piece;
    piece.steps.push_back(
        {FirstLane,
         [=](MPI_Comm comm, Requests &requests) {
           // The root's buffer is only read.
           char *buffer = isRoot ? const_cast<char *>(operand.source)
                                 : operand.destination;
           checkMPI(MPI_Ibcast(buffer + begin, static_cast<int>(count),
                               MPI_BYTE, static_cast<int>(root), comm,
                               addRequest(requests)),
                    "MPI_Ibcast");
           if (isRoot)
             copyBytes(operand.destination + begin, operand.source + begin,
                       count, false);
         },
         nullptr});
    return piece;
  };
  transfer.add(
      Part{(bytes + mostMessageBytes - 1) / mostMessageBytes, 0, makePiece});
}

static void planScatter(Transfer &transfer, const Operand &operand) {
  int64_t size = transfer.groupSize(), self = transfer.member();
  int64_t root = transfer.operation.root;
  int64_t bytes = operand.destinationBytes();
  if (bytes == 0)
    return;
  bool inPlace = operand.destination == operand.source + self * bytes;
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    if (size * bytes <= mostCallBytes) {
      int count = static_cast<int>(bytes);
      bool own = self == root && inPlace;
      void *target = own ? MPI_IN_PLACE : operand.destination;
      checkMPI(MPI_Iscatter(operand.source, count, MPI_BYTE, target, count,
                            MPI_BYTE, static_cast<int>(root), comm,
                            addRequest(requests)),
               "MPI_Iscatter");
      return;
    }
    if (self != root)
      return receiveFrom(comm, root, operand.destination, bytes, requests);
    for (int64_t m = 0; m < size; ++m)
      if (m != self)
        sendTo(comm, m, operand.source + m * bytes, bytes, requests);
    copyBytes(operand.destination, operand.source + self * bytes, bytes, false);
  };
  transfer.add({FirstLane, issue, nullptr});
}

void braid::rt::planFromRoot(Transfer &transfer) {
  for (const Operand &operand : transfer.operation.operands) {
    if (transfer.operation.traits().shape == BRAID_RT_SHAPE_SPLIT)
      planScatter(transfer, operand);
    else
      planBroadcast(transfer, operand);
  }
}
