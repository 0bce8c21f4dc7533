//===- PlanningPasses.td - Passes that plan resources ------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_PLANNINGPASSES_TD
#define BRAID_DIALECT_COMM_TRANSFORMS_PLANNINGPASSES_TD

include "braid/Dialect/Comm/Transforms/CostOptions.td"
include "mlir/Pass/PassBase.td"

def CommPlanResourcesPass : Pass<"comm-plan-resources"> {
  let summary = "Choose the multiprocessors and engines of collectives and matmuls";
  let description = [{
    Chooses, for each collective, its limit on thread blocks (`comm.ctas`) and how it
    moves its data (`comm.transport`), and for each matmul the
    multiprocessors that it counts on (`comm.multiprocessors`). A matmul that
    leaves SMs to others lets a collective begin that is issued beside it; otherwise
    the collective waits for the matmul's end (see docs/design/simulator.md).

    With `orders=program` the order stays. The pass simulates it with each pair of a
    variant of all collectives and a variant of all matmuls, then class by class:
    collectives of the same kind and size, or matmuls of the same shape, get the same
    variant. It takes the plan with the shortest makespan, which is never longer than
    without one.

    With `orders=search` the pass looks for a plan and an order together, because an
    order that is good without a plan may leave nothing to plan. It simulates each pair of
    variants with the orders that the other passes give, searches an order with 50,000 + 20 n
    steps, for n ops, for the best three pairs and for no plan, plans for
    what it finds, and searches again while that gains. A plan that is not 1.5 % shorter than
    the order alone is dropped. `comm-schedule` behind it may
    find a better order for the plan, and looks at limits on memory.

    Then parts of classes get variants of their own where that gains: matmuls
    beside which no collective runs in any order, which need no headroom;
    collectives with nothing beside them; and single ops, if one shortens the
    block by a thousandth. A collective with another variant than the one before
    it is in another lane, and starts behind the wait for that one.

    Predicted plans often differ by less than the model is good for. `plan=1`
    and more give other plans, in the order of their predictions, from which
    measurements may choose (`braid-run --plans`).

    The variants are those with measured times in the profile (docs/reference/profile-files.md), of
    which one each is shipped for `h100x8` and `h200x8`; gathers by copy engines are
    estimated where they are not measured. Other machines have nothing to plan, nor
    has a module with `comm.mpmd`, whose ranks could come to different plans. In a block
    that ranks may reach differently, collectives stay as they are, since they may match
    others of the module.

    An op that has one of these attributes, or `comm.lane`, keeps its own. It is an
    error if it asks for what the machine does not have: more multiprocessors, or
    copy engines or symmetric memory between nodes.

    Before:

    ```mlir
    %t = comm.all_reduce sum %g on @world : tensor<4096x4096xbf16>
    %y = linalg.matmul ins(%x, %w : ...) outs(%e : ...) -> tensor<4096x4096xbf16>
    ```

    After:

    ```mlir
    %t = comm.all_reduce sum %g on @world {comm.ctas = 8 : i64, comm.transport = "symmetric"} : tensor<4096x4096xbf16>
    %y = linalg.matmul {comm.multiprocessors = 124 : i64} ins(%x, %w : ...) outs(%e : ...) -> tensor<4096x4096xbf16>
    ```
  }];
  let options = [
    Option<"orders", "orders", "::braid::comm::PlannedOrders",
           /*default=*/"::braid::comm::PlannedOrders::Program",
           "The orders that a plan is made for: program (its own) or search (what a search "
           "finds together with the plan)",
           "::braid::comm::getPlannedOrdersValues()">,
    Option<"planNumber", "plan", "unsigned", /*default=*/"0",
           "With orders=search, which plan: 0 is the best one, 1 the next one of another kind, "
           "and so on; beyond the last one the best one again">,
    Option<"maxInFlight", "max-in-flight", "unsigned", /*default=*/"0",
           "The most operations of one lane in flight at once; 0 is no limit">,
    lanes, keepOrder
  ] # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def CommSplitAllReducePass : Pass<"comm-split-all-reduce", "::mlir::ModuleOp"> {
  let summary = "Replace all-reduces by reduce-scatters and gathers by copy engines";
  let description = [{
    Replaces an all-reduce by a reduce-scatter and an all-gather with
    `comm.transport = "copy"` where that shortens the block by the fraction
    `min-gain`: copy engines take no multiprocessors from matmuls. Short searches
    plan order and resources of a copy of the block, as
    `comm-pipeline-matmul` does; all-reduces of one kind are split all together,
    or only the last of them, then one after the other.

    The pass splits all-reduces on one tensor of static shape whose rows the
    members of the group share evenly, within a node. The size of the group
    comes from its lists, or from `ranks` for a group `all`: the program
    then runs on this number of ranks only. An all-reduce with a lane, a limit
    on thread blocks, a transport, chunks, a cost or a number in the total order
    keeps what was set by hand. Sums may be added in another order than that of
    an all-reduce. Machines without copy engines for collectives or without
    measurements have nothing to choose.

    Before:

    ```mlir
    %t = comm.all_reduce sum %g on @world : tensor<4096x4096xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    ```

    After, with `ranks=2`:

    ```mlir
    %s = comm.reduce_scatter sum %g on @world dim 0 : tensor<4096x4096xbf16> -> tensor<2048x4096xbf16>
    %p = comm.wait %s : !comm.token<tensor<2048x4096xbf16>>
    %t = comm.all_gather %p on @world dim 0 {comm.transport = "copy"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    ```

    The remark `split-all-reduces` counts the all-reduces that were split.
  }];
  let options = !listconcat([
    Option<"all", "all", "bool", /*default=*/"false",
           "Split all that can be split; an error on machines without copy engines for "
           "collectives">,
    MinGain<"a split has to shorten a block">
  ], costOptions);
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def CommCombinePass : Pass<"comm-combine", "::mlir::ModuleOp"> {
  let summary = "Combine collectives into launches of several operands";
  let description = [{
    Replaces starts of one collective, group and reduction by one start of all
    their operands. A launch takes its latency once, and the operands stay where
    they are. Each token keeps its waits; the value of the first one is there once
    all of the launch has ended. The launch stands where the last of the starts
    stood. What depends on an earlier one follows it.

    No start of a launch depends on another one, be it through values, memory or
    other effects. A start that depends on one of its launch goes to a later
    launch. All starts of a launch are in one block, have the same attributes but
    for their labels and costs, and their tokens go to waits in the block or to
    the next iteration of a loop.
    Costs that the program gives add up. Reductions have one type of elements. A
    start with a lane, a limit on thread blocks, a transport, chunks or a number in
    the total order keeps what was set by hand. In a block that ranks may reach differently nothing is combined. In a
    launch of several reductions a library may add the terms of an element in
    another order (`comm.reordered_sums`); what only moves data keeps its bits.

    With `bytes` a launch is full as soon as the operations in it transfer so many
    bytes, in the order of the program. The first launch of each kind takes the
    first number, the next one the second, and all further ones the last: the
    buckets of PyTorch's DDP are `bytes=1MiB,25MiB`.

    Without `bytes` the pass predicts what launches of 1, 32, 8 and 128 MiB are
    worth, first of all kinds together, then of each kind alone. Short searches
    plan the order of a copy of the block together with its resources, as
    `comm-pipeline-matmul` does. Launches may stay if they shorten the whole block
    by the fraction `min-gain`, or if the block becomes no longer, takes no more
    memory, and the collectives themselves take less time by a fiftieth. Of those
    that are the shortest, but for less than `min-gain`, the pass takes those whose
    collectives take the least time. A block of n ops gets 10,000 / n predictions,
    from 2 to 12. Then longer searches plan the block and the best four once more,
    and launches may be longer than the block by less than `min-gain`.

    Before:

    ```mlir
    %s = comm.all_gather %a on @world dim 0 : tensor<4xf32> -> tensor<8xf32>
    %x = comm.wait %s : !comm.token<tensor<8xf32>>
    %t = comm.all_gather %b on @world dim 0 : tensor<2xbf16> -> tensor<4xbf16>
    %y = comm.wait %t : !comm.token<tensor<4xbf16>>
    ```

    After:

    ```mlir
    %t:2 = comm.all_gather %a, %b on @world dim 0
      : tensor<4xf32>, tensor<2xbf16> -> tensor<8xf32>, tensor<4xbf16>
    %x = comm.wait %t#0 : !comm.token<tensor<8xf32>>
    %y = comm.wait %t#1 : !comm.token<tensor<4xbf16>>
    ```

    The remark `combined-starts` counts the starts that were combined, and the
    remark `launches` those that took their place.
  }];
  let options = !listconcat([
    ListOption<"bytes", "bytes", "std::string",
               "The bytes at which a launch is full, such as 25MiB: of the first launch of "
               "each kind, of the next one, and so on; without it the pass chooses">,
    Option<"count", "count", "unsigned", /*default=*/"0",
           "The most starts of a launch; 0 is no limit">,
    Option<"span", "span", "unsigned", /*default=*/"0",
           "The most ops from the first start of a launch to the last one; 0 is no limit">,
    ListOption<"kinds", "kinds", "std::string",
               "The kinds of collectives to combine, such as all_gather; all without it">,
    MinGain<"launches have to shorten a block">, planResources, maxMemory
  ], costOptions);
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def CommPipelineLoopsPass : Pass<"comm-pipeline-loops", "::mlir::ModuleOp"> {
  let summary = "Run collectives of a loop beside its other iterations";
  let description = [{
    Lets collectives of an `scf.for` run beside the iteration before or behind
    their own. Tokens are carried by the loop, and all values keep their bits.

    *Prefetched* are starts whose operands depend only on the induction variable
    and on what the loop does not change, such as gathers of the weights of a
    layer. Each iteration starts those of the next one. Those of the first
    iteration stand in front of the loop, and the last iteration, which has none
    to start, stands behind it. Each takes the memory of one more result.

    *Delayed* are starts whose results only reach what the loop carries to its
    end, such as reduced gradients that are inserted into a stack: nothing else
    in the loop reads that. The next iteration awaits and uses the result. The
    first iteration, which has none to await, stands in front of the loop, and
    what uses the last result behind it. Each takes the memory of its operands
    for one more iteration.

    *Hoisted* are starts that all iterations share, since the loop changes nothing
    that they need, such as gathers of parameters in a loop over micro-batches.
    They run once: in the first iteration, which then stands in front of the loop
    and may hide them, or else in front of the loop with their waits. Their
    results live as long as the loop. A start whose result an op of the loop
    overwrites is no such start.

    *Summed* are all-reduces whose results, or parts of them, values that the loop
    carries add up, and nothing else in the loop reads, such as gradients of
    micro-batches. Each rank adds its own terms, and one all-reduce behind the loop
    for each value sends the sum, if the loop becomes shorter although nothing hides
    these. Sums of floats are rounded in another order then, which takes
    `numerics=reassociate`, or `comm.any_order` on the all-reduce.

    *Sunk* are all-reduces, broadcasts, permutations, and gathers and
    reduce-scatters within rows, whose results replace the rows of a tensor that
    nothing else in the loop reads, one in each iteration: the loop stacks their
    operands, and one collective behind it sends the stack, if the loop becomes
    shorter although nothing hides that one, and shorter than with delayed ones. A
    library may add up floats in another order then, which takes
    `numerics=same-terms`.

    *Unrolled* with `unroll` are loops of known length: two or four iterations
    become one if collectives of one then run beside work of another. An
    `scf.while` that counts by ones to an end that it does not change, known or not,
    or by constant steps between constants, becomes an `scf.for`.

    Bounds that the program computes may be any: with no iteration nothing runs.
    A start stays in its iteration if ranks may run the loop differently, if the
    loop has an op whose effects are not known, if it is a send or a receive, has
    a number in the total order, and on buffers. One that is to be delayed stays if
    the loop has an op that communicates inside, or if its token goes elsewhere
    than to waits of the body. Inner loops come first: what they start for their
    first iteration may run ahead in the outer loop.

    The pass predicts what an iteration takes, in the middle of many: first with
    all hoisted starts, or with those that save most time for the memory that
    their results take. Then it tries all other starts that may move, the
    prefetched ones alone, the delayed ones alone, and the half, a quarter and so
    on of both. Gathers that are used early come first, and reductions that start
    late. Short searches plan the order of a copy of the loop together with its
    resources, as `comm-pipeline-matmul` does. What the moved starts take once
    counts as if nothing hid it, so that a loop of few iterations has to gain
    more. Starts move if the loop becomes shorter by the fraction `min-gain`;
    among choices that are equally short, but for less than `min-gain`, the one
    with the least memory counts.

    Before:

    ```mlir
    %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%x = %x0) -> (tensor<4xf32>) {
      %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<16x2xf32> to tensor<2xf32>
      %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
      %g = comm.wait %t : !comm.token<tensor<4xf32>>
      %y = arith.mulf %x, %g : tensor<4xf32>
      scf.yield %y : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    %w0 = tensor.extract_slice %ws[%c0, 0] [1, 2] [1, 1] : tensor<16x2xf32> to tensor<2xf32>
    %t0 = comm.all_gather %w0 on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %l:2 = scf.for %i = %c0 to %c15 step %c1 iter_args(%x = %x0, %t = %t0)
        -> (tensor<4xf32>, !comm.token<tensor<4xf32>>) {
      %j = arith.addi %i, %c1 : index
      %w = tensor.extract_slice %ws[%j, 0] [1, 2] [1, 1] : tensor<16x2xf32> to tensor<2xf32>
      %n = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
      %g = comm.wait %t : !comm.token<tensor<4xf32>>
      %y = arith.mulf %x, %g : tensor<4xf32>
      scf.yield %y, %n : tensor<4xf32>, !comm.token<tensor<4xf32>>
    }
    %g = comm.wait %l#1 : !comm.token<tensor<4xf32>>
    %r = arith.mulf %l#0, %g : tensor<4xf32>
    ```

    The remarks `hoisted-start`, `shared-start` (in the first iteration),
    `prefetched-start`, `delayed-start` and `kept-start`, with its reason, name each
    start of a loop; `hoisted-starts`, `prefetched-starts`, `delayed-starts`,
    `summed-starts` and `sunk-starts` count them, and `unrolled-loops` counts loops.
  }];
  let options = !listconcat([
    Option<"all", "all", "bool", /*default=*/"false",
           "Move all starts that may leave their iteration, whatever that is worth">,
    Option<"sinkAll", "sink-all", "bool", /*default=*/"false",
           "Sink all starts whose results fill a stack, whatever that is worth">,
    Option<"unroll", "unroll", "bool", /*default=*/"false",
           "Make several iterations of a loop one where that pays, with all two">,
    numerics, MinGain<"a loop has to become shorter">,
    planResources, maxMemory
  ], costOptions);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_PLANNINGPASSES_TD
