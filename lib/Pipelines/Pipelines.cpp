//===- Pipelines.cpp - Pipelines of passes --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Pipelines/Pipelines.h"
#include "CommonPasses.h"

#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace braid;

void braid::addDecompositions(OpPassManager &pm, KernelTarget target,
                              LibraryLowering attention,
                              LibraryLowering convolution, StringRef chip) {
  pm.addNestedPass<func::FuncOp>(
      createDecomposeAttentionPass({target, attention, chip.str()}));
  pm.addNestedPass<func::FuncOp>(
      createDecomposeConvolutionsPass({target, convolution}));
  pm.addNestedPass<func::FuncOp>(createDecomposeScattersPass({target}));
  pm.addNestedPass<func::FuncOp>(createDecomposeSolversPass({target}));
  pm.addNestedPass<func::FuncOp>(createDecomposeTransformsPass());
}

void braid::buildPreparePipeline(OpPassManager &pm,
                                 const PrepareOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  // One-Shot Bufferize does not support loops of blocks that carry tensors.
  pm.addPass(createLiftControlFlowToSCFPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  pm.addNestedPass<func::FuncOp>(comm::createCommReduceBehindLoopsPass());
  if (options.target == KernelTarget::CUDA)
    pm.addNestedPass<func::FuncOp>(comm::createCommLegalizeForNCCLPass());
  addDecompositions(pm, options.target, options.attention, options.convolution,
                    options.chip.getValue());
  if (options.target == KernelTarget::CUDA)
    // Scatters with the same indices sort or compare them once. The fusion
    // makes one op of equal ones, whose results differ.
    pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(
      createMarkOverwritingMatmulsPass({options.target}));
  pm.addNestedPass<func::FuncOp>(createFoldMatmulLayoutsPass({options.target}));
  comm::CommFuseElementwisePassOptions fuseOptions;
  if (options.target == KernelTarget::CUDA) {
    // An op that reads equal elements has fewer loops for the fusion.
    pm.addNestedPass<func::FuncOp>(createFoldSplatsPass());
    // An H200 computes 33 operations of f32 a picosecond and moves 4.8 bytes.
    fuseOptions.opsPerByte = 7;
    // Little of a GPU's memory. What takes more hides its launches.
    fuseOptions.mostMergedBytes = int64_t(512) << 20;
  }
  pm.addNestedPass<func::FuncOp>(
      comm::createCommFuseElementwisePass(fuseOptions));
  if (options.target == KernelTarget::CUDA) {
    pm.addNestedPass<func::FuncOp>(createFoldSplatsPass());
    pm.addNestedPass<func::FuncOp>(createFuseEpiloguesPass());
  }
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// The options of a pass with the costs that `options` of a pipeline ask for.
template <typename PassOptions>
static PassOptions getCosts(const OverlapOptions &options) {
  PassOptions passOptions;
  passOptions.machine = options.machine;
  passOptions.ranks = options.ranks;
  passOptions.ranksPerNode = options.ranksPerNode;
  passOptions.collectiveModel = options.collectiveModel;
  passOptions.linkLatency = options.linkLatency;
  passOptions.linkBandwidth = options.linkBandwidth;
  passOptions.dynamicSize = options.dynamicSize;
  passOptions.profile = options.profile;
  passOptions.cudaGraph = options.cudaGraph;
  return passOptions;
}

/// The options of a pass that predicts what its rewrites are worth.
template <typename PassOptions>
static PassOptions getPredictions(const OverlapOptions &options) {
  auto passOptions = getCosts<PassOptions>(options);
  passOptions.planResources = options.planResources;
  passOptions.maxMemory = options.maxMemory;
  return passOptions;
}

void braid::buildOverlapPipeline(OpPassManager &pm,
                                 const OverlapOptions &options) {
  // Passes that rewrite blocks judge copies of functions in their module.
  bool isOnFunction = pm.getOpAnchorName() == func::FuncOp::getOperationName();
  if (options.simplify && !options.keepOrder && !isOnFunction) {
    auto simplifyOptions =
        getPredictions<comm::CommSimplifyPassOptions>(options);
    simplifyOptions.numerics = options.numerics;
    pm.addPass(comm::createCommSimplifyPass(simplifyOptions));
  }
  if (options.mergeBatch && !options.keepOrder && !isOnFunction)
    pm.addPass(comm::createCommMergeBatchPass(
        getPredictions<comm::CommMergeBatchPassOptions>(options)));
  if (options.splitBatch && !isOnFunction) {
    auto splitOptions =
        getPredictions<comm::CommSplitBatchPassOptions>(options);
    splitOptions.numerics = options.numerics;
    pm.addPass(comm::createCommSplitBatchPass(splitOptions));
  }
  if (options.ownPartFirst && !isOnFunction)
    pm.addPass(comm::createCommOwnPartFirstPass(
        getPredictions<comm::CommOwnPartFirstPassOptions>(options)));
  if (options.pipelineMatmul && !isOnFunction) {
    auto chunkOptions = getCosts<comm::CommPipelineMatmulPassOptions>(options);
    chunkOptions.planResources = options.planResources;
    pm.addPass(comm::createCommPipelineMatmulPass(chunkOptions));
  }
  if (options.splitAllReduce && !isOnFunction)
    pm.addPass(comm::createCommSplitAllReducePass(
        getCosts<comm::CommSplitAllReducePassOptions>(options)));
  if (options.splitHierarchy && !isOnFunction) {
    auto splitOptions = getCosts<comm::CommSplitHierarchyPassOptions>(options);
    splitOptions.numerics = options.numerics;
    pm.addPass(comm::createCommSplitHierarchyPass(splitOptions));
  }
  // With `keep-order` each start keeps its place among the others.
  if (options.pipelineLoops && !options.keepOrder && !isOnFunction) {
    auto loopOptions =
        getPredictions<comm::CommPipelineLoopsPassOptions>(options);
    loopOptions.numerics = options.numerics;
    loopOptions.unroll = options.unrollLoops;
    pm.addPass(comm::createCommPipelineLoopsPass(loopOptions));
  }
  if (options.combine && !options.keepOrder && !isOnFunction)
    pm.addPass(comm::createCommCombinePass(
        getPredictions<comm::CommCombinePassOptions>(options)));
  if (options.planResources) {
    auto planOptions = getCosts<comm::CommPlanResourcesPassOptions>(options);
    planOptions.orders = comm::PlannedOrders::Search;
    planOptions.planNumber = options.planNumber;
    planOptions.maxInFlight = options.maxInFlight;
    planOptions.lanes = options.lanes;
    planOptions.keepOrder = options.keepOrder;
    pm.addPass(comm::createCommPlanResourcesPass(planOptions));
  }
  auto passOptions = getCosts<comm::CommSchedulePassOptions>(options);
  passOptions.maxMemory = options.maxMemory;
  passOptions.maxInFlight = options.maxInFlight;
  passOptions.lanes = options.lanes;
  passOptions.keepOrder = options.keepOrder;
  passOptions.steps = options.steps;
  passOptions.seed = options.seed;
  passOptions.effort = options.effort;
  pm.addPass(comm::createCommSchedulePass(passOptions));
}

void braid::buildInductorOverlapPipeline(
    OpPassManager &pm, const InductorOverlapOptions &options) {
  comm::CommReorderComputeForOverlapPassOptions reorderOptions;
  reorderOptions.waitsAsFiller = options.waitsAsFiller;
  pm.addPass(comm::createCommReorderComputeForOverlapPass(reorderOptions));
  pm.addPass(comm::createCommSinkWaitsPass());
  pm.addPass(comm::createCommRaiseCollectivesPass());
}

/// Lowers linalg on buffers to loops over scalars that LLVM supports.
static void addLoops(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createTileTransposesPass());
  pm.addNestedPass<func::FuncOp>(createConvertReductionsToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  addExpandFloats(pm.nest<func::FuncOp>());
  pm.addNestedPass<func::FuncOp>(createExpandFloat16Pass());
  pm.addNestedPass<func::FuncOp>(createExpandDynamicShapesPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertComplexToStandardPass());
  pm.addPass(createApproximateMathPass());
}

void braid::addBufferization(OpPassManager &pm, KernelTarget target) {
  pm.addPass(comm::createCommBufferizePass());
  pm.addPass(createSeparateEntriesPass());
  pm.addPass(createPrepareEntriesPass({target}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  comm::CommVerifyPassOptions checkBuffers;
  checkBuffers.onlyBuffers = true;
  pm.addPass(comm::createCommVerifyPass(checkBuffers));
  pm.addNestedPass<func::FuncOp>(createDropDeallocationsPass());
}

void braid::buildLowerToHostPipeline(OpPassManager &pm,
                                     const LowerToHostOptions &options) {
  pm.addPass(comm::createCommAssignLanesPass());
  pm.addPass(createHashSchedulePass());
  // Tensors to buffers.
  pm.addNestedPass<func::FuncOp>(comm::createCommInlineComputePass());
  addDecompositions(pm, KernelTarget::Host);
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createWidenSumsPass());
  addBufferization(pm, KernelTarget::Host);
  pm.addPass(createDeallocateBuffersPass());
  pm.addPass(createConvertBufferizationToMemRefPass());
  // Linear algebra to calls and loops.
  pm.addPass(createConvertLinalgToBraidRTPass({options.useLibrary}));
  pm.addNestedPass<func::FuncOp>(createCheckAllocationSizesPass());
  pm.addPass(createConvertAssertToBraidRTPass());
  pm.addNestedPass<func::FuncOp>(createArrangeLoopsPass());
  pm.addPass(createOutlineKernelsPass());
  pm.addPass(createDivideKernelsPass());
  addLoops(pm);
  // To LLVM. Its intrinsics can be vectorized; the C library has the rest.
  ConvertMathToLLVMPassOptions mathOptions;
  mathOptions.approximateLog1p = false;
  pm.addNestedPass<func::FuncOp>(createConvertMathToLLVMPass(mathOptions));
  pm.addPass(createConvertMathToLibmPass());
  FinalizeMemRefToLLVMConversionPassOptions memoryOptions;
  memoryOptions.useAlignedAlloc = true;
  memoryOptions.useGenericFunctions = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memoryOptions));
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createConvertPartsToBraidRTPass());
  pm.addPass(createEmitEntryTablePass());
}

void braid::registerPipelines() {
  PassPipelineRegistration<PrepareOptions>(
      "braid-prepare",
      "Inline, clean up and fuse a program before it is scheduled",
      buildPreparePipeline);
  PassPipelineRegistration<OverlapOptions>(
      "braid-overlap",
      "Hide communication behind computation with comm-schedule",
      buildOverlapPipeline);
  PassPipelineRegistration<InductorOverlapOptions>(
      "braid-overlap-inductor",
      "Hide communication behind computation with Inductor's passes",
      buildInductorOverlapPipeline);
  PassPipelineRegistration<LowerToHostOptions>(
      "braid-lower-to-host",
      "Lower a scheduled program to the LLVM dialect for the host",
      buildLowerToHostPipeline);
  PassPipelineRegistration<LowerToCUDAOptions>(
      "braid-lower-to-cuda",
      "Lower a scheduled program to the LLVM dialect and kernels for CUDA",
      buildLowerToCUDAPipeline);
  PassPipelineRegistration<LowerKernelsOptions>(
      "braid-lower-kernels",
      "Lower the kernels of a program to the NVVM dialect",
      buildLowerKernelsPipeline);
}
