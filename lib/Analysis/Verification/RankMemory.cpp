//===- RankMemory.cpp - One rank on one path: values and memory -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

PathValue RankExecution::makeUnknown(Value value, uint64_t id) {
  PathValue unknown;
  unknown.id = id;
  Type type = value.getType();
  if (isa<comm::TokenType>(type)) {
    // Poison stands for a token where there is none.
    if (value.getDefiningOp<ub::PoisonOp>())
      return unknown;
    unknown.token = tokens.add(value, std::nullopt, 0);
  } else if (isa<BaseMemRefType>(type)) {
    unknown.buffer = makeRoot(value, id, {});
  } else if (getScalarType(type)) {
    auto scalar = std::make_shared<PathValue::Scalar>();
    scalar->value = value;
    unknown.scalar = std::move(scalar);
  }
  return unknown;
}

/// Binds the results of `op` to values of which nothing is known.
void RankExecution::bindUnknown(Operation *op, Frame &frame) {
  if (op->getNumResults() == 0)
    return;
  uint64_t run = countRun(op);
  for (OpResult result : op->getResults())
    frame[result] = makeUnknown(
        result, llvm::hash_combine(op, run, result.getResultNumber()));
}

bool RankExecution::bindGroupQuery(Operation *op, Frame &frame) {
  bool isRank = isa<comm::RankOp>(op);
  if (!isRank && !isa<comm::SizeOp>(op))
    return false;
  comm::GroupOp group =
      query.getGroup(op, op->getAttrOfType<FlatSymbolRefAttr>("group"));
  if (!group)
    return false;
  SmallVector<int64_t> members = getMembers(group, rank, numRanks);
  auto *position = llvm::find(members, rank);
  int64_t number = static_cast<int64_t>(members.size());
  if (isRank)
    number = position == members.end() ? -1 : position - members.begin();
  bool dependsOnRank = isRank || (!group.isAll() && !group.getStaticSize());
  frame[op->getResult(0)] =
      getConstantScalar(op->getResult(0).getType(), number, dependsOnRank);
  return true;
}

static bool hasOneElement(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// Binds the result of an op that moves the only element of a tensor without
/// dimensions: both are one value.
bool RankExecution::bindElement(Operation *op, Frame &frame) {
  Value element;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    element = hasOneElement(extract.getTensor().getType()) ? extract.getTensor()
                                                           : Value();
  else if (auto insert = dyn_cast<tensor::InsertOp>(op))
    element = hasOneElement(insert.getType()) ? insert.getScalar() : Value();
  else if (auto create = dyn_cast<tensor::FromElementsOp>(op))
    element =
        hasOneElement(create.getType()) ? create.getElements()[0] : Value();
  if (!element)
    return false;
  PathValue value = get(element, frame);
  frame[op->getResult(0)] = std::move(value);
  return true;
}

/// Binds the results of a linalg op on tensors without dimensions: its body
/// runs once.
bool RankExecution::bindBody(Operation *op, Frame &frame) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !structured.hasPureTensorSemantics() ||
      structured.getNumLoops() != 0 ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return hasOneElement(type) || !isa<ShapedType>(type);
      }))
    return false;
  Block &body = *structured.getBlock();
  if (!llvm::all_of(body.without_terminator(), [](Operation &nested) {
        return nested.getNumRegions() == 0 && isMemoryEffectFree(&nested);
      }))
    return false;
  bind(body.getArguments(), getAll(op->getOperands(), frame), frame);
  for (Operation &nested : body.without_terminator())
    if (!bindGroupQuery(&nested, frame))
      bindResults(&nested, frame);
  bind(op->getResults(), getAll(body.getTerminator()->getOperands(), frame),
       frame);
  return true;
}

void RankExecution::bindResults(Operation *op, Frame &frame) {
  if (op->getNumResults() == 0)
    return;
  for (Value operand : op->getOperands())
    if (std::optional<unsigned> token = get(operand, frame).token;
        token && !isa<arith::SelectOp>(op))
      tokens.handOut(*token, op);
  // What a load gives changes with the next write to its buffer.
  bool isPure = isMemoryEffectFree(op);
  uint64_t id =
      llvm::hash_combine(op->getName().getAsOpaquePointer(),
                         op->getAttrDictionary().getAsOpaquePointer());
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (const auto &buffer = get(load.getMemRef(), frame).buffer) {
      id = llvm::hash_combine(id, versions[buffer->root]);
      isPure = true;
    }
  }
  // Attributes do not tell what a body computes, and from what.
  if (isPure && op->getNumRegions() != 0) {
    id = llvm::hash_combine(id, op);
    mlir::visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *used) {
      id = llvm::hash_combine(id, get(used->get(), frame).id);
    });
  }
  if (!isPure)
    id = llvm::hash_combine(op, countRun(op));
  Values operands = getAll(op->getOperands(), frame);
  bool dependsOnRank = false;
  for (const PathValue &operand : operands) {
    id = llvm::hash_combine(id, operand.id);
    dependsOnRank |= operand.scalar && operand.scalar->dependsOnRank;
  }
  for (OpResult result : op->getResults()) {
    PathValue value = makeUnknown(
        result, llvm::hash_combine(id, result.getResultNumber(),
                                   result.getType().getAsOpaquePointer()));
    if (value.scalar) {
      auto scalar = std::make_shared<PathValue::Scalar>(*value.scalar);
      scalar->dependsOnRank = dependsOnRank;
      if (isPure && !isa<memref::LoadOp>(op)) {
        scalar->op = op;
        scalar->resultNumber = result.getResultNumber();
        scalar->operands.assign(operands.begin(), operands.end());
      }
      value.scalar = std::move(scalar);
    }
    frame[result] = value;
  }
}

std::optional<int64_t> RankExecution::getKnown(OpFoldResult value,
                                               Frame &frame) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attribute).getInt();
  return scalars.evaluateKnown(get(cast<Value>(value), frame));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A new buffer with `sizes` for the dynamic dimensions of `value`.
std::shared_ptr<PathBuffer>
RankExecution::makeRoot(Value value, uint64_t id,
                        ArrayRef<std::optional<int64_t>> sizes) {
  auto buffer = std::make_shared<PathBuffer>();
  buffer->root = versions.size();
  versions.push_back(0);
  buffer->id = id;
  buffer->isWhole = true;
  auto type = dyn_cast<MemRefType>(value.getType());
  std::optional<int64_t> bytes =
      type ? getFixedElementBytes(type.getElementType()) : std::nullopt;
  if (!bytes || !type.getLayout().isIdentity())
    return buffer;
  SmallVector<int64_t> known;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      if (sizes.empty() || !sizes.front())
        return buffer;
      size = *sizes.front();
      sizes = sizes.drop_front();
    }
    known.push_back(size);
  }
  buffer->box = getRowMajorBox(known, *bytes);
  return buffer;
}

/// The elements of a view whose sizes are static and contiguous, from `begin`.
static std::optional<BufferBox> getStaticBox(MemRefType type, int64_t begin) {
  std::optional<int64_t> bytes = getFixedElementBytes(type.getElementType());
  if (!bytes || !type.hasStaticShape() || !comm::isContiguous(type))
    return std::nullopt;
  BufferBox box = getRowMajorBox(type.getShape(), *bytes);
  box.begin = begin;
  return box;
}

std::shared_ptr<PathBuffer>
RankExecution::makeView(Operation *op, const PathBuffer &source, Frame &frame) {
  auto view = std::make_shared<PathBuffer>(source);
  // Casts and reshapes name the same elements.
  if (isa<memref::CastOp, memref::AssumeAlignmentOp, memref::MemorySpaceCastOp>(
          op))
    return view;
  auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
  if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op)) {
    bool isContiguous = view->box && view->box->isContiguous();
    int64_t begin = isContiguous ? view->box->begin : 0;
    view->box = isContiguous ? getStaticBox(type, begin) : std::nullopt;
    return view;
  }
  // All others are told apart by their operands.
  view->isWhole = false;
  view->box.reset();
  view->id = llvm::hash_combine(op->getName().getAsOpaquePointer(),
                                op->getAttrDictionary().getAsOpaquePointer());
  for (Value operand : op->getOperands())
    view->id = llvm::hash_combine(view->id, operand == op->getOperand(0)
                                                ? source.id
                                                : get(operand, frame).id);
  if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    view->isWhole = source.isWhole;
    if (source.box) {
      view->box = source.box;
      for (auto [i, expr] :
           llvm::enumerate(transpose.getPermutation().getResults()))
        view->box->dims[i] =
            source.box->dims[cast<AffineDimExpr>(expr).getPosition()];
    }
  } else if (auto shifted = dyn_cast<memref::ViewOp>(op)) {
    std::optional<int64_t> shift = getKnown(shifted.getByteShift(), frame);
    if (source.box && shift)
      view->box = getStaticBox(type, source.box->begin + *shift);
  } else if (auto subview = dyn_cast<memref::SubViewOp>(op);
             subview && source.box) {
    BufferBox box = *source.box;
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    SmallVector<BufferBox::Dim, 2> dims;
    for (auto [i, offset, size, stride] :
         llvm::enumerate(subview.getMixedOffsets(), subview.getMixedSizes(),
                         subview.getMixedStrides())) {
      std::optional<int64_t> knownOffset = getKnown(offset, frame);
      std::optional<int64_t> knownSize = getKnown(size, frame);
      std::optional<int64_t> knownStride = getKnown(stride, frame);
      if (!knownOffset || !knownSize || !knownStride)
        return view;
      box.begin = addSaturating(
          box.begin, multiplySaturating(*knownOffset, box.dims[i].stride));
      if (!dropped.test(i))
        dims.push_back(
            {*knownSize, multiplySaturating(box.dims[i].stride, *knownStride)});
    }
    box.dims = std::move(dims);
    view->box = std::move(box);
  }
  return view;
}

bool RankExecution::bindBuffer(Operation *op, Frame &frame) {
  if (op->getNumResults() == 0)
    return false;
  Value result = op->getResult(0);
  PathValue value;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (!isa<BaseMemRefType, comm::TokenType>(result.getType()))
      return false;
    bool holds = *scalars.evaluate(get(select.getCondition(), frame)) != 0;
    value = get(holds ? select.getTrueValue() : select.getFalseValue(), frame);
  } else if (!isa<BaseMemRefType>(result.getType())) {
    return false;
  } else if (auto view = dyn_cast<ViewLikeOpInterface>(op);
             view && view.getViewDest() == result &&
             get(view.getViewSource(), frame).buffer) {
    std::shared_ptr<PathBuffer> piece =
        makeView(op, *get(view.getViewSource(), frame).buffer, frame);
    value.id = piece->id;
    value.buffer = std::move(piece);
  } else if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    auto [it, isNew] = globals.try_emplace(global.getNameAttr(), 0);
    std::shared_ptr<PathBuffer> buffer = makeRoot(
        result, llvm::hash_combine(global.getNameAttr().getAsOpaquePointer()),
        {});
    if (isNew)
      it->second = buffer->root;
    buffer->root = it->second;
    value.id = buffer->id;
    value.buffer = std::move(buffer);
  } else {
    SmallVector<std::optional<int64_t>> sizes;
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      for (Value size : alloc.getDynamicSizes())
        sizes.push_back(scalars.evaluateKnown(get(size, frame)));
    value.id = llvm::hash_combine(op, countRun(op));
    value.buffer = makeRoot(result, value.id, sizes);
  }
  frame[result] = value;
  if (op->getNumResults() > 1)
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void RankExecution::access(Operation *op, Value value, BufferAccessKind kind,
                           Frame &frame) {
  const std::shared_ptr<const PathBuffer> &buffer = get(value, frame).buffer;
  if (!buffer)
    return;
  if (kind == BufferAccessKind::Write)
    ++versions[buffer->root];
  if (!buffers.isEmpty())
    buffers.access(op, buffer, kind);
}

/// The element that a load or store names.
static std::shared_ptr<const PathBuffer>
getElement(const PathBuffer &buffer, ArrayRef<std::optional<int64_t>> indices) {
  auto element = std::make_shared<PathBuffer>(buffer);
  if (!buffer.box || llvm::is_contained(indices, std::nullopt)) {
    element->isUnknownPart = true;
    return element;
  }
  element->id = llvm::hash_combine(buffer.id, 5);
  element->isWhole = false;
  for (auto [dim, index] : llvm::zip_equal(buffer.box->dims, indices))
    element->box->begin = addSaturating(element->box->begin,
                                        multiplySaturating(*index, dim.stride));
  element->box->dims.clear();
  return element;
}

void RankExecution::accessMemory(Operation *op, Frame &frame) {
  using Access = BufferAccessKind;
  if (isa<memref::LoadOp, memref::StoreOp>(op)) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    Value memref = load ? load.getMemRef() : store.getMemRef();
    std::shared_ptr<const PathBuffer> buffer = get(memref, frame).buffer;
    if (!buffer)
      return;
    if (store)
      ++versions[buffer->root];
    if (buffers.isEmpty())
      return;
    SmallVector<std::optional<int64_t>> indices;
    for (Value index : load ? load.getIndices() : store.getIndices())
      indices.push_back(getKnown(index, frame));
    buffers.access(op, getElement(*buffer, indices),
                   load ? Access::Read : Access::Write);
    return;
  }
  auto accessOperands = [&]() {
    for (Value operand : op->getOperands()) {
      if (!isa<BaseMemRefType>(operand.getType()))
        continue;
      access(op, operand, Access::Read, frame);
      access(op, operand, Access::Write, frame);
    }
  };
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands())) {
      if (!isa<BaseMemRefType>(operand.getType()))
        continue;
      KernelAccesses::Access accesses = query.getKernelAccess(launch, index);
      if (accesses.isRead)
        access(op, operand, Access::Read, frame);
      if (accesses.isWritten)
        access(op, operand, Access::Write, frame);
    }
    return;
  }
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
      !isa<MemoryEffectOpInterface>(op))
    return accessOperands();
  for (const BufferAccess &effect : getBufferAccesses(op))
    access(op, effect.buffer, effect.kind, frame);
}
