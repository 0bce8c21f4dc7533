//===- IterativePasses.td - Passes that swap under a memory budget *- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_ITERATIVEPASSES_TD
#define BRAID_DIALECT_COMM_TRANSFORMS_ITERATIVEPASSES_TD

include "braid/Dialect/Comm/Transforms/CostOptions.td"
include "mlir/Pass/PassBase.td"

/// What both iterative passes take; `IterativeOptions` holds them.
defvar iterativeOptions = [
  Option<"useRuntimeEstimations", "use-runtime-estimations", "bool", /*default=*/"false",
         "Stop at what is hidden, and expose nothing else more than that is worth">,
  Option<"peakMemoryBudget", "peak-memory-budget", "double", /*default=*/"0.2",
         "How much more memory may live at once, as a part of the peak before">,
  Option<"groupWithCollectives", "group-with-collectives", "bool", /*default=*/"false",
         "Drag starts along, too">,
  Option<"commRuntimeMult", "comm-runtime-mult", "double", /*default=*/"2.0",
         "What the estimates of operations are multiplied by">,
  Option<"computeRuntimeMult", "compute-runtime-mult", "double", /*default=*/"1.0",
         "What the estimates of compute are multiplied by">,
  Option<"extraOverlap", "extra-overlap", "double", /*default=*/"0.5",
         "How much more compute than it needs hides an operation, as a part of its "
         "duration">,
  Option<"statisticsOutput", "statistics", "std::string", /*default=*/"\"\"",
         "The file to write a table to, which says of each what has held it; - is "
         "standard error. Without it there is none">
];

def CommReorderPreservingPeakMemoryPass
    : Pass<"comm-reorder-preserving-peak-memory"> {
  let summary = "Move starts up under a memory budget, and say what holds each";
  let description = [{
    Moves one start after the other, the first one first, up past the op before
    it, again and again. An op that the start, or what it drags along, depends on
    is dragged along. It stops where

    - starts keep their order and the op is one (`collective ordering`). They do
      unless `use-runtime-estimations` and `unsafe-collectives-reorder` are on,
      and wherever something asks for their order (`comm.order`, sends and
      receives of one group, a block that ranks may reach by different ways,
      `comm.mpmd`);
    - the op is needed but may not be dragged along (`data dependency`): a start
      without `group-with-collectives`; without estimates, a matrix product, a
      convolution, a call, or a kernel that may be one;
    - more than the peak of the program as it was, and `peak-memory-budget` of
      that, would live at once (`peak memory new: ... vs base: ...`);
    - with `use-runtime-estimations`: it is hidden by more compute than it needs,
      by `extra-overlap` of its duration (`unexposed by runtime estimations`); or
      the op would expose more of operations that dragged waits await than it
      hides; or it is a start, and dragged compute would no longer hide it.

    An operation is hidden by the compute from its start to the first op that
    awaits it, or a later operation of its group. This is
    `reorder_communication_preserving_peak_memory` of PyTorch Inductor, to be run
    after `comm-sink-waits-iterative` or another pass that sinks waits. PyTorch
    lets starts pass each other without estimates, too, which only turns their
    order around.

    There are at most 100 steps for each op of a block; what has not moved by
    then stays. `statistics=-` prints PyTorch's table: for each start, times,
    what it had exposed before and after, what held it (`None` at the beginning
    of the block), and what it passed and dragged along.

    Before:

    ```mlir
    %c = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %b = arith.truncf %a : tensor<4xf32> to tensor<4xbf16>
    %t = comm.all_reduce sum %b on @world : tensor<4xbf16>
    %r = comm.wait %t : !comm.token<tensor<4xbf16>>
    ```

    After:

    ```mlir
    %b = arith.truncf %a : tensor<4xf32> to tensor<4xbf16>
    %t = comm.all_reduce sum %b on @world : tensor<4xbf16>
    %c = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xbf16>>
    ```
  }];
  let options = [
    Option<"unsafeCollectivesReorder", "unsafe-collectives-reorder", "bool",
           /*default=*/"true",
           "With estimates, let starts pass each other. As estimates depend on the "
           "program alone, all ranks do the same">
  ] # iterativeOptions # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numMoved", "moved-starts", "Starts that were moved">,
    Statistic<"numMoves", "moves", "Ops that they passed">
  ];
}

def CommSinkWaitsIterativePass : Pass<"comm-sink-waits-iterative"> {
  let summary = "Move waits down under a memory budget, and say what holds each";
  let description = [{
    Moves one wait after the other, the last one first, down past the op after
    it, again and again. An op that depends on the wait, or on what it drags
    along, is dragged along. It stops where

    - the op is a start (`collective ordering`), unless `swap-with-collectives`;
    - the op depends on it but may not be dragged along (`data dependency`): what
      awaits something; a start without `group-with-collectives`; without
      estimates, a matrix product, a convolution, a call, or a kernel that may be
      one;
    - more than the peak of the program as it was, and `peak-memory-budget` of
      that, would live at once (`peak memory new: ... vs base: ...`);
    - with `use-runtime-estimations`: its operation is hidden by more compute
      than it needs, by `extra-overlap` of its duration (`unexposed by runtime
      estimations`); or the op would expose more of operations that were dragged
      along than it hides; or it awaits something, and dragged compute would no
      longer hide that.

    This is `sink_waits_iterative` of PyTorch Inductor; with
    `comm-reorder-preserving-peak-memory` after it both ends of an operation move.
    There are at most 100 steps for each op of a block; what has not moved by
    then stays. `statistics=-` prints PyTorch's table, see there.

    Before:

    ```mlir
    %t = comm.all_reduce sum %a on @world : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %e = math.exp %r : tensor<4xf32>
    %c = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    After:

    ```mlir
    %t = comm.all_reduce sum %a on @world : tensor<4xf32>
    %c = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %e = math.exp %r : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"swapWithCollectives", "swap-with-collectives", "bool", /*default=*/"false",
           "Let waits pass starts">
  ] # iterativeOptions # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numMoved", "moved-waits", "Waits that were moved">,
    Statistic<"numMoves", "moves", "Ops that they passed">
  ];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_ITERATIVEPASSES_TD
