//===- Passes.td - Passes of the comm dialect --------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_PASSES_TD
#define BRAID_DIALECT_COMM_TRANSFORMS_PASSES_TD

include "braid/Dialect/Comm/Transforms/CostOptions.td"
include "braid/Dialect/Comm/Transforms/IterativePasses.td"
include "braid/Dialect/Comm/Transforms/LoweringPasses.td"
include "braid/Dialect/Comm/Transforms/PlanningPasses.td"
include "braid/Dialect/Comm/Transforms/StructuralPasses.td"
include "braid/Dialect/Comm/Transforms/VerifyPasses.td"
include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

// These passes reorder the ops of every block that holds a start or a wait, and
// change nothing else. They run on modules and, nested, on functions. On a
// module they use the effects of callees. On a function they read no other
// function, so a call of a function with a body keeps its place relative to all
// other ops.

def CommOrderCollectivesPass : Pass<"comm-order-collectives"> {
  let summary = "Number the starts in program order";
  let description = [{
    Numbers the starts of each function in program order (`comm.order`) and
    replaces older numbers. Later passes treat the numbers as a total order across
    all groups: they never exchange two starts of one block, on any rank. The pass
    implements `decide_global_ordering_of_comms` of PyTorch Inductor.

    Before:

    ```mlir
    %t = comm.all_reduce sum %a on @tp : tensor<4xf32>
    %u = comm.all_reduce sum %b on @dp : tensor<4xf32>
    ```

    After:

    ```mlir
    %t = comm.all_reduce sum %a on @tp {comm.order = 0 : i64} : tensor<4xf32>
    %u = comm.all_reduce sum %b on @dp {comm.order = 1 : i64} : tensor<4xf32>
    ```

    The remark `numbered-starts` counts the starts.
  }];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def CommSinkWaitsPass : Pass<"comm-sink-waits"> {
  let summary = "Move every wait down to just before its first user";
  let description = [{
    Moves each wait down to just before its first user: the first op that uses the
    value of the wait or accesses a buffer that the wait names. A wait without a
    user moves to the end of its block. A dead op is no user. Waits that move to
    one place keep their order. Nothing else moves. The pass implements
    `sink_waits` of PyTorch Inductor.

    A `tensor.dim` of an awaited value is a user. `braid-prepare`, or
    `resolve-ranked-shaped-type-result-dims` alone, rewrites it to a `tensor.dim`
    of the operands of the start.

    A wait never passes an op with unknown effects. Sends and receives without a
    wait of their lane between them are issued as one group; no wait moves into
    such a group.

    Before:

    ```mlir
    %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
    %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
    %c = comm.compute "mm"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = arith.addf %r, %c : tensor<4x4xf32>
    ```

    After:

    ```mlir
    %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
    %c = comm.compute "mm"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
    %s = arith.addf %r, %c : tensor<4x4xf32>
    ```

    The remark `moved-waits` counts the waits that were moved.
  }];
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CommRaiseCollectivesPass : Pass<"comm-raise-collectives"> {
  let summary = "Move every start up as far as its operands allow";
  let description = [{
    Moves each start up to just after the last op that the start depends on, or to
    the beginning of its block. Starts keep their order. An op without cost whose
    only user is the start, such as a slice of the operand, moves with it. Nothing
    else moves. The pass implements `raise_comms` of PyTorch Inductor.

    A start that writes a buffer stays after every earlier access to the buffer.
    No start passes an op with unknown effects.

    With `with-producers` all producers of a start move up, too, and other ops
    follow the start. This is `raise_comms` of PyTorch Inductor since 2.5. The
    option can increase peak memory, because all operands are prefetched.

    Before:

    ```mlir
    %c = comm.compute "relu"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = comm.compute "mm"(%c) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
    %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
    ```

    After:

    ```mlir
    %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
    %c = comm.compute "relu"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = comm.compute "mm"(%c) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
    ```

    The remark `moved-starts` counts the starts that were moved.
  }];
  let options = [
    Option<"withProducers", "with-producers", "bool", /*default=*/"false",
           "Raise the producers of the starts, too">
  ];
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CommReorderComputeForOverlapPass : Pass<"comm-reorder-compute-for-overlap"> {
  let summary = "Put compute between starts so that it hides behind them";
  let description = [{
    Places the first start with all its producers. For each further start, in
    program order, the pass places

    1. the producers of the start that do not depend on the previous start;
    2. if these take less time than the operation in flight: other ready compute
       that does not depend on the operation. Producers of the earliest start come
       first. The pass skips an op if at most half of its time would be hidden;
    3. the producers of the start that depend on the previous start, and before
       them the wait;
    4. the start itself.

    All other ops follow in program order. The pass implements
    `reorder_compute_for_overlap` of PyTorch Inductor 2.4, with one difference:
    step 2 of the original also places waits. A wait costs 0, so the original
    places every ready wait while compute is still missing; such a wait hides
    nothing and stalls compute if its operation is still in flight. By default,
    step 2 places only compute without side effects. With `waits-as-filler` it
    places waits, too.

    An op costs its `comm.cost_ns`, or the estimate for `machine`. Nested in a
    function, the pass reads no other function, and a call without `comm.cost_ns`
    costs 0.

    Before, where every op but the collective takes 5 ns:

    ```mlir
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r) : (tensor<4xf32>) -> tensor<4xf32>
    %u = comm.all_reduce sum %f on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    %g = comm.compute "g"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    After:

    ```mlir
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %g = comm.compute "g"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r) : (tensor<4xf32>) -> tensor<4xf32>
    %u = comm.all_reduce sum %f on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    ```

    The remark `moved-ops` counts the ops that passed a start.
  }];
  let options = !listconcat(costOptions, [
    Option<"waitsAsFiller", "waits-as-filler", "bool", /*default=*/"false",
           "Let a wait that is ready fill a gap, as PyTorch 2.4 does">
  ]);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CommListSchedulePass : Pass<"comm-list-schedule"> {
  let summary = "Schedule ops by keys that favor communication";
  let description = [{
    A list scheduler: it repeatedly places the ready op with the smallest key. An
    op is ready if all ops that it depends on are placed. The key is

    1. with `raise`: the position, in the program, of the first start among the op
       and the ops that depend on it; ops without such a start come last;
    2. with `sink`: 1 for an op that blocks the compute stream until an operation
       has ended, such as a wait, and 0 for other ops;
    3. the position of the op in the program.

    With `reorder`, ready compute follows each start, smallest key first, until its
    time reaches that of the operation. The last op may exceed it. Waits and ops
    with side effects are no such compute. The pass implements the list scheduler
    of PyTorch Inductor since 2.5:

    | PyTorch | options |
    |---|---|
    | `sink_waits` | `sink` |
    | `raise_comms` | `raise` |
    | `reorder_compute_for_overlap` | `raise sink reorder` |

    With `raise`, starts keep their order, and the producers of a start precede it.
    Without `raise`, a ready start passes a start that is not ready, unless the
    order of the starts is fixed (`comm.order`, sends and receives of one group, a
    block that ranks may reach on different paths, `comm.mpmd`). Only `reorder`
    uses costs. Without options the pass changes nothing.

    Before, where every op but the collective takes 5 ns:

    ```mlir
    %c = comm.compute "relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r) : (tensor<4xf32>) -> tensor<4xf32>
    %g = comm.compute "g"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %h = comm.compute "h"(%g) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    After `comm-list-schedule{raise sink reorder}`:

    ```mlir
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %c = comm.compute "relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %g = comm.compute "g"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %h = comm.compute "h"(%g) : (tensor<4xf32>) -> tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    The remark `moved-ops` counts the ops that passed a start.
  }];
  let options = [
    Option<"raise", "raise", "bool", /*default=*/"false",
           "Place the producers of earlier starts first">,
    Option<"sink", "sink", "bool", /*default=*/"false", "Place waits last">,
    Option<"reorder", "reorder", "bool", /*default=*/"false",
           "Place compute of the time of the operation after each start">
  ] # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CommSimpleOverlapPass : Pass<"comm-simple-overlap"> {
  let summary = "Swap starts up and waits down at no cost in memory";
  let description = [{
    Moves each start up, one op at a time, until the start depends on the op before
    it, the op before it is a start, or peak memory would exceed that of the
    input. Then moves each wait down, from the last to the first, until the op
    after it depends on the wait, the op after it is a wait, or peak memory would
    exceed that of the input. The pass implements `simple_overlap` of PyTorch
    Inductor.

    The pass uses no estimate of time. Peak memory counts the allocations of the
    block, from first to last use; of the options only `dynamic-size` has an
    effect. Nothing passes an op with unknown effects. The pass swaps at most 100
    times for each op of a block and then stops.

    Before:

    ```mlir
    %c = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %t = comm.all_reduce sum %a on @world : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %d = comm.compute "g"(%c) : (tensor<4xf32>) -> tensor<4xf32>
    %s = arith.addf %r, %d : tensor<4xf32>
    ```

    After:

    ```mlir
    %t = comm.all_reduce sum %a on @world : tensor<4xf32>
    %c = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %d = comm.compute "g"(%c) : (tensor<4xf32>) -> tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = arith.addf %r, %d : tensor<4xf32>
    ```

    The remark `moved-ops` counts the starts and waits that other ops have passed.
  }];
  let options = costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CommLatencyHidingSchedulePass : Pass<"comm-latency-hiding-schedule"> {
  let summary = "Schedule backwards by the rules of XLA's latency hiding scheduler";
  let description = [{
    Implements the algorithm of XLA's latency hiding scheduler with the settings of
    XLA:GPU. The pass builds each block from its end. An op is ready if all its
    users are placed. The pass places the best ready op before them; the first
    rule that separates two ops decides:

    1. memory, while more than half of `memory-limit` is live: above the limit the
       op that adds least, below the limit an op that stays below;
    2. a wait, if the limits allow its operation in flight;
    3. the op with the shortest stall: a start is due when its operation has had
       its time;
    4. a start without communication before it comes last (`aggressive`), or first
       if it keeps waits from being placed;
    5. the op with more communication before it (`aggressive`);
    6. compute that ends when the next start is due (`aggressive`);
    7. a user of a wait;
    8. the op that makes more ops ready (`aggressive`);
    9. the op that is later in the program.

    At most `overlap-limit` collectives and `point-to-point-limit` sends and
    receives are in flight at once. With an `overlap-limit` above 1, two
    collectives are in flight together only if their groups share at most one
    rank. The pass exceeds a limit if it cannot place any other op. With
    `post-process` the pass finally raises starts and sinks waits. Starts of one
    communicator keep the order that was found, so operations above
    `overlap-limit` run one after the other.

    As in XLA, `memory-limit` is a goal, not a guarantee: with `reruns`, the pass
    schedules a block above the limit again with nine tenths of the last limit.
    `comm-schedule` has a hard limit.

    The order of collectives is free where it is free for `comm-schedule`. With
    `--remarks-filter=comm-latency-hiding-schedule` a remark for each op names the
    rule that chose the op.

    Before:

    ```mlir
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%b) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %g = comm.compute "g"(%r, %f) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    After, with `%f` behind the all-reduce:

    ```mlir
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %f = comm.compute "f"(%b) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %g = comm.compute "g"(%r, %f) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"overlapLimit", "overlap-limit", "unsigned", /*default=*/"1",
           "The most collectives in flight at once; 0 is no limit">,
    Option<"pointToPointLimit", "point-to-point-limit", "unsigned", /*default=*/"4",
           "The most sends and receives in flight at once; 0 is no limit">,
    Option<"memoryLimit", "memory-limit", "std::string", /*default=*/"\"\"",
           "The goal for peak memory, such as 80GiB; without it the pass ignores "
           "memory">,
    Option<"reruns", "reruns", "unsigned", /*default=*/"0",
           "The most times to schedule again with a smaller limit while memory-limit "
           "is exceeded">,
    Option<"aggressive", "aggressive", "bool", /*default=*/"true",
           "Use the rules that XLA calls aggressive">,
    Option<"postProcess", "post-process", "bool", /*default=*/"true",
           "Finally raise starts and sink waits">,
    keepOrder
  ] # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CommSchedulePass : Pass<"comm-schedule"> {
  let summary = "Search for the order that hides most communication";
  let description = [{
    Searches, for each block with a start or a wait, the order with the shortest
    makespan on the simulated machine (see docs/design/simulator.md). For the body of a
    loop the pass minimizes the time of one iteration, including operations in
    flight that one iteration carries into the next. The search starts from the
    order of the program, the orders of all other scheduling passes and
    critical-path list schedules, and improves the best of them (see
    docs/design/search.md). Small blocks are searched exactly. The result is never worse
    than the input or than the result of another scheduling pass, except that an
    order of these stays unless the search shortens it by the fraction `min-gain`.

    The order of collectives is free where all ranks run the same block,
    because every rank then gets the same order. The order is fixed in blocks
    under a condition or in a loop that ranks may run differently, in modules with
    `comm.mpmd`, between starts with `comm.order`, between the sends and receives
    of a group, and everywhere with `keep-order`. Nested in a function, the pass
    cannot read the callers of a private function and keeps its order, too.

    `max-memory` is a hard limit for the bytes that are live at once in a function,
    including its arguments and the memory of nested loops, conditions and calls.
    A nested block may use the memory that the surrounding code leaves; the pass
    schedules the nested block again if that is too little for the first result.
    If the pass finds no order within the limit, it emits an error with the op and
    the excess, and moves nothing. Nested in a function
    (`func.func(comm-schedule{max-memory=80GiB})`), the pass may not read other
    functions, which other threads may be changing. The memory of callees then
    does not count, and a warning at the first call says so. Run the pass on the
    module to count it.

    With `--remarks-filter=comm-schedule` a remark for each block gives its
    makespan, the makespan of the program's order, the lower bound for all orders,
    the gap between makespan and bound, and `Optimal=true` if the order is proven
    to be optimal. The result depends only on the program, the options and the
    budget of `steps`, never on time.

    Before, where every op but the collectives takes 5 ns:

    ```mlir
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %u = comm.all_reduce sum %b on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    %g = comm.compute "g"(%s) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    After, 25 ns instead of 30:

    ```mlir
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %u = comm.all_reduce sum %b on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    %g = comm.compute "g"(%s) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"maxMemory", "max-memory", "std::string", /*default=*/"\"\"",
           "The most bytes that may be live at once, such as 80GiB; no limit without it">,
    Option<"maxInFlight", "max-in-flight", "unsigned", /*default=*/"0",
           "The most operations of one lane in flight at once; 0 is no limit. A block "
           "without such an order keeps its order, with a warning">,
    lanes, keepOrder,
    Option<"effort", "effort", "::braid::SearchEffort",
           /*default=*/"::braid::SearchEffort::Default",
           "How much the search invests: low, default (stops where twice the steps gain "
           "less than 0.1 percent) or high (spends all steps)",
           "::braid::comm::getSearchEffortValues()">,
    Option<"steps", "steps", "uint64_t", /*default=*/"0",
           "The most steps of the search: nodes placed or examined, over all orders; 0 is "
           "a number that follows from the effort and the size of the block, or a share of "
           "it where there are several blocks">,
    Option<"seed", "seed", "uint64_t", /*default=*/"0",
           "The seed of the random choices of the search">,
    Option<"minGain", "min-gain", "std::string", /*default=*/"\"auto\"",
           "The fraction by which the search has to shorten the order of another pass to "
           "replace it; auto is 0.01 on machines whose multiprocessors are queued for, else "
           "0">
  ] # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

def CommReportPass : Pass<"comm-report", "::mlir::ModuleOp"> {
  let summary = "Report the timeline and how much communication stays exposed";
  let description = [{
    Simulates every function on `machine` (see docs/design/simulator.md):
    one compute stream runs the ops in program order, and each group has a lane
    beside the stream. A start takes no time. Its operation runs on its lane as
    soon as the stream has reached the start and the lane is free. A wait blocks
    the stream until the operation has ended. The report contains

    * the timeline, one line for each op, with `| ` before compute that runs beside
      an operation in flight;
    * the total time and its distance from the lower bound for all orders;
    * for each collective the exposed time, which is how long the stream stalls at
      its waits, and the reason;
    * a note if more memory is live at once than `max-memory`, or than the machine
      has.

    The pass does not change the program. With `passes` the report compares the
    program before and after these passes. They run on a copy, with the cost
    options and the `max-memory` of `comm-report` as defaults:

    ```
    braid-opt prog.mlir --comm-report="passes=comm-sink-waits,comm-raise-collectives"
    ```

    With `trace` the report compares the program, after `passes`, with a run of it:

    ```
    braid-run prog.mlir --ranks=2 --passes='comm-sink-waits' --trace=run.json
    braid-opt prog.mlir --comm-report="passes=comm-sink-waits trace=run.json"
    ```

    An op costs its `comm.cost_ns`, or the estimate for `machine`. docs/guides/report.md
    describes the formats.
  }];
  let options = [
    Option<"format", "format", "::braid::comm::ReportFormat",
           /*default=*/"::braid::comm::ReportFormat::Text",
           "The format of the report: text, json, trace or html",
           "::braid::comm::getReportFormatValues()">,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file of the report; - is standard error, because standard output is "
           "for the program">,
    Option<"passes", "passes", "std::string", /*default=*/"\"\"",
           "A pass pipeline to run on a copy of the program, to report before and after; "
           "its passes take cost options and max-memory from here unless they set them">,
    Option<"trace", "trace", "std::string", /*default=*/"\"\"",
           "A trace that braid-run --trace has written of a run of the program after "
           "the passes: the report shows predicted and measured times side by side">,
    Option<"measuredProfile", "measured-profile", "std::string", /*default=*/"\"\"",
           "The file to which the measured costs of `trace` are written, as a profile "
           "for the option profile of passes">,
    Option<"maxMemory", "max-memory", "std::string", /*default=*/"\"\"",
           "The most bytes that may be live at once, such as 80GiB; the memory of "
           "the machine without it">
  ] # costOptions;
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_PASSES_TD
