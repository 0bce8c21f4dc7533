//===- CommSplitInterface.td - Ops that can be split -------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMSPLITINTERFACE_TD
#define BRAID_DIALECT_COMM_IR_COMMSPLITINTERFACE_TD

include "mlir/IR/OpBase.td"

def Comm_SplitOpInterface : OpInterface<"SplitOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An op on tensors that can be split into ops on parts of its operands. Each of
    them is the op itself with smaller operands. Ops of linalg, elementwise ops,
    reshapes and slices of tensors and collectives need no such interface
    (`getSplitAxes`).
  }];
  let methods = [
    InterfaceMethod<[{
      The axes along which the op can be split: those of which each part of the
      results needs only the same part of the operands.
    }], "::llvm::SmallVector<::braid::comm::SplitAxis>", "getSplitAxes", (ins)>
  ];
}

#endif // BRAID_DIALECT_COMM_IR_COMMSPLITINTERFACE_TD
