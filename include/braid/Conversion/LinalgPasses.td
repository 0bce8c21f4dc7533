//===- LinalgPasses.td - Linear algebra to calls and functions *- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_LINALGPASSES_TD
#define BRAID_CONVERSION_LINALGPASSES_TD

include "mlir/Pass/PassBase.td"

def MarkOverwritingMatmulsPass
    : Pass<"braid-mark-overwriting-matmuls", "::mlir::func::FuncOp"> {
  let summary = "Mark matrix products that start from zeros";
  let description = [{
    A product whose initial value is a fill with zeros overwrites its result:
    the library is told so, and the fill is dropped. The pass looks at values,
    before bufferization, so that the decision, and with it every bit of the
    result, does not depend on the schedule.

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
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Whose library it is: host or cuda">
  ];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def FoldSplatsPass : Pass<"braid-fold-splats", "::mlir::func::FuncOp"> {
  let summary = "Compute with constants of one value instead of loading them";
  let description = [{
    A constant tensor with equal elements becomes a scalar in the bodies of
    `linalg.generic` ops that read it. Where other ops use it, a large one is
    filled before its use; a small one stays data of the program.

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
                           "::mlir::tensor::TensorDialect"];
}

def FuseEpiloguesPass : Pass<"braid-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Let the library do what follows a product";
  let description = [{
    An elementwise op that is the only user of a product marked
    `braid.overwrites` becomes part of it where the library of a GPU can do it:
    adding a row to all rows of the result (a bias), then relu or gelu (the
    approximation by tanh), and converting the result to another type. The body
    may write the function in any way. A bias has to exist where the product
    stands. The pass runs on tensors, before scheduling, so that a program has
    the same products however it is scheduled.

    The library works in the type of the accumulation and rounds once. For relu
    and a conversion alone that gives the bits of separate ops, NaNs aside; with
    a bias or gelu it is more precise than they are.

    Labels are merged; the cost of the product stays.

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
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numFused", "fused-epilogues",
                              "Elementwise ops that became part of products">];
}

def ConvertLinalgToBraidRTPass
    : Pass<"convert-linalg-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert matrix products on buffers to library calls";
  let description = [{
    `linalg.matmul` and `linalg.batch_matmul`, with or without transposed
    operands, of `f32`, `f64` and complex elements become calls of
    `braid_rt_matmul` and `braid_rt_batch_matmul`. Products that the library does
    not know (other types, operands whose rows are not contiguous) become loops
    whose innermost one runs along the rows of the result, which vectorizes.

    Before:

    ```mlir
    linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
    ```

    After (the sizes, leading dimensions and the site abridged):

    ```mlir
    llvm.call @braid_rt_matmul(%dtype, %no, %no, %m, %n, %k, %pa, %lda, %pb, %ldb,
                               %beta, %pc, %ldc, %site)
    ```
  }];
  let options = [
    Option<"useLibrary", "library", "bool", /*default=*/"true",
           "Call the library; else make loops of every product">,
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Where products run: host or cuda">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def OutlineKernelsPass : Pass<"braid-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Give every kernel on buffers a function of its own";
  let description = [{
    Each linalg op on buffers becomes a call of a private function that is not
    inlined; equal ops share one. The time that LLVM takes grows faster than the
    size of a function: a program of many layers in one function would take
    hours. A kernel whose buffers are of static shape and layout takes them as
    plain pointers (`llvm.bareptr`).

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

#endif // BRAID_CONVERSION_LINALGPASSES_TD
