//===- CommCostInterface.td - What an op costs -------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMCOSTINTERFACE_TD
#define BRAID_DIALECT_COMM_IR_COMMCOSTINTERFACE_TD

include "mlir/IR/OpBase.td"

def Comm_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An op that gives its amount of work. A cost model converts the work into time
    on a machine. An op with a better estimate of its time gives the time
    itself.

    An external model implements the interface for an op of another dialect. Such
    a model replaces Braid's own estimate of the op (`DefaultCostOpInterface`),
    whichever of the two is registered first. Of two external models of this
    interface on one op MLIR keeps the one that is registered first.
  }];
  let methods = [
    InterfaceMethod<[{
      The operations that the op performs and the bytes that it moves between the
      device and its memory in one run. `defaults` gives the sizes that the
      program does not.
    }], "::braid::comm::Work", "getWork",
    (ins "const ::braid::comm::SizeDefaults &":$defaults), [{}],
    [{ return ::braid::comm::Work(); }]>,
    InterfaceMethod<[{
      The time of the op in nanoseconds on the machine called `machine`, if the
      op knows it. Without it the cost model uses `getWork`.
    }], "::std::optional<int64_t>", "getDurationNs",
    (ins "::llvm::StringRef":$machine), [{}], [{ return ::std::nullopt; }]>,
    InterfaceMethod<[{
      The multiprocessors that the kernel of the op takes at most; 0 for all. By
      default the value of `comm.multiprocessors`.
    }], "int64_t", "getMultiprocessors", (ins), [{}],
    [{ return ::braid::comm::getMultiprocessorsAttr($_op); }]>,
    InterfaceMethod<[{
      Whether the kernel of the op obeys `comm.multiprocessors`. If so, the op may
      have this attribute, and `comm-plan-resources` may set it.
    }], "bool", "canLimitMultiprocessors", (ins), [{}], [{ return false; }]>
  ];
}

def Comm_DefaultCostOpInterface : OpInterface<"DefaultCostOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    Braid's estimate of the work of an op of another dialect. It counts where the
    op does not implement `CostOpInterface`.
  }];
  let methods = [
    InterfaceMethod<"The work of the op, as `CostOpInterface::getWork` gives it.",
    "::braid::comm::Work", "getWork",
    (ins "const ::braid::comm::SizeDefaults &":$defaults)>
  ];
}

#endif // BRAID_DIALECT_COMM_IR_COMMCOSTINTERFACE_TD
