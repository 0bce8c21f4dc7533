//===- Messages.cpp - Exchanges, pairs, sends and receives ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations/Messages.h"
#include "Base/Error.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "MPI/Transfers/Transfer.h"
#include "Reduce/Reduce.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;

/// A copy of an operand's source, if the destination would overwrite it.
static Staging::Buffer stageInPlace(Transfer &transfer,
                                    const Operand &operand) {
  if (operand.source != operand.destination || operand.sourceBytes() == 0)
    return nullptr;
  Staging::Buffer copy = transfer.staging().borrow(operand.sourceBytes());
  copyBytes(copy.get(), operand.source, operand.sourceBytes(), false);
  return copy;
}

//===----------------------------------------------------------------------===//
// all_to_all
//===----------------------------------------------------------------------===//

static void planEqual(Transfer &transfer, const Operand &operand) {
  int64_t bytes = operand.sourceBytes() / transfer.groupSize();
  if (bytes == 0)
    return;
  Staging::Buffer copy = stageInPlace(transfer, operand);
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    int count = static_cast<int>(bytes);
    checkMPI(MPI_Ialltoall(copy ? copy.get() : operand.source, count, MPI_BYTE,
                           operand.destination, count, MPI_BYTE, comm,
                           addRequest(requests)),
             "MPI_Ialltoall");
  };
  transfer.add({FirstLane, issue, nullptr}, copy ? operand.sourceBytes() : 0);
}

/// The messages of an all_to_all of `source`, with parts of any sizes.
static void issueParts(const Transfer &transfer, const Operand &operand,
                       const char *source, MPI_Comm comm, Requests &requests) {
  const Operation &operation = transfer.operation;
  int64_t size = transfer.groupSize(), self = transfer.member();
  // The source may have no rows.
  int64_t rowBytes = operand.elementBytes();
  for (size_t d = 1; d < operand.sourceSizes.size(); ++d)
    rowBytes *= operand.sourceSizes[d];
  char *destination = operand.destination;
  const char *own = nullptr;
  char *ownDestination = nullptr;
  int64_t ownBytes = 0;
  for (int64_t m = 0; m < size; ++m) {
    int64_t bytes = operation.rowsTo(self, m, size, operand) * rowBytes;
    if (m == self)
      own = source;
    else
      sendTo(comm, m, source, bytes, requests);
    source += bytes;
  }
  for (int64_t m = 0; m < size; ++m) {
    int64_t bytes = operation.rowsFrom(self, m, size, operand) * rowBytes;
    if (m != self)
      receiveFrom(comm, m, destination, bytes, requests);
    else
      ownDestination = destination, ownBytes = bytes;
    destination += bytes;
  }
  copyBytes(ownDestination, own, ownBytes, false);
}

/// An all_to_all by messages.
static void planParts(Transfer &transfer, const Operand &operand) {
  Staging::Buffer copy = stageInPlace(transfer, operand);
  if (copy)
    return transfer.add(
        {FirstLane,
         [&transfer, &operand, copy](MPI_Comm comm, Requests &requests) {
           issueParts(transfer, operand, copy.get(), comm, requests);
         },
         nullptr, /*isMessages=*/true},
        operand.sourceBytes());
  // Two pointers fit into a std::function without an allocation.
  transfer.add({FirstLane,
                [&transfer, &operand](MPI_Comm comm, Requests &requests) {
                  issueParts(transfer, operand, operand.source, comm, requests);
                },
                nullptr, /*isMessages=*/true});
}

static void planAllParts(Transfer &transfer) {
  for (const Operand &operand : transfer.operation.operands)
    planParts(transfer, operand);
}

/// Compares the splits of all members. `all` has two lists of each member: the
/// sizes that it sends, and the sizes that it expects.
static void checkSplits(Transfer &transfer, const std::vector<int64_t> &all) {
  int64_t size = transfer.groupSize();
  const std::vector<int32_t> &ranks = transfer.communicator.spec.ranks;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      int64_t sent = all[i * 2 * size + j];
      int64_t expected = all[j * 2 * size + size + i];
      if (sent == expected)
        continue;
      std::string text =
          describeSplitDisagreement(ranks[i], sent, ranks[j], expected);
      return planDisagreement(transfer, [text]() { return text; }, i, j);
    }
  planAllParts(transfer);
}

void braid::rt::planAllToAll(Transfer &transfer) {
  const Operation &operation = transfer.operation;
  if (operation.operands.empty())
    return;
  if (operation.splits == Splits::Matrix)
    return planAllParts(transfer);
  if (operation.splits == Splits::Equal) {
    for (const Operand &operand : operation.operands) {
      if (transfer.groupSize() == 2 || operand.sourceBytes() > mostCallBytes)
        planParts(transfer, operand);
      else
        planEqual(transfer, operand);
    }
    return;
  }
  auto count = static_cast<int>(2 * transfer.groupSize());
  auto own = std::make_shared<std::vector<int64_t>>(operation.sourceSplits);
  own->insert(own->end(), operation.destinationSplits.begin(),
              operation.destinationSplits.end());
  auto all = std::make_shared<std::vector<int64_t>>(
      static_cast<size_t>(transfer.groupSize() * count));
  transfer.add({FirstLane,
                [=](MPI_Comm comm, Requests &requests) {
                  checkMPI(MPI_Iallgather(own->data(), count, MPI_INT64_T,
                                          all->data(), count, MPI_INT64_T, comm,
                                          addRequest(requests)),
                           "MPI_Iallgather");
                },
                nullptr});
  transfer.setNextPhase([&transfer, all]() { checkSplits(transfer, *all); });
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

void braid::rt::planPairs(Transfer &transfer) {
  const Operation &operation = transfer.operation;
  int64_t self = transfer.member(), source = -1, target = -1;
  for (size_t i = 0; i < operation.pairs.size(); i += 2) {
    if (operation.pairs[i] == self)
      target = operation.pairs[i + 1];
    if (operation.pairs[i + 1] == self)
      source = operation.pairs[i];
  }
  for (const Operand &operand : operation.operands) {
    int64_t bytes = operand.sourceBytes();
    Staging::Buffer copy = target >= 0 && target != self
                               ? stageInPlace(transfer, operand)
                               : nullptr;
    auto issue = [=](MPI_Comm comm, Requests &requests) {
      if (target >= 0 && target != self)
        sendTo(comm, target, copy ? copy.get() : operand.source, bytes,
               requests);
      if (source >= 0 && source != self)
        receiveFrom(comm, source, operand.destination, bytes, requests);
      else if (source == self)
        copyBytes(operand.destination, operand.source, bytes, false);
      else if (bytes)
        std::memset(operand.destination, 0, static_cast<size_t>(bytes));
    };
    transfer.add({FirstLane, issue, nullptr}, copy ? bytes : 0);
  }
}

//===----------------------------------------------------------------------===//
// send and recv
//===----------------------------------------------------------------------===//

void braid::rt::planMessage(Transfer &transfer) {
  int64_t peer = transfer.queue.peer;
  bool sends = transfer.queue.sends;
  for (const Operand &operand : transfer.operation.operands) {
    auto issue = [=](MPI_Comm comm, Requests &requests) {
      if (sends)
        sendTo(comm, peer, operand.source, operand.sourceBytes(), requests,
               MessageData);
      else
        receiveFrom(comm, peer, operand.destination, operand.destinationBytes(),
                    requests, MessageData);
    };
    transfer.add({FirstLane, issue, nullptr});
  }
}
