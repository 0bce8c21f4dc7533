//===- Attention.cpp - Attention as one op --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "braid/Support/MatmulAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

uint64_t AttentionShape::countPairs() const {
  auto multiply = [](int64_t a, int64_t b) {
    return llvm::SaturatingMultiply(static_cast<uint64_t>(a),
                                    static_cast<uint64_t>(b));
  };
  if (!causal)
    return multiply(queries, keys);
  // The queries up to `keys` read one key more each, the others all keys; a
  // window takes away what the queries up to `window` before read.
  auto countReadUpTo = [&](int64_t first) {
    int64_t growing = std::clamp<int64_t>(queries - first, 0, keys);
    int64_t others = std::max<int64_t>(queries - first - keys, 0);
    return llvm::SaturatingAdd(multiply(growing, growing + 1) / 2,
                               multiply(others, keys));
  };
  return countReadUpTo(0) - (window > 0 ? countReadUpTo(window) : 0);
}

template <typename AttentionLike>
static AttentionShape getShapeOf(AttentionLike op) {
  unsigned head = op.isHeadsFirst() ? 1 : 2,
           position = op.isHeadsFirst() ? 2 : 1;
  ArrayRef<int64_t> queries = getSizes(op.getQueries());
  ArrayRef<int64_t> keys = getSizes(op.getKeys());
  AttentionShape shape;
  shape.batch = queries[0];
  shape.heads = queries[head];
  shape.keyHeads = keys[head];
  shape.queries = queries[position];
  shape.keys = keys[position];
  shape.depth = queries[3];
  shape.valueDepth = getSizes(op.getValues())[3];
  shape.causal = op.getCausal();
  shape.window = static_cast<int64_t>(op.getWindow().value_or(0));
  return shape;
}

AttentionShape AttentionOp::getShape() { return getShapeOf(*this); }
AttentionShape AttentionBackwardOp::getShape() { return getShapeOf(*this); }

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// Checks operands in the order of a table.
template <typename AttentionLike> class AttentionVerifier {
public:
  explicit AttentionVerifier(AttentionLike op) : op(op) {}

  /// Checks what does not depend on the kind of the op, and reads the sizes.
  LogicalResult checkCommon() {
    if (op.getLayout() != "bshd" && op.getLayout() != "bhsd")
      return op.emitOpError() << "has layout = \"" << op.getLayout()
                              << "\", expected \"bshd\" or \"bhsd\"";
    if (op.getWindow() && !op.getCausal())
      return op.emitOpError() << "has a window, expected 'causal' with it";
    auto isBuffer = llvm::IsaPred<MemRefType>;
    if (!llvm::all_of(op->getOperandTypes(), isBuffer) &&
        llvm::any_of(op->getOperandTypes(), isBuffer))
      return op.emitOpError() << "has tensors and memrefs, expected either";
    for (OpOperand &operand : op->getOpOperands())
      if (!cast<ShapedType>(operand.get().getType()).hasStaticShape())
        return complain(operand) << ", expected static sizes";
    for (Value value : op.getInputs().take_front(3))
      if (getSizes(value).size() != 4)
        return complain(value) << ", expected 4 dimensions";
    Type first = getElementTypeOrSelf(op.getQueries().getType());
    if (!isFloat(first))
      return complain(op.getQueries())
             << ", expected elements of type bf16, f16, f32 or f64";
    element = first;
    exact = first.isF64() ? first : Float32Type::get(op.getContext());
    shape = op.getShape();
    if (failed(check(op.getKeys(), getKeyShape(shape.depth), element)) ||
        failed(check(op.getValues(), getKeyShape(shape.valueDepth), element)))
      return failure();
    if (shape.keyHeads == 0 || shape.heads % shape.keyHeads != 0)
      return complain(op.getKeys())
             << ", whose number of heads is " << shape.keyHeads
             << ", expected one that divides " << shape.heads
             << ", the heads of input #0";
    return success();
  }

  LogicalResult checkResult(Value value) {
    return check(value,
                 op.isHeadsFirst()
                     ? SmallVector<int64_t>{shape.batch, shape.heads,
                                            shape.queries, shape.valueDepth}
                     : SmallVector<int64_t>{shape.batch, shape.queries,
                                            shape.heads, shape.valueDepth},
                 element);
  }

  LogicalResult checkLogSums(Value value) {
    return check(value, {shape.batch, shape.heads, shape.queries}, exact);
  }

  /// Checks that `value` has the type of `other`, a tensor or a memref.
  LogicalResult checkLike(Value value, Value other) {
    return check(value, getSizes(other), getElementTypeOrSelf(other.getType()));
  }

  LogicalResult checkBias(Value value) {
    ArrayRef<int64_t> sizes = getSizes(value);
    int64_t wholes[] = {shape.batch, shape.heads, shape.queries};
    bool fits = sizes.size() == 4 && sizes[3] == shape.keys;
    for (auto [size, whole] : llvm::zip(sizes, wholes))
      fits &= size == 1 || size == whole;
    if (!fits)
      return complain(value)
             << ", expected the sizes " << shape.batch << " or 1, "
             << shape.heads << " or 1, " << shape.queries << " or 1, "
             << shape.keys << ", by the sizes of inputs #0 and #1";
    if (!isFloat(getElementTypeOrSelf(value.getType())))
      return complain(value)
             << ", expected elements of type bf16, f16, f32 or f64";
    return success();
  }

private:
  static bool isFloat(Type type) {
    return type.isBF16() || type.isF16() || type.isF32() || type.isF64();
  }

  SmallVector<int64_t> getKeyShape(int64_t depth) {
    if (op.isHeadsFirst())
      return {shape.batch, shape.keyHeads, shape.keys, depth};
    return {shape.batch, shape.keys, shape.keyHeads, depth};
  }

  InFlightDiagnostic complain(OpOperand &operand) {
    size_t number = operand.getOperandNumber(), inputs = op.getInputs().size();
    return op.emitOpError()
           << "has " << (number < inputs ? "input #" : "output #")
           << (number < inputs ? number : number - inputs) << " of type "
           << operand.get().getType();
  }

  /// Complains of the first operand that is `value`.
  InFlightDiagnostic complain(Value value) {
    return complain(
        *llvm::find_if(op->getOpOperands(), [&](OpOperand &operand) {
          return operand.get() == value;
        }));
  }

  LogicalResult check(Value value, ArrayRef<int64_t> sizes, Type type) {
    if (getSizes(value) == sizes &&
        getElementTypeOrSelf(value.getType()) == type)
      return success();
    InFlightDiagnostic diagnostic = complain(value);
    diagnostic << ", expected ";
    llvm::interleave(
        sizes, [&](int64_t size) { diagnostic << size; },
        [&] { diagnostic << "x"; });
    return diagnostic << " elements of type " << type
                      << ", by the types of inputs #0 to #2";
  }

  AttentionLike op;
  AttentionShape shape;
  Type element, exact;
};
} // namespace

LogicalResult AttentionOp::verify() {
  size_t inputs = getInputs().size(), outputs = getOutputs().size();
  if ((inputs != 3 && inputs != 4) || outputs != 2)
    return emitOpError() << "has " << inputs << " inputs and " << outputs
                         << " outputs, expected queries, keys, values and an "
                            "optional bias, and a result and logarithms";
  AttentionVerifier<AttentionOp> verifier(*this);
  if (failed(verifier.checkCommon()) ||
      (getBias() && failed(verifier.checkBias(getBias()))) ||
      failed(verifier.checkResult(getOutputs()[0])))
    return failure();
  return verifier.checkLogSums(getOutputs()[1]);
}

LogicalResult AttentionBackwardOp::verify() {
  size_t inputs = getInputs().size(), outputs = getOutputs().size();
  if ((inputs != 6 && inputs != 7) || outputs < 3 || outputs > inputs - 3)
    return emitOpError()
           << "has " << inputs << " inputs and " << outputs
           << " outputs, expected queries, keys, values, a result, logarithms, "
              "the gradient of the result and an optional bias, and the "
              "gradients of queries, keys, values and of a bias that there is";
  AttentionVerifier<AttentionBackwardOp> verifier(*this);
  if (failed(verifier.checkCommon()) ||
      failed(verifier.checkResult(getOut())) ||
      failed(verifier.checkLogSums(getLogSums())) ||
      failed(verifier.checkResult(getOutGradient())) ||
      (getBias() && failed(verifier.checkBias(getBias()))))
    return failure();
  for (auto [number, output] : llvm::enumerate(getOutputs()))
    if (failed(verifier.checkLike(output, number < 3 ? getInputs()[number]
                                                     : getBias())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// The axis of the batch or of the heads; none if the gradient of a bias sums
/// over it. `biases` are the numbers of the operands that are a bias or its
/// gradient.
template <typename AttentionLike>
static std::optional<comm::SplitAxis> getAxis(AttentionLike op, bool isBatch,
                                              ArrayRef<unsigned> biases) {
  AttentionShape shape = op.getShape();
  int64_t whole = isBatch ? shape.batch : shape.heads;
  comm::SplitAxis axis;
  for (OpOperand &operand : op->getOpOperands()) {
    ArrayRef<int64_t> sizes = getSizes(operand.get());
    bool isBias = llvm::is_contained(biases, operand.getOperandNumber());
    // Biases and logarithms have heads before places.
    bool isHeadsFirst = op.isHeadsFirst() || isBias || sizes.size() == 3;
    std::optional<int64_t> dim = isBatch ? 0 : isHeadsFirst ? 1 : 2;
    if (isBias && sizes[*dim] != whole)
      dim = std::nullopt;
    if (!dim && op.isDpsInit(&operand))
      return std::nullopt;
    axis.operands.push_back(dim);
    if (op.isDpsInit(&operand))
      axis.results.push_back(dim);
  }
  return axis;
}

template <typename AttentionLike>
static SmallVector<comm::SplitAxis> getAxes(AttentionLike op,
                                            ArrayRef<unsigned> biases) {
  SmallVector<comm::SplitAxis> axes;
  for (bool isBatch : {true, false})
    if (auto axis = getAxis(op, isBatch, biases))
      axes.push_back(std::move(*axis));
  return axes;
}

SmallVector<comm::SplitAxis> AttentionOp::getSplitAxes() {
  SmallVector<unsigned, 1> biases;
  if (getBias())
    biases.push_back(3);
  return getAxes(*this, biases);
}

SmallVector<comm::SplitAxis> AttentionBackwardOp::getSplitAxes() {
  SmallVector<unsigned, 2> biases;
  if (getBias())
    biases.push_back(6);
  if (hasBiasGradient())
    biases.push_back(getInputs().size() + 3);
  return getAxes(*this, biases);
}

//===----------------------------------------------------------------------===//
// Effects and costs
//===----------------------------------------------------------------------===//

void AttentionOp::getEffects(Effects &effects) { addEffects(*this, effects); }

void AttentionBackwardOp::getEffects(Effects &effects) {
  addEffects(*this, effects);
}

/// The queries and the keys of a tile; cuDNN's kernels compute whole ones.
static constexpr uint64_t kTileSize = 128;

/// The work of `op`, with `operationsOfPair` for each pair of a query and a
/// key.
template <typename AttentionLike>
static comm::Work getWorkOf(AttentionLike op, uint64_t operationsOfPair) {
  comm::Work work;
  for (Value input : op.getInputs())
    work.addBytes(getByteSize(input), 0);
  for (Value output : op.getOutputs())
    work.addBytes(0, getByteSize(output));
  AttentionShape shape = op.getShape();
  for (int64_t *length : {&shape.queries, &shape.keys})
    *length = static_cast<int64_t>(
        llvm::alignTo(static_cast<uint64_t>(*length), kTileSize));
  uint64_t operations = operationsOfPair;
  for (uint64_t count :
       {static_cast<uint64_t>(shape.batch), static_cast<uint64_t>(shape.heads),
        shape.countPairs()})
    operations = llvm::SaturatingMultiply(operations, count);
  Type element = getElementTypeOrSelf(op.getQueries().getType());
  if (element.isF32() && op->hasAttr(kPrecisionAttrName))
    element = FloatTF32Type::get(op.getContext());
  work.addOperations(element, operations);
  return work;
}

// Fitted to cuDNN's kernels on H200s, with depths of 64 and 128. A
// multiplication with an addition counts more than the two operations of a
// matmul, and each pair has its exponential, and in the gradient 2 bytes that
// are written and read for the same bits in each run.

comm::Work AttentionOp::getWork(const comm::SizeDefaults &) {
  AttentionShape shape = getShape();
  auto depths = static_cast<uint64_t>(shape.depth + shape.valueDepth);
  return getWorkOf(*this, 3 * depths + 256);
}

comm::Work AttentionBackwardOp::getWork(const comm::SizeDefaults &) {
  AttentionShape shape = getShape();
  auto depths = static_cast<uint64_t>(3 * shape.depth + 2 * shape.valueDepth);
  return getWorkOf(*this, 9 * depths / 4 + 1760);
}
