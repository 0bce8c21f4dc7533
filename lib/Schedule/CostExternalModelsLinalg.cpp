//===- CostExternalModelsLinalg.cpp - Costs of structured ops -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/CostExternalModels.h"
#include "braid/Schedule/Roofline.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;
using namespace mlir;
using comm::CostOpInterface;
using comm::SizeDefaults;
using comm::Work;

/// Real operations of one op of a payload: conversions ride along with the
/// loads, indices with the loop, and a complex number takes more than one.
static uint64_t getPayloadOperations(Operation &op) {
  if (!op.hasTrait<OpTrait::Elementwise>() || op.getNumOperands() == 0 ||
      op.getNumResults() != 1 || isa<CastOpInterface>(op) ||
      op.getResult(0).getType().isIndex())
    return 0;
  if (!isa<ComplexType>(op.getOperand(0).getType()))
    return 1;
  return isa<complex::MulOp>(op) ? 6 : 2;
}

/// The type that a contraction or convolution multiplies in: the wider of its
/// operands'. What it accumulates in costs nothing more on a matrix unit.
static Type getMultiplicationType(linalg::LinalgOp op) {
  Type lhs = getElementTypeOrSelf(op.getDpsInputs()[0].getType());
  Type rhs = getElementTypeOrSelf(op.getDpsInputs()[1].getType());
  return getElementBytes(rhs) > getElementBytes(lhs) ? rhs : lhs;
}

/// True if what `init` holds has to come from memory: accumulators that start
/// from a fill are born in registers.
static bool isInitLoaded(linalg::LinalgOp op, OpOperand &init) {
  return op.payloadUsesValueFromOperand(&init) &&
         !isa_and_present<linalg::FillOp, tensor::EmptyOp>(
             init.get().getDefiningOp());
}

namespace {
/// The payload once for each point of the iteration space; every operand comes
/// from memory once, however often it is used. This holds for contractions,
/// convolutions of any rank (transposed and depthwise ones too), reductions and
/// pointwise ops alike, since all of them are loops around a payload.
template <typename OpTy>
struct StructuredOpModel
    : public CostOpInterface::ExternalModel<StructuredOpModel<OpTy>, OpTy> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    uint64_t numPoints = 1;
    for (int64_t size : linalgOp.getStaticLoopRanges())
      numPoints = llvm::SaturatingMultiply(
          numPoints, static_cast<uint64_t>(ShapedType::isDynamic(size)
                                               ? defaults.dynamicSize
                                               : size));

    Work work;
    bool isMultiplication = linalgOp.getNumDpsInputs() >= 2 &&
                            (linalg::isaContractionOpInterface(linalgOp) ||
                             linalg::isaConvolutionOpInterface(linalgOp));
    for (Operation &payloadOp : linalgOp.getBlock()->without_terminator()) {
      uint64_t count = getPayloadOperations(payloadOp);
      if (count == 0)
        continue;
      Type type = isMultiplication
                      ? getMultiplicationType(linalgOp)
                      : getElementTypeOrSelf(payloadOp.getOperand(0).getType());
      work.addOperations(type, llvm::SaturatingMultiply(numPoints, count));
    }

    SmallVector<Value> read;
    for (OpOperand *input : linalgOp.getDpsInputOperands())
      if (linalgOp.payloadUsesValueFromOperand(input))
        read.push_back(input->get());
    SmallVector<Value> written;
    for (OpOperand &init : linalgOp.getDpsInitsMutable()) {
      if (isInitLoaded(linalgOp, init))
        read.push_back(init.get());
      written.push_back(init.get());
    }
    work.addBytes(getDistinctBytes(read, defaults.dynamicSize),
                  getDistinctBytes(written, defaults.dynamicSize));
    return work;
  }
};
} // namespace

template <typename... OpTys>
static void attachStructured(MLIRContext *context) {
  (OpTys::template attachInterface<StructuredOpModel<OpTys>>(*context), ...);
}

void braid::registerLinalgCostModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachStructured<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
}
