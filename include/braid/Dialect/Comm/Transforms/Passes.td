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
include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

// These passes reorder the ops of every block that holds a start or a wait, and
// change nothing else. They run on modules and, nested, on functions. On a
// module they know what a call's callee does; on a function they may look into
// no other, and a call of a function with a body is ordered against everything.

def CommOrderCollectivesPass : Pass<"comm-order-collectives"> {
  let summary = "Number the starts in program order";
  let description = [{
    Gives every start of a function a number, `comm.order`, in program order,
    whatever number it had before. Every later pass treats the numbers as a total
    order, across all groups: two starts of one block never change places, on any
    rank. This is `decide_global_ordering_of_comms` of PyTorch Inductor.

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
  }];
  let dependentDialects = ["::braid::comm::CommDialect"];
  let statistics = [Statistic<"numOrdered", "numbered-starts", "Starts that were numbered">];
}

def CommSinkWaitsPass : Pass<"comm-sink-waits"> {
  let summary = "Move every wait down to just before its first user";
  let description = [{
    Each wait moves down to just before the first op that uses its value, or that
    touches a buffer that it names; to the end of its block if there is none. An
    op that nothing needs is no user, nor is `tensor.dim`, which is answered from
    the operands of the start. Waits that come to stand at one place keep their
    order, and nothing else moves. This is `sink_waits` of PyTorch Inductor.

    A wait passes no op whose effects are unknown. Between sends and receives
    that are issued as one group, because no wait of their lane stands between
    them, none comes to stand.

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
  }];
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numMoved", "moved-waits", "Waits that were moved">];
}

def CommRaiseCollectivesPass : Pass<"comm-raise-collectives"> {
  let summary = "Move every start up as far as its operands allow";
  let description = [{
    Each start moves up to just after the last op that it depends on, or to the
    beginning of its block, but not before a start that stood before it. With it
    moves what takes no time and what it alone needs, such as a slice of its
    operand. Nothing else moves. This is `raise_comms` of PyTorch Inductor.

    A start that writes a buffer stays after all that reads or writes it, and no
    start passes an op whose effects are unknown.

    With `with-producers` all that a start needs rises too: what only later
    starts, or none, need comes after it. This is `raise_comms` of PyTorch
    Inductor since 2.5. It may cost memory: everything that can be prefetched is.

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
  }];
  let options = [
    Option<"withProducers", "with-producers", "bool", /*default=*/"false",
           "Raise what the starts need, too">
  ];
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numMoved", "moved-starts", "Starts that were moved">];
}

def CommReorderComputeForOverlapPass : Pass<"comm-reorder-compute-for-overlap"> {
  let summary = "Put compute between starts so that it hides behind them";
  let description = [{
    The first start comes first, with all that it needs. Then, for each next
    start, in program order:

    1. what it needs and what does not depend on the start before it;
    2. if that takes less time than the operation in flight: other compute that
       is ready and does not depend on it. What the earliest start needs comes
       first; an op of which at most half would be hidden is left out;
    3. what it needs and what depends on the start before it, which is where the
       wait comes to stand;
    4. the start itself.

    The rest follows in program order. This is `reorder_compute_for_overlap` of
    PyTorch Inductor 2.4, with one difference: step 2 of the original also takes
    waits. They cost 0, so each one that is ready is taken while there is
    anything left to hide; it hides nothing, and stalls compute if its operation
    is still in flight. By default step 2 takes only compute without side
    effects. With `waits-as-filler` it takes waits, too, as the original does.

    Costs come from `comm.cost_ns` where an op has it, and are estimated for
    `hardware` elsewhere. Nested in a function, the pass may look into no other,
    and a call without `comm.cost_ns` counts as 0.

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
  }];
  let options = !listconcat(costOptions, [
    Option<"waitsAsFiller", "waits-as-filler", "bool", /*default=*/"false",
           "Let a wait that is ready fill a gap, as PyTorch 2.4 does">
  ]);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numMoved", "moved-ops", "Ops that passed a start">];
}

def CommListSchedulePass : Pass<"comm-list-schedule"> {
  let summary = "Schedule ops by keys that favor communication";
  let description = [{
    A list schedule: again and again, the op with the smallest key follows among
    those that depend on nothing that is left. The key is

    1. with `raise`: the position, in the program, of the first start that the op
       is, or that depends on it; ops that no start depends on come last;
    2. with `sink`: 1 for what holds the compute stream until an operation has
       ended, such as a wait, and 0 for others;
    3. the place of the op in the program.

    With `reorder`, compute that is ready follows each start, smallest key first,
    until it takes as long as the operation; it may take longer. Waits, and ops
    with side effects, are left out. This is the list scheduler of PyTorch
    Inductor since 2.5:

    | PyTorch | options |
    |---|---|
    | `sink_waits` | `sink` |
    | `raise_comms` | `raise` |
    | `reorder_compute_for_overlap` | `raise sink reorder` |

    With `raise`, starts keep their order, and what a start needs comes with it;
    without, a start that is ready passes one that is not, unless something asks
    for the order of the starts (`comm.order`, sends and receives of one group, a
    block that ranks may reach by different ways, `comm.mpmd`). Only `reorder`
    asks for costs. Without options the program stays as it is.

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
  }];
  let options = [
    Option<"raise", "raise", "bool", /*default=*/"false",
           "What an earlier start needs comes first">,
    Option<"sink", "sink", "bool", /*default=*/"false", "Waits come last">,
    Option<"reorder", "reorder", "bool", /*default=*/"false",
           "Compute that takes as long as its operation follows each start">
  ] # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numMoved", "moved-ops", "Ops that passed a start">];
}

def CommSimpleOverlapPass : Pass<"comm-simple-overlap"> {
  let summary = "Swap starts up and waits down at no cost in memory";
  let description = [{
    First each start moves up, one op at a time, until it depends on the op
    before it, another start stands there, or more memory would live at once than
    in the program as it was. Then, from the last to the first, each wait moves
    down, until the op after it depends on it, another wait stands there, or more
    memory would live at once. This is `simple_overlap` of PyTorch Inductor.

    No estimate of time decides anything. Of memory counts what the block
    allocates, from its first use to its last; of the options only
    `dynamic-size` matters. An op with unknown effects lets nothing pass. There
    are at most 100 swaps for each op of a block; what has not moved by then
    stays.

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
  }];
  let options = costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numMoved", "moved-ops", "Starts and waits that other ops have passed">
  ];
}

def CommLatencyHidingSchedulePass : Pass<"comm-latency-hiding-schedule"> {
  let summary = "Schedule by a list from the end, as XLA's latency hiding scheduler";
  let description = [{
    The algorithm of XLA's latency hiding scheduler with the settings of XLA:GPU.
    Walks from the end of each block to its beginning. Of the ops whose users are
    all placed, it places the best before them by these rules; the first that
    tells a difference decides:

    1. memory, where more than half of `memory-limit` lives: above the limit the
       op that adds least, else ops that stay below it;
    2. a wait, if limits allow its operation to be in flight;
    3. the op for which the stream stands still for the shortest time: a start
       is due when its operation has had its time;
    4. a start with no communication before it comes last (`aggressive`), unless
       waits cannot be placed for it: then first;
    5. more communication before it (`aggressive`);
    6. compute that ends when the next start is due (`aggressive`);
    7. a user of a wait;
    8. the op that makes more others ready (`aggressive`);
    9. the op that stands later in the program.

    `overlap-limit` collectives may be in flight at once, by default one, and
    `point-to-point-limit` sends and receives. With a higher limit, two
    collectives are in flight together only if their groups share at most one
    rank. Limits give way where nothing else can be placed. At last, with
    `post-process`, starts rise and waits sink as far as they may, starts of one
    communicator in the order that was found; so more collectives may be in
    flight than the limit says, one after the other.

    `memory-limit` is a wish, not a guarantee, as in XLA: with `reruns`, a block
    that exceeds it is scheduled again with nine tenths of the last limit.
    `comm-schedule` has a hard limit, and searches further.

    The order of collectives is free where `comm-schedule` has it free. With
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
           "The bytes that should live at most, such as 80GiB; memory does not "
           "matter without it">,
    Option<"reruns", "reruns", "unsigned", /*default=*/"0",
           "How often to schedule again with a smaller limit while memory-limit "
           "is exceeded">,
    Option<"aggressive", "aggressive", "bool", /*default=*/"true",
           "Use the rules that XLA calls aggressive">,
    Option<"postProcess", "post-process", "bool", /*default=*/"true",
           "At last, raise starts and sink waits">,
    Option<"keepOrder", "keep-order", "bool", /*default=*/"false",
           "Keep the program's order of the starts">
  ] # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numMoved", "moved-ops", "Ops that have others before them than they had">
  ];
}

def CommSchedulePass : Pass<"comm-schedule"> {
  let summary = "Search for the order that hides most communication";
  let description = [{
    Gives each block with a start or a wait the best order that it finds: the one
    with the shortest makespan on the simulated machine (see docs/simulator.md);
    of the body of a loop, the one with the shortest time an iteration, with the
    operations in flight that it carries from one iteration into the next. The
    search starts from the program's own order, from the orders of all other
    scheduling passes and from critical-path list schedules, and goes on from the
    best (see docs/search.md); small blocks are searched exactly. So the result
    is never worse than the input or than any other pass.

    The order of collectives is free where all ranks reach a block in the same
    text: there any order is the same on all of them. It stays as it is in blocks
    under a condition or in a loop that ranks may run differently, in modules
    marked `comm.mpmd`, between starts that have `comm.order`, between the sends
    and receives of a group, and everywhere with `keep-order`. Nested in a
    function, the pass does not see the callers of a private function, and keeps
    its order, too.

    `max-memory` is a hard limit of the bytes that live at once in a function,
    with its arguments and with what loops, conditions and calls need inside.
    These may use what the code around them leaves; where that is less than they
    would like to, they are scheduled again. If no order keeps the limit, or none
    is found, an error says by how much and where, and no op is moved. Nested in
    a function (`func.func(comm-schedule{max-memory=80GiB})`), the pass may not
    look into other functions, which may be changing at the same time: what
    callees need does not count, and a warning at the first call says so. Run it
    on the module to have it count.

    With `--remarks-filter=comm-schedule` a remark for each block gives its
    makespan, the makespan of the program's order, the lower bound that no order
    can go below, the gap between makespan and bound, and `Optimal=true` if the
    order is proven to be as good as any. The result depends on the program, the
    options and the budget of `steps` alone, never on time.

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
           "The most bytes that may live at once, such as 80GiB; no limit without it">,
    Option<"maxInFlight", "max-in-flight", "unsigned", /*default=*/"0",
           "The most operations of one lane in flight at once; a block without such an "
           "order stays as it is, with a warning; 0 is no limit">,
    Option<"lanes", "lanes", "std::string", /*default=*/"\"communicator\"",
           "communicator: each group's collectives run beside those of others; "
           "shared: all collectives run one after the other">,
    Option<"keepOrder", "keep-order", "bool", /*default=*/"false",
           "Keep the program's order of the starts">,
    Option<"steps", "steps", "uint64_t", /*default=*/"0",
           "How long to search: nodes placed or looked at, over all orders that are "
           "tried; 0 is a number that grows with the block, or a share of it where "
           "there are several">,
    Option<"seed", "seed", "uint64_t", /*default=*/"0",
           "Of the random choices of the search">
  ] # costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numMoved", "moved-ops", "Ops that have others before them than they had">,
    Statistic<"numOptimal", "optimal-blocks", "Blocks whose order is proven to be as good as any">
  ];
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

def CommReportPass : Pass<"comm-report", "::mlir::ModuleOp"> {
  let summary = "Report the timeline and how much communication stays exposed";
  let description = [{
    Plays every function on the machine of `hardware` (see docs/simulator.md):
    one compute stream that runs the ops in program order, and a lane for each
    group beside it. A start takes no time; its operation runs on its lane from
    the moment the stream comes to the start and the lane is free; a wait holds
    the stream until the operation has ended. The report shows the timeline, one
    line an op, with `| ` before compute that runs beside an operation in flight,
    the total time and how far it is above what no order can go below, and for
    each collective how much of it stays exposed and why: how long the stream
    stands still at its waits. The program itself is not changed. Where more
    lives at once than `max-memory`, or than the hardware has, it says so.

    With `passes` the report is about the program before and after these passes,
    which run on a copy, at the same costs and with the same `max-memory` unless
    they say otherwise themselves:

    ```
    braid-opt prog.mlir --comm-report="passes=comm-sink-waits,comm-raise-collectives"
    ```

    Costs come from `comm.cost_ns` where an op has it, and are estimated for
    `hardware` elsewhere. `format=json` writes the same for machines,
    `format=svg` a picture, `format=html` a page to zoom into, and
    `format=trace` a trace for Perfetto and whatever reads the traces of
    PyTorch's profiler; docs/report.md describes them.
  }];
  let options = [
    Option<"format", "format", "std::string", /*default=*/"\"text\"",
           "How to write the report: text, json, trace, svg or html">,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write it to; - is standard error, as standard output is "
           "for the program">,
    Option<"passes", "passes", "std::string", /*default=*/"\"\"",
           "A pass pipeline to run on a copy of the program, to report before and after; "
           "cost options and max-memory are as here where its passes do not set them">,
    Option<"maxMemory", "max-memory", "std::string", /*default=*/"\"\"",
           "The most bytes that should live at once, such as 80GiB; the memory of "
           "the hardware without it">
  ] # costOptions;
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_PASSES_TD
