//===- CostExternalModels.cpp - Costs of other dialects' ops --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/IR/CostExternalModels.h"

#include "Analysis/Memory/TypeSize.h"
#include "Roofline.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;
using namespace mlir;
using comm::DefaultCostOpInterface;
using comm::SizeDefaults;
using comm::Work;

//===----------------------------------------------------------------------===//
// arith and math
//===----------------------------------------------------------------------===//

namespace {
/// The model of elementwise ops: one operation for each element. An op on
/// scalars moves no data.
template <typename OpTy>
struct ElementwiseModel
    : public DefaultCostOpInterface::ExternalModel<ElementwiseModel<OpTy>,
                                                   OpTy> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    Work work = getDefaultWork(op, defaults);
    if (work.getBytes() == 0)
      return work;
    uint64_t numElements =
        getNumElements(op->getResult(0).getType(), defaults.dynamicSize);
    work.addOperations(getElementTypeOrSelf(op->getOperand(0).getType()),
                       numElements);
    return work;
  }
};
} // namespace

/// Attaches the model to the elementwise ops among `OpTys`.
template <typename... OpTys>
static void attachElementwise(MLIRContext *context) {
  auto attach = [&](auto *null) {
    using OpTy = std::remove_pointer_t<decltype(null)>;
    if constexpr (OpTy::template hasTrait<OpTrait::Elementwise>())
      OpTy::template attachInterface<ElementwiseModel<OpTy>>(*context);
  };
  (attach(static_cast<OpTys *>(nullptr)), ...);
}

void braid::registerElementwiseCostModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
        >(context);
  });
}

//===----------------------------------------------------------------------===//
// comm.compute
//===----------------------------------------------------------------------===//

namespace {
/// The model of a fused kernel: all operations of its region, and the bytes of
/// its operands and results. An opaque kernel has only the bytes.
struct ComputeModel
    : public DefaultCostOpInterface::ExternalModel<ComputeModel,
                                                   comm::ComputeOp> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    auto compute = cast<comm::ComputeOp>(op);
    Work work = getFusedOperations(compute.getBody(), defaults);
    uint64_t written = 0;
    for (Type type : compute.getValueTypes())
      written = llvm::SaturatingAdd(written, getTypeBytes(type, defaults));
    work.addBytes(getDistinctBytes(op->getOperands(), defaults), written);
    return work;
  }
};
} // namespace

void braid::registerComputeCostModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, comm::CommDialect *) {
    comm::ComputeOp::attachInterface<ComputeModel>(*context);
  });
}

void braid::registerCostExternalModels(DialectRegistry &registry) {
  registerLinalgCostModels(registry);
  registerElementwiseCostModels(registry);
  registerDataMovementCostModels(registry);
  registerComputeCostModel(registry);
}
