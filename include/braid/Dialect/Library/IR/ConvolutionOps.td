//===- ConvolutionOps.td - Convolutions --------------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_IR_CONVOLUTIONOPS_TD
#define BRAID_DIALECT_LIBRARY_IR_CONVOLUTIONOPS_TD

include "braid/Dialect/Library/IR/LibraryBase.td"

def Library_ConvolutionOp : Library_Op<"convolution", [
    DeclareOpInterfaceMethods<Comm_SplitOpInterface>]> {
  let summary = "a convolution, or a gradient of one";
  let description = [{
    What `stablehlo.convolution` computes. Inputs are the input and the kernel. `dim_labels` names
    their dimensions and those of the output, as XLA does: `b` is the batch, `f` the features of
    input and output, `i` and `o` the features of the kernel that it reads and writes, and digits
    are the spatial dimensions, 1 to 3.

    In spatial dimension d, place p of the output sums over the places t of the kernel

        input[(strides[d] * p + rhs_dilation[d] * t - padding[2 * d]) / lhs_dilation[d]] * kernel[t]

    where the division has no remainder and its result is in the input. `padding` has two numbers a
    dimension, before and behind the dilated input, which may be negative. With `reversed`, place t
    is counted from the end. `feature_groups` divides the features, `batch_groups` the batch and
    the features of the output: each group is a convolution of its own. Groups divide `o` of the
    kernel, whose `i` are those of one group; with `kernel_input_groups` they divide `i`, and `o`
    are those of one group. Attributes that are left out are 1, 0 and false.

    Elements are of type bf16, f16, f32 or f64, those of the output of the same type or of f32.
    All sizes are static and positive. Sums are in f32 or f64, and results are rounded once. With
    `braid.precision = "tf32"` a GPU may round operands of type f32 to TF32.

    The gradients of a convolution are convolutions, too: that by the input has strides as
    `lhs_dilation` and a reversed kernel, that by the kernel sums over the batch.

    Example:

    ```mlir
    %y = library.convolution
        ins(%x, %w : tensor<8x32x32x16xf32>, tensor<3x3x16x64xf32>)
        outs(%e : tensor<8x16x16x64xf32>)
        {dim_labels = "b01f_01io->b01f", strides = array<i64: 2, 2>,
         padding = array<i64: 0, 1, 0, 1>} -> tensor<8x16x16x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$dim_labels, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$reversed,
                       DefaultValuedAttr<I64Attr, "1">:$feature_groups,
                       DefaultValuedAttr<I64Attr, "1">:$batch_groups,
                       UnitAttr:$kernel_input_groups,
                       Variadic<Library_Data>:$inputs, Variadic<Library_Data>:$outputs);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// The dimensions of the operands and what the attributes say of each.
    ConvolutionShape getShape();
    ::mlir::Value getInput() { return getInputs()[0]; }
    ::mlir::Value getKernel() { return getInputs()[1]; }
    ::mlir::Value getOutput() { return getOutputs()[0]; }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

#endif // BRAID_DIALECT_LIBRARY_IR_CONVOLUTIONOPS_TD
