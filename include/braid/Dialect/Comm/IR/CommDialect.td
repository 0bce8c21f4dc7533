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
    in which a compiler can move it. A collective is *started* by one op, which
    returns a token, and *awaited* by another, which gives the value. No value
    exists before its wait, so no op can use it too early, whatever order the
    ops in between are put in.

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
    (buffers). On tensors a token carries the value that it stands for. On
    buffers a start names the destination with `into`, its token carries no
    value, and the wait names every buffer in flight, so that liveness,
    deallocation and alias analysis know that they are in use until there.

    **Effects.** A start reads and writes the `CommunicatorResource`: no pass
    may remove, merge, duplicate or hoist it, because every member of its group
    has to run it. A wait frees its token on the `RequestResource`, and has no
    effect on the communicator.

    **Tokens** have one wait on every path. They may cross blocks, regions and
    calls as arguments, results and loop-carried values.

    The dialect verifies these discardable attributes on any op:

    | attribute | on | meaning |
    |---|---|---|
    | `comm.cost_ns = 100 : i64` | any op | cost in ns, overrides every estimate |
    | `comm.label = "ar0"` | any op | name in reports and traces |
    | `comm.order = 3 : i64` | starts | place in the total order of starts |
    | `comm.lane = "latency"` | starts of collectives | queue of their own within the group |
    | `comm.ctas = 8 : i64` | starts of collectives | thread blocks of the lane's collectives at most |
    | `comm.transport = "symmetric"`, `"copy"`, `"default"` | starts of collectives | how the lane moves its data |
    | `comm.lanes`, an array of dictionaries of `name`, `ctas` and `transport` | groups | the group's lanes; `comm-assign-lanes` completes them |
    | `comm.multiprocessors = 124 : i64` | products of matrices | multiprocessors that the product counts on; the others are left to collectives |
    | `comm.hardware = "h200x8"` | modules | hardware that costs are estimated for |
    | `comm.mpmd` | modules | every rank compiles a text of its own |
    | `comm.effects = "none"`, `"args"` | function declarations | what a call may touch |
    | `comm.donated` | arguments of functions | the caller gives the buffer away |

    **Lanes.** Collectives of one group in different lanes are not ordered: each
    lane of a group is a communicator of its own, on engines that have a choice
    with a limit of thread blocks (`comm.ctas`) and a way to move data
    (`comm.transport`: kernels on symmetric memory, copy engines). A start that
    has one of these two and no name is in a lane named after them,
    `symmetric-8`. Starts that name no lane share the group's own.
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
    static constexpr ::llvm::StringLiteral kLaneAttrName = "comm.lane";
    static constexpr ::llvm::StringLiteral kCtasAttrName = "comm.ctas";
    static constexpr ::llvm::StringLiteral kTransportAttrName = "comm.transport";
    static constexpr ::llvm::StringLiteral kLanesAttrName = "comm.lanes";
    static constexpr ::llvm::StringLiteral kMultiprocessorsAttrName = "comm.multiprocessors";
    static constexpr ::llvm::StringLiteral kHardwareAttrName = "comm.hardware";
    static constexpr ::llvm::StringLiteral kMpmdAttrName = "comm.mpmd";
    static constexpr ::llvm::StringLiteral kEffectsAttrName = "comm.effects";
    static constexpr ::llvm::StringLiteral kDonatedAttrName = "comm.donated";
  }];
}

#endif // BRAID_DIALECT_COMM_IR_COMMDIALECT_TD
