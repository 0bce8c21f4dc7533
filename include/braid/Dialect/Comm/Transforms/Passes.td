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
// Lowering
//===----------------------------------------------------------------------===//

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
    `hardware` elsewhere. `format=json` writes the same for machines.
  }];
  let options = [
    Option<"format", "format", "std::string", /*default=*/"\"text\"",
           "How to write the report: text or json">,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write it to; - is standard error, as standard output is "
           "for the program">,
    Option<"passes", "passes", "std::string", /*default=*/"\"\"",
           "A pass pipeline to run on a copy of the program, to report before and after">,
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
           "The elements of a dynamic dimension; 0 is 64">
  ];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_PASSES_TD
