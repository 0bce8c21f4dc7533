//===- CostExternalModels.cpp - Costs of other dialects' ops --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/IR/CostExternalModels.h"

#include "Analysis/Memory/TransparentOps.h"
#include "Analysis/Memory/TypeSize.h"
#include "Roofline.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;
using namespace mlir;
using comm::DefaultCostOpInterface;
using comm::SizeDefaults;
using comm::Work;

namespace {
/// The model of views and queries, which do not access memory.
template <typename OpTy>
struct NoWorkModel
    : public DefaultCostOpInterface::ExternalModel<NoWorkModel<OpTy>, OpTy> {
  Work getWork(Operation *, const SizeDefaults &) const { return Work(); }
};

/// The model of ops whose regions or indices are negligible compared to their
/// operands and results.
template <typename OpTy>
struct OperandsModel
    : public DefaultCostOpInterface::ExternalModel<OperandsModel<OpTy>, OpTy> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    return getDefaultWork(op, defaults);
  }
};

/// tensor.splat: writes the tensor, unless its user does.
struct SplatModel
    : public DefaultCostOpInterface::ExternalModel<SplatModel,
                                                   tensor::SplatOp> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    return isFoldedFill(op) ? Work() : getDefaultWork(op, defaults);
  }
};

/// Ops that move one element.
template <typename OpTy, bool isRead>
struct ElementModel
    : public DefaultCostOpInterface::ExternalModel<ElementModel<OpTy, isRead>,
                                                   OpTy> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    // The element is the result of loads and extracts, and the first operand of
    // stores and inserts.
    Type type =
        isRead ? op->getResult(0).getType() : op->getOperand(0).getType();
    Work work;
    uint64_t bytes = getElementBytes(type, defaults);
    work.addBytes(isRead ? bytes : 0, isRead ? 0 : bytes);
    return work;
  }
};

/// The model of copies: the ops read their first operand and write as many
/// bytes of the destination.
template <typename OpTy>
struct CopyModel
    : public DefaultCostOpInterface::ExternalModel<CopyModel<OpTy>, OpTy> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    uint64_t bytes = getTypeBytes(op->getOperand(0).getType(), defaults);
    Work work;
    work.addBytes(bytes, bytes);
    return work;
  }
};

/// The value that `value` is another shape of.
Value skipReshapes(Value value) {
  while (Operation *op = value.getDefiningOp())
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      value = op->getOperand(0);
    else
      break;
  return value;
}

/// True if the op that computes the slice writes the slice into its place: the
/// op starts from an empty tensor (`-eliminate-empty-tensors` upstream).
bool isWrittenInPlace(tensor::InsertSliceOp insertion) {
  auto slice = dyn_cast<OpResult>(skipReshapes(insertion.getSource()));
  auto writer = slice ? dyn_cast<DestinationStyleOpInterface>(slice.getOwner())
                      : DestinationStyleOpInterface();
  if (!writer || writer->getBlock() != insertion->getBlock())
    return false;
  Value init = skipReshapes(writer.getTiedOpOperand(slice)->get());
  return init.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// tensor.insert_slice: a copy, unless the slice is computed in its place.
struct InsertSliceModel
    : public DefaultCostOpInterface::ExternalModel<InsertSliceModel,
                                                   tensor::InsertSliceOp> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    if (isWrittenInPlace(cast<tensor::InsertSliceOp>(op)))
      return Work();
    return CopyModel<tensor::InsertSliceOp>().getWork(op, defaults);
  }
};

/// tensor.gather: reads the indices and as many elements as it writes.
struct GatherModel
    : public DefaultCostOpInterface::ExternalModel<GatherModel,
                                                   tensor::GatherOp> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    auto gather = cast<tensor::GatherOp>(op);
    uint64_t bytes = getTypeBytes(gather.getType(), defaults);
    Work work;
    work.addBytes(bytes, bytes);
    work.addBytes(getTypeBytes(gather.getIndices().getType(), defaults), 0);
    return work;
  }
};

/// tensor.generate: runs its region once for each element.
struct GenerateModel
    : public DefaultCostOpInterface::ExternalModel<GenerateModel,
                                                   tensor::GenerateOp> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    Type type = op->getResult(0).getType();
    Work work;
    work.addOperationsOf(getFusedOperations(op->getRegion(0), defaults),
                         getNumElements(type, defaults.dynamicSize));
    work.addBytes(0, getTypeBytes(type, defaults));
    return work;
  }
};
} // namespace

template <typename... OpTys> static void attachNoWork(MLIRContext *context) {
  (OpTys::template attachInterface<NoWorkModel<OpTys>>(*context), ...);
}

static void registerDataMovementCostModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachNoWork<tensor::BitcastOp, tensor::CastOp, tensor::CollapseShapeOp,
                 tensor::DimOp, tensor::EmptyOp, tensor::ExpandShapeOp,
                 tensor::ExtractSliceOp, tensor::RankOp, tensor::ReshapeOp>(
        context);
    tensor::ExtractOp::attachInterface<ElementModel<tensor::ExtractOp, true>>(
        *context);
    tensor::InsertOp::attachInterface<ElementModel<tensor::InsertOp, false>>(
        *context);
    tensor::InsertSliceOp::attachInterface<InsertSliceModel>(*context);
    tensor::ParallelInsertSliceOp::attachInterface<
        CopyModel<tensor::ParallelInsertSliceOp>>(*context);
    tensor::ConcatOp::attachInterface<OperandsModel<tensor::ConcatOp>>(
        *context);
    tensor::FromElementsOp::attachInterface<
        OperandsModel<tensor::FromElementsOp>>(*context);
    tensor::PadOp::attachInterface<OperandsModel<tensor::PadOp>>(*context);
    tensor::SplatOp::attachInterface<SplatModel>(*context);
    tensor::GatherOp::attachInterface<GatherModel>(*context);
    tensor::ScatterOp::attachInterface<CopyModel<tensor::ScatterOp>>(*context);
    tensor::GenerateOp::attachInterface<GenerateModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    attachNoWork<memref::AssumeAlignmentOp, memref::DimOp,
                 memref::DistinctObjectsOp,
                 memref::ExtractAlignedPointerAsIndexOp,
                 memref::ExtractStridedMetadataOp, memref::GetGlobalOp,
                 memref::RankOp, memref::TransposeOp>(context);
    memref::LoadOp::attachInterface<ElementModel<memref::LoadOp, true>>(
        *context);
    memref::StoreOp::attachInterface<ElementModel<memref::StoreOp, false>>(
        *context);
    memref::CopyOp::attachInterface<CopyModel<memref::CopyOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context,
                            bufferization::BufferizationDialect *) {
    attachNoWork<bufferization::ToBufferOp, bufferization::ToTensorOp>(context);
  });
}

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

static void registerElementwiseCostModels(DialectRegistry &registry) {
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

static void registerComputeCostModel(DialectRegistry &registry) {
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
