//===- DevicePasses.td - Host code of programs for devices -*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_DEVICEPASSES_TD
#define BRAID_CONVERSION_DEVICEPASSES_TD

include "mlir/Pass/PassBase.td"

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
    comes from `braid_rt_arena`, a buffer that the memory plan has no place for
    from `braid_rt_buffer_alloc`, constant globals from
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

#endif // BRAID_CONVERSION_DEVICEPASSES_TD
