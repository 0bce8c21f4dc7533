//===- Pipelines.h - Pipelines of passes ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PIPELINES_PIPELINES_H
#define BRAID_PIPELINES_PIPELINES_H

#include "braid/Conversion/PassOptions.h"
#include "braid/Dialect/Comm/Transforms/PassOptions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace braid {

/// Options of `braid-prepare`.
struct PrepareOptions : public mlir::PassPipelineOptions<PrepareOptions> {
  Option<KernelTarget> target{
      *this, "target",
      llvm::cl::desc("The target of the program: host or cuda"),
      llvm::cl::init(KernelTarget::Host), getKernelTargetValues()};
  Option<LibraryLowering> attention{
      *this, "attention",
      llvm::cl::desc("What computes attention on a GPU: library or decompose"),
      llvm::cl::init(LibraryLowering::Library), getLibraryLoweringValues()};
  Option<LibraryLowering> convolution{
      *this, "convolution",
      llvm::cl::desc("What computes convolutions on a GPU: library or "
                     "decompose"),
      llvm::cl::init(LibraryLowering::Library), getLibraryLoweringValues()};
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("The GPU to compile for"),
                           llvm::cl::init("sm_90")};
};

/// Prepares a program on tensors for scheduling: inlining, clean-up and fusion
/// (`braid-prepare`). After this pipeline only the scheduling passes fuse,
/// hoist or reorder ops.
void buildPreparePipeline(mlir::OpPassManager &pm,
                          const PrepareOptions &options = {});

/// Options of `braid-overlap`: those of `comm-schedule`, and what comes before.
struct OverlapOptions : public mlir::PassPipelineOptions<OverlapOptions> {
  Option<std::string> machine{
      *this, "machine",
      llvm::cl::desc("The machine of the estimates; without it the module's "
                     "comm.machine, or else h100x8")};
  Option<int64_t> ranks{
      *this, "ranks",
      llvm::cl::desc("The number of ranks in a group of all; 0 is the ranks "
                     "per node")};
  Option<int64_t> ranksPerNode{
      *this, "ranks-per-node",
      llvm::cl::desc("The number of ranks on each node; 0 is the machine's")};
  Option<comm::CollectiveModelOption> collectiveModel{
      *this, "collective-model",
      llvm::cl::desc("The model that estimates collectives"),
      llvm::cl::init(comm::CollectiveModelOption::Auto),
      comm::getCollectiveModelValues()};
  Option<std::string> linkLatency{
      *this, "link-latency",
      llvm::cl::desc("The latency of the link model, such as 20us")};
  Option<std::string> linkBandwidth{
      *this, "link-bandwidth",
      llvm::cl::desc("The bandwidth of the link model, such as 10GB/s")};
  Option<int64_t> dynamicSize{
      *this, "dynamic-size",
      llvm::cl::desc("The elements of a dynamic dimension; 0 is 64")};
  Option<std::string> profile{*this, "profile",
                              llvm::cl::desc("A file of measured times")};
  Option<std::string> cudaGraph{
      *this, "cuda-graph",
      llvm::cl::desc("Whether the program runs as CUDA graphs: auto, 0 or 1")};
  Option<std::string> maxMemory{
      *this, "max-memory",
      llvm::cl::desc("The most bytes that may be live at once, such as 80GiB")};
  Option<unsigned> maxInFlight{
      *this, "max-in-flight",
      llvm::cl::desc(
          "The most operations of one lane in flight at once; 0 is no limit")};
  Option<comm::LaneSharing> lanes{
      *this, "lanes", llvm::cl::desc("Which collectives run beside each other"),
      llvm::cl::init(comm::LaneSharing::Communicator),
      comm::getLaneSharingValues()};
  Option<bool> keepOrder{
      *this, "keep-order",
      llvm::cl::desc("Keep the program's order of the starts")};
  Option<uint64_t> steps{
      *this, "steps",
      llvm::cl::desc(
          "The budget of the search; 0 is a number that grows with the block")};
  Option<uint64_t> seed{
      *this, "seed",
      llvm::cl::desc("The seed of the random choices of the search")};
  Option<SearchEffort> effort{
      *this, "effort", llvm::cl::desc("How many steps the search takes"),
      llvm::cl::init(SearchEffort::Default), comm::getSearchEffortValues()};
  Option<bool> planResources{
      *this, "plan-resources",
      llvm::cl::desc("Plan multiprocessors and engines together with the "
                     "order, on machines that were measured "
                     "(comm-plan-resources)"),
      llvm::cl::init(true)};
  Option<unsigned> planNumber{
      *this, "plan",
      llvm::cl::desc("Which plan of comm-plan-resources: 0 is the best one, 1 "
                     "the next one of another kind, and so on")};
  Option<bool> pipelineMatmul{
      *this, "pipeline-matmul",
      llvm::cl::desc("Divide matmuls and their collectives where that pays "
                     "with the order and the plan (comm-pipeline-matmul, on "
                     "modules only)")};
  Option<bool> ownPartFirst{
      *this, "own-part-first",
      llvm::cl::desc("Compute with a rank's own part of a gather before the "
                     "others are there where that pays with the order and the "
                     "plan (comm-own-part-first, on modules only)")};
  Option<bool> pipelineLoops{
      *this, "pipeline-loops",
      llvm::cl::desc("Run collectives of a loop beside its other iterations "
                     "where that pays with the order and the plan "
                     "(comm-pipeline-loops, on modules only)"),
      llvm::cl::init(true)};
  Option<bool> unrollLoops{
      *this, "unroll-loops",
      llvm::cl::desc("Let comm-pipeline-loops make several iterations of a "
                     "loop one where that pays")};
  Option<bool> combine{
      *this, "combine",
      llvm::cl::desc("Combine collectives into launches of several operands "
                     "where that pays with the order and the plan "
                     "(comm-combine, on modules only)"),
      llvm::cl::init(true)};
  Option<bool> simplify{
      *this, "simplify",
      llvm::cl::desc("Transfer less where the result is the same "
                     "(comm-simplify, on modules only)"),
      llvm::cl::init(true)};
  Option<comm::Numerics> numerics{
      *this, "numerics",
      llvm::cl::desc("What comm-simplify, comm-split-batch, "
                     "comm-split-hierarchy and comm-pipeline-loops may do to "
                     "sums of floats"),
      llvm::cl::init(comm::Numerics::Exact), comm::getNumericsValues()};
  Option<bool> mergeBatch{
      *this, "merge-batch",
      llvm::cl::desc("Merge parts of a batch where that pays with the order "
                     "and the plan (comm-merge-batch, on modules only)")};
  Option<bool> splitBatch{
      *this, "split-batch",
      llvm::cl::desc("Split blocks into parts of a batch where that pays "
                     "with the order and the plan (comm-split-batch, on "
                     "modules only)")};
  Option<bool> splitAllReduce{
      *this, "split-all-reduce",
      llvm::cl::desc("Replace all-reduces by reduce-scatters and gathers by "
                     "copy engines where that pays with the order and the "
                     "plan (comm-split-all-reduce, on modules only)")};
  Option<bool> splitHierarchy{
      *this, "split-hierarchy",
      llvm::cl::desc("Run collectives over several nodes in steps within and "
                     "across nodes where that pays (comm-split-hierarchy, on "
                     "modules only)")};
};

/// Hides communication behind computation with `comm-schedule`
/// (`braid-overlap`). Runs between `braid-prepare` and a lowering.
void buildOverlapPipeline(mlir::OpPassManager &pm,
                          const OverlapOptions &options = {});

/// Options of `braid-overlap-inductor`.
struct InductorOverlapOptions
    : public mlir::PassPipelineOptions<InductorOverlapOptions> {
  Option<bool> waitsAsFiller{
      *this, "waits-as-filler",
      llvm::cl::desc("Let a wait that is ready fill a gap, as PyTorch 2.4 "
                     "does, in comm-reorder-compute-for-overlap")};
};

/// Inductor's scheduling passes in their default order
/// (`braid-overlap-inductor`): reorder compute for overlap, sink waits, raise
/// collectives.
void buildInductorOverlapPipeline(mlir::OpPassManager &pm,
                                  const InductorOverlapOptions &options = {});

/// Options of `braid-lower-to-host`.
struct LowerToHostOptions
    : public mlir::PassPipelineOptions<LowerToHostOptions> {
  Option<bool> useLibrary{
      *this, "library",
      llvm::cl::desc("Multiply matrices with the BLAS library"),
      llvm::cl::init(true)};
};

/// Lowers a scheduled program on tensors to the LLVM dialect with calls of the
/// runtime and a table of entry points (`braid-lower-to-host`).
void buildLowerToHostPipeline(mlir::OpPassManager &pm,
                              const LowerToHostOptions &options = {});

/// Options of `braid-lower-kernels`.
struct LowerKernelsOptions
    : public mlir::PassPipelineOptions<LowerKernelsOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("The GPU to compile for"),
                           llvm::cl::init("sm_90")};
  Option<std::string> features{
      *this, "features",
      llvm::cl::desc(
          "The version of PTX, such as +ptx80; by default the oldest "
          "version that supports the chip")};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc("The folder of the CUDA toolkit; by default CUDA_ROOT, "
                     "CUDA_HOME, CUDA_PATH or /usr/local/cuda")};
};

/// Lowers the kernels of `convert-linalg-to-gpu` to the NVVM and LLVM dialects
/// and sets their target (`braid-lower-kernels`). `gpu-module-to-binary` then
/// compiles the kernels.
void buildLowerKernelsPipeline(mlir::OpPassManager &pm,
                               const LowerKernelsOptions &options = {});

/// Options of `braid-lower-to-cuda`: those of `braid-lower-kernels`, and more.
struct LowerToCUDAOptions : public LowerKernelsOptions {
  Option<LibraryLowering> attention{
      *this, "attention",
      llvm::cl::desc("What computes attention on a GPU: library or decompose"),
      llvm::cl::init(LibraryLowering::Library), getLibraryLoweringValues()};
  Option<LibraryLowering> convolution{
      *this, "convolution",
      llvm::cl::desc("What computes convolutions on a GPU: library or "
                     "decompose"),
      llvm::cl::init(LibraryLowering::Library), getLibraryLoweringValues()};
};

/// Lowers a scheduled program on tensors to the LLVM dialect for the host, with
/// kernels for a GPU as data, calls of the runtime and a table of entry points
/// (`braid-lower-to-cuda`).
void buildLowerToCUDAPipeline(mlir::OpPassManager &pm,
                              const LowerToCUDAOptions &options = {});

/// Registers the pipelines above.
void registerPipelines();

} // namespace braid

#endif // BRAID_PIPELINES_PIPELINES_H
