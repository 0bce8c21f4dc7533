//===- DecomposeConvolutions.cpp - Convolutions without a library ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionKinds.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Library/Transforms/DecomposeConvolution.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

namespace braid {
#define GEN_PASS_DEF_DECOMPOSECONVOLUTIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// True if the features of a point of the input are no multiple of 16 bytes:
/// cuDNN's fast kernels read a copy, with zeros between the points.
static bool hasUnalignedFeatures(library::ConvolutionOp op,
                                 const LibraryConvolution &match) {
  auto type = cast<ShapedType>(op.getInput().getType());
  return type.getDimSize(match.dims[0][1]) * type.getElementTypeBitWidth() %
             128 !=
         0;
}

namespace {

struct DecomposeConvolutionsPass
    : public braid::StructuralPass<braid::impl::DecomposeConvolutionsPassBase<
          DecomposeConvolutionsPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    bool hasLibrary =
        target == KernelTarget::CUDA && convolution == LibraryLowering::Library;
    SmallVector<library::ConvolutionOp> kept, ops;
    llvm::StringSet<> obstacles;
    getOperation().walk([&](library::ConvolutionOp op) {
      if (!hasLibrary || library::isMatmulInPlace(op)) {
        ops.push_back(op);
        return;
      }
      std::string obstacle;
      if (std::optional<LibraryConvolution> match =
              matchLibraryConvolution(op, obstacle)) {
        bool isCopied = hasUnalignedFeatures(op, *match);
        (isCopied && library::isMatmulOfPatches(op) ? ops : kept).push_back(op);
        return;
      }
      if (obstacles.insert(obstacle).second)
        op->emitWarning() << "becomes a matmul or loops: cuDNN's convolutions "
                             "do not support "
                          << obstacle;
      ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (library::ConvolutionOp op : kept)
      if (op->getNumResults() != 0)
        arrangeForLibrary(rewriter, op);
    for (library::ConvolutionOp op : ops)
      library::decomposeConvolution(rewriter, op);
    if (!ops.empty())
      emitCountRemark(getOperation(), getArgument(), "decomposed-convolutions",
                      static_cast<int64_t>(ops.size()));
    return success();
  }
};

} // namespace
