//===- AllToAllOp.cpp - Exchange of parts between all members -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> AllToAllOp::getMixedSendSizes() {
  if (!getStaticSendSizes())
    return {};
  return getMixedValues(*getStaticSendSizes(), getSendSizes(), getContext());
}

SmallVector<OpFoldResult> AllToAllOp::getMixedReceiveSizes() {
  if (!getStaticReceiveSizes())
    return {};
  return getMixedValues(*getStaticReceiveSizes(), getReceiveSizes(),
                        getContext());
}

/// The size that this member receives under the split matrix of `op`: the sum
/// of the column of its rank.
static Value getReceivedByMatrix(OpBuilder &builder, AllToAllOp op) {
  Location loc = op.getLoc();
  SmallVector<ArrayRef<int64_t>> rows = llvm::map_to_vector(
      op.getSplitMatrixAttr().getAsRange<DenseI64ArrayAttr>(),
      [](DenseI64ArrayAttr row) { return row.asArrayRef(); });
  Value rank =
      RankOp::create(builder, loc, builder.getIndexType(), op.getGroupAttr());
  Value size;
  for (size_t column = 0; column < rows.size(); ++column) {
    int64_t sum = 0;
    for (ArrayRef<int64_t> row : rows)
      sum += row[column];
    Value total = arith::ConstantIndexOp::create(builder, loc, sum);
    if (!size) {
      size = total;
      continue;
    }
    Value member = arith::ConstantIndexOp::create(builder, loc, column);
    Value isMember = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, rank, member);
    size = arith::SelectOp::create(builder, loc, isMember, total, size);
  }
  return size;
}

LogicalResult
AllToAllOp::reifyValueShape(OpBuilder &builder, unsigned index,
                            SmallVectorImpl<OpFoldResult> &shape) {
  if (failed(reifyFromOperands(*this, builder, index, shape)))
    return failure();
  // With splits, the size of dimension 0 of the value differs from the
  // source's.
  auto start = cast<AsyncStartOpInterface>(getOperation());
  auto type = cast<ShapedType>(start.getInFlightType(index));
  if (!hasSplits() || !getOutputs().empty() || !type.isDynamicDim(0))
    return success();
  if (getSplitMatrix()) {
    shape[0] = getReceivedByMatrix(builder, *this);
    return success();
  }
  Value sum;
  for (OpFoldResult size : getMixedReceiveSizes()) {
    Value value = getValueOrCreateConstantIndexOp(builder, getLoc(), size);
    sum = sum ? arith::AddIOp::create(builder, getLoc(), sum, value) : value;
  }
  shape[0] = sum;
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Adds `size`, an element of `list`, to `sum`.
static LogicalResult addSize(Operation *op, const Twine &list, int64_t size,
                             int64_t &sum) {
  if (size < 0)
    return op->emitOpError() << "has size " << size << " in " << list
                             << ", expected one that is not negative";
  if (llvm::AddOverflow(sum, size, sum))
    return op->emitOpError()
           << "has sizes in " << list << " that add up to more than "
           << std::numeric_limits<int64_t>::max();
  return success();
}

/// Verifies C21: every size that is not constant has a value.
static LogicalResult verifySizeOperands(Operation *op, StringRef list,
                                        std::optional<ArrayRef<int64_t>> sizes,
                                        ValueRange values) {
  size_t expected =
      sizes ? llvm::count_if(*sizes, ShapedType::isDynamic) : size_t(0);
  if (values.size() == expected)
    return success();
  return op->emitOpError() << "has " << values.size() << " index values for "
                           << list << ", expected " << expected
                           << ", one for each size that is not constant";
}

/// Verifies C22 of a list of sizes that splits a dimension 0 of size `dimSize`.
static LogicalResult verifySplitList(Operation *op, StringRef list,
                                     ArrayRef<int64_t> sizes, int64_t dimSize) {
  int64_t sum = 0;
  for (int64_t size : sizes)
    if (ShapedType::isStatic(size) && failed(addSize(op, list, size, sum)))
      return failure();
  if (llvm::any_of(sizes, ShapedType::isDynamic))
    return success();
  // All ranks run the same program, so different constants cannot match.
  if (!llvm::all_equal(sizes))
    return op->emitOpError() << "has " << list << " [" << sizes
                             << "], expected equal constants as every member "
                                "runs the same program; "
                                "a matrix or index values may differ";
  if (!isCompatibleSize(sum, dimSize))
    return op->emitOpError()
           << "has " << list << " [" << sizes << "] of sum " << sum
           << ", expected " << dimSize << ", the size along dim 0";
  return success();
}

/// Verifies C22 and C23 of a matrix of splits from a dimension 0 of size
/// `sourceSize` to one of size `valueSize`.
static LogicalResult verifySplitMatrix(AllToAllOp op, int64_t sourceSize,
                                       int64_t valueSize) {
  ArrayAttr matrix = op.getSplitMatrixAttr();
  size_t members = matrix.size();
  SmallVector<int64_t> received(members, 0);
  for (auto [row, attribute] : llvm::enumerate(matrix)) {
    ArrayRef<int64_t> sizes = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
    if (sizes.size() != members)
      return op.emitOpError() << "has row " << row << " of " << sizes.size()
                              << " sizes in its split matrix, expected "
                              << members << ", as many as there are rows";
    int64_t sent = 0;
    for (auto [column, size] : llvm::enumerate(sizes))
      if (failed(addSize(op, "its split matrix", size, sent)) ||
          failed(addSize(op, "its split matrix", size, received[column])))
        return failure();
    if (!isCompatibleSize(sent, sourceSize))
      return op.emitOpError() << "has row " << row << " of sum " << sent
                              << " in its split matrix, expected " << sourceSize
                              << ", the size along dim 0 of its source";
  }
  for (auto [column, sum] : llvm::enumerate(received))
    if (!isCompatibleSize(sum, valueSize))
      return op.emitOpError() << "has column " << column << " of sum " << sum
                              << " in its split matrix, expected " << valueSize
                              << ", the size along dim 0 of its result";
  return success();
}

LogicalResult AllToAllOp::verify() {
  auto start = cast<AsyncStartOpInterface>(getOperation());
  if (failed(verifySizeOperands(*this, "send sizes", getStaticSendSizes(),
                                getSendSizes())) ||
      failed(verifySizeOperands(*this, "receive sizes", getStaticReceiveSizes(),
                                getReceiveSizes())))
    return failure();
  // C20
  if (static_cast<bool>(getStaticSendSizes()) !=
      static_cast<bool>(getStaticReceiveSizes()))
    return emitOpError() << "has "
                         << (getStaticSendSizes() ? "send" : "receive")
                         << " sizes alone, expected both of 'splits [...] into "
                            "[...]'";
  if (!hasSplits()) {
    // C16
    for (size_t i = 0, e = getInputs().size(); i < e; ++i) {
      auto [source, value] = getSourceAndValueTypes(start, i);
      if (failed(verifyCompatibleShape(source, value)))
        return emitOpError()
               << "has source type " << source << " and result type " << value
               << ", expected the same shape as its parts are equal";
    }
    return success();
  }
  // C18
  if (getInputs().size() != 1)
    return emitOpError() << "has splits and " << getInputs().size()
                         << " operands, expected one";
  auto [source, value] = getSourceAndValueTypes(start, 0);
  int64_t sourceSize = source.getDimSize(0), valueSize = value.getDimSize(0);
  if (getSplitMatrix()) {
    if (getStaticSendSizes())
      return emitOpError()
             << "has a split matrix and split sizes, expected one of them";
    return verifySplitMatrix(*this, sourceSize, valueSize);
  }
  if (getStaticSendSizes()->size() != getStaticReceiveSizes()->size())
    return emitOpError() << "has " << getStaticSendSizes()->size()
                         << " send sizes and "
                         << getStaticReceiveSizes()->size()
                         << " receive sizes, expected as many";
  if (failed(verifySplitList(*this, "send sizes", *getStaticSendSizes(),
                             sourceSize)) ||
      failed(verifySplitList(*this, "receive sizes", *getStaticReceiveSizes(),
                             valueSize)))
    return failure();
  return success();
}

LogicalResult AllToAllOp::verifyMembers(GroupOp &group) {
  if (!hasSplits()) {
    // C17. Every communicator cuts the operands into as many parts as it has
    // members.
    for (ArrayRef<int64_t> list : group.getRankLists())
      for (auto [index, input] : llvm::enumerate(getInputs())) {
        int64_t size = cast<ShapedType>(input.getType()).getDimSize(0);
        if (ShapedType::isStatic(size) &&
            size % static_cast<int64_t>(list.size()) != 0)
          return emitOpError()
                 << "has source #" << index << " of size " << size
                 << " along dim 0, expected a multiple of " << list.size()
                 << " for the " << list.size() << " members of group '"
                 << group.getSymName() << "'";
      }
    return success();
  }
  // C24
  FailureOr<std::optional<int64_t>> members = getSharedSize(*this, group);
  if (failed(members))
    return failure();
  int64_t found = getSplitMatrix() ? getSplitMatrixAttr().size()
                                   : getStaticSendSizes()->size();
  if (!*members || found == **members)
    return success();
  return emitOpError() << "has " << found
                       << (getSplitMatrix() ? " rows in its split matrix"
                                            : " send sizes")
                       << ", expected " << **members
                       << ", one for each member of group '"
                       << group.getSymName() << "'";
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

StringRef AllToAllOp::getCallSuffix() {
  if (getSplitMatrix())
    return "_matrix";
  return hasSplits() ? "_splits" : "";
}

SmallVector<CallArgument> AllToAllOp::getCallArguments() {
  Builder builder(getContext());
  if (std::optional<ArrayAttr> matrix = getSplitMatrix()) {
    SmallVector<OpFoldResult> elements;
    for (auto row : matrix->getAsRange<DenseI64ArrayAttr>())
      llvm::append_range(
          elements, getAsIndexOpFoldResult(getContext(), row.asArrayRef()));
    return {CallArgument::getNumber(builder.getIndexAttr(matrix->size())),
            CallArgument::getList(elements)};
  }
  if (!hasSplits())
    return {};
  SmallVector<OpFoldResult> sizes = getMixedSendSizes();
  return {CallArgument::getNumber(builder.getIndexAttr(sizes.size())),
          CallArgument::getList(sizes),
          CallArgument::getList(getMixedReceiveSizes())};
}
