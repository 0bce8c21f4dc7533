//===- IterativePasses.td - Passes that swap under a memory budget -*- tablegen -*-===//
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

/// The options of both iterative passes; `IterativeOptions` holds their values.
defvar iterativeOptions = [
  Option<"useRuntimeEstimations", "use-runtime-estimations", "bool", /*default=*/"false",
         "Stop at hidden operations, and expose others no more than the move hides">,
  Option<"peakMemoryBudget", "peak-memory-budget", "double", /*default=*/"0.2",
         "How much peak memory may grow, as a part of the peak before">,
  Option<"groupWithCollectives", "group-with-collectives", "bool", /*default=*/"false",
         "Move starts along, too">,
  Option<"commRuntimeMult", "comm-runtime-mult", "double", /*default=*/"2.0",
         "The factor of the estimates of operations">,
  Option<"computeRuntimeMult", "compute-runtime-mult", "double", /*default=*/"1.0",
         "The factor of the estimates of compute">,
  Option<"extraOverlap", "extra-overlap", "double", /*default=*/"0.5",
         "How much more compute must hide an operation than its duration, as a part of "
         "that">,
  Option<"statisticsOutput", "statistics", "std::string", /*default=*/"\"\"",
         "The file of a table that says what stopped each start or wait; - is standard "
         "error. Without it the pass writes no table">
];

def CommReorderPreservingPeakMemoryPass
    : Pass<"comm-reorder-preserving-peak-memory"> {
  let summary = "Move starts up under a memory budget";
  let description = [{
    Moves each start up, from the first to the last, past one op at a time. An op
    that the start depends on joins the group of ops that move with the start. A
    start stops at an op if

    - the op is a start and starts keep their order (`collective ordering`). They
      keep it unless `use-runtime-estimations` and `unsafe-collectives-reorder`
      are on, and always where the order is fixed (`comm.order`, sends and
      receives of one group, a block that ranks may reach on different paths,
      `comm.mpmd`);
    - the group depends on the op but the op may not join it (`data dependency`): a
      start without `group-with-collectives`; without estimates, a matmul,
      a convolution, a call, or a kernel that may be one;
    - peak memory would exceed the peak of the input by more than
      `peak-memory-budget` of it (`peak memory new: ... vs base: ...`);
    - with `use-runtime-estimations`: compute hides the operation by more than its
      duration plus `extra-overlap` of it (`unexposed by runtime estimations`); or
      the move would expose more of operations that waits of the group await than
      it hides; or the op is a start that compute of the group would no longer
      hide.

    An operation is hidden by the compute from its start to the first op that
    awaits it, or a later operation of its group. This is
    `reorder_communication_preserving_peak_memory` of PyTorch Inductor. Run it
    after `comm-sink-waits-iterative` or another pass that sinks waits. PyTorch
    lets starts pass each other without estimates, too, which only reverses their
    order.

    The pass takes at most 100 steps for each op of a block and then stops.
    `statistics=-` prints PyTorch's table: for each start its times, the exposed
    time before and after, what stopped it (`None` at the beginning of the block),
    the ops that it passed, and the ops that moved with it.

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

    The remark `moved-starts` counts the starts that were moved, and
    `passed-ops` the ops that they passed.
  }];
  let options = [
    Option<"unsafeCollectivesReorder", "unsafe-collectives-reorder", "bool",
           /*default=*/"true",
           "With estimates, let starts pass each other. All ranks do the same, because "
           "estimates depend on the program alone">
  ] # iterativeOptions # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CommSinkWaitsIterativePass : Pass<"comm-sink-waits-iterative"> {
  let summary = "Move waits down under a memory budget";
  let description = [{
    Moves each wait down, from the last to the first, past one op at a time. An op
    that depends on the wait joins the group of ops that move with the wait. A
    wait stops at an op if

    - the op is a start (`collective ordering`), unless `swap-with-collectives`;
    - the op depends on the group but may not join it (`data dependency`): an op
      that awaits an operation; a start without `group-with-collectives`; without
      estimates, a matmul, a convolution, a call, or a kernel that may be
      one;
    - peak memory would exceed the peak of the input by more than
      `peak-memory-budget` of it (`peak memory new: ... vs base: ...`);
    - with `use-runtime-estimations`: compute hides the operation by more than its
      duration plus `extra-overlap` of it (`unexposed by runtime estimations`); or
      the move would expose more of operations of the group than it hides; or the
      op awaits an operation that compute of the group would no longer hide.

    This is `sink_waits_iterative` of PyTorch Inductor; with
    `comm-reorder-preserving-peak-memory` after it both ends of an operation move.
    The pass takes at most 100 steps for each op of a block and then stops.
    `statistics=-` prints PyTorch's table, as described there.

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

    The remark `moved-waits` counts the waits that were moved, and
    `passed-ops` the ops that they passed.
  }];
  let options = [
    Option<"swapWithCollectives", "swap-with-collectives", "bool", /*default=*/"false",
           "Let waits pass starts">
  ] # iterativeOptions # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_ITERATIVEPASSES_TD
