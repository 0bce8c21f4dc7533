//===- CommInterfaces.td - Interfaces of asynchronous ops --*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMINTERFACES_TD
#define BRAID_DIALECT_COMM_IR_COMMINTERFACES_TD

include "mlir/IR/OpBase.td"

def AsyncStartOpInterface : OpInterface<"AsyncStartOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An op that starts an operation beside the compute stream: a collective, a
    point-to-point transfer or a kernel on a side stream. The operation is in
    flight until the waits of its tokens. The schedule graph, bufferization,
    verification and the lowering access starts through this interface alone.

    An op has a *tensor form* (its tokens carry the values) and a *buffer form*
    (its destinations are memrefs, its tokens carry no value).

    The verifier of the interface checks that every token has the type
    `!comm.token`, and that the op names a lane.
  }];
  let methods = [
    InterfaceMethod<[{
      The tokens of the operation, one for each operand of a coalesced launch.
      An op without tokens starts nothing, such as a `comm.compute` that is not
      `async`. `getAsyncStart` returns null for it.
    }], "::mlir::ResultRange", "getTokens", (ins), [{}], [{
      return $_op->getResults();
    }]>,
    InterfaceMethod<[{
      The operands that the operation reads while in flight: ranked tensors, or
      memrefs in the buffer form. The operands of a kernel may be scalars, too.
    }], "::llvm::MutableArrayRef<::mlir::OpOperand>", "getSourceOperands", (ins)>,
    InterfaceMethod<[{
      The operands that the operation writes while in flight: the memrefs of the
      buffer form, or the tensors after `into`, whose contents are overwritten.
      Empty, or one for each value.
    }], "::llvm::MutableArrayRef<::mlir::OpOperand>", "getDestinationOperands", (ins)>,
    InterfaceMethod<[{
      Sets the destinations of the operation, one for each value. Drops operands
      that only give the sizes of values, because the destinations give the
      shapes. Only for ops whose values can be written to a destination.
    }], "void", "setDestinations", (ins "::mlir::ValueRange":$destinations)>,
    InterfaceMethod<[{
      The lane of the operation. Operations of one lane run one after the other,
      in the order of their starts. The collectives of a group share one lane
      unless their attributes name another (`comm.lane`, `comm.ctas`,
      `comm.transport`); the point-to-point operations of a group have their own.
    }], "::mlir::Attribute", "getLane", (ins)>,
    InterfaceMethod<[{
      Whether the source and the destination of one operand may be the same
      buffer.
    }], "bool", "canRunInPlace", (ins)>,
    InterfaceMethod<[{
      Computes the dynamic sizes of value number `index` from the operands of the
      start, without the value itself. Static sizes are attributes.
    }], "::mlir::LogicalResult", "reifyValueShape",
      (ins "::mlir::OpBuilder &":$builder, "unsigned":$index,
           "::llvm::SmallVectorImpl<::mlir::OpFoldResult> &":$shape)>
  ];
  let extraClassDeclaration = [{
    /// Returns true if the operation works on buffers.
    bool isBufferForm();
    /// The type of the value of token number `index`; null if it has none.
    ::mlir::Type getInFlightType(unsigned index);
    /// The tensors or buffers that are read in flight, in operand order.
    ::llvm::SmallVector<::mlir::Value> getSources();
    /// The tensors or buffers that are written in flight, in operand order.
    ::llvm::SmallVector<::mlir::Value> getDestinations();
  }];
  let extraTraitClassDeclaration = [{
    static ::llvm::LogicalResult verifyRegionTrait(::mlir::Operation *op) {
      return ::braid::comm::verifyAsyncStartLane(op);
    }
  }];
  let verify = [{ return ::braid::comm::verifyAsyncStartTokens($_op); }];
}

def CollectiveOpInterface
    : OpInterface<"CollectiveOpInterface", [AsyncStartOpInterface]> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An operation between the ranks of a group.

    The verifier of the interface checks all that passes rely on: that the symbol
    of the group names a `comm.group`, and that operands, tokens, shapes,
    reduction, root, effects and arguments of the runtime's function fit the kind
    of the operation and the group. The header
    `braid/Dialect/Comm/IR/CollectiveMethods.h` has implementations of methods
    for ops of other dialects. MLIR runs no verifier of an interface that is
    attached as an external model; `comm.wait` then verifies the start of its
    token.
  }];
  let methods = [
    InterfaceMethod<"The symbol of the group whose members take part.",
      "::mlir::FlatSymbolRefAttr", "getGroupAttr", (ins)>,
    InterfaceMethod<"The kind of the operation: its row in the table of collectives.",
      "::braid::comm::CollectiveKind", "getCollectiveKind", (ins)>,
    InterfaceMethod<"The reduction of the operands; none if the operation reduces nothing.",
      "::std::optional<::braid::comm::ReductionKind>", "getReductionKind", (ins), [{}],
      [{ return ::std::nullopt; }]>,
    InterfaceMethod<"The index of the root within the group; none without a root.",
      "::std::optional<int64_t>", "getRootIndex", (ins), [{}],
      [{ return ::std::nullopt; }]>,
    InterfaceMethod<"The factor of each member's operands; null without a factor.",
      "::mlir::Value", "getScale", (ins), [{}], [{ return ::mlir::Value(); }]>,
    InterfaceMethod<[{
      The dimension along which the operands of the members are joined or split.
    }], "int64_t", "getSplitDim", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
      Verifies what the op says of the members of its group beyond the root and
      the shapes.
    }], "::llvm::LogicalResult", "verifyMembers",
      (ins "::braid::comm::GroupOp &":$group), [{}], [{ return ::mlir::success(); }]>,
    InterfaceMethod<[{
      The runtime has one function for each kind of collective, `braid_rt_` and
      the name of the kind, or several, told apart by this suffix.
    }], "::llvm::StringRef", "getCallSuffix", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      The arguments of the runtime's function between the reduction and the
      site. By default the root, or the dimension that the program gives.
    }], "::llvm::SmallVector<::braid::comm::CallArgument>", "getCallArguments", (ins), [{}],
      [{
      return ::braid::comm::getDefaultCallArguments(
          ::llvm::cast<::braid::comm::CollectiveOpInterface>($_op.getOperation()));
    }]>
  ];
  let extraClassDeclaration = [{
    /// The row of the operation's kind in the table of collectives.
    const ::braid::comm::CollectiveTraits &getCollectiveTraits();
    /// True for sends and receives, which only their two ranks run.
    bool isPointToPoint();
    /// True if a group of one member gets its own operands back.
    bool isIdentityInGroupOfOne();
  }];
  // What needs the group and the methods of the op is verified after the op's
  // own verifier.
  let extraTraitClassDeclaration = [{
    static ::llvm::LogicalResult verifyRegionTrait(::mlir::Operation *op) {
      return ::braid::comm::verifyCollectiveMembers(op);
    }
  }];
  let verify = [{ return ::braid::comm::verifyCollective($_op); }];
  let verifyWithRegions = 0;
}

def ParallelRegionOpInterface : OpInterface<"ParallelRegionOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An op whose regions several threads of a rank, or a device, run: a kernel, or
    a parallel loop without upstream's trait `HasParallelRegion`. Starts and
    waits belong to the one thread that runs the program, and stand in no such
    region. The models for upstream's ops are in `lib/Dialect/Comm/Extensions`.
  }];
}

#endif // BRAID_DIALECT_COMM_IR_COMMINTERFACES_TD
