// Ops on device memory become calls of the runtime.
//
// RUN: braid-opt %s --convert-device-memory-to-braid-rt --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s
// RUN: braid-opt %s -o /dev/null --convert-device-memory-to-braid-rt --remarks-filter=convert-device-memory-to-braid-rt 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK: module attributes {{.*}}braid_rt.buffer_allocs = 0 : i64, {{.*}}braid_rt.host_reads = 2 : i64
// REMARK: device-memory-to-braid-rt.mlir:[[@LINE+24]]:8: remark: [Passed] host-read | Category:convert-device-memory-to-braid-rt | Function=load | ElementOf=memref<4x8xf32>
// REMARK: remark: [Passed] host-read | Category:convert-device-memory-to-braid-rt | Function=load_bit | ElementOf=memref<i1>

// The arena is what the runtime gives.
// CHECK-LABEL: llvm.func @arena
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(512 : i64) : i64
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
// CHECK-NEXT:    %[[BASE:.*]] = llvm.call @braid_rt_arena(%[[BYTES]], %[[SITE]]) : (i64, !llvm.ptr) -> !llvm.ptr
// CHECK:         llvm.insertvalue %[[BASE]], %{{.*}}[1]
func.func @arena() -> memref<512xi8> {
  %a = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<512xi8>
  return %a : memref<512xi8>
}

// CHECK-LABEL: llvm.func @load
// CHECK:         %[[ADDRESS:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x f32
// CHECK-NEXT:    %[[BYTES:.*]] = llvm.mlir.constant(4 : i64) : i64
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
// CHECK-NEXT:    llvm.call @braid_rt_read(%[[SLOT]], %[[ADDRESS]], %[[BYTES]], %[[SITE]])
// CHECK-NEXT:    %[[VALUE:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> f32
// CHECK-NEXT:    llvm.intr.stackrestore
// CHECK-NEXT:    llvm.return %[[VALUE]]
func.func @load(%a: memref<4x8xf32>, %i: index, %j: index) -> f32 {
  %v = memref.load %a[%i, %j] : memref<4x8xf32>
  return %v : f32
}

// A bit is a byte.
// CHECK-LABEL: llvm.func @load_bit
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x i1
// CHECK-NEXT:    %[[BYTES:.*]] = llvm.mlir.constant(1 : i64) : i64
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
// CHECK-NEXT:    llvm.call @braid_rt_read(%[[SLOT]], %{{.*}}, %[[BYTES]], %[[SITE]])
func.func @load_bit(%a: memref<i1>) -> i1 {
  %v = memref.load %a[] : memref<i1>
  return %v : i1
}

// A store does not wait.
// CHECK-LABEL: llvm.func @store
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x i64
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SLOT]] : i64, !llvm.ptr
// CHECK-NEXT:    %[[BYTES:.*]] = llvm.mlir.constant(8 : i64) : i64
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
// CHECK-NEXT:    llvm.call @braid_rt_write(%{{.*}}, %[[SLOT]], %[[BYTES]], %[[SITE]])
func.func @store(%a: memref<4xindex>, %i: index) {
  memref.store %i, %a[%i] : memref<4xindex>
  return
}

// A constant is copied to each device by the runtime.
// CHECK:       llvm.mlir.global private constant @__braid_constant_data_data(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) {{.*}} : !llvm.array<2 x f32>
// CHECK-LABEL: llvm.func @constant
// CHECK:         %[[CONSTANT:.*]] = llvm.mlir.addressof @__braid_constant_data : !llvm.ptr
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
// CHECK-NEXT:    llvm.call @braid_rt_device_constant(%[[CONSTANT]], %[[SITE]])
// CHECK:       llvm.mlir.global private constant @__braid_constant_data() {{.*}} : !llvm.struct<(ptr, i64)>
// CHECK:         llvm.mlir.constant(8 : i64) : i64
memref.global "private" constant @data : memref<2xf32> = dense<[1.0, 2.0]>
func.func @constant() -> memref<2xf32> {
  %c = memref.get_global @data : memref<2xf32>
  return %c : memref<2xf32>
}
