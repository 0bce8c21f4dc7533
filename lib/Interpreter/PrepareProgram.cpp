//===- PrepareProgram.cpp - Ops that MLIR expands into others -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Interpreter/Interpreter.h"

#include "braid/Dialect/Library/Transforms/Decompose.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace braid;
using namespace mlir;

/// The ops of `math` that do not fold and that MLIR expands.
static constexpr llvm::StringRef expandedMath[] = {"clampf", "fma", "fpowi",
                                                   "rsqrt"};

static bool isExpanded(Operation *op) {
  return isa<tensor::PadOp, tensor::ConcatOp>(op) ||
         (isa_and_present<math::MathDialect>(op->getDialect()) &&
          llvm::is_contained(expandedMath, op->getName().stripDialect()));
}

/// True for attention, convolutions and scatters, which other ops replace.
static bool isDecomposed(Operation *op) {
  return library::isAttention(op) ||
         isa<library::ConvolutionOp, library::ScatterOp>(op);
}

/// Replaces attention and convolutions in `module` by products and sums, and
/// scatters by loops.
static void decomposeOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module->walk([&](Operation *op) {
    if (isDecomposed(op))
      ops.push_back(op);
  });
  IRRewriter rewriter(module->getContext());
  for (Operation *op : ops) {
    if (auto scatter = dyn_cast<library::ScatterOp>(op))
      library::loopOverScatter(rewriter, scatter, /*mayUseScalars=*/true);
    else if (auto convolution = dyn_cast<library::ConvolutionOp>(op))
      library::decomposeConvolution(rewriter, convolution);
    else
      library::decomposeAttention(rewriter, op);
  }
}

/// Replaces the ops of `module` that `isExpanded` and nothing else.
static LogicalResult expandOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module->walk([&](Operation *op) {
    if (isExpanded(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  RewritePatternSet patterns(module->getContext());
  linalg::populateDecomposePadPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  math::populateExpansionPatterns(patterns, expandedMath);
  GreedyRewriteConfig config;
  config.enableFolding(false)
      .enableConstantCSE(false)
      .setStrictness(GreedyRewriteStrictness::ExistingOps)
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyOpPatternsGreedily(ops, std::move(patterns), config);
}

FailureOr<OwningOpRef<ModuleOp>> braid::prepareForInterpreter(ModuleOp module) {
  bool hasAffine = false, hasComplex = false, hasExpanded = false;
  bool hasDecomposed = false;
  module->walk([&](Operation *op) {
    hasAffine |= op->getName().getDialectNamespace() == "affine";
    hasComplex |= isa_and_present<complex::ComplexDialect>(op->getDialect());
    hasExpanded |= isExpanded(op);
    hasDecomposed |= isDecomposed(op);
  });
  OwningOpRef<ModuleOp> prepared;
  if (!hasAffine && !hasComplex && !hasExpanded && !hasDecomposed)
    return prepared;
  prepared = module.clone();
  if (hasDecomposed)
    decomposeOps(*prepared);
  if (failed(expandOps(*prepared)))
    return failure();
  PassManager pm(module->getContext());
  pm.enableVerifier(false);
  if (hasComplex) {
    pm.addPass(createConvertElementwiseToLinalgPass());
    pm.addPass(createConvertComplexToStandardPass());
  }
  if (hasAffine)
    pm.addPass(createLowerAffinePass());
  if (failed(pm.run(*prepared)))
    return failure();
  return prepared;
}
