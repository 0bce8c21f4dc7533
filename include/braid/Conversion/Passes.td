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
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Whose library it is: host or cuda">
  ];
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
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Where kernels run: host or cuda">
  ];
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

def HashSchedulePass : Pass<"braid-hash-schedule", "::mlir::ModuleOp"> {
  let summary = "Note a hash of the program's text";
  let description = [{
    Notes a hash of the module's text, without locations, for the program's
    table (`schedule`). It runs after scheduling: ranks that compare their
    hashes start the same operations in the same order. A module marked
    `comm.mpmd` gets none, for its ranks run different texts.

    ```mlir
    module attributes {braid_rt.schedule = "5f1c9c2b1d1f8e3a"} { ... }
    ```
  }];
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

def RotateLoopBuffersPass
    : Pass<"braid-rotate-loop-buffers", "::mlir::func::FuncOp"> {
  let summary = "Allocate what loops carry before them, and take turns";
  let description = [{
    An iteration of `scf.for` or `scf.while` may not compute into the buffer
    that the one before has left to it. A buffer that is allocated in an
    iteration and used in later ones becomes two or more that are allocated
    before the loop and take turns; the others stay where they are.

    Where a loop may hand on a buffer for an unknown number of iterations, it
    hands on a copy. A loop that carries operations in flight cannot do that,
    which is an error.

    Before:

    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (memref<4xf32>) {
      %y = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
      scf.yield %y : memref<4xf32>
    }
    ```

    After:

    ```mlir
    %b0 = memref.alloc() : memref<4xf32>
    %b1 = memref.alloc() : memref<4xf32>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b0, %z = %b1)
        -> (memref<4xf32>, memref<4xf32>, memref<4xf32>) {
      linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
      scf.yield %y, %z, %y : memref<4xf32>, memref<4xf32>, memref<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlanMemoryPass : Pass<"braid-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give all buffers of an entry point a place in one arena";
  let description = [{
    Every `memref.alloc` becomes a view of one arena, which the entry point gets
    from the runtime. Buffers that live at one time do not overlap; a buffer
    lives from its first use to its last one, through views, regions and calls.
    A wait uses the buffers that it names, so what is in flight keeps its place.
    What is used in a loop, and allocated before it, lives as long as the loop.
    Offsets are multiples of 256 bytes and depend on the text alone, so that they
    are equal on all ranks. A function that allocates and is called gets its
    arena, a buffer of its caller's, as a further argument. Buffers that loops
    carry are first allocated before them, as `braid-rotate-loop-buffers` does.

    The remark `arena` gives the arena's size and the most bytes that live at one
    time, below which no plan can be.

    Errors: buffers whose size is not known when the program is compiled, or that
    are not contiguous, and functions that allocate and call themselves.

    Before:

    ```mlir
    %a = memref.alloc() : memref<64xf32>
    linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
    ```

    After:

    ```mlir
    %arena = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<256xi8>
    %a = memref.view %arena[%c0][] : memref<256xi8> to memref<64xf32>
    linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertDeviceCopiesToBraidRTPass
    : Pass<"convert-device-copies-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert contiguous copies to calls of the runtime";
  let description = [{
    A `memref.copy` between contiguous buffers of static shape becomes a call of
    `braid_rt_copy`, which copies on the device. Others are left to become
    kernels.

    Before:

    ```mlir
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    ```

    After (the addresses and the site abridged):

    ```mlir
    llvm.call @braid_rt_copy(%pb, %pa, %bytes, %site)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertDeviceMemoryToBraidRTPass
    : Pass<"convert-device-memory-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert what the host does with device memory to runtime calls";
  let description = [{
    On a device of its own, memrefs of host code hold device addresses. The arena
    comes from `braid_rt_arena`, constant globals from
    `braid_rt_device_constant`. A `memref.load` in host code becomes
    `braid_rt_read`, which waits for the device, a `memref.store`
    `braid_rt_write`, which does not. Each read is reported by the remark
    `host-read` and counted in the program's table: a program with any cannot run
    as a graph.

    Before:

    ```mlir
    %n = memref.load %a[%i] : memref<4xi64>
    ```

    After (with the site and the address abridged):

    ```mlir
    %slot = llvm.alloca %one x i64 : (i64) -> !llvm.ptr
    llvm.call @braid_rt_read(%slot, %address, %eight, %site)
    %n = llvm.load %slot : !llvm.ptr -> i64
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CheckDeviceCodePass : Pass<"braid-check-device-code", "::mlir::ModuleOp"> {
  let summary = "Check that every op has a lowering for CUDA";
  let description = [{
    Reports each op that is left when kernels and calls of the runtime have been
    made, and that the host cannot compute: all but scalars, control flow, views
    of buffers and the starts and waits of collectives.

    ```mlir
    // error: 'memref.atomic_rmw' op has no lowering for CUDA: neither a kernel
    // nor a call of the runtime computes it
    %o = memref.atomic_rmw addf %v, %a[%i] : (f32, memref<4xf32>) -> f32
    ```
  }];
}

def CheckCudaToolkitPass : Pass<"braid-check-cuda-toolkit", "::mlir::ModuleOp"> {
  let summary = "Check that there is what kernels are compiled with";
  let description = [{
    A program with kernels needs LLVM's target NVPTX, and the programs `ptxas`
    and `fatbinary` of the CUDA toolkit, in its folder or on the PATH. The error
    names what is missing and where it was looked for.
  }];
  let options = [
    Option<"toolkit", "toolkit", "std::string", /*default=*/"\"\"",
           "The folder of the CUDA toolkit; without it CUDA_ROOT, CUDA_HOME, "
           "CUDA_PATH or /usr/local/cuda">
  ];
}

def ConvertGPULaunchToBraidRTPass
    : Pass<"convert-gpu-launch-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert kernels and their launches to runtime calls";
  let description = [{
    A `gpu.binary` becomes a constant (`braid_rt_image`), with another one for
    each kernel (`braid_rt_kernel`); `gpu.launch_func` becomes a call of
    `braid_rt_launch` with an array of pointers to the kernel's arguments. A
    kernel gets a buffer as the pointer that the offset of its layout counts
    from, and sizes as 64-bit integers.

    Before:

    ```mlir
    gpu.launch_func @kernels::@relu blocks in (%c4, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%a : memref<1024xf32>)
    ```

    After (the site abridged):

    ```mlir
    %slot = llvm.alloca %one x !llvm.ptr : (i64) -> !llvm.ptr
    llvm.store %address, %slot : !llvm.ptr, !llvm.ptr
    llvm.store %slot, %pointers : !llvm.ptr, !llvm.ptr
    llvm.call @braid_rt_launch(%kernel, %grid, %block, %shared, %pointers, %one, %site)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// Kernels for GPUs
//===----------------------------------------------------------------------===//

def SplitReductionsPass
    : Pass<"braid-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Split reductions with few results in two steps";
  let description = [{
    A reduction on buffers that has too few results for all multiprocessors
    becomes two: the first reduces parts into a buffer of its own, the second
    reduces what the first leaves. It runs before
    `braid-plan-memory`, which places the buffer in the arena, and before
    `convert-linalg-to-gpu`, which makes kernels of the two.
    The order of the operands is fixed, so the bits are the same in every run.

    Before:

    ```mlir
    linalg.reduce { arith.addf } ins(%x : memref<4194304xf32>)
        outs(%sum : memref<f32>) dimensions = [0]
    ```

    After:

    ```mlir
    %parts = memref.alloc() : memref<1024xf32>
    // sums of 4096 elements each, from expanded %x into %parts
    // the sum of %parts into %sum
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}

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
