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
    `braid_rt_copy`, which copies on the device. `convert-linalg-to-gpu` turns all
    other copies into kernels.

    Before:

    ```mlir
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    ```

    After (the addresses and the call site are shortened):

    ```mlir
    llvm.call @braid_rt_copy(%pb, %pa, %bytes, %site)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertDeviceControlFlowToBraidRTPass
    : Pass<"convert-device-control-flow-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Have the device decide what loops and choices do";
  let description = [{
    The host reads the condition of an `scf.while`, and the number by which an
    `scf.if` or `scf.index_switch` chooses, from device memory, and waits for the
    device. This pass replaces such a read by calls of the runtime if the regions
    do nothing but to launch kernels, to call libraries that the device can
    record, to copy on the device, and such loops and choices, and if no value
    leaves the regions; `braid-place-control-flow-buffers` prepares that. The
    runtime may then record all cases, or one iteration, and the device decides.
    The remarks `device-loop` and `device-choice` report each one.

    | before | after |
    |---|---|
    | the read of the condition of a loop | `braid_rt_repeat` |
    | a choice between N regions | N `scf.if`, each behind a call of `braid_rt_choose`, and a last call |

    Before:

    ```mlir
    scf.while : () -> () {
      gpu.launch_func @kernels::@is_positive ... args(%error, %more)
      %c = memref.load %more[] : memref<i1>
      scf.condition(%c)
    } do {
      gpu.launch_func @kernels::@step ... args(%x, %error)
      scf.yield
    }
    ```

    After (the address and the call site are shortened), the condition is:

    ```mlir
    %r = llvm.call @braid_rt_repeat(%more_address, %loop, %site)
    %c = arith.cmpi ne, %r, %zero : i32
    scf.condition(%c)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ConvertDeviceMemoryToBraidRTPass
    : Pass<"convert-device-memory-to-braid-rt", "::mlir::ModuleOp"> {
  let summary = "Convert the host's accesses of device memory to runtime calls";
  let description = [{
    On a device with memory of its own, memrefs in host code hold device
    addresses. This pass converts host code on such memrefs:

    | before | after |
    |---|---|
    | the allocation of the arena | `braid_rt_arena` |
    | an allocation outside of the arena | `braid_rt_buffer_alloc` |
    | a constant global | `braid_rt_device_constant` |
    | `memref.load` | `braid_rt_read`, which waits for the device |
    | `memref.store` | `braid_rt_write`, which does not wait |

    The remark `host-read` reports each read, and the table of the program has the
    number of reads. A program with reads cannot run as a graph.

    Before:

    ```mlir
    %n = memref.load %a[%i] : memref<4xi64>
    ```

    After (the call site and the address are shortened):

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
    A `gpu.binary` becomes a constant of type `braid_rt_image` and one constant of
    type `braid_rt_kernel` for each kernel. A `gpu.launch_func` becomes a call of
    `braid_rt_launch` with an array of pointers to the arguments of the kernel. A
    buffer is passed as its base pointer, before the offset of the layout is
    added; sizes are passed as 64-bit integers.

    Before:

    ```mlir
    gpu.launch_func @kernels::@relu blocks in (%c4, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%a : memref<1024xf32>)
    ```

    After (the call site is shortened):

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
    Runs after the conversion to kernels and runtime calls. Emits an error at each
    remaining op that the host cannot run. The host can run ops on scalars,
    control flow, views of buffers, and the starts and waits of collectives.

    ```mlir
    // error: 'memref.atomic_rmw' op has no lowering for CUDA: neither a kernel
    // nor a call of the runtime computes it
    %o = memref.atomic_rmw addf %v, %a[%i] : (f32, memref<4xf32>) -> f32
    ```
  }];
}

def CheckCudaToolkitPass : Pass<"braid-check-cuda-toolkit", "::mlir::ModuleOp"> {
  let summary = "Check that the tools that compile kernels are installed";
  let description = [{
    The compilation of kernels needs LLVM's target NVPTX, and the programs `ptxas`
    and `fatbinary` of the CUDA toolkit, in the folder of the toolkit or on the
    PATH. If the program has kernels, the error names the missing part and the
    folders that were searched.
  }];
  let options = [
    Option<"toolkit", "toolkit", "std::string", /*default=*/"\"\"",
           "The folder of the CUDA toolkit; by default CUDA_ROOT, CUDA_HOME, "
           "CUDA_PATH or /usr/local/cuda">
  ];
}

#endif // BRAID_CONVERSION_DEVICEPASSES_TD
