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
    on some hardware. An op with a better estimate of its time gives the time
    itself. External models implement the interface for ops of other dialects.
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
      The time of the op in nanoseconds on the hardware called `hardware`, if the
      op knows it. Without it the cost model uses `getWork`.
    }], "::std::optional<int64_t>", "getDurationNs",
    (ins "::llvm::StringRef":$hardware), [{}], [{ return ::std::nullopt; }]>
  ];
}

#endif // BRAID_DIALECT_COMM_IR_COMMCOSTINTERFACE_TD
