// A program for CUDA from tensors to a shared object: kernels as data, calls of the
// runtime, and a table that says what it needs.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none --emit=mlir | FileCheck %s
// RUN: braid-compile %s --target=cuda --passes=none --emit=llvm -o - | FileCheck %s --check-prefix=LLVM
// RUN: braid-compile %s --target=cuda --chip=sm_80 --emit=llvm -o - | FileCheck %s --check-prefix=CHIP
// RUN: braid-compile %s --target=cuda -o %t.so && llvm-nm -D --defined-only %t.so | FileCheck %s --check-prefix=SYMBOLS

comm.group @world all

// One arena for the only buffer that is no argument; no copies.
// CHECK-LABEL: llvm.func internal @main
// CHECK:         %[[DTYPE:.*]] = llvm.mlir.constant(6 : i32) : i32
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(32768 : i64) : i64
// CHECK:         llvm.call @braid_rt_arena(%[[BYTES]], %{{.*}}) : (i64, !llvm.ptr) -> !llvm.ptr
// CHECK:         %[[T:.*]] = llvm.call @braid_rt_all_reduce
// CHECK:         llvm.call @braid_rt_fused_matmul(%[[DTYPE]],
// CHECK-NOT:     llvm.call @braid_rt_launch
// CHECK-NOT:     llvm.call @braid_rt_copy
// CHECK:         llvm.call @braid_rt_wait(%[[T]],
// CHECK:         llvm.call @braid_rt_launch
// CHECK-NOT:     llvm.call
// CHECK:         llvm.return

// LLVM-DAG: @__braid_image_kernels = private constant { ptr, i64, ptr } { ptr @__braid_image_kernels_data, i64 {{[0-9]+}}, ptr @__braid_image_kernels_chip }
// LLVM-DAG: @__braid_image_kernels_chip = private constant [6 x i8] c"sm_90\00"
// LLVM-DAG: @__braid_device = private constant { i64, ptr, i64, ptr, i64, i64, i64 } { i64 1, ptr @__braid_images, i64 0, ptr null, i64 32768, i64 0, i64 0 }
// LLVM-DAG: @__braid_schedule = private constant [17 x i8] c"{{[0-9a-f]+}}\00"
// LLVM-DAG: @braid_program = {{.*}}constant { i32, i32, ptr, i64, ptr, i64, ptr, ptr, ptr } { i32 4, i32 1, ptr null, i64 1, ptr @__braid_groups, i64 1, ptr @__braid_entries, ptr @__braid_schedule, ptr @__braid_device }

// CHIP: c"sm_80\00"

// SYMBOLS:     braid_program
// SYMBOLS-NOT: braid
func.func @main(%a: tensor<128x128xbf16>, %b: tensor<128x128xbf16>) -> tensor<128x128xbf16> {
  %t = comm.all_reduce sum %a on @world : tensor<128x128xbf16>
  %e = tensor.empty() : tensor<128x128xbf16>
  %z = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<128x128xbf16>) -> tensor<128x128xbf16>
  %m = linalg.matmul ins(%a, %b : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%f : tensor<128x128xbf16>) -> tensor<128x128xbf16>
  %zeros = arith.constant dense<0.0> : tensor<128x128xbf16>
  %r = arith.maximumf %m, %zeros : tensor<128x128xbf16>
  %w = comm.wait %t : !comm.token<tensor<128x128xbf16>>
  %s = arith.addf %r, %w : tensor<128x128xbf16>
  return %s : tensor<128x128xbf16>
}
