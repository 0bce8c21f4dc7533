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
    An op that starts an operation which runs beside the compute stream until
    the waits of its tokens: a collective, a point-to-point transfer, a kernel
    on a side stream. The schedule graph, bufferization, verification and the
    lowering know starts by this interface alone.

    An op has a *tensor form* (its tokens carry the values) and a *buffer form*
    (its destinations are memrefs, its tokens carry no value).
  }];
  let methods = [
    InterfaceMethod<[{
      The tokens of the operation, one for each operand of a coalesced launch.
      An op without tokens starts nothing (a `comm.compute` that is not `async`);
      `getAsyncStart` tells.
    }], "::mlir::ResultRange", "getTokens", (ins), [{}], [{
      return $_op->getResults();
    }]>,
    InterfaceMethod<[{
      The operands whose contents are read while the operation is in flight:
      ranked tensors, or memrefs in the buffer form; the operands of a kernel may
      be scalars, too.
    }], "::llvm::MutableArrayRef<::mlir::OpOperand>", "getSourceOperands", (ins)>,
    InterfaceMethod<[{
      The operands that the operation writes while in flight: the memrefs of the
      buffer form, or the tensors named by `into`, whose contents are given up.
      Empty, or as many as there are values.
    }], "::llvm::MutableArrayRef<::mlir::OpOperand>", "getDestinationOperands", (ins)>,
    InterfaceMethod<[{
      Names `destinations`, one for each value, as what the operation writes.
      They give the shapes from then on: operands that only tell the sizes of
      values are dropped. Only for ops whose values can be written to a
      destination.
    }], "void", "setDestinations", (ins "::mlir::ValueRange":$destinations)>,
    InterfaceMethod<[{
      What orders the operation with others: operations of one lane run one
      after the other, in the order of their starts. A group's collectives share
      the lane of its symbol, its point-to-point operations another one.
    }], "::mlir::Attribute", "getLane", (ins)>,
    InterfaceMethod<[{
      Whether the source and the destination of one operand may be the same
      buffer.
    }], "bool", "canRunInPlace", (ins)>,
    InterfaceMethod<[{
      Computes the dynamic sizes of the value number `index` from operands of the
      start, so that no one has to await the value to know its shape. Static
      sizes come as attributes.
    }], "::mlir::LogicalResult", "reifyValueShape",
      (ins "::mlir::OpBuilder &":$builder, "unsigned":$index,
           "::llvm::SmallVectorImpl<::mlir::OpFoldResult> &":$shape)>
  ];
  let extraClassDeclaration = [{
    /// True if the operation works on buffers.
    bool isBufferForm();
    /// The type of the value that token number `index` stands for; null if none.
    ::mlir::Type getInFlightType(unsigned index);
    /// The tensors or buffers that are read in flight, in operand order.
    ::llvm::SmallVector<::mlir::Value> getSources();
    /// The tensors or buffers that are written in flight, in operand order.
    ::llvm::SmallVector<::mlir::Value> getDestinations();
  }];
}

def CollectiveOpInterface
    : OpInterface<"CollectiveOpInterface", [AsyncStartOpInterface]> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An operation between the ranks of a group.
  }];
  let methods = [
    InterfaceMethod<"The symbol of the group whose members take part.",
      "::mlir::FlatSymbolRefAttr", "getGroupAttr", (ins)>,
    InterfaceMethod<"What the operation does.",
      "::braid::comm::CollectiveKind", "getCollectiveKind", (ins)>,
    InterfaceMethod<"How operands are combined; none if the operation combines nothing.",
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
