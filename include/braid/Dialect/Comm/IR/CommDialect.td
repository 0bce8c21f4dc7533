//===- CommDialect.td - Definition of the comm dialect -----*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMDIALECT_TD
#define BRAID_DIALECT_COMM_IR_COMMDIALECT_TD

include "mlir/IR/DialectBase.td"

def Comm_Dialect : Dialect {
  let name = "comm";
  let cppNamespace = "::braid::comm";
  let summary = "Collectives, waits and compute as asynchronous tokens";
  let description = [{
    The `comm` dialect describes the communication of an SPMD program in a form
    that a compiler can reorder. One op *starts* a collective and returns a token.
    Another op *awaits* the token and returns the value. A value does not exist
    before its wait, so no order of the other ops lets an op use it too early.

    ```mlir
    comm.group @world all

    func.func @step(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
      %c = comm.compute "relu"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
      %s = arith.addf %r, %c : tensor<4x4xf32>
      return %s : tensor<4x4xf32>
    }
    ```

    **Two levels.** The same ops work on tensors (values) and on memrefs
    (buffers). On tensors a token carries the value of the operation. On buffers a
    start names the destination with `into`, and its token carries no value. The
    wait names every buffer in flight, so that liveness, deallocation and alias
    analysis see that the buffers are in use until the wait.

    **Effects.** A start reads and writes the `CommunicatorResource`, so that no pass removes,
    merges, duplicates or hoists it: every member of its group has to run it. A wait frees its
    token on the `RequestResource` and has no effect on the communicator.

    **Tokens.** A token has one wait on every path. Tokens may cross blocks,
    regions and calls as arguments, results and loop-carried values.

    **Constraints.** What a verifier checks has a number, here or at the op alone,
    which the comments of the verifiers cite. Of starts of collectives:

    * (C1) `group` names a `comm.group` in the nearest symbol table.
    * (C2) All operands are ranked tensors, or all are contiguous row-major
      memrefs.
    * (C3) Elements are `i1`, `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32`,
      `f64`, `f8E4M3FN`, `f8E5M2`, `complex<f32>` or `complex<f64>`.
    * (C4) There is an operand, but for barriers. On buffers there are as many
      destinations as sources, on tensors as many or none.
    * (C5) There is one token for each operand. On buffers it has no value, on
      tensors it has one, of the type of the destination if there is one.
    * (C6) A buffer is the destination of one operand. It may be the source of the
      same operand where the operation can run in place, and of no other.
    * (C7) A source and its value have one element type.
    * (C8) The value of `all_reduce`, `reduce`, `broadcast` and `permute` has the
      shape of the source.
    * (C9) The whole of `all_gather`, `gather`, `reduce_scatter` and `scatter` has
      the rank and the sizes of the part, but along `dim` (0 without one), a
      dimension of the whole, where its size is a multiple of the part's. A part
      of rank 0 is one element of a whole of rank 1.
    * (C10) The whole is n times the part for the n members of the group, whose
      lists have one length.
    * (C11) `root` is an index within every list of the group.
    * (C12) The reduction is defined for the elements (`comm.all_reduce`).
    * (C13) `premul_sum` has a scale of the elements' type, other reductions none.
    * (C14) A start, and a wait, stands outside of parallel loops and kernels.
    * (C15) A collective of another dialect names a kind, a group and a lane, has
      memory effects, and its methods give what the function of its kind takes.

    The dialect verifies these discardable attributes on any op:

    | attribute | on | meaning |
    |---|---|---|
    | `comm.cost_ns = 100 : i64` | any op | cost in ns, overrides every estimate |
    | `comm.label = "ar0"` | any op | name in reports and traces |
    | `comm.order = 3 : i64` | starts | place in the total order of starts |
    | `comm.lasting_sources` | starts on buffers | nothing writes or frees the sources while their function runs, so that waits need not name them; `comm-bufferize` writes it |
    | `comm.lane = "latency"` | starts of collectives | queue of their own within the group |
    | `comm.ctas = 8 : i64` | starts of collectives | thread blocks of the lane's collectives at most |
    | `comm.transport = "symmetric"`, `"copy"`, `"default"` | starts of collectives | how the lane moves its data |
    | `comm.lanes`, an array of dictionaries of `name`, `ctas`, `transport` and `staging` (bytes for copies of operands that are arguments of the program) | groups | the group's lanes; `comm-assign-lanes` completes them |
    | `comm.multiprocessors = 124 : i64` | matmuls, and ops whose `canLimitMultiprocessors` (`CostOpInterface`) is true | multiprocessors that the op counts on; the others are left to collectives |
    | `comm.chunks = 4 : i64` | starts of collectives | chunks that `comm-pipeline-matmul` divides the collective and its matmul into; 1 keeps them whole |
    | `comm.reordered_sums`, a dictionary of strings, `divided` and `planned` | ops that add | what a pass has changed: the op may add in [another order](../guides/trust.md#same-program-same-results) than in the program as written |
    | `comm.any_order` | starts | the program does not say who adds the terms first, as where a partitioner of JAX has made the sum |
    | `comm.machine = "h200x8"` | modules | machine that costs are estimated for |
    | `comm.mpmd` | modules | every rank compiles a text of its own |
    | `comm.option_defaults`, a dictionary | modules | what the options of passes say where the user sets none; `comm-report` writes it on copies of a program |
    | `comm.report_number = 3 : i64` | starts | the start in the program before the passes of `comm-report`, which writes it on copies of a program |
    | `comm.effects = "none"`, `"args"` | function declarations | what a call may touch |
    | `comm.donated` | arguments of functions | the caller gives the buffer away |

    **Lanes.** Collectives of one group in different lanes are not ordered. Each
    lane of a group is a communicator. Some engines let a lane limit its thread
    blocks (`comm.ctas`) and choose how it moves data (`comm.transport`: kernels on
    symmetric memory, or copy engines). A start with one of these attributes and
    without `comm.lane` is in a lane named after them, such as `symmetric-8`.
    Starts without any of the three share the default lane of the group.

    **Bytecode** records the version of the dialect, now 2. Files without one, of
    before there were versions, are read as well. A file of a newer version is
    refused.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;

  let extraClassDeclaration = [{
    /// Names of the discardable attributes that the dialect defines.
    static constexpr ::llvm::StringLiteral kCostAttrName = "comm.cost_ns";
    static constexpr ::llvm::StringLiteral kLabelAttrName = "comm.label";
    static constexpr ::llvm::StringLiteral kOrderAttrName = "comm.order";
    static constexpr ::llvm::StringLiteral kLastingSourcesAttrName = "comm.lasting_sources";
    static constexpr ::llvm::StringLiteral kLaneAttrName = "comm.lane";
    static constexpr ::llvm::StringLiteral kCtasAttrName = "comm.ctas";
    static constexpr ::llvm::StringLiteral kTransportAttrName = "comm.transport";
    static constexpr ::llvm::StringLiteral kLanesAttrName = "comm.lanes";
    static constexpr ::llvm::StringLiteral kMultiprocessorsAttrName = "comm.multiprocessors";
    static constexpr ::llvm::StringLiteral kChunksAttrName = "comm.chunks";
    static constexpr ::llvm::StringLiteral kAnyOrderAttrName = "comm.any_order";
    static constexpr ::llvm::StringLiteral kMachineAttrName = "comm.machine";
    static constexpr ::llvm::StringLiteral kMpmdAttrName = "comm.mpmd";
    static constexpr ::llvm::StringLiteral kOptionDefaultsAttrName = "comm.option_defaults";
    static constexpr ::llvm::StringLiteral kReportNumberAttrName = "comm.report_number";
    static constexpr ::llvm::StringLiteral kEffectsAttrName = "comm.effects";
    static constexpr ::llvm::StringLiteral kDonatedAttrName = "comm.donated";

  private:
    /// Adds the encoding of the dialect in bytecode, and its version.
    void addBytecodeInterface();
  }];
}

#endif // BRAID_DIALECT_COMM_IR_COMMDIALECT_TD
