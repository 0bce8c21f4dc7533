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
    An op that says how much work it is. A cost model turns the work into time
    for the hardware at hand; an op that knows its time better than that gives
    it directly. External models make ops of other dialects say it.
  }];
  let methods = [
    InterfaceMethod<[{
      The operations that the op performs and the bytes that it moves between the
      device and its memory, once from its start to its end. `defaults` stands for
      what the program does not say.
    }], "::braid::comm::Work", "getWork",
    (ins "const ::braid::comm::SizeDefaults &":$defaults), [{}],
    [{ return ::braid::comm::Work(); }]>,
    InterfaceMethod<[{
      The time of the op in nanoseconds on the hardware called `hardware`, if the
      op knows it; none to have it worked out from `getWork`.
    }], "::std::optional<int64_t>", "getDurationNs",
    (ins "::llvm::StringRef":$hardware), [{}], [{ return ::std::nullopt; }]>
  ];
}

#endif // BRAID_DIALECT_COMM_IR_COMMCOSTINTERFACE_TD
