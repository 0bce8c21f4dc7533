//===- Operation.cpp - A collective of one rank -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations/Operation.h"
#include "Base/Error.h"
#include "Base/TextSink.h"

#include <algorithm>
#include <numeric>

using namespace braid::rt;

int64_t braid::rt::elementCount(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

static void printType(TextSink &text, const Sizes &sizes, int32_t dtype) {
  text << "tensor<";
  for (int64_t size : sizes)
    text << size << "x";
  const char *name = braid_rt_dtype_name(dtype);
  text << (name ? name : "?") << ">";
}

std::string braid::rt::tensorType(const Sizes &sizes, int32_t dtype) {
  StringSink type;
  printType(type, sizes, dtype);
  return type.text;
}

static void printList(TextSink &text, const int64_t *values, size_t count) {
  text << "[";
  for (size_t i = 0; i < count; ++i)
    text << (i ? ", " : "") << values[i];
  text << "]";
}

/// Prints a flat list as rows of `width`: `[[0, 1], [1, 0]]`.
static void printRows(TextSink &text, const std::vector<int64_t> &values,
                      size_t width) {
  text << "[";
  for (size_t i = 0; width && i < values.size(); i += width) {
    text << (i ? ", " : "");
    printList(text, values.data() + i, std::min(width, values.size() - i));
  }
  text << "]";
}

static size_t squareRoot(size_t square) {
  size_t root = 0;
  while (root * root < square)
    ++root;
  return root;
}

static void printTypes(TextSink &text, const Operation &operation,
                       bool destinations) {
  bool isList = operation.operands.size() != 1;
  const char *separator = isList ? "(" : "";
  for (const Operand &operand : operation.operands) {
    text << separator;
    printType(text,
              destinations ? operand.destinationSizes : operand.sourceSizes,
              operand.dtype);
    separator = ", ";
  }
  if (isList)
    text << (operation.operands.empty() ? "()" : ")");
}

void Operation::printSignature(TextSink &text) const {
  text << braid_rt_kind_name(kind);
  if (reduction >= 0)
    text << " " << braid_rt_reduction_name(reduction);
  if (root >= 0)
    text << " root " << root;
  if (dim >= 0)
    text << " dim " << dim;
  if (kind == BRAID_RT_SEND)
    text << " to " << peer;
  if (kind == BRAID_RT_RECV)
    text << " from " << peer;
  if (splits == Splits::Lists) {
    text << " splits ";
    printList(text, sourceSplits.data(), sourceSplits.size());
    text << " into ";
    printList(text, destinationSplits.data(), destinationSplits.size());
  }
  if (splits == Splits::Matrix) {
    text << " splits ";
    printRows(text, matrix, squareRoot(matrix.size()));
  }
  braid_rt_shape shape = traits().shape;
  if (traits().flow == BRAID_RT_FLOW_PAIRS) {
    text << " pairs ";
    printRows(text, pairs, 2);
  }
  if (shape == BRAID_RT_SHAPE_NONE)
    return;
  text << " ";
  printTypes(text, *this, /*destinations=*/shape == BRAID_RT_SHAPE_RECEIVE);
  bool shapeChanges = shape == BRAID_RT_SHAPE_JOIN ||
                      shape == BRAID_RT_SHAPE_SPLIT || splits != Splits::Equal;
  if (!shapeChanges)
    return;
  text << " -> ";
  printTypes(text, *this, /*destinations=*/true);
}

std::string Operation::signature() const {
  StringSink sink;
  printSignature(sink);
  return sink.text;
}

int64_t Operation::linkBytes() const {
  int64_t bytes = 0;
  for (const Operand &operand : operands) {
    int64_t source = operand.sourceBytes();
    int64_t destination = operand.destinationBytes();
    switch (traits().shape) {
    case BRAID_RT_SHAPE_JOIN:
    case BRAID_RT_SHAPE_RECEIVE:
      bytes += destination;
      break;
    case BRAID_RT_SHAPE_PARTS:
      bytes += std::max(source, destination);
      break;
    default:
      bytes += source;
    }
  }
  return bytes;
}

int64_t Operation::rowsTo(int64_t member, int64_t target, int64_t groupSize,
                          const Operand &operand) const {
  if (splits == Splits::Lists)
    return sourceSplits[target];
  if (splits == Splits::Matrix)
    return matrix[member * groupSize + target];
  return operand.sourceSizes[0] / groupSize;
}

int64_t Operation::rowsFrom(int64_t member, int64_t source, int64_t groupSize,
                            const Operand &operand) const {
  if (splits == Splits::Lists)
    return destinationSplits[source];
  if (splits == Splits::Matrix)
    return matrix[source * groupSize + member];
  return operand.destinationSizes[0] / groupSize;
}

static void checkShape(const Operation &operation, const Operand &operand,
                       const Sizes &expected) {
  if (operand.destinationSizes != expected)
    throw Error(operation.signature() + ": the result is " +
                tensorType(operand.destinationSizes, operand.dtype) +
                ", expected " + tensorType(expected, operand.dtype));
}

/// The result has the sizes of the source, with another one in `dim`.
static void checkResized(const Operation &operation, const Operand &operand,
                         int64_t dim, int64_t size) {
  const Sizes &from = operand.sourceSizes, &to = operand.destinationSizes;
  bool isExpected = from.size() == to.size() && to[dim] == size;
  for (size_t d = 0; isExpected && d < to.size(); ++d)
    isExpected = to[d] == from[d] || d == static_cast<size_t>(dim);
  if (isExpected)
    return;
  Sizes expected = from;
  expected[dim] = size;
  checkShape(operation, operand, expected);
}

static void checkDim(const Operation &operation, const Sizes &sizes,
                     int64_t dim, const Operand &operand) {
  if (dim < 0 || dim >= static_cast<int64_t>(sizes.size()))
    throw Error(std::string(braid_rt_kind_name(operation.kind)) + ": dim " +
                std::to_string(dim) + " is out of range for " +
                tensorType(sizes, operand.dtype));
}

static void checkDivisible(const Operation &operation, const Operand &operand,
                           int64_t dim, int64_t groupSize) {
  int64_t size = operand.sourceSizes[dim];
  if (size % groupSize != 0)
    throw Error(operation.signature() + ": size " + std::to_string(size) +
                " of dimension " + std::to_string(dim) +
                " cannot be divided among " + std::to_string(groupSize) +
                " ranks");
}

static void checkSplits(const Operation &operation, const Operand &operand,
                        int64_t member, int64_t groupSize) {
  if (operation.splits == Splits::Equal) {
    checkDivisible(operation, operand, 0, groupSize);
    return checkShape(operation, operand, operand.sourceSizes);
  }
  int64_t sent = 0, received = 0;
  for (int64_t other = 0; other < groupSize; ++other) {
    int64_t to = operation.rowsTo(member, other, groupSize, operand);
    int64_t from = operation.rowsFrom(member, other, groupSize, operand);
    if (to < 0 || from < 0)
      throw Error(operation.signature() + ": split " +
                  std::to_string(std::min(to, from)) + " is negative");
    sent += to;
    received += from;
  }
  if (sent != operand.sourceSizes[0])
    throw Error(operation.signature() + ": this rank's splits add up to " +
                std::to_string(sent) + ", expected " +
                std::to_string(operand.sourceSizes[0]) +
                ", the size of dimension 0 of " +
                tensorType(operand.sourceSizes, operand.dtype));
  checkResized(operation, operand, 0, received);
}

static void checkOperandShape(const Operation &operation,
                              const Operand &operand, int64_t member,
                              int64_t groupSize) {
  const braid_rt_collective_traits &traits = operation.traits();
  int64_t dim = traits.hasDim ? operation.dim : 0;
  switch (traits.shape) {
  case BRAID_RT_SHAPE_SAME:
    return checkShape(operation, operand, operand.sourceSizes);
  case BRAID_RT_SHAPE_JOIN:
    checkDim(operation, operand.sourceSizes, dim, operand);
    return checkResized(operation, operand, dim,
                        operand.sourceSizes[dim] * groupSize);
  case BRAID_RT_SHAPE_SPLIT:
    checkDim(operation, operand.sourceSizes, dim, operand);
    checkDivisible(operation, operand, dim, groupSize);
    return checkResized(operation, operand, dim,
                        operand.sourceSizes[dim] / groupSize);
  case BRAID_RT_SHAPE_PARTS:
    checkDim(operation, operand.sourceSizes, 0, operand);
    return checkSplits(operation, operand, member, groupSize);
  case BRAID_RT_SHAPE_SEND:
  case BRAID_RT_SHAPE_RECEIVE:
  case BRAID_RT_SHAPE_NONE:
    return;
  }
}

/// True if the smaller buffer is exactly the rank's own slice of the larger
/// buffer.
static bool isOwnSlice(const Operation &operation, const Operand &operand,
                       int64_t member) {
  // A rank's part is contiguous only along the outermost dimension.
  for (int64_t i = 0; i < operation.dim; ++i)
    if (operand.sourceSizes[i] != 1)
      return false;
  switch (operation.traits().shape) {
  case BRAID_RT_SHAPE_JOIN:
    return operand.source ==
           operand.destination + member * operand.sourceBytes();
  case BRAID_RT_SHAPE_SPLIT:
    return operand.destination ==
           operand.source + member * operand.destinationBytes();
  default:
    return false;
  }
}

static void checkOverlap(const Operation &operation, const Operand &operand,
                         int64_t member) {
  if (!operand.source || !operand.destination)
    return;
  auto source = reinterpret_cast<intptr_t>(operand.source);
  auto destination = reinterpret_cast<intptr_t>(operand.destination);
  int64_t sourceBytes = operand.sourceBytes();
  int64_t destinationBytes = operand.destinationBytes();
  bool disjoint = !sourceBytes || !destinationBytes ||
                  source + sourceBytes <= destination ||
                  destination + destinationBytes <= source;
  bool inPlace =
      source == destination && operand.sourceSizes == operand.destinationSizes;
  if (!disjoint && !inPlace && !isOwnSlice(operation, operand, member))
    throw Error(operation.signature() +
                ": the source and the destination overlap");
}

static void checkPairs(const Operation &operation, int64_t groupSize) {
  std::vector<bool> isSource(groupSize), isTarget(groupSize);
  for (size_t i = 0; i < operation.pairs.size(); i += 2) {
    int64_t source = operation.pairs[i], target = operation.pairs[i + 1];
    for (int64_t index : {source, target})
      if (index < 0 || index >= groupSize)
        throw Error(operation.signature() + ": " + std::to_string(index) +
                    " is no index of a group of " + std::to_string(groupSize) +
                    " ranks");
    if (isSource[source] || isTarget[target])
      throw Error(operation.signature() + ": " +
                  std::to_string(isSource[source] ? source : target) +
                  " is twice a " + (isSource[source] ? "source" : "target"));
    isSource[source] = isTarget[target] = true;
  }
}

void braid::rt::checkOperation(const Operation &operation, int64_t member,
                               int64_t groupSize) {
  if (operation.traits().hasRoot &&
      (operation.root < 0 || operation.root >= groupSize))
    throw Error(std::string(braid_rt_kind_name(operation.kind)) + ": root " +
                std::to_string(operation.root) + " is no index of a group of " +
                std::to_string(groupSize) + " ranks");
  if (operation.isPointToPoint()) {
    if (operation.peer < 0 || operation.peer >= groupSize)
      throw Error(
          operation.signature() + ": peer " + std::to_string(operation.peer) +
          " is no index of a group of " + std::to_string(groupSize) + " ranks");
    if (operation.peer == member)
      throw Error(
          operation.signature() + ": a rank cannot " +
          (operation.kind == BRAID_RT_SEND ? "send to" : "receive from") +
          " itself");
  }
  size_t members = static_cast<size_t>(groupSize);
  if (operation.splits == Splits::Lists &&
      operation.sourceSplits.size() != members)
    throw Error("all_to_all has " +
                std::to_string(operation.sourceSplits.size()) +
                " splits, expected one for each of the " +
                std::to_string(groupSize) + " ranks of the group");
  if (operation.splits == Splits::Matrix &&
      operation.matrix.size() != members * members)
    throw Error("all_to_all has " +
                std::to_string(squareRoot(operation.matrix.size())) +
                " rows of splits, expected one for each of the " +
                std::to_string(groupSize) + " ranks of the group");
  if (operation.traits().flow == BRAID_RT_FLOW_PAIRS)
    checkPairs(operation, groupSize);
  for (const Operand &operand : operation.operands) {
    if (operation.isReduction() &&
        !braid_rt_reduction_allowed(operation.reduction, operand.dtype))
      throw Error(operation.signature() + ": " +
                  braid_rt_reduction_name(operation.reduction) +
                  " is not defined for " + braid_rt_dtype_name(operand.dtype));
    checkOperandShape(operation, operand, member, groupSize);
    checkOverlap(operation, operand, member);
  }
}
