//===- SmallData.cpp - Data in a hello --------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/SmallData.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "MPI/Transfers/Strided.h"
#include "MPI/Transfers/Transfer.h"
#include "Reduce/Reduce.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;

/// The bytes of an operand that go from one member to another one.
static int64_t bytesOf(const Transfer &transfer, const Operand &operand) {
  switch (transfer.operation.traits().shape) {
  case BRAID_RT_SHAPE_SPLIT:
  case BRAID_RT_SHAPE_RECEIVE:
    return operand.destinationBytes();
  case BRAID_RT_SHAPE_PARTS:
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

/// The member to which a pair sends this member's data, or from which a pair
/// sends data to this member; -1 if there is none.
static int64_t partnerOf(const Transfer &transfer, bool isTarget) {
  const std::vector<int64_t> &pairs = transfer.operation.pairs;
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i + (isTarget ? 0 : 1)] == transfer.member())
      return pairs[i + (isTarget ? 1 : 0)];
  return -1;
}

static bool sendsTo(const Transfer &transfer, int64_t member) {
  const Operation &operation = transfer.operation;
  const braid_rt_collective_traits &traits = operation.traits();
  switch (traits.flow) {
  case BRAID_RT_FLOW_REDUCE:
  case BRAID_RT_FLOW_GATHER:
    return !traits.hasRoot || member == operation.root;
  case BRAID_RT_FLOW_FROM_ROOT:
    return transfer.member() == operation.root;
  case BRAID_RT_FLOW_PAIRS:
    return partnerOf(transfer, /*isTarget=*/true) == member;
  case BRAID_RT_FLOW_EXCHANGE:
  case BRAID_RT_FLOW_MESSAGE:
  case BRAID_RT_FLOW_NONE:
    break;
  }
  return traits.shape != BRAID_RT_SHAPE_RECEIVE;
}

static Strided partsOf(const Transfer &transfer, const Operand &operand) {
  const Operation &operation = transfer.operation;
  bool joins = operation.traits().shape == BRAID_RT_SHAPE_JOIN;
  return {joins ? operand.sourceSizes : operand.destinationSizes,
          std::max<int64_t>(operation.dim, 0), transfer.groupSize(),
          operand.elementBytes()};
}

/// True if members get different parts of a source. Parts that are combined may
/// be strided.
static bool sendsParts(const Operation &operation) {
  braid_rt_shape shape = operation.traits().shape;
  return shape == BRAID_RT_SHAPE_SPLIT || shape == BRAID_RT_SHAPE_PARTS;
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
    if (sendsParts(operation) && operation.isReduction())
      partsOf(transfer, operand)
          .pack(operand.source, member, 0, bytes, to + position);
    else if (sendsParts(operation))
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
  const braid_rt_collective_traits &traits = operation.traits();
  switch (traits.flow) {
  case BRAID_RT_FLOW_REDUCE:
    if (traits.hasRoot && !isRoot)
      return copyBytes(destination, operand.source, bytes, false);
    return combine(transfer, operand, places, scales, bytes);
  case BRAID_RT_FLOW_GATHER: {
    if (traits.hasRoot && !isRoot) {
      std::memset(destination, 0,
                  static_cast<size_t>(operand.destinationBytes()));
      return;
    }
    Strided parts = partsOf(transfer, operand);
    for (int64_t m = 0; m < transfer.groupSize(); ++m)
      if (!parts.isContiguous())
        parts.unpack(places[m], m, 0, bytes, destination);
      else
        copyBytes(destination + m * bytes, places[m], bytes, false);
    return;
  }
  case BRAID_RT_FLOW_EXCHANGE:
    for (int64_t m = 0; m < transfer.groupSize(); ++m)
      copyBytes(destination + m * bytes, places[m], bytes, false);
    return;
  case BRAID_RT_FLOW_FROM_ROOT:
    return copyBytes(destination, places[operation.root], bytes, false);
  case BRAID_RT_FLOW_PAIRS: {
    int64_t source = partnerOf(transfer, /*isTarget=*/false);
    if (source >= 0)
      copyBytes(destination, places[source], bytes, false);
    else
      std::memset(destination, 0, static_cast<size_t>(bytes));
    return;
  }
  case BRAID_RT_FLOW_MESSAGE:
    // The data of a send have arrived at the receiver.
    if (traits.shape == BRAID_RT_SHAPE_RECEIVE)
      copyBytes(destination, places[transfer.queue.peer], bytes, false);
    return;
  case BRAID_RT_FLOW_NONE:
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
    if (sendsParts(operation) && !operation.isReduction())
      places[self] += transfer.member() * bytes;
    if (sendsParts(operation) && operation.isReduction()) {
      Strided parts = partsOf(transfer, operand);
      packed = transfer.staging().borrow(bytes);
      parts.pack(operand.source, transfer.member(), 0, bytes, packed.get());
      places[self] = packed.get();
    }
    deliverOperand(transfer, operand, places, scales);
    position += bytes;
  }
}
