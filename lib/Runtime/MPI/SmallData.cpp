//===- SmallData.cpp - Data that travel with a hello ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/SmallData.h"
#include "MPI/MPICommunicator.h"
#include "MPI/Strided.h"
#include "MPI/Transfer.h"
#include "Reduce/Reduce.h"

#include <cstring>

using namespace braid::rt;

/// The bytes of an operand that go from one member to another one.
static int64_t bytesOf(const Transfer &transfer, const Operand &operand) {
  switch (transfer.operation.kind) {
  case BRAID_RT_REDUCE_SCATTER:
  case BRAID_RT_SCATTER:
  case BRAID_RT_RECV:
    return operand.destinationBytes();
  case BRAID_RT_ALL_TO_ALL:
    return operand.sourceBytes() / transfer.groupSize();
  default:
    return operand.sourceBytes();
  }
}

/// The scale of a premul_sum comes before its operands.
static int64_t scaleBytes(const Transfer &transfer) {
  return transfer.operation.reduction == BRAID_RT_PREMUL_SUM
             ? int64_t(sizeof(Operation::scale))
             : 0;
}

std::optional<int64_t> braid::rt::smallDataBytes(const Transfer &transfer) {
  const Operation &operation = transfer.operation;
  if (operation.splits != Splits::Equal)
    return std::nullopt;
  int64_t bytes = scaleBytes(transfer);
  for (const Operand &operand : operation.operands)
    bytes += bytesOf(transfer, operand);
  if (bytes > mostSmallBytes)
    return std::nullopt;
  return bytes;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// The member that a permute sends this member's data to, or gives this member
/// its data from; -1 for none.
static int64_t partnerOf(const Transfer &transfer, bool isTarget) {
  const std::vector<int64_t> &pairs = transfer.operation.pairs;
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i + (isTarget ? 0 : 1)] == transfer.member())
      return pairs[i + (isTarget ? 1 : 0)];
  return -1;
}

static bool sendsTo(const Transfer &transfer, int64_t member) {
  const Operation &operation = transfer.operation;
  switch (operation.kind) {
  case BRAID_RT_REDUCE:
  case BRAID_RT_GATHER:
    return member == operation.root;
  case BRAID_RT_BROADCAST:
  case BRAID_RT_SCATTER:
    return transfer.member() == operation.root;
  case BRAID_RT_PERMUTE:
    return partnerOf(transfer, /*isTarget=*/true) == member;
  case BRAID_RT_RECV:
    return false;
  default:
    return true;
  }
}

static Strided partsOf(const Transfer &transfer, const Operand &operand) {
  bool gathers = transfer.operation.kind == BRAID_RT_ALL_GATHER;
  return {gathers ? operand.sourceSizes : operand.destinationSizes,
          transfer.operation.dim, transfer.groupSize(), operand.elementBytes()};
}

int64_t braid::rt::packSmallData(const Transfer &transfer, int64_t member,
                                 char *to) {
  if (!sendsTo(transfer, member))
    return 0;
  const Operation &operation = transfer.operation;
  int64_t position = scaleBytes(transfer);
  std::memcpy(to, operation.scale, static_cast<size_t>(position));
  for (const Operand &operand : operation.operands) {
    int64_t bytes = bytesOf(transfer, operand);
    if (operation.kind == BRAID_RT_REDUCE_SCATTER)
      partsOf(transfer, operand)
          .pack(operand.source, member, 0, bytes, to + position);
    else if (operation.kind == BRAID_RT_SCATTER ||
             operation.kind == BRAID_RT_ALL_TO_ALL)
      copyBytes(to + position, operand.source + member * bytes, bytes, false);
    else
      copyBytes(to + position, operand.source, bytes, false);
    position += bytes;
  }
  return position;
}

//===----------------------------------------------------------------------===//
// Delivering
//===----------------------------------------------------------------------===//

/// The data of each member for one operand.
using Places = std::vector<const char *>;

/// Combines operands, or parts of them.
static void combine(const Transfer &transfer, const Operand &operand,
                    const Places &places,
                    const std::vector<const unsigned char *> &scales,
                    int64_t bytes) {
  char *destination = operand.destination;
  reduce({operand.dtype, transfer.operation.reduction,
          bytes / operand.elementBytes(), transfer.groupSize(), places.data(),
          scales.data(), 1, &destination, false});
}

/// `places` includes this member's own data.
static void deliverOperand(const Transfer &transfer, const Operand &operand,
                           const Places &places,
                           const std::vector<const unsigned char *> &scales) {
  const Operation &operation = transfer.operation;
  int64_t bytes = bytesOf(transfer, operand), self = transfer.member();
  bool isRoot = self == operation.root;
  char *destination = operand.destination;
  switch (operation.kind) {
  case BRAID_RT_REDUCE:
    if (!isRoot)
      return copyBytes(destination, operand.source, bytes, false);
    [[fallthrough]];
  case BRAID_RT_ALL_REDUCE:
  case BRAID_RT_REDUCE_SCATTER:
    return combine(transfer, operand, places, scales, bytes);
  case BRAID_RT_ALL_GATHER: {
    Strided parts = partsOf(transfer, operand);
    for (int64_t m = 0; m < transfer.groupSize(); ++m)
      if (!parts.isContiguous())
        parts.unpack(places[m], m, 0, bytes, destination);
      else
        copyBytes(destination + m * bytes, places[m], bytes, false);
    return;
  }
  case BRAID_RT_GATHER:
    if (!isRoot) {
      std::memset(destination, 0,
                  static_cast<size_t>(operand.destinationBytes()));
      return;
    }
    [[fallthrough]];
  case BRAID_RT_ALL_TO_ALL:
    for (int64_t m = 0; m < transfer.groupSize(); ++m)
      copyBytes(destination + m * bytes, places[m], bytes, false);
    return;
  case BRAID_RT_BROADCAST:
  case BRAID_RT_SCATTER:
    return copyBytes(destination, places[operation.root], bytes, false);
  case BRAID_RT_PERMUTE: {
    int64_t source = partnerOf(transfer, /*isTarget=*/false);
    if (source >= 0)
      copyBytes(destination, places[source], bytes, false);
    else
      std::memset(destination, 0, static_cast<size_t>(bytes));
    return;
  }
  case BRAID_RT_RECV:
    return copyBytes(destination, places[transfer.queue.peer], bytes, false);
  default: // A send and a barrier have no destination.
    return;
  }
}

void braid::rt::deliverSmallData(const Transfer &transfer,
                                 const std::vector<const char *> &from) {
  const Operation &operation = transfer.operation;
  auto self = static_cast<size_t>(transfer.member());
  int64_t position = scaleBytes(transfer);
  std::vector<const unsigned char *> scales(from.size(), nullptr);
  for (size_t m = 0; position != 0 && m < from.size(); ++m)
    scales[m] = m == self ? operation.scale
                          : reinterpret_cast<const unsigned char *>(from[m]);
  Places places(from.size());
  for (const Operand &operand : operation.operands) {
    int64_t bytes = bytesOf(transfer, operand);
    for (size_t m = 0; m < from.size(); ++m)
      places[m] = from[m] ? from[m] + position : nullptr;
    Staging::Buffer packed;
    places[self] = operand.source;
    if (operation.kind == BRAID_RT_SCATTER ||
        operation.kind == BRAID_RT_ALL_TO_ALL)
      places[self] += transfer.member() * bytes;
    if (operation.kind == BRAID_RT_REDUCE_SCATTER) {
      Strided parts = partsOf(transfer, operand);
      packed = transfer.staging().borrow(bytes);
      parts.pack(operand.source, transfer.member(), 0, bytes, packed.get());
      places[self] = packed.get();
    }
    deliverOperand(transfer, operand, places, scales);
    position += bytes;
  }
}
