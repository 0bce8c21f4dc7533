//===- CollectiveKind.td - Kinds of collectives -----------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_TD
#define BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_TD

include "mlir/IR/EnumAttr.td"

/// What an operation between ranks does; cost models, reports and the runtime
/// tell them apart by this, never by op name.
def Comm_CollectiveKind : I32EnumAttr<"CollectiveKind", "what a collective does", [
    I32EnumAttrCase<"all_reduce", 0>, I32EnumAttrCase<"reduce", 1>,
    I32EnumAttrCase<"broadcast", 2>, I32EnumAttrCase<"all_gather", 3>,
    I32EnumAttrCase<"reduce_scatter", 4>, I32EnumAttrCase<"all_to_all", 5>,
    I32EnumAttrCase<"gather", 6>, I32EnumAttrCase<"scatter", 7>,
    I32EnumAttrCase<"send", 8>, I32EnumAttrCase<"recv", 9>,
    I32EnumAttrCase<"permute", 10>, I32EnumAttrCase<"barrier", 11>]> {
  let cppNamespace = "::braid::comm";
  let genSpecializedAttr = 0;
}

#endif // BRAID_DIALECT_COMM_IR_COLLECTIVEKIND_TD
