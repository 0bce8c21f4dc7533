//===- AttentionOps.td - Attention as one op ---------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_IR_ATTENTIONOPS_TD
#define BRAID_DIALECT_LIBRARY_IR_ATTENTIONOPS_TD

include "braid/Dialect/Library/IR/LibraryBase.td"

def Library_ScaleAttr : Attr<
    CPred<"::llvm::isa<::mlir::FloatAttr>($_self) && "
          "(::llvm::cast<::mlir::FloatAttr>($_self).getType().isF32() || "
          "::llvm::cast<::mlir::FloatAttr>($_self).getType().isF64())">,
    "number of type f32 or f64"> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "double";
  let convertFromStorage = "$_self.getValueAsDouble()";
}

class Library_AttentionOpBase<string mnemonic> : Library_Op<mnemonic, [
    DeclareOpInterfaceMethods<Comm_SplitOpInterface>]> {
  let arguments = (ins Library_ScaleAttr:$scale, UnitAttr:$causal,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$window,
                       DefaultValuedStrAttr<StrAttr, "bshd">:$layout,
                       Variadic<Library_Data>:$inputs, Variadic<Library_Data>:$outputs);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    attr-dict (`->` type($results)^)?
  }];
  code declarations = [{
    /// The sizes of the operands.
    AttentionShape getShape();
    bool isHeadsFirst() { return getLayout() == "bhsd"; }
    ::mlir::Value getQueries() { return getInputs()[0]; }
    ::mlir::Value getKeys() { return getInputs()[1]; }
    ::mlir::Value getValues() { return getInputs()[2]; }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

def Library_AttentionOp : Library_AttentionOpBase<"attention"> {
  let summary = "softmax(scale * q.k^T + bias).v";
  let description = [{
    Inputs are queries, keys, values and, if there is one, a bias. Outputs are the result and, for
    `library.attention_backward`, the logarithm of the sum of each row of exponentials.

    | operand | `layout = "bshd"` | `layout = "bhsd"` |
    |---|---|---|
    | queries | B x Sq x H x D | B x H x Sq x D |
    | keys | B x Sk x K x D | B x K x Sk x D |
    | values | B x Sk x K x E | B x K x Sk x E |
    | bias | (B or 1) x (H or 1) x (Sq or 1) x Sk | the same |
    | result | B x Sq x H x E | B x H x Sq x E |
    | logarithms | B x H x Sq | the same |

    Elements are of type bf16, f16, f32 or f64, those of a bias of any of these types, the
    logarithms of type f32, or f64 where the others are of type f64. All sizes are static. K
    divides H: head h of the queries reads head h / (H / K) of keys and values.

    Scores are scale * q.k^T + bias, in f32 or f64. With `causal`, query i reads keys 0 to i, with
    `window` = W just the last W of these. The softmax of the scores is in f32 or f64. Then it is
    rounded to the type of the elements and multiplied with the values; sums are in f32 or f64, and
    the result is rounded once. A query that reads no key has the result 0 and the logarithm
    minus infinity. With `braid.precision = "tf32"` a GPU may round the operands of all products
    of type f32 to TF32, which the gradient then has to allow, too.

    Example:

    ```mlir
    %out, %lse = library.attention
        ins(%q, %k, %v : tensor<1x256x8x64xbf16>, tensor<1x256x2x64xbf16>, tensor<1x256x2x64xbf16>)
        outs(%o, %l : tensor<1x256x8x64xbf16>, tensor<1x8x256xf32>)
        {scale = 1.250000e-01 : f32, causal, layout = "bshd"}
        -> tensor<1x256x8x64xbf16>, tensor<1x8x256xf32>
    ```
  }];
  let extraClassDeclaration = declarations # [{
    /// Null without a bias.
    ::mlir::Value getBias() { return getInputs().size() > 3 ? getInputs()[3] : ::mlir::Value(); }
  }];
}

def Library_AttentionBackwardOp : Library_AttentionOpBase<"attention_backward"> {
  let summary = "the gradients of attention";
  let description = [{
    Inputs are the queries, keys and values of a `library.attention`, its result, its logarithms,
    the gradient of its result, and its bias, if it has one. Outputs are the gradients of queries,
    keys and values, and that of the bias, if that is wanted. Attributes are those of the
    `library.attention`. Each gradient has the type of what it belongs to; sums are in f32 or f64,
    and gradients are rounded once.

    Example:

    ```mlir
    %dq, %dk, %dv = library.attention_backward
        ins(%q, %k, %v, %out, %lse, %dout : tensor<1x256x8x64xbf16>, tensor<1x256x2x64xbf16>,
            tensor<1x256x2x64xbf16>, tensor<1x256x8x64xbf16>, tensor<1x8x256xf32>,
            tensor<1x256x8x64xbf16>)
        outs(%a, %b, %c : tensor<1x256x8x64xbf16>, tensor<1x256x2x64xbf16>,
             tensor<1x256x2x64xbf16>)
        {scale = 1.250000e-01 : f32, causal}
        -> tensor<1x256x8x64xbf16>, tensor<1x256x2x64xbf16>, tensor<1x256x2x64xbf16>
    ```
  }];
  let extraClassDeclaration = declarations # [{
    ::mlir::Value getOut() { return getInputs()[3]; }
    ::mlir::Value getLogSums() { return getInputs()[4]; }
    ::mlir::Value getOutGradient() { return getInputs()[5]; }
    /// Null without a bias.
    ::mlir::Value getBias() { return getInputs().size() > 6 ? getInputs()[6] : ::mlir::Value(); }
    bool hasBiasGradient() { return getOutputs().size() > 3; }
  }];
}

#endif // BRAID_DIALECT_LIBRARY_IR_ATTENTIONOPS_TD
