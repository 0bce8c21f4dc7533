//===- LibraryOps.td - The ops of the dialect -----------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_IR_LIBRARYOPS_TD
#define BRAID_DIALECT_LIBRARY_IR_LIBRARYOPS_TD

include "braid/Dialect/Library/IR/AttentionOps.td"
include "braid/Dialect/Library/IR/ConvolutionOps.td"
include "braid/Dialect/Library/IR/LibraryBase.td"
include "braid/Dialect/Library/IR/ScatterOps.td"

def Library_CallOp : Library_Op<"call"> {
  let summary = "runs a routine of a library";
  let description = [{
    `routine`, its inputs, its outputs and its flags are a row of the table in
    `braid-rt/Routines.def`. The routine writes the outputs, and reads those that LAPACK
    overwrites. Matrices stand in LAPACK's order, columns one after the other: a matrix of m rows
    and n columns is `tensor<n x m>`. Dimensions in front of those of the routine are a batch,
    which all operands share.

    Transforms (`fft`, `ifft`, `rfft`, `irfft`, and `bfft` and `brfft`, which are `ifft` and `irfft`
    without the division by the number of elements) are over the last `dimensions`, 1 to 3.

    | routines | inputs; outputs; flags |
    |---|---|
    | `fft` `ifft` `bfft` `rfft` `irfft` `brfft` | an array; its transform |
    | `potrf` | ; matrix, info; triangle (L, U) |
    | `trsm` | triangle; right sides; side (L, R), triangle, transposed (N, T, C), diagonal (N, U) |
    | `getrf` | ; matrix, pivots, info |
    | `geqrf`, `geqp3` | ; matrix, pivots of `geqp3`, tau |
    | `orgqr`, `ormqr` | reflectors of `ormqr`, tau; matrix; side and transposed of `ormqr` |
    | `syevd` | ; matrix and vectors, eigenvalues, info; wanted vectors (N, V), triangle |
    | `geev` | ; matrix, eigenvalues, left and right vectors, info; wanted left, right vectors |
    | `gees` | ; matrix, Schur vectors, info; wanted vectors |
    | `gesdd`, `gesvd` | ; matrix, singular values, U, V^T, info; wanted vectors (A, S, N) |
    | `gesvdj` | ; matrix, singular values, U, V, info; wanted vectors (A, S, N) |
    | `gehrd`, `sytrd` | ; matrix, diagonals of `sytrd`, tau, info; triangle of `sytrd` |
    | `gtsv` | ; three diagonals, right sides, info |
    | `sort` | ; arrays of i64; `dimensions`: how many numbers are in order then, 0: all |

    Example:

    ```mlir
    %l, %info = library.call "potrf" outs(%a, %i : tensor<4x4xf32>, tensor<i32>) {flags = "L"}
        -> tensor<4x4xf32>, tensor<i32>
    %y = library.call "fft" ins(%x : tensor<8xcomplex<f32>>) outs(%e : tensor<8xcomplex<f32>>)
        {dimensions = 1 : i64} -> tensor<8xcomplex<f32>>
    ```
  }];
  let arguments = (ins StrAttr:$routine, DefaultValuedAttr<StrAttr, "\"\"">:$flags,
                       DefaultValuedAttr<I64Attr, "0">:$dimensions,
                       Variadic<Library_Data>:$inputs, Variadic<Library_Data>:$outputs);
  let assemblyFormat = [{
    $routine (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// The number of the routine in the runtime's ABI (braid_rt_routine).
    int32_t getRoutineNumber();
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

#endif // BRAID_DIALECT_LIBRARY_IR_LIBRARYOPS_TD
