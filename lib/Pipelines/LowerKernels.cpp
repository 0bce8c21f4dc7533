//===- LowerKernels.cpp - Lowering of kernels to NVVM ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "braid/Pipelines/Pipelines.h"

#include "braid/Conversion/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void braid::addExpandFloats(OpPassManager &pm) {
  // LLVM would lower math on small floats to calls of functions that no library
  // provides.
  math::MathExtendToSupportedTypesOptions mathOptions;
  mathOptions.targetTypeStr = "f32";
  pm.addPass(math::createMathExtendToSupportedTypes(mathOptions));
  // The C library has no reciprocal square root.
  math::MathExpandOpsPassOptions expandOptions;
  expandOptions.opMnemonics = {"rsqrt"};
  pm.addPass(math::createMathExpandOpsPass(expandOptions));
  arith::ArithEmulateUnsupportedFloatsOptions floatOptions;
  floatOptions.sourceTypeStrs = {"bf16", "f8E4M3FN", "f8E5M2"};
  floatOptions.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(floatOptions));
  pm.addPass(createExpandFloat8Pass());
}

void braid::buildLowerKernelsPipeline(OpPassManager &pm,
                                      const LowerKernelsOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createExpandDivisionsPass());
  kernels.addPass(createExpandFunctionsPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertComplexToStandardPass());
  addExpandFloats(kernels);
  kernels.addPass(createCSEPass());
  ConvertGpuOpsToNVVMOpsOptions nvvmOptions;
  nvvmOptions.useBarePtrCallConv = true;
  kernels.addPass(createConvertGpuOpsToNVVMOps(nvvmOptions));
  kernels.addPass(createConvertVectorToLLVMPass());
  // Constants that are vectors of indices remain in arith.
  kernels.addPass(createArithToLLVMConversionPass());
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(createConvertComplexToLLVMPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLowerNontemporalLoadsPass());
  kernels.addPass(createWaitForEarlierKernelsPass({options.chip}));

  kernels.addPass(createAttachKernelTargetPass(
      {options.chip, options.features, options.toolkit}));
}
