// RUN: braid-opt %s --convert-linalg-to-gpu='leave-calls=true tensor-cores=true' --split-input-file | FileCheck %s
// RUN: braid-opt %s --convert-linalg-to-gpu='leave-calls=true' --split-input-file | FileCheck %s --check-prefix=CALLS --implicit-check-not=gpu.launch_func

// Small matmuls in TF32 are kernels: four warps share 64 terms, and 4 x 2 blocks the results.
// CHECK-LABEL: func.func @small
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 128 : index
// CHECK:         gpu.launch_func @kernels::@matmul blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]], %{{.*}}, %{{.*}})
// CHECK-NOT:     linalg.matmul
// CHECK:         gpu.func @matmul(
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
// CALLS-LABEL: func.func @small
// CALLS:         linalg.matmul
func.func @small(%a: memref<64x64xf32>, %b: memref<64x64xf32>) -> memref<64x64xf32> {
  %c = memref.alloc() {alignment = 64 : i64} : memref<64x64xf32>
  linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return %c : memref<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @true_f32
// CHECK-NOT:     gpu.launch_func
// CHECK:         linalg.matmul
func.func @true_f32(%a: memref<64x64xf32>, %b: memref<64x64xf32>) -> memref<64x64xf32> {
  %c = memref.alloc() {alignment = 64 : i64} : memref<64x64xf32>
  linalg.matmul {braid.overwrites} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return %c : memref<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @large
// CHECK-NOT:     gpu.launch_func
// CHECK:         linalg.matmul
func.func @large(%a: memref<512x512xf32>, %b: memref<512x512xf32>) -> memref<512x512xf32> {
  %c = memref.alloc() {alignment = 64 : i64} : memref<512x512xf32>
  linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%a, %b : memref<512x512xf32>, memref<512x512xf32>) outs(%c : memref<512x512xf32>)
  return %c : memref<512x512xf32>
}

// -----

// CHECK-LABEL: func.func @many_terms
// CHECK-NOT:     gpu.launch_func
// CHECK:         linalg.matmul
func.func @many_terms(%a: memref<16x4096xf32>, %b: memref<4096x16xf32>) -> memref<16x16xf32> {
  %c = memref.alloc() {alignment = 64 : i64} : memref<16x16xf32>
  linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%a, %b : memref<16x4096xf32>, memref<4096x16xf32>) outs(%c : memref<16x16xf32>)
  return %c : memref<16x16xf32>
}

// -----

// Rows that do not begin at multiples of 16 bytes have kernels where there are few products.
// CHECK-LABEL: func.func @unaligned
// CHECK:         gpu.launch_func @kernels::@matmul
// CHECK-NOT:     gpu.launch_func
// CHECK:         linalg.matmul
func.func @unaligned(%a: memref<64x66xf32>, %b: memref<66x64xf32>, %d: memref<256x130xf32>, %e: memref<130x256xf32>)
    -> (memref<64x64xf32>, memref<256x256xf32>) {
  %c = memref.alloc() {alignment = 64 : i64} : memref<64x64xf32>
  linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%a, %b : memref<64x66xf32>, memref<66x64xf32>) outs(%c : memref<64x64xf32>)
  %f = memref.alloc() {alignment = 64 : i64} : memref<256x256xf32>
  linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%d, %e : memref<256x130xf32>, memref<130x256xf32>) outs(%f : memref<256x256xf32>)
  return %c, %f : memref<64x64xf32>, memref<256x256xf32>
}

// -----

// The library has the epilogue, and limits multiprocessors.
// CHECK-LABEL: func.func @of_the_library
// CHECK-NOT:     gpu.launch_func
// CHECK:         linalg.matmul {braid.epilogue = "gelu"
// CHECK:         linalg.matmul {{.*}}comm.multiprocessors
func.func @of_the_library(%a: memref<64x64xf32>, %b: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) {
  %c = memref.alloc() {alignment = 64 : i64} : memref<64x64xf32>
  linalg.matmul {braid.overwrites, braid.precision = "tf32", braid.epilogue = "gelu"} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  %d = memref.alloc() {alignment = 64 : i64} : memref<64x64xf32>
  linalg.matmul {braid.overwrites, braid.precision = "tf32", comm.multiprocessors = 64} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%d : memref<64x64xf32>)
  return %c, %d : memref<64x64xf32>, memref<64x64xf32>
}

// -----

// Addresses would be negative, or would not fit.
// CHECK-LABEL: func.func @odd_strides
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
func.func @odd_strides(%a: memref<64x64xf32, strided<[-64, 1], offset: 4032>>, %b: memref<64x64xf32, strided<[4611686018427387904, 1]>>,
                       %c: memref<64x64xf32, strided<[?, 1]>>, %d: memref<64x64xf32>) {
  linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%a, %a : memref<64x64xf32, strided<[-64, 1], offset: 4032>>, memref<64x64xf32, strided<[-64, 1], offset: 4032>>) outs(%d : memref<64x64xf32>)
  linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%b, %b : memref<64x64xf32, strided<[4611686018427387904, 1]>>, memref<64x64xf32, strided<[4611686018427387904, 1]>>) outs(%d : memref<64x64xf32>)
  linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%c, %c : memref<64x64xf32, strided<[?, 1]>>, memref<64x64xf32, strided<[?, 1]>>) outs(%d : memref<64x64xf32>)
  return
}
