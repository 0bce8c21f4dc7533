//===- LinalgPasses.td - Linear algebra to calls and functions -*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_LINALGPASSES_TD
#define BRAID_CONVERSION_LINALGPASSES_TD

include "braid/Conversion/PassOptions.td"

def MarkOverwritingMatmulsPass
    : Pass<"braid-mark-overwriting-matmuls", "::mlir::func::FuncOp"> {
  let summary = "Mark matmuls whose initial value is zero";
  let description = [{
    If the initial value of a matmul is a fill with zeros, the pass drops the fill
    and marks the matmul `braid.overwrites`. The library then overwrites the
    result instead of adding to it. The pass runs on tensors, before scheduling
    and bufferization, so the bits of the result do not depend on the schedule.

    Before:

    ```mlir
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %c = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
                       outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    ```

    After:

    ```mlir
    %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
                       outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    ```
  }];
  let options = [
    TargetOption<"whose library multiplies">
  ];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def FoldMatmulLayoutsPass
    : Pass<"braid-fold-matmul-layouts", "::mlir::func::FuncOp"> {
  let summary = "Fold transposes and conversions into matmuls";
  let description = [{
    A matmul that the library of the target computes reads the operand of a
    transpose instead of its result, if rows or columns of the operand are
    contiguous. If the only user of a matmul marked `braid.overwrites` transposes
    or rounds the result, the matmul writes the transposed or rounded result. The
    library takes the layout of each matrix, also of batches whose dimension is
    the second one.

    Before:

    ```mlir
    %t = linalg.transpose ins(%a : tensor<64x8x16xbf16>) outs(%e : tensor<8x64x16xbf16>)
                          permutation = [1, 0, 2]
    %c = linalg.batch_matmul ins(%t, %b : tensor<8x64x16xbf16>, tensor<8x16x32xbf16>) ...
    ```

    After:

    ```mlir
    %c = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (m, b, k)>, ...]}
           ins(%a, %b : tensor<64x8x16xbf16>, tensor<8x16x32xbf16>) ...
    ```

    The remark `folded-layouts` counts the ops that became part of matmuls.
  }];
  let options = [
    TargetOption<"whose library multiplies">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandSmallMatmulsPass
    : Pass<"braid-expand-small-matmuls", "::mlir::func::FuncOp"> {
  let summary = "Compute small matmuls in elementwise kernels";
  let description = [{
    A matmul of f32 or f64 with at most 16 products for each result, and so few
    results that a library takes longer to begin than to multiply, becomes an
    elementwise op whose body adds up the products, in the order of the matmul's
    loop. Elementwise kernels then compute the op together with its neighbours.
    Matmuls with a bias or an epilogue stay. The pass is for GPUs.

    Before:

    ```mlir
    %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<8x2xf32>, tensor<2x8xf32>)
                       outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    ```

    After:

    ```mlir
    %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>],
                         iterator_types = ["parallel", "parallel"]}
           outs(%e : tensor<8x8xf32>) {
    ^bb0(%out: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %a0 = tensor.extract %a[%m, %c0] : tensor<8x2xf32>
      %b0 = tensor.extract %b[%c0, %n] : tensor<2x8xf32>
      ...
      linalg.yield %sum : f32
    } -> tensor<8x8xf32>
    ```

    The remark `expanded-matmuls` counts the matmuls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FoldSplatsPass : Pass<"braid-fold-splats", "::mlir::func::FuncOp"> {
  let summary = "Replace constant tensors with equal elements by scalars";
  let description = [{
    A tensor whose elements are one constant becomes a scalar constant in the
    bodies of the `linalg.generic` ops that read the tensor, and powers with such
    an exponent become products or roots. If other ops use a constant tensor, a
    `linalg.fill` replaces a large one; a small one stays data of the program.

    Before:

    ```mlir
    %z = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = linalg.generic ... ins(%x, %z : tensor<64x64xf32>, tensor<64x64xf32>) ... {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    }
    ```

    After:

    ```mlir
    %r = linalg.generic ... ins(%x : tensor<64x64xf32>) ... {
    ^bb0(%a: f32, %o: f32):
      %c = arith.constant 0.0 : f32
      %m = arith.maximumf %a, %c : f32
      linalg.yield %m : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def FuseEpiloguesPass : Pass<"braid-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise ops into matmuls";
  let description = [{
    Fuses an elementwise op into a matmul marked `braid.overwrites` if the op is
    the only user of the matmul and the library of a GPU supports the function:
    adding a row to all rows of the result (a bias), then relu or gelu (the
    approximation by tanh), then a conversion to another type. The pass matches
    the function by its values, not by the ops of the body. The definition of a
    bias has to dominate the matmul. Where an `scf.for` yields the sum of the result
    and a tensor in whose place it carries the sum, the matmul adds to the tensor,
    as a reduction does. The pass runs on tensors, before scheduling.

    The library computes in the type of the accumulation and rounds once. For relu
    or a conversion alone the bits are those of separate ops, except for NaNs.
    With a bias or gelu the result is more precise than that of separate ops. The
    fused matmul gets both labels and keeps its own cost.

    Before:

    ```mlir
    %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>)
                       outs(%e : tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %r = linalg.generic ... ins(%c : tensor<4x4xbf16>) ... {
    ^bb0(%x: bf16, %o: bf16):
      %m = arith.maximumf %x, %zero : bf16
      linalg.yield %m : bf16
    }
    ```

    After:

    ```mlir
    %r = linalg.matmul {braid.epilogue = "relu", braid.overwrites}
                       ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>)
                       outs(%e : tensor<4x4xbf16>) -> tensor<4x4xbf16>
    ```

    The remark `fused-epilogues` counts the elementwise ops that became part of
    matmuls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertLinalgToBraidRTPass
    : Pass<"convert-linalg-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert matmuls and library routines on buffers to calls";
  let description = [{
    `linalg.matmul` and `linalg.batch_matmul`, with or without transposed
    operands, of `f32`, `f64` and complex elements become calls of
    `braid_rt_matmul` and `braid_rt_batch_matmul`. Matmuls that the library does
    not support (other types, operands whose rows are not contiguous) become
    loops. The innermost loop runs along the rows of the result, so LLVM can
    vectorize it.

    `library.call` becomes a call of `braid_rt_call_routine`. The table of routines says what runs
    a routine of a program for `cuda`. The remarks `host-routine` and `waiting-routine` report those
    of the host and those for which the host may wait; a program with these cannot run as a graph.
    `library.attention` and `library.attention_backward` become calls of
    `braid_rt_attention` and `braid_rt_attention_backward` for `cuda`; for the host they
    are errors, because `braid-decompose-attention` leaves none. The same goes for
    `library.convolution` and `braid_rt_convolution` (`braid-decompose-convolutions`).

    Before:

    ```mlir
    linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
    ```

    After (the sizes, leading dimensions and the call site are shortened):

    ```mlir
    llvm.call @braid_rt_matmul(%dtype, %no, %no, %m, %n, %k, %pa, %lda, %pb, %ldb,
                               %beta, %pc, %ldc, %site)
    ```
  }];
  let options = [
    Option<"useLibrary", "library", "bool", /*default=*/"true",
           "Call the library; otherwise every matmul becomes loops">,
    TargetOption<"whose library multiplies">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def WidenSumsPass : Pass<"braid-widen-sums", "::mlir::func::FuncOp"> {
  let summary = "Add and multiply small floats in f32";
  let description = [{
    An op that sums up or multiplies floats of fewer than 32 bits gets results of
    `f32`, which are rounded once behind it: a sum of thousands of `bf16` elements
    has few correct bits otherwise. Products that it sums up are of `f32`, too. So
    are maxima, which are exact in any type: hosts compute each of them in `f32`.
    Kernels of GPUs have `f32` in registers and need no such pass.

    Before:

    ```mlir
    %r = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%c : tensor<4x4xbf16>)
    ```

    After (`linalg.generic` in full):

    ```mlir
    %0 = linalg.generic ins(%c : tensor<4x4xbf16>) ... // arith.extf
    %1 = linalg.generic ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%0 : tensor<4x4xf32>)
    %r = linalg.generic ins(%1 : tensor<4x4xf32>) outs(%c : tensor<4x4xbf16>) // arith.truncf
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def ArrangeLoopsPass : Pass<"braid-arrange-loops", "::mlir::func::FuncOp"> {
  let summary = "Arrange the loops of linalg ops on buffers for vectors";
  let description = [{
    The loop whose iterations access adjacent elements of most operands becomes the
    innermost one. Where this is the loop of a reduction, its sums and products get
    the flag `reassoc`: LLVM may add in several partial sums. Each element keeps the
    order of its terms otherwise. An op that overwrites an input in place reads it as
    its initial value.

    Before:

    ```mlir
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>],
                    iterator_types = ["parallel", "reduction"]} ... // sums of columns
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                    iterator_types = ["parallel", "reduction"]} ... // sums of rows
      %s = arith.addf %in, %out : f32
    ```

    After:

    ```mlir
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
                    iterator_types = ["reduction", "parallel"]} ...
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                    iterator_types = ["parallel", "reduction"]} ...
      %s = arith.addf %in, %out fastmath<reassoc> : f32
    ```
  }];
}

def TileTransposesPass : Pass<"braid-tile-transposes", "::mlir::func::FuncOp"> {
  let summary = "Tile ops on buffers that access some elements transposed";
  let description = [{
    An elementwise op becomes loops over tiles of 32 x 32 if its innermost loop strides
    over an operand that another loop accesses in order, and so many cache lines apart
    that they leave the cache before they are used up: lines whose distance is a multiple
    of a power of two share few sets. Whole tiles read such an operand by vectors, whose
    transpose is stored on the stack.

    Before:

    ```mlir
    linalg.transpose ins(%a : memref<1024x1024xf32>) outs(%b : memref<1024x1024xf32>) permutation = [1, 0]
    ```

    After:

    ```mlir
    scf.for %i = %c0 to %c1024 step %c32 {
      scf.for %j = %c0 to %c1024 step %c32 {
        %in = memref.subview %a[%j, %i] [32, 32] [1, 1] : ...
        %out = memref.subview %b[%i, %j] [32, 32] [1, 1] : ...
        (vector.load of %in, vector.shuffle, vector.store in %transposed)
        linalg.generic ins(%transposed : ...) outs(%out : ...) {...}
      }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def ConvertReductionsToLoopsPass
    : Pass<"convert-reductions-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Convert reductions on buffers to loops with sums in registers";
  let description = [{
    An op whose innermost loop is a reduction becomes loops that keep its results in
    registers. Along 16 or more adjacent numbers there are 16 partial results, which
    are combined in pairs at the end. So the order of a sum, and with it the bits,
    depend neither on the machine nor on what LLVM knows of the memory of operands.
    Maxima, which bear any order, have several times as many partial results.
    Shorter reductions, and those of elements with other strides, stay scalars.

    Before:

    ```mlir
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                    iterator_types = ["reduction"]} ins(%a : memref<64xf32>) outs(%b : memref<f32>) ...
      %s = arith.addf %in, %out : f32
    ```

    After:

    ```mlir
    %old = memref.load %b[] : memref<f32>
    %sums = scf.for %i = %c0 to %c64 step %c16 iter_args(%sum = %zeros) -> (vector<16xf32>) {
      %in = vector.load %a[%i] : memref<64xf32>, vector<16xf32>
      %s = arith.addf %in, %sum : vector<16xf32>
      scf.yield %s : vector<16xf32>
    }
    ... // four additions of halves
    %new = arith.addf %old, %total : f32
    memref.store %new, %b[] : memref<f32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def OutlineKernelsPass : Pass<"braid-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline every linalg op on buffers into a function";
  let description = [{
    Each linalg op on buffers becomes a call of a private function that LLVM does
    not inline. Equal ops share one function. LLVM's compile time grows faster
    than the size of a function, so a program of many layers in one function would
    take hours. If all buffers of a kernel have static shapes and layouts, the
    function takes them as plain pointers (`llvm.bareptr`). A buffer that the kernel
    writes is `llvm.noalias` if it is an allocation or a result of an entry point of
    its own.

    Before:

    ```mlir
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    linalg.exp ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
    ```

    After:

    ```mlir
    call @__braid_kernel(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    call @__braid_kernel(%b, %c) : (memref<4xf32>, memref<4xf32>) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def DivideKernelsPass : Pass<"braid-divide-kernels", "::mlir::ModuleOp"> {
  let summary = "Let kernels with much work compute parts of it";
  let description = [{
    An outlined kernel of static sizes that has work for two threads or more gets
    two arguments: it computes the iterations of one loop between them.
    `braid.part_size` is the number of iterations that a thread takes at once. The
    loop is the outermost one that has enough iterations, of those of which each
    iteration writes elements of its own; no sum is divided. The parts depend on the
    kernel alone, so the bits of results do not depend on the number of threads.

    Before:

    ```mlir
    call @__braid_kernel(%a, %b) : (memref<512x4096xf32>, memref<512x4096xf32>) -> ()
    ```

    After:

    ```mlir
    call @__braid_kernel(%a, %b, %c0, %c512)
      : (memref<512x4096xf32>, memref<512x4096xf32>, index, index) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertPartsToBraidRTPass
    : Pass<"convert-parts-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Call divided kernels through the runtime";
  let description = [{
    Replaces each call of a kernel with `braid.part_size`, in the LLVM dialect, by a
    call of `braid_rt_run_parts`, which calls the kernel for each part on the threads
    of the rank.

    Before:

    ```mlir
    llvm.call @__braid_kernel(%a, %b, %c0, %c512) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
    ```

    After:

    ```mlir
    %arguments = llvm.alloca %c1 x !llvm.struct<(ptr, ptr)> : (i64) -> !llvm.ptr
    ... // stores %a and %b
    llvm.call @braid_rt_run_parts(%part, %arguments, %c512, %c16)
      : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // BRAID_CONVERSION_LINALGPASSES_TD
