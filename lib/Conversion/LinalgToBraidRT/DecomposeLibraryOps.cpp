//===- DecomposeLibraryOps.cpp - Library ops without a library ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "ConvolutionKinds.h"
#include "braid-rt/Routines.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Library/Transforms/Decompose.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"

namespace braid {
#define GEN_PASS_DEF_DECOMPOSEATTENTIONPASS
#define GEN_PASS_DEF_DECOMPOSECONVOLUTIONSPASS
#define GEN_PASS_DEF_DECOMPOSESCATTERSPASS
#define GEN_PASS_DEF_DECOMPOSESOLVERSPASS
#define GEN_PASS_DEF_DECOMPOSETRANSFORMSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

struct DecomposeAttentionPass
    : public braid::StructuralPass<
          braid::impl::DecomposeAttentionPassBase<DecomposeAttentionPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    bool hasLibrary =
        target == KernelTarget::CUDA && attention == LibraryLowering::Library;
    SmallVector<Operation *> ops;
    llvm::StringSet<> obstacles;
    getOperation().walk([&](Operation *op) {
      if (!library::isAttention(op))
        return;
      if (hasLibrary) {
        std::string obstacle = findObstacle(op, chip);
        if (obstacle.empty())
          return;
        if (obstacles.insert(obstacle).second)
          op->emitWarning()
              << "becomes matmuls, sums and elementwise ops: cuDNN's "
                 "attention does not support "
              << obstacle;
      }
      ops.push_back(op);
    });
    if (ops.empty())
      return success();
    emitCountRemark(getOperation(), getArgument(), "decomposed-attention",
                    static_cast<int64_t>(ops.size()));
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      library::decomposeAttention(rewriter, op);
    return success();
  }
};

} // namespace

/// True if the features of a point of x are no multiple of 16 bytes: cuDNN's
/// fast kernels read a copy, with zeros between the points.
static bool hasUnalignedFeatures(library::ConvolutionOp op,
                                 const LibraryConvolution &match) {
  constexpr int64_t alignedBits = 128;
  unsigned operand = match.roles[BRAID_RT_CONVOLUTION_X];
  auto type = cast<ShapedType>(op->getOperand(operand).getType());
  return type.getDimSize(match.dims[operand][1]) *
             type.getElementTypeBitWidth() % alignedBits !=
         0;
}

/// True for the gradient by the kernel of a convolution of f32 whose groups
/// have one feature (depthwise), but for windows of 3 x 3 and of 5 x 5: cuDNN's
/// other kernels take 2.5 to 9 times as long as loops on an H200 (2 x 2, 7 x 7,
/// 3 and 4 places), because they transform the data or compute a matmul for
/// each group.
static bool isSlowDepthwiseGradient(library::ConvolutionOp op,
                                    const LibraryConvolution &match) {
  if (match.kind != BRAID_RT_CONVOLUTION_BACKWARD_FILTER ||
      !getElementTypeOrSelf(op.getInput().getType()).isF32())
    return false;
  unsigned operand = match.roles[BRAID_RT_CONVOLUTION_W];
  auto type = cast<ShapedType>(op->getOperand(operand).getType());
  SmallVector<int64_t> sizes = llvm::map_to_vector(
      match.dims[operand], [&](unsigned dim) { return type.getDimSize(dim); });
  if (match.groups == 1 || sizes[0] != match.groups || sizes[1] != 1)
    return false;
  ArrayRef<int64_t> window = ArrayRef(sizes).drop_front(2);
  return window != ArrayRef<int64_t>{3, 3} && window != ArrayRef<int64_t>{5, 5};
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
        bool isFasterAlone = (isCopied && library::isMatmulOfPatches(op)) ||
                             isSlowDepthwiseGradient(op, *match);
        (isFasterAlone ? ops : kept).push_back(op);
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

namespace {

struct DecomposeScattersPass
    : public braid::StructuralPass<
          braid::impl::DecomposeScattersPassBase<DecomposeScattersPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    SmallVector<library::ScatterOp> ops;
    getOperation().walk([&](library::ScatterOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    int64_t numLinked = 0;
    for (library::ScatterOp op : ops) {
      bool isLinked =
          target == KernelTarget::CUDA && library::canLinkScatter(op);
      numLinked += isLinked;
      if (isLinked)
        library::linkScatter(rewriter, op);
      else
        library::loopOverScatter(rewriter, op, target == KernelTarget::Host);
    }
    int64_t numLoops = static_cast<int64_t>(ops.size()) - numLinked;
    if (numLinked != 0)
      emitCountRemark(getOperation(), getArgument(), "scatter-kernels",
                      numLinked);
    if (numLoops != 0 && target == KernelTarget::CUDA)
      emitCountRemark(getOperation(), getArgument(), "scatter-loops", numLoops);
    return success();
  }
};

struct DecomposeSolversPass
    : public braid::StructuralPass<
          braid::impl::DecomposeSolversPassBase<DecomposeSolversPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    if (target != KernelTarget::CUDA)
      return success();
    SmallVector<library::CallOp> ops;
    getOperation().walk([&](library::CallOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (library::CallOp op : ops) {
      if (library::isBatchOfReflectors(op))
        library::accumulateReflectors(rewriter, op);
      else if (library::givesTransposedVectors(op))
        library::transposeRightVectors(rewriter, op, BRAID_RT_JACOBI_ORDER);
    }
    return success();
  }
};

struct DecomposeTransformsPass
    : public braid::StructuralPass<
          braid::impl::DecomposeTransformsPassBase<DecomposeTransformsPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    SmallVector<library::CallOp> ops;
    getOperation().walk([&](library::CallOp op) {
      auto type = cast<ShapedType>(op.getOutputs().front().getType());
      // Tensors that stand for buffers have static sizes.
      bool isKnown = op->getNumResults() != 0 || type.hasStaticShape();
      if (isKnown && library::hasDivision(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (library::CallOp op : ops)
      library::separateDivision(rewriter, op);
    return success();
  }
};

} // namespace
