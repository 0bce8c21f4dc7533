//===- Passes.td - Passes of the comm dialect --------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_PASSES_TD
#define BRAID_DIALECT_COMM_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

// These passes reorder the ops of every block that holds a start or a wait, and
// change nothing else. They run on modules and, nested, on functions. On a
// module they know what a call's callee does; on a function they may look into
// no other, and a call of a function with a body is ordered against everything.

/// What passes that ask for costs take; `CostSettings` holds them.
defvar costOptions = [
  Option<"hardware", "hardware", "std::string", /*default=*/"\"\"",
         "The hardware to estimate for: v100x8 a100x8 h100x8 h200x8 b200x8 cpu ideal. "
         "Without it the module's comm.hardware, or else h100x8">,
  Option<"worldSize", "world-size", "int64_t", /*default=*/"0",
         "The number of ranks in a group of all; 0 is the hardware's ranks per node">,
  Option<"collectiveModel", "collective-model", "std::string", /*default=*/"\"\"",
         "How collectives are estimated: inductor (PyTorch 2.4's NCCL formula) or "
         "link (latency and bandwidth, as braid-run --link rehearses it). Without it "
         "inductor on GPUs, link elsewhere">,
  Option<"linkLatency", "link-latency", "std::string", /*default=*/"\"\"",
         "The latency of the link model, such as 20us; the hardware's without it">,
  Option<"linkBandwidth", "link-bandwidth", "std::string", /*default=*/"\"\"",
         "The bandwidth of the link model, such as 10GB/s; the hardware's without it">,
  Option<"dynamicSize", "dynamic-size", "int64_t", /*default=*/"0",
         "The elements of a dynamic dimension; 0 is 64">,
  Option<"profile", "profile", "std::string", /*default=*/"\"\"",
         "A file of measured times, which come before estimates (docs/profiles.md)">
];

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
    PyTorch Inductor 2.4, with one repair: in step 2 it also took waits, which
    cost nothing and stall, here it takes only compute without side effects.

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
  let options = costOptions;
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numMoved", "moved-ops", "Ops that passed a start">];
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

def CommFuseElementwisePass
    : Pass<"comm-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise ops that depend on the same collectives";
  let description = [{
    Fuses elementwise producers on tensors into their only consumer, as
    linalg-fuse-elementwise-ops does, under one rule: producer and consumer
    depend on the same set of collectives, directly or not. Fusing others would
    move work that could hide a collective behind its wait.

    Ops of other dialects that work on tensors element by element become
    `linalg.generic` first. Labels are merged (`exp+add`), costs added where both
    ops have one, and locations fused. After the pass nothing more can be fused,
    so that a schedule need not be kept from fusion.

    Before:

    ```mlir
    %x = math.exp %a {comm.label = "exp"} : tensor<4xf32>
    %y = math.absf %x {comm.label = "abs"} : tensor<4xf32>   // as %x, needs no wait
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %z = arith.addf %y, %r {comm.label = "add"} : tensor<4xf32>
    ```

    After:

    ```mlir
    %y = linalg.generic ... attrs = {comm.label = "exp+abs"} ...
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %z = linalg.generic ... ins(%y, %r ...) attrs = {comm.label = "add"} ...
    ```
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
  let statistics = [Statistic<"numFused", "fused-producers",
                              "Producers that were fused into their consumer">];
}

def CommInlineComputePass
    : Pass<"comm-inline-compute", "::mlir::func::FuncOp"> {
  let summary = "Inline the regions of comm.compute";
  let description = [{
    Runs after scheduling: a unit of compute becomes the ops of its region, named
    after it in their locations. An `async` one runs at its start, on the compute
    stream, for a host has no side stream; its waits give its values.

    Errors: an opaque `comm.compute`, which has nothing to run, and an `async`
    one whose token goes anywhere but to waits.

    Before:

    ```mlir
    %y = comm.compute "exp"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %e = math.exp %a : tensor<4xf32>
      comm.yield %e : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    %y = math.exp %x : tensor<4xf32>
    ```
  }];
}

def CommBufferizePass : Pass<"comm-bufferize", "::mlir::ModuleOp"> {
  let summary = "Bufferize a program and its operations in flight";
  let description = [{
    Turns tensors into buffers with One-Shot Bufferize, across functions. A
    collective runs in place on a value that no one else needs, and into a second
    buffer, without a copy, on a value that is shared. Until its wait no one
    writes what it reads, and no one touches what it writes: a later write goes
    to a copy of its own. The wait names the buffers in flight.

    A token that is not awaited in the block of its start, but returned, yielded
    or passed on, owns its source: a dead value is taken over, a live one is
    copied before the start, and the token travels with its buffers.

    Arguments of public functions are read-only unless they are marked
    `comm.donated`. Operands that are not contiguous are packed before the
    start. Attributes and locations of starts and waits are kept.

    The pass ends with the check of `comm-check-in-flight`.

    Before:

    ```mlir
    %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %t = comm.all_reduce sum %x on @world : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    ```

    After:

    ```mlir
    %x = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
    %t = comm.all_reduce sum %x into %x on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t writes(%x : memref<4xf32>) : !comm.token
    ```
  }];
  let dependentDialects = [
    "::braid::comm::CommDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

def CommCheckInFlightPass : Pass<"comm-check-in-flight"> {
  let summary = "Check that no one touches a buffer in flight";
  let description = [{
    Between the start of an operation on buffers and its wait no op may write or
    free a buffer that the operation reads, nor read, write, copy or free one
    that it writes. Each op that does gets an error, with a note at the start.

    ```mlir
    %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
    // error: 'memref.store' op writes a buffer that an operation in flight reads,
    // expected its wait before
    memref.store %c, %x[%i] : memref<4xf32>
    comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
    ```
  }];
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

    `max-memory` is a hard limit of the bytes that live at once in a block, with
    the arguments of the function. If no order keeps it, or none is found, an
    error says by how much and where, and no op is moved.

    For each block a remark gives its makespan, the lower bound that no order can
    go below, and the gap between them, or `optimal` if the order is proven to be
    as good as any. The result depends on the program, the options and the budget
    of `steps` alone, never on time.

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
           "The most operations of one lane in flight at once; 0 is no limit">,
    Option<"lanes", "lanes", "std::string", /*default=*/"\"communicator\"",
           "communicator: each group's collectives run beside those of others; "
           "shared: all collectives run one after the other">,
    Option<"keepOrder", "keep-order", "bool", /*default=*/"false",
           "Keep the program's order of the starts">,
    Option<"steps", "steps", "uint64_t", /*default=*/"0",
           "How long to search: nodes placed or looked at, over all orders that are "
           "tried; 0 is a number that grows with the block">,
    Option<"seed", "seed", "uint64_t", /*default=*/"0",
           "Of the random choices of the search">,
    Option<"print", "print", "bool", /*default=*/"true",
           "Give a remark for each block">
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
    Plays every function on the textbook machine: one compute stream that runs
    the ops in program order, and a lane for each group beside it. A start takes
    no time; its operation runs on its lane from the moment the stream comes to
    the start and the lane is free; a wait holds the stream until the operation
    has ended. The report shows the timeline, one line an op, with `| ` before
    compute that runs beside an operation in flight, the total time, and for
    each collective how much of it stays exposed: how long the stream stands
    still at its waits. The program itself is not changed.

    With `passes` the report is about the program before and after these passes,
    which run on a copy:

    ```
    braid-opt prog.mlir --comm-report="passes=comm-sink-waits,comm-raise-collectives"
    ```

    Costs come from `comm.cost_ns` where an op has it, and are estimated for
    `hardware` elsewhere. `format=json` writes the same for machines,
    `format=svg` a picture, and `format=trace` a trace for Perfetto and whatever reads
    the traces of PyTorch's profiler.
  }];
  let options = [
    Option<"format", "format", "std::string", /*default=*/"\"text\"",
           "How to write the report: text, json, trace or svg">,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write it to; - is standard error, as standard output is "
           "for the program">,
    Option<"passes", "passes", "std::string", /*default=*/"\"\"",
           "A pass pipeline to run on a copy of the program, to report before and after">
  ] # costOptions;
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_PASSES_TD
