//===- ScatterOps.td - Updates at many indices -------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_IR_SCATTEROPS_TD
#define BRAID_DIALECT_LIBRARY_IR_SCATTEROPS_TD

include "braid/Dialect/Library/IR/LibraryBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Library_ScatterOp : Library_Op<"scatter", [SingleBlock]> {
  let summary = "combines windows of an array with updates";
  let description = [{
    The dimensions of the output are `batch_dims`, `indexed_dims`, and the others, which are those
    of a window. Inputs are, with the dimensions of the batch in front, the numbers of windows and
    the updates:

    | operand | type |
    |---|---|
    | indices | batch x N, of type i32 or i64 |
    | updates | batch x N x window |
    | output | batch, indexed and window dimensions in any order |

    In the order of the updates, the region combines each element of the window with that of
    the update, and the result takes the place of the element. The number of a window counts along
    the indexed dimensions, the last one fastest; an update whose number is negative or too large
    has no effect. All sizes are static. The region computes with scalars, without effects.

    The updates of a window are one after the other also on GPUs, so results have the same bits in
    each run.

    Example:

    ```mlir
    %sum = library.scatter
        ins(%rows, %updates : tensor<6xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
    ^bb0(%element: f32, %update: f32):
      %0 = arith.addf %element, %update : f32
      library.yield %0 : f32
    } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$batch_dims, DenseI64ArrayAttr:$indexed_dims,
                       Variadic<Library_Data>:$inputs, Variadic<Library_Data>:$outputs);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` $combine
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::Value getIndices() { return getInputs()[0]; }
    ::mlir::Value getUpdates() { return getInputs()[1]; }
    ::mlir::Value getOutput() { return getOutputs()[0]; }
    /// The number of updates of each window's batch.
    int64_t getNumUpdates();
    /// The number of windows of each batch.
    int64_t getNumWindows();
    /// The number of batches.
    int64_t getNumBatches();
    /// The dimensions of the output that are those of a window, in order.
    ::llvm::SmallVector<int64_t> getWindowDims();
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

def Library_YieldOp : Op<Library_Dialect, "yield", [
    Pure, Terminator, ReturnLike, HasParent<"ScatterOp">]> {
  let summary = "gives the new element of a scatter";
  let description = [{
    The operand is the element that takes the place of the old one.
  }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // BRAID_DIALECT_LIBRARY_IR_SCATTEROPS_TD
