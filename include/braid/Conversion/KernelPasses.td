//===- KernelPasses.td - Kernels for GPUs ------------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_KERNELPASSES_TD
#define BRAID_CONVERSION_KERNELPASSES_TD

include "mlir/Pass/PassBase.td"

def SplitReductionsPass
    : Pass<"braid-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Split reductions with few results into two steps";
  let description = [{
    A reduction on buffers with too few results to use all multiprocessors (where
    neither rows nor columns are adjacent in memory, each thread computes one), or
    whose rows are several loops for a kernel, because an operand repeats along
    one of the loops, becomes two reductions: the first one reduces parts of the
    operand into a new buffer, the second one reduces this buffer, in which
    parts of small floats are f32. The parts of a result are adjacent: the
    kernel of the second step takes in the elementwise ops on the results that
    follow. The pass runs before `braid-plan-memory`, which places the buffer in
    the arena, and before `convert-linalg-to-gpu`, which generates a kernel for
    each of the two. The order of the operands is fixed, so every run gives the
    same bits.

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
    Every linalg op on buffers, and every `memref.copy`, becomes a
    `gpu.launch_func` of a kernel in `gpu.module @kernels`. Equal ops share one
    kernel. Ops in a row on the same rows become one kernel, which stores no buffer
    that only these ops use. So the pass runs before `braid-plan-memory` with
    `leave-calls`, and again behind it for copies.

    Three or more small ops become one kernel, too, if each iteration depends only
    on iterations of the other ops with the same indices along some axes, as in the
    levels of an associative scan. A block computes a part of the indices, op after
    op, with a barrier where an op reads what others have written. The ops move
    behind ops between them that use other buffers, but not behind a `comm.wait`.

    With `tensor-cores`, a small matmul of f32 that may be computed in TF32
    (`braid.precision`) becomes a kernel instead of a call, with rows that do not begin
    at multiples of 16 bytes only if it has few products: each warp of a block adds up other terms of the block's results. On an H200
    a matmul of 64 x 64 x 64 takes 1.5 us (the library 3.0), one of 128 x 512 x 512
    3.6 us (5.3). Larger ones, epilogues other than `relu` and those with
    `comm.multiprocessors` remain calls.

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

    Each thread of the kernel loads a `vector<4xf32>`, computes, and stores the
    result.

    Errors: element types and indexing maps that kernels do not support.
  }];
  let options = [
    Option<"leaveCalls", "leave-calls", "bool", /*default=*/"false",
           "Leave matmuls and copies that become calls of the runtime">,
    Option<"tensorCores", "tensor-cores", "bool", /*default=*/"false",
           "Make kernels of small matmuls in TF32, which run from sm_80 on">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def ExpandDivisionsPass : Pass<"braid-expand-divisions"> {
  let summary = "Divide vectors by one number in few instructions";
  let description = [{
    Softmax divides all elements of a row by one number. The pass computes the
    reciprocal y of the divisor s once. Each quotient x / s then takes a
    multiplication and two fused operations instead of 10 instructions: q = x * y,
    r = x - q * s, and q + r * y. The result is the correctly rounded quotient
    (P. Markstein, "Computation of elementary functions on the IBM RISC
    System/6000 processor", 1990) if s has a magnitude from 2^-24 to 2^24 and x
    one from 2^-100 to below 2^28.

    A vector with another element, such as a zero behind a mask, or with another
    divisor is divided in the same way in f64 and rounded to f32, which gives the
    same bits as a division. CUDA's division is up to 5 times slower for such
    numbers.

    The pass expands vectors of 4 and more elements of f32, bf16 or f16 that are
    divided by a broadcast number. Numbers of 16 bits are divided in f32, and the
    quotient is rounded to the type.

    Before:

    ```mlir
    %d = vector.broadcast %s : f32 to vector<8xf32>
    %r = arith.divf %x, %d : vector<8xf32>
    ```

    After:

    ```mlir
    %y = arith.divf %one, %s : f32
    // %isShort: %s and all elements of %x are in range
    %r = scf.if %isShort -> (vector<8xf32>) {
      %ys = vector.broadcast %y : f32 to vector<8xf32>
      %negated = vector.broadcast %minusS : f32 to vector<8xf32>
      %q = arith.mulf %x, %ys : vector<8xf32>
      %rest = math.fma %q, %negated, %x : vector<8xf32>
      %quotients = math.fma %rest, %ys, %q : vector<8xf32>
      scf.yield %quotients : vector<8xf32>
    } else {
      // The same in f64 if %y is normal, arith.divf otherwise
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandFunctionsPass
    : Pass<"braid-expand-functions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Compute functions in few instructions";
  let description = [{
    Gelu and silu of 16-bit numbers are bound by instructions instead of by
    memory if libdevice computes their functions.

    The sum 1 + erf(x) of f32 becomes erfc(-x), which is 2 to the power of a
    polynomial of degree 8. The error is at most 1.3e-7, as for the sum, and
    smaller if x is negative. libdevice takes 21 instructions for the error
    function alone.

    `tanh`, `exp` and quotients of bf16 are computed in f32 by the instructions
    `tanh.approx`, `ex2.approx.ftz` and `div.full`, whose relative errors are at
    most 2^-10.9, 2^-16 and 2^-22: an eighth of the last place of bf16 or less.
    libdevice takes 17 instructions for `tanh`, 8 for `exp` and 10 with a call for
    a quotient. Subnormal results of `exp` are zero.

    Before:

    ```mlir
    %e = math.erf %x : f32
    %r = arith.addf %e, %one : f32
    ```

    After:

    ```mlir
    %t = math.absf %x : f32
    // %q, a polynomial of %t
    %rest = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%q) : (f32) -> f32
    %other = arith.subf %two, %rest : f32
    %isNegative = arith.cmpf olt, %x, %zero : f32
    %r = arith.select %isNegative, %rest, %other : f32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerNontemporalLoadsPass
    : Pass<"braid-lower-nontemporal-loads", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Load what is read once without a place in the L1 cache";
  let description = [{
    LLVM ignores `nontemporal` for NVIDIA's GPUs. The pass turns nontemporal
    loads of 16 aligned bytes into PTX that takes no line of the L1 cache. A
    reduction of 64 MiB on an H200 gains 1 to 4 %.

    The buffer must be an argument of the kernel with `llvm.noalias` through which
    the kernel only loads. Other loads stay.

    Before:

    ```mlir
    %x = llvm.load %p {alignment = 16 : i64, nontemporal} : !llvm.ptr -> vector<4xf32>
    ```

    After:

    ```mlir
    %g = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<1>
    %r = llvm.inline_asm "ld.global.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];",
        "=r,=r,=r,=r,l" %g : (!llvm.ptr<1>) -> !llvm.struct<(i32, i32, i32, i32)>
    // %w, the vector of the four words of %r
    %x = llvm.bitcast %w : vector<4xi32> to vector<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ApproximateMathPass : Pass<"braid-approximate-math", "::mlir::ModuleOp"> {
  let summary = "Compute functions of f32 by polynomials";
  let description = [{
    `exp`, `expm1`, `log`, `log1p`, `tanh` and `erf` of f32 become upstream's
    polynomials, which LLVM vectorizes, in place of calls of the C library. An
    element has the same bits in each vector and in the rest of a loop. The error is
    at most 6 units in the last place (C library: 1); `exp` of less than -87.3 is
    zero. Other `expm1` become calls of the C library, as LLVM has no intrinsic for them.

    Before:

    ```mlir
    %y = math.tanh %x : f32
    ```

    After:

    ```mlir
    %z = arith.minimumf %x, %limit : f32
    // ... a quotient of two polynomials of %z
    %y = arith.select %isTiny, %x, %quotient : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandFloat8Pass : Pass<"braid-expand-float8"> {
  let summary = "Convert 8-bit floats by operations on integers";
  let description = [{
    Rewrites `arith.extf` from f8E4M3FN and f8E5M2, and `arith.truncf` to them,
    for which LLVM has no instruction on the host or for GPUs, into operations
    on integers and f32. Results are exact, or rounded once to nearest, ties to
    even. A number beyond the largest one becomes infinity in f8E5M2 and NaN in
    f8E4M3FN. `arith-emulate-unsupported-floats` turns other operations on 8-bit
    floats into conversions and operations on f32 first.

    Before:

    ```mlir
    %y = arith.extf %x : f8E5M2 to f32
    ```

    After:

    ```mlir
    %0 = arith.bitcast %x : f8E5M2 to i8
    %1 = arith.extui %0 : i8 to i16
    %2 = arith.shli %1, %c8 : i16
    %3 = arith.bitcast %2 : i16 to f16
    %y = arith.extf %3 : f16 to f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandFloat16Pass : Pass<"braid-expand-float16"> {
  let summary = "Compute 16-bit floats by operations on integers";
  let description = [{
    Rewrites `arith.extf` from bf16 to f32 and `arith.truncf` from f32 to bf16 by
    upstream's patterns of `arith-expand`, for hosts, where LLVM calls functions
    that not every library has. That pass would also turn `arith.maximumf` and
    `arith.minimumf` into comparisons, for which -0 equals 0. Those of f16 become
    those of integers, which LLVM vectorizes: it would call a function for each.

    Before:

    ```mlir
    %y = arith.extf %x : bf16 to f32
    ```

    After:

    ```mlir
    %0 = arith.bitcast %x : bf16 to i16
    %1 = arith.extui %0 : i16 to i32
    %2 = arith.shli %1, %c16 : i32
    %y = arith.bitcast %2 : i32 to f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def WaitForEarlierKernelsPass
    : Pass<"braid-wait-for-earlier-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Let kernels start before the end of earlier ones";
  let description = [{
    From `sm_90` on a GPU can start a kernel while the kernel before ends
    (programmatic dependent launch), if the kernel itself waits for the memory of
    earlier kernels. All kernels of the module wait before all else, and a global
    variable tells the runtime that they do. On an H200 a chain of kernels of 1 us
    gains 0.25 us a kernel, in graphs and outside.

    Arguments lose `llvm.noalias`: their memory changes during the wait, and LLVM and
    PTX's assembler would load from it before. Accesses get alias scopes instead.

    Modules for earlier chips stay as they are.

    Before:

    ```mlir
    llvm.func @kernel(%x: !llvm.ptr) attributes {nvvm.kernel} { ... }
    ```

    After:

    ```mlir
    llvm.mlir.global external constant @braid_kernels_wait(1 : i8) {addr_space = 1 : i32} : i8
    llvm.func @kernel(%x: !llvm.ptr) attributes {nvvm.kernel} {
      nvvm.griddepcontrol wait
      ...
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90\"",
           "The GPU to compile for">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def AttachKernelTargetPass
    : Pass<"braid-attach-kernel-target", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Set the target of kernels";
  let description = [{
    Attaches an `#nvvm.target` to a `gpu.module` in the NVVM and LLVM dialects. The
    target links CUDA's libdevice if a kernel calls a function of libdevice.

    Before:

    ```mlir
    gpu.module @kernels { ... }
    ```

    After:

    ```mlir
    gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80">] { ... }
    ```

    Error: a kernel calls libdevice, and the CUDA toolkit has no libdevice.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90\"",
           "The GPU to compile for">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "The version of PTX, such as +ptx80; by default the oldest version that "
           "supports the chip">,
    Option<"toolkit", "toolkit", "std::string", /*default=*/"\"\"",
           "The folder of the CUDA toolkit; by default CUDA_ROOT, CUDA_HOME, "
           "CUDA_PATH or /usr/local/cuda">
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

#endif // BRAID_CONVERSION_KERNELPASSES_TD
