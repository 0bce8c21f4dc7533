//===- CommEnums.td - Enums of the comm dialect ------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMENUMS_TD
#define BRAID_DIALECT_COMM_IR_COMMENUMS_TD

include "mlir/IR/EnumAttr.td"

def Comm_ReductionKind : I32EnumAttr<"ReductionKind", "how the members' operands are combined", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"product", 1>,
    I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"max", 3>,
    I32EnumAttrCase<"avg", 4>, I32EnumAttrCase<"band", 5>,
    I32EnumAttrCase<"bor", 6>, I32EnumAttrCase<"bxor", 7>,
    I32EnumAttrCase<"premul_sum", 8>]> {
  let cppNamespace = "::braid::comm";
}

#endif // BRAID_DIALECT_COMM_IR_COMMENUMS_TD
