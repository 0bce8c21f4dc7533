//===- ParallelRegionModels.cpp - Upstream's kernels ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/Extensions/ParallelRegionModels.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid::comm;

namespace {
template <typename OpTy>
struct ParallelRegionModel
    : public ParallelRegionOpInterface::ExternalModel<ParallelRegionModel<OpTy>,
                                                      OpTy> {};
} // namespace

template <typename... OpTys> static void attach(MLIRContext *context) {
  (OpTys::template attachInterface<ParallelRegionModel<OpTys>>(*context), ...);
}

void braid::comm::registerParallelRegionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, affine::AffineDialect *) {
    attach<affine::AffineParallelOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
    attach<gpu::GPUModuleOp, gpu::LaunchOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attach<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attach<tensor::GenerateOp>(context);
  });
}
