//===- LibraryPasses.td - Library ops without a library ----*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_LIBRARYPASSES_TD
#define BRAID_CONVERSION_LIBRARYPASSES_TD

include "braid/Conversion/PassOptions.td"

def DecomposeAttentionPass
    : Pass<"braid-decompose-attention", "::mlir::func::FuncOp"> {
  let summary = "Replace attention by matmuls, sums and elementwise ops";
  let description = [{
    `library.attention` and `library.attention_backward` become ops of `linalg` that
    compute the same and round where the op rounds: for hosts, which have no library
    for attention, with `attention=decompose`, and for ops that cuDNN does not support
    on `chip`. A warning names the first op of each kind that cuDNN does not support.

    Queries of all heads that read the same keys are the rows of one matrix, so keys
    and values are not repeated. The scores of all pairs of a query and a key are in
    memory, which a library avoids. What is recorded of reordered sums remains on the
    products.

    Before:

    ```mlir
    %out, %lse = library.attention ins(%q, %k, %v : ...) outs(%o, %l : ...) {scale = 1.0 : f32}
                 -> tensor<1x64x4x8xf32>, tensor<1x4x64xf32>
    ```

    After (shapes and the conversions between layouts are left out):

    ```mlir
    %products = linalg.batch_matmul ... ins(%q, %k) outs(%zeros)
    %scores = linalg.generic ... ins(%products)
    %most = linalg.generic ... ins(%scores)
    %powers = linalg.generic ... ins(%scores, %most)
    %sums = linalg.generic ... ins(%powers)
    %weights = linalg.generic ... ins(%powers, %sums)
    %out = linalg.batch_matmul ins(%weights, %v) outs(%zeros)
    %lse = linalg.generic ... ins(%most, %sums)
    ```

    The remark `decomposed-attention` counts the ops.
  }];
  let options = [
    TargetOption<"whose library may compute attention">,
    Option<"attention", "attention", "::braid::LibraryLowering",
           /*default=*/"::braid::LibraryLowering::Library",
           "What computes attention on a GPU: library or decompose",
           "::braid::getLibraryLoweringValues()">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90\"",
           "The GPU to compile for">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def DecomposeConvolutionsPass
    : Pass<"braid-decompose-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Replace convolutions by matmuls, or arrange them for cuDNN";
  let description = [{
    `library.convolution` becomes a matmul: for hosts, with `convolution=decompose`, for ops that
    cuDNN does not support, for convolutions whose operands are matrices as they are in memory
    (such as points), and for those of patches, in all three directions, whose features are no
    multiple of 16 bytes, because cuDNN copies them anyway. Gradients by the kernel of depthwise
    convolutions of f32 become loop nests, but for those of 3 x 3 and of 5 x 5: cuDNN's kernels for
    others are several times slower. A warning names the first op of each
    kind that cuDNN does not support. Unless the input is a matrix, the elements that each place
    of the output reads are copied next to each other; where the kernel is larger than the output,
    as in the gradient by a kernel, these are few. Convolutions in groups become loop nests.

    Other convolutions stay for cuDNN, which computes a convolution, its gradient by the input and
    that by the kernel. The pass brings each to one of these, with the dimensions of operands in
    the order that cuDNN is fast with: features last, or first where input and output have them
    first. Transposes around the op become part of elementwise ops.

    Before:

    ```mlir
    %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x16xf32>)
           outs(%e : tensor<2x6x6x16xf32>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x6x6x16xf32>
    ```

    After, for hosts:

    ```mlir
    %copies = linalg.generic ... ins(%x) -> tensor<2x6x6x3x3x4xf32>
    %rows = tensor.collapse_shape %copies : tensor<72x36xf32>
    %sums = linalg.generic ... ins(%rows, %kernel) -> tensor<72x16xf32>
    ```

    After, for a GPU:

    ```mlir
    %t = linalg.transpose ins(%w) permutation = [3, 0, 1, 2]
    %y = library.convolution ins(%x, %t : tensor<2x8x8x4xf32>, tensor<16x3x3x4xf32>)
           outs(%e) {dim_labels = "b01f_o01i->b01f"} -> tensor<2x6x6x16xf32>
    ```

    The remark `decomposed-convolutions` counts the ops that were replaced.
  }];
  let options = [
    TargetOption<"whose library may compute convolutions">,
    Option<"convolution", "convolution", "::braid::LibraryLowering",
           /*default=*/"::braid::LibraryLowering::Library",
           "What computes convolutions on a GPU: library or decompose",
           "::braid::getLibraryLoweringValues()">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def DecomposeScattersPass
    : Pass<"braid-decompose-scatters", "::mlir::func::FuncOp"> {
  let summary = "Replace scatters by loops or kernels";
  let description = [{
    For hosts, `library.scatter` becomes a loop over its updates, each of which changes its
    window in place.

    For GPUs (`target=cuda`), where each iteration of such a loop would make the host wait for an
    index, three ops of `linalg` take its place: two reductions compare all indices and find the
    first update of each window and the next update of the same window; then each element of the
    result combines the updates of its window, in their order. If the region does not
    read the old element, one reduction finds the last update of each window; up to 4
    updates are compared by each element itself. The bits are those of the loop. A scatter of
    N updates of V windows that needs more than 2^26 comparisons, N * (N + V), that has long
    lists, more than 32 updates of a window on average, or more than 1024 updates sorts its
    updates by their windows instead (`library.call "sort"`), and each window finds its part of
    the sorted list by a binary search. An element loads four updates at once. If the region is
    one associative op and N is at least 256, each chunk of 32 sorted updates (of 128, if N is
    more than 2^16) that are of one window is combined before: the roundings of floats are then
    others than those of the loop, but the same in each run. A scatter on buffers remains a loop.

    Before:

    ```mlir
    %r = library.scatter ins(%rows, %u : tensor<6xi32>, tensor<6x8xf32>)
                         outs(%t : tensor<10x8xf32>) { ... } ... -> tensor<10x8xf32>
    ```

    After (for a GPU; types and conversions are left out):

    ```mlir
    %first = linalg.generic ... ins(%rows) {
      %s = arith.select %is_window, %number, %c6
      %m = arith.minsi %out, %s
    } -> tensor<10xi32>
    %next = linalg.generic ... ins(%rows, %rows) { ... } -> tensor<6xi32>
    %r = linalg.generic ... ins(%t, %first) {
      %l:2 = scf.while (%n = %in, %e = %old) {
        scf.condition(%is_update) %n, %e
      } do {
        %u0 = tensor.extract %u[%n, %i1]
        %e0 = arith.addf %e, %u0
        %n0 = tensor.extract %next[%n]
        scf.yield %n0, %e0
      }
      linalg.yield %l#1
    } -> tensor<10x8xf32>
    ```

    For GPUs, the remarks `scatter-kernels` and `scatter-loops` count the scatters that
    became kernels, and those that remain loops.
  }];
  let options = [
    TargetOption<"which runs loops or kernels">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def DecomposeSolversPass : Pass<"braid-decompose-solvers", "::mlir::func::FuncOp"> {
  let summary = "Replace what cuSOLVER lacks of linear algebra";
  let description = [{
    cuSOLVER computes the products of a batch of reflectors (`orgqr`) one after the other. With V
    the vectors, D the scales, Y = D V^H and U what Y V has above the diagonal, they are
    I - V (I + U)^-1 Y: two matmuls and a triangular solve of all matrices at once, for batches of
    static sizes on GPUs (`target=cuda`). The results differ by rounding.

    Singular values (`gesdd`, `gesvd`) come with V, not with V^T, and those of a batch of matrices
    of up to 32 rows and columns with all vectors. `gesvdj` gives these; a transpose, which fuses
    with ops around it, and slices give what the program wants.

    Before:

    ```mlir
    %q = library.call "orgqr" ins(%tau : tensor<8x4xf32>) outs(%a : tensor<8x4x6xf32>)
        -> tensor<8x4x6xf32>
    ```

    After:

    ```mlir
    %v = linalg.generic ... ins(%a) { ... } -> tensor<8x4x6xf32>
    %y = linalg.generic ... ins(%v, %tau) { arith.mulf ... } -> tensor<8x4x6xf32>
    %u = linalg.batch_matmul ... ins(%v, %y) -> tensor<8x4x4xf32>
    %s = linalg.transpose ins(%first_of_y) permutation = [0, 2, 1]
    %x = library.call "trsm" ins(%u : tensor<8x4x4xf32>) outs(%s : tensor<8x4x4xf32>)
        {flags = "LUNU"} -> tensor<8x4x4xf32>
    %p = linalg.batch_matmul ins(%x, %v) -> tensor<8x4x6xf32>
    %q = linalg.generic ... ins(%p) { ... arith.subf %identity, %product } -> tensor<8x4x6xf32>
    ```
  }];
  let options = [
    TargetOption<"whose library has the routines">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def DecomposeTransformsPass
    : Pass<"braid-decompose-transforms", "::mlir::func::FuncOp"> {
  let summary = "Divide by the elements of inverse transforms in an op of its own";
  let description = [{
    cuFFT and FFTW do not divide by the number of elements of an inverse Fourier transform. An
    elementwise op does, which fuses with those around it.

    Before:

    ```mlir
    %y = library.call "ifft" ins(%x : tensor<8xcomplex<f32>>) outs(%e : tensor<8xcomplex<f32>>)
        {dimensions = 1 : i64} -> tensor<8xcomplex<f32>>
    ```

    After:

    ```mlir
    %s = library.call "bfft" ins(%x : tensor<8xcomplex<f32>>) outs(%e : tensor<8xcomplex<f32>>)
        {dimensions = 1 : i64} -> tensor<8xcomplex<f32>>
    %y = linalg.generic ... ins(%s) { ... arith.mulf %re, %eighth ... } -> tensor<8xcomplex<f32>>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // BRAID_CONVERSION_LIBRARYPASSES_TD
