// Kernels become constants, launches calls of the runtime.
//
// RUN: braid-opt %s --convert-gpu-launch-to-braid-rt --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s

module attributes {gpu.container_module} {
// CHECK-NOT: gpu.
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, "\01\02code">]

// Sizes that are constants are data; a buffer is the pointer that its offset counts from.
// CHECK-LABEL: llvm.func @static
// CHECK-SAME:      %[[DATA:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: i64, %[[SCALAR:[a-z0-9]+]]: f32)
// CHECK:         %[[SAVED:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    %[[KERNEL:.*]] = llvm.mlir.addressof @__braid_kernel_of_kernels_relu : !llvm.ptr
// CHECK-NEXT:    %[[GRID:.*]] = llvm.mlir.addressof @[[$GRID:__braid_array_[0-9]+]] : !llvm.ptr
// CHECK-NEXT:    %[[BLOCK:.*]] = llvm.mlir.addressof @[[$BLOCK:__braid_array_[0-9]+]] : !llvm.ptr
// CHECK-NEXT:    %[[SHARED:.*]] = llvm.mlir.constant(0 : i64) : i64
// CHECK-NEXT:    %[[POINTER:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK-NEXT:    llvm.store %[[POINTER]], %[[SLOT]]
// CHECK:         %[[SLOT1:.*]] = llvm.alloca %{{.*}} x f32
// CHECK-NEXT:    llvm.store %[[SCALAR]], %[[SLOT1]]
// CHECK-NEXT:    %[[TWO:.*]] = llvm.mlir.constant(2 : i64) : i64
// CHECK-NEXT:    %[[ARGUMENTS:.*]] = llvm.alloca %[[TWO]] x !llvm.ptr
// CHECK-NEXT:    llvm.store %[[SLOT]], %[[ARGUMENTS]]
// CHECK-NEXT:    %[[SECOND:.*]] = llvm.getelementptr %[[ARGUMENTS]][1]
// CHECK-NEXT:    llvm.store %[[SLOT1]], %[[SECOND]]
// CHECK-NEXT:    %[[COUNT:.*]] = llvm.mlir.constant(2 : i64) : i64
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_{{[0-9]+}}
// CHECK-NEXT:    llvm.call @braid_rt_launch(%[[KERNEL]], %[[GRID]], %[[BLOCK]], %[[SHARED]], %[[ARGUMENTS]], %[[COUNT]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[SAVED]]
func.func @static(%a: memref<8xf32, strided<[1], offset: 2>>, %s: f32) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  gpu.launch_func @kernels::@relu blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1)
      args(%a : memref<8xf32, strided<[1], offset: 2>>, %s : f32)
  return
}

// Others are stored on the stack, and the shared memory is given in 64 bits.
// CHECK-LABEL: llvm.func @dynamic
// CHECK-SAME:      (%[[N:.*]]: i64, %[[BYTES:.*]]: i32)
// CHECK:         %[[GRID:.*]] = llvm.alloca %{{.*}} x i64
// CHECK-NEXT:    llvm.store %[[N]], %[[GRID]]
// CHECK:         %[[SHARED:.*]] = llvm.zext %[[BYTES]] : i32 to i64
// CHECK-NEXT:    %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         llvm.call @braid_rt_launch(%{{.*}}, %[[GRID]], %{{.*}}, %[[SHARED]], %[[NONE]], %{{.*}}, %{{.*}})
func.func @dynamic(%n: index, %bytes: i32) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@none blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %bytes
  return
}
}

// CHECK:      llvm.mlir.global private constant @__braid_image_kernels_data("\01\02code\00") {{.*}}alignment = 16
// CHECK-NEXT: llvm.mlir.global private constant @__braid_image_kernels_chip("sm_90\00")
// CHECK-NEXT: llvm.mlir.global private constant @__braid_image_kernels() {{.*}} : !llvm.struct<(ptr, i64, ptr)>
// CHECK-NEXT:   llvm.mlir.addressof @__braid_image_kernels_data : !llvm.ptr
// CHECK-NEXT:   llvm.mlir.constant(6 : i64) : i64
// CHECK:      llvm.mlir.global private constant @__braid_kernel_of_kernels_relu_name("relu\00")
// CHECK-NEXT: llvm.mlir.global private constant @__braid_kernel_of_kernels_relu() {{.*}} : !llvm.struct<(ptr, ptr)>
// CHECK-NEXT:   llvm.mlir.addressof @__braid_image_kernels : !llvm.ptr
// CHECK-NEXT:   llvm.mlir.addressof @__braid_kernel_of_kernels_relu_name : !llvm.ptr
// CHECK:      @__braid_kernel_of_kernels_none_name("none\00")
// CHECK:      llvm.mlir.global private constant @[[$GRID]](dense<[4, 1, 1]> : tensor<3xi64>)
// CHECK:      llvm.mlir.global private constant @[[$BLOCK]](dense<[256, 1, 1]> : tensor<3xi64>)
