//===- Compute.cpp - Scalars, and elements alike --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

/// The results of `op` on `in`, as it folds; empty if it does not.
static SmallVector<Attribute> foldOnce(Operation *op, ArrayRef<Attribute> in) {
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(in, results)) || results.size() != op->getNumResults())
    return {};
  SmallVector<Attribute> out;
  for (OpFoldResult folded : results) {
    auto attribute = dyn_cast<Attribute>(folded);
    // An op may fold to one of its operands.
    if (!attribute)
      for (auto [operand, constant] : llvm::zip_equal(op->getOperands(), in))
        if (operand == cast<Value>(folded))
          attribute = constant;
    if (!attribute)
      return {};
    out.push_back(attribute);
  }
  return out;
}

/// `op` on elements alone, with operands that nothing is known of: the
/// arguments of `block`.
static Operation *copyApart(Operation *op, Block &block) {
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(block.addArgument(
        getElementTypeOrSelf(operand.getType()), operand.getLoc()));
  for (Type type : op->getResultTypes())
    state.types.push_back(getElementTypeOrSelf(type));
  state.attributes = op->getDiscardableAttrDictionary();
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *copy = Operation::create(state);
  block.push_back(copy);
  return copy;
}

FloatAttr braid::interpreter::roundTo(FloatType type, FloatAttr number) {
  bool losesInfo;
  APFloat value = number.getValue();
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return FloatAttr::get(type, value);
}

/// The same on 32-bit floats in place of smaller ones, rounded: `math` folds no
/// others.
static SmallVector<Attribute> foldWidened(Operation *op,
                                          ArrayRef<Attribute> in) {
  auto wide = Float32Type::get(op->getContext());
  bool isWidened = false;
  SmallVector<Attribute> widened(in);
  for (Attribute &attribute : widened)
    if (auto number = dyn_cast<FloatAttr>(attribute);
        number && number.getType().getIntOrFloatBitWidth() < 32) {
      attribute = roundTo(wide, number);
      isWidened = true;
    }
  if (!isWidened)
    return {};
  SmallVector<Attribute> out = foldOnce(op, widened);
  for (auto [attribute, type] : llvm::zip(out, op->getResultTypes()))
    if (auto number = dyn_cast<FloatAttr>(attribute))
      if (auto result = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
        attribute = roundTo(result, number);
  return out;
}

/// Complex numbers are pairs. What computes with them is lowered to their parts
/// before the run; these ops remain.
static Attribute computeComplex(Operation *op, ArrayRef<Attribute> in) {
  if (isa<complex::CreateOp>(op))
    return ArrayAttr::get(op->getContext(), in);
  bool isReal = isa<complex::ReOp>(op);
  auto pair = isReal || isa<complex::ImOp>(op) ? dyn_cast<ArrayAttr>(in[0])
                                               : ArrayAttr();
  return pair ? pair[isReal ? 0 : 1] : Attribute();
}

/// A float in a narrower type. `op` folds only where no bit is lost.
static Attribute narrowFloat(Operation *op, ArrayRef<Attribute> in) {
  auto narrowed = dyn_cast<arith::TruncFOp>(op);
  auto number = narrowed ? dyn_cast<FloatAttr>(in[0]) : FloatAttr();
  if (!number || narrowed.getRoundingmode())
    return {};
  auto type = getElementTypeOrSelf(narrowed.getType());
  return roundTo(cast<FloatType>(type), number);
}

/// Folds `op`, whose operands are `in`, or its copy on elements `ofElement`.
bool Machine::computeScalars(Operation *op, ArrayRef<Attribute> in,
                             SmallVectorImpl<Attribute> &out,
                             Operation *ofElement) {
  Operation *folded = ofElement ? ofElement : op;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto condition = dyn_cast_if_present<IntegerAttr>(in[0]);
    if (!condition)
      return unsupported(op);
    out.push_back(in[condition.getValue().isZero() ? 2 : 1]);
    return true;
  }
  if (llvm::is_contained(in, Attribute()))
    return unsupported(op);
  if (Attribute number = computeComplex(op, in))
    out.push_back(number);
  else if (Attribute number = narrowFloat(op, in))
    out.push_back(number);
  else
    out.append(foldOnce(folded, in));
  // It may fold to what one of its operands is computed from.
  if (out.empty() && !ofElement && op->getNumRegions() == 0) {
    Block apart;
    out.append(foldOnce(copyApart(op, apart), in));
  }
  if (out.empty())
    out.append(foldWidened(folded, in));
  return out.size() == op->getNumResults() || unsupported(op);
}

/// Binds the result of `op` to `constant`, an element or dense elements.
bool Machine::computeConstant(unsigned rank, Operation *op,
                              Attribute constant) {
  RuntimeValue &value = get(rank, op->getResult(0));
  auto shaped = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (!shaped) {
    value = RuntimeValue();
    value.scalar = constant;
    return true;
  }
  auto elements = dyn_cast_if_present<ElementsAttr>(constant);
  if (!isSmall(shaped.getShape()))
    return tooLarge(op);
  if (!elements)
    return unsupported(op);
  auto values = elements.tryGetValues<Attribute>();
  if (!values)
    return unsupported(op);
  value = makeElements(shaped.getShape(), {values->begin(), values->end()});
  return true;
}

/// Ops on scalars, and ops that treat all elements of tensors alike.
bool Machine::computeElements(unsigned rank, Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op);
      select && !isa<ShapedType>(select.getCondition().getType())) {
    RuntimeValue chosen = get(rank, getIndex(rank, select.getCondition())
                                        ? select.getTrueValue()
                                        : select.getFalseValue());
    get(rank, select.getResult()) = chosen;
    return true;
  }
  if (Attribute value; matchPattern(op, m_Constant(&value)))
    return computeConstant(rank, op, value);
  Values operands = getAll(rank, op->getOperands());
  auto *shaped = llvm::find_if(
      operands, [](const RuntimeValue &value) { return value.memory; });
  int64_t count = shaped == operands.end() ? 1 : shaped->getNumElements();
  if (shaped != operands.end() && !op->hasTrait<OpTrait::Elementwise>())
    return unsupported(op);
  std::vector<std::vector<Attribute>> results(op->getNumResults());
  // Casts of arrays fold to arrays.
  Block apart;
  Operation *ofElement =
      shaped == operands.end() ? nullptr : copyApart(op, apart);
  for (int64_t i = 0; i != count; ++i) {
    SmallVector<Attribute> in, out;
    for (const RuntimeValue &value : operands)
      in.push_back(value.memory ? value.memory->elements[value.getPosition(i)]
                                : value.scalar);
    if (!computeScalars(op, in, out, ofElement))
      return false;
    for (auto [elements, element] : llvm::zip_equal(results, out))
      elements.push_back(element);
  }
  for (auto [value, elements] : llvm::zip_equal(op->getResults(), results))
    if (shaped == operands.end())
      get(rank, value).scalar = elements.front();
    else
      get(rank, value) = makeElements(shaped->sizes, std::move(elements));
  return true;
}

bool Machine::compute(unsigned rank, Operation *op) {
  if (isa<comm::RankOp, comm::SizeOp>(op)) {
    comm::GroupOp group = comm::lookupGroup(
        op, op->getAttrOfType<FlatSymbolRefAttr>("group"), symbolTables);
    int64_t size = group.isAll() ? static_cast<int64_t>(ranks.size())
                                 : group.getStaticSize().value_or(0);
    // A rank in no list has index -1.
    int64_t index = group.isAll() ? static_cast<int64_t>(rank) : -1;
    for (ArrayRef<int64_t> list : group.getRankLists())
      if (auto *found = llvm::find(list, rank); found != list.end()) {
        index = found - list.begin();
        size = list.size();
      }
    get(rank, op->getResult(0)).scalar = IntegerAttr::get(
        op->getResult(0).getType(), isa<comm::RankOp>(op) ? index : size);
    return true;
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    get(rank, index).scalar =
        IntegerAttr::get(index.getType(), bodyIndices[index.getDim()]);
    return true;
  }
  if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
    if (getIndex(rank, assertion.getArg()) == 0)
      return fail(InterpreterFailure::Unsupported, op,
                  "does not hold on rank " + Twine(rank) + ": " +
                      assertion.getMsg());
    return true;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return computeLinalg(rank, linalgOp);
  if (isa<library::CallOp>(op))
    return unsupported(op);
  if (isa_and_present<memref::MemRefDialect,
                      bufferization::BufferizationDialect>(op->getDialect()))
    return computeMemory(rank, op);
  if (isa_and_present<tensor::TensorDialect>(op->getDialect()))
    return computeTensor(rank, op);
  if (op->getNumRegions() == 0)
    return computeElements(rank, op);
  return unsupported(op);
}
