// RUN: braid-opt %s --convert-linalg-to-gpu | FileCheck %s

// A block exchanges 64 x 64 elements through shared memory, whose rows are
// padded; both sides are accessed 16 bytes at a time.
// CHECK-LABEL: func.func @transpose(
//       CHECK:   gpu.launch_func @kernels::@transposed blocks in (%c8192, %c1, %c1) threads in (%c256, %c1, %c1)
// CHECK-LABEL: gpu.func @transposed(
//  CHECK-SAME:     workgroup(%{{.*}} : memref<4224xbf16, #gpu.address_space<workgroup>>)
// CHECK-COUNT-2: vector.load {{.*}} vector<8xbf16>
// CHECK-COUNT-16: memref.store {{.*}} #gpu.address_space<workgroup>>
//       CHECK:   gpu.barrier
// CHECK-COUNT-8: memref.load {{.*}} #gpu.address_space<workgroup>>
//       CHECK:   vector.store {{.*}} vector<8xbf16>
// CHECK-COUNT-8: memref.load {{.*}} #gpu.address_space<workgroup>>
//       CHECK:   vector.store {{.*}} vector<8xbf16>
//       CHECK:   gpu.return
func.func @transpose(%a: memref<8192x4096xbf16>, %b: memref<4096x8192xbf16>) {
  linalg.transpose ins(%a : memref<8192x4096xbf16>) outs(%b : memref<4096x8192xbf16>) permutation = [1, 0]
  return
}
