//===- Passes.td - Braid's conversions ---------------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_PASSES_TD
#define BRAID_CONVERSION_PASSES_TD

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
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
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
           "Call the library; else make loops of every product">
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

def SplitDeallocationsPass
    : Pass<"braid-split-deallocations", "::mlir::func::FuncOp"> {
  let summary = "Free the buffers that nothing else can be a view of";
  let description = [{
    Ownership-based deallocation ends a block with one `bufferization.dealloc`
    of all its buffers, which frees those that no retained buffer is a view of,
    each once. Upstream's simplification compares all pairs of them. This pass
    first takes out the allocations of the block that are certainly freed, in a
    time linear in their number.

    Before:

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    %c = arith.select %i, %b, %x : memref<4xf32>
    bufferization.dealloc (%a, %b : memref<4xf32>, memref<4xf32>) if (%true, %true)
        retain (%c : memref<4xf32>)
    ```

    After:

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    %c = arith.select %i, %b, %x : memref<4xf32>
    memref.dealloc %a : memref<4xf32>
    bufferization.dealloc (%b : memref<4xf32>) if (%true) retain (%c : memref<4xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def FreeEarlyPass : Pass<"braid-free-early", "::mlir::func::FuncOp"> {
  let summary = "Move deallocations to after the last use";
  let description = [{
    Moves each `memref.dealloc` of a buffer that was allocated in its block to
    just after the last op that uses the buffer or a view of it. A wait uses the
    buffers that it names, so a buffer in flight is freed after it has landed.

    Before:

    ```mlir
    comm.wait %t reads(%x : memref<4xf32>) : !comm.token
    "compute"(%y) : (memref<4xf32>) -> ()
    memref.dealloc %x : memref<4xf32>
    ```

    After:

    ```mlir
    comm.wait %t reads(%x : memref<4xf32>) : !comm.token
    memref.dealloc %x : memref<4xf32>
    "compute"(%y) : (memref<4xf32>) -> ()
    ```
  }];
}

def PrepareEntriesPass : Pass<"braid-prepare-entries", "::mlir::ModuleOp"> {
  let summary = "Give public functions the signature of entry points";
  let description = [{
    Every public function is an entry point. Its results of static shape become
    arguments that it writes; an allocation that is only returned is replaced by
    the argument. What the arguments are is written to the attribute
    `braid.entry`, from which `braid-emit-entry-table` makes the table. A public
    function that the program also calls gets a private body of its own.

    Errors: an entry point that takes or returns a token or a type that the
    runtime does not know, a function without a body, arithmetic on 8-bit
    floats, and a module without an entry point.

    Before:

    ```mlir
    func.func @main(%a: memref<4xf32>) -> memref<4xf32> {
      %r = memref.alloc() : memref<4xf32>
      ...
      return %r : memref<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @main(%a: memref<4xf32>, %r: memref<4xf32>)
        attributes {braid.entry = [...]} {
      ...
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def DropDeallocationsPass
    : Pass<"braid-drop-deallocations", "::mlir::func::FuncOp"> {
  let summary = "Forget where a program that comes as buffers frees them";
  let description = [{
    Erases every `memref.dealloc`. The pass runs after the check of buffers in
    flight and before ownership-based deallocation, which refuses a program that
    frees buffers itself and then frees every buffer anew.
  }];
}

def ConvertAssertToBraidRTPass
    : Pass<"convert-assert-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert assertions to failures of their rank";
  let description = [{
    An assertion that does not hold ends the program on its rank with an error
    that says the position and the message, and not the process: the other
    ranks hear of it.

    ```mlir
    cf.assert %c, "no rows"
    ```

    becomes a call of `braid_rt_fail` where `%c` is false.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def EmitEntryTablePass : Pass<"braid-emit-entry-table", "::mlir::ModuleOp"> {
  let summary = "Emit the table of entry points of a program";
  let description = [{
    Works on the LLVM dialect. For each function with `braid.entry` it emits a
    function that takes an array of pointers, as `braid-rt/Program.h` describes
    it, and the constant `braid_program`, the one symbol that the program
    exports.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// Kernels for GPUs
//===----------------------------------------------------------------------===//

def ConvertLinalgToGPUPass
    : Pass<"convert-linalg-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Generate GPU kernels from linalg on buffers";
  let description = [{
    Every linalg op on buffers of static shape, and every `memref.copy`, becomes
    a `gpu.launch_func` of a kernel in `gpu.module @kernels`. Equal kernels are
    one.

    Before:

    ```mlir
    linalg.exp ins(%a : memref<4096xf32>) outs(%b : memref<4096xf32>)
    ```

    After:

    ```mlir
    gpu.launch_func @kernels::@elementwise blocks in (%c4, %c1, %c1)
        threads in (%c256, %c1, %c1)
        args(%a : memref<4096xf32>, %b : memref<4096xf32>)
    ```

    where a thread of the kernel loads a `vector<4xf32>`, computes and stores it.

    Errors: dynamic shapes or strides, elements or indices that kernels do not
    know.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::gpu::GPUDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def AttachKernelTargetPass
    : Pass<"braid-attach-kernel-target", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Say what kernels are compiled for";
  let description = [{
    Gives a `gpu.module` in the NVVM and LLVM dialects its target, with CUDA's
    libdevice if a kernel calls its functions.

    Before:

    ```mlir
    gpu.module @kernels { ... }
    ```

    After:

    ```mlir
    gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80">] { ... }
    ```

    Error: a kernel calls libdevice, and the CUDA toolkit has none.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90\"",
           "The GPU to compile for">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "The version of PTX, such as +ptx80; without it one that the chip knows">,
    Option<"toolkit", "toolkit", "std::string", /*default=*/"\"\"",
           "The folder of the CUDA toolkit; without it CUDA_ROOT, CUDA_HOME, "
           "CUDA_PATH or /usr/local/cuda">
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

#endif // BRAID_CONVERSION_PASSES_TD
