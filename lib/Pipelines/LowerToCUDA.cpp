//===- LowerToCUDA.cpp - Lowering of a scheduled program to CUDA ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Pipelines/Pipelines.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace braid;

/// The oldest version of PTX that supports `chip` and the instructions of
/// kernels.
static std::string getFeatures(StringRef chip) {
  unsigned number = getChipNumber(chip);
  return number >= 120 ? "+ptx87" : number >= 100 ? "+ptx86" : "+ptx80";
}

void braid::buildLowerToCUDAPipeline(OpPassManager &pm,
                                     const LowerToCUDAOptions &options) {
  pm.addPass(comm::createCommAssignLanesPass());
  pm.addPass(createHashSchedulePass());
  // Tensors to buffers.
  pm.addNestedPass<func::FuncOp>(comm::createCommInlineComputePass());
  addDecompositions(pm, KernelTarget::CUDA, options.attention,
                    options.convolution, options.chip.getValue());
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createExpandSmallMatmulsPass());
  pm.addNestedPass<func::FuncOp>(createFoldSplatsPass());
  addBufferization(pm, KernelTarget::CUDA);
  pm.addPass(createConvertBufferizationToMemRefPass());
  // Ops to kernels, buffers to an arena, matmuls and copies to calls.
  pm.addNestedPass<func::FuncOp>(createSplitReductionsPass());
  pm.addPass(createPlaceControlFlowBuffersPass());
  pm.addPass(createConvertLinalgToGPUPass(
      {/*leaveCalls=*/true,
       /*tensorCores=*/getChipNumber(options.chip.getValue()) >= 80}));
  pm.addPass(createPlanMemoryPass());
  // Free the buffers that have no place in the arena.
  pm.addPass(createDeallocateBuffersPass());
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(createConvertLinalgToBraidRTPass(
      {/*useLibrary=*/true, KernelTarget::CUDA}));
  pm.addNestedPass<func::FuncOp>(createCheckAllocationSizesPass());
  pm.addPass(createConvertAssertToBraidRTPass());
  pm.addPass(createConvertDeviceCopiesToBraidRTPass());
  pm.addPass(createConvertLinalgToGPUPass());
  pm.addPass(createConvertDeviceControlFlowToBraidRTPass());
  LowerKernelsOptions kernelOptions;
  kernelOptions.chip = options.chip;
  kernelOptions.features = options.features.hasValue()
                               ? options.features.getValue()
                               : getFeatures(options.chip.getValue());
  kernelOptions.toolkit = options.toolkit;
  buildLowerKernelsPipeline(pm, kernelOptions);
  pm.addPass(createCheckCudaToolkitPass({options.toolkit}));
  GpuModuleToBinaryPassOptions binaryOptions;
  binaryOptions.toolkitPath =
      options.toolkit.empty() ? findCudaToolkit() : options.toolkit.getValue();
  pm.addPass(createGpuModuleToBinaryPass(binaryOptions));
  // To LLVM.
  addExpandFloats(pm.nest<func::FuncOp>());
  pm.addNestedPass<func::FuncOp>(createExpandDynamicShapesPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertGPULaunchToBraidRTPass());
  pm.addPass(createConvertDeviceMemoryToBraidRTPass());
  pm.addPass(createConvertComplexToStandardPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createCheckDeviceCodePass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createEmitEntryTablePass());
}
