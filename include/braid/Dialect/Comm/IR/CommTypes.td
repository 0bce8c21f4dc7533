//===- CommTypes.td - Types of the comm dialect ------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMTYPES_TD
#define BRAID_DIALECT_COMM_IR_COMMTYPES_TD

include "braid/Dialect/Comm/IR/CommDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Comm_Token : TypeDef<Comm_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "an operation in flight";
  let description = [{
    `!comm.token<T>` is an operation in flight with a value of the ranked tensor
    type `T`. `!comm.token` is an operation without a value: a send, a barrier or
    any operation on buffers. One `comm.wait` consumes the token on every path of
    the program.

    Example:

    ```mlir
    !comm.token
    !comm.token<tensor<4x4xf32>>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::Type">:$valueType);
  let assemblyFormat = "(`<` $valueType^ `>`)?";
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilder<(ins), [{ return $_get($_ctxt, ::mlir::Type()); }]>,
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$valueType), [{
      return $_get(valueType.getContext(), valueType);
    }]>
  ];
  let skipDefaultBuilders = 1;
}

/// A token without a value. The assembly omits the type where it is implied.
def Comm_ValuelessToken
    : Type<And<[CPred<"::llvm::isa<::braid::comm::TokenType>($_self)">,
                CPred<"!::llvm::cast<::braid::comm::TokenType>($_self).getValueType()">]>,
           "token without a value", "::braid::comm::TokenType">,
      BuildableType<"::braid::comm::TokenType::get($_builder.getContext())">;

#endif // BRAID_DIALECT_COMM_IR_COMMTYPES_TD
