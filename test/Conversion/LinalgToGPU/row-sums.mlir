// RUN: braid-opt %s --convert-linalg-to-gpu --canonicalize | FileCheck %s

// The order of a program decides which ops share a kernel; the vectors of a
// reduction, and so the order of its sums, depend on the reduction alone.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @alone(
//       CHECK:   gpu.launch_func @kernels::@rows blocks in (%c6144, %c1, %c1) threads in (%c128, %c1, %c1)
func.func @alone(%x: memref<6144x2880xbf16>, %s: memref<6144xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<6144x2880xbf16>) outs(%s : memref<6144xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// With an op that reads a row of f32, whose vectors have fewer elements.
// CHECK-LABEL: func.func @beside_f32(
//       CHECK:   gpu.launch_func @kernels::@rows_0 blocks in (%c6144, %c1, %c1) threads in (%c128, %c1, %c1)
//  CHECK-NEXT:   return
func.func @beside_f32(%x: memref<6144x2880xbf16>, %s: memref<6144xf32>, %f: memref<2880xf32>, %y: memref<6144x2880xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<6144x2880xbf16>) outs(%s : memref<6144xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %f, %s : memref<6144x2880xbf16>, memref<2880xf32>, memref<6144xf32>) outs(%y : memref<6144x2880xf32>) {
  ^bb0(%a: bf16, %b: f32, %c: f32, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.subf %1, %c : f32
    linalg.yield %2 : f32
  }
  return
}

// With an op whose rows are aligned to two elements only.
// CHECK-LABEL: func.func @beside_unaligned(
//       CHECK:   gpu.launch_func @kernels::@rows_1 blocks in (%c6144, %c1, %c1) threads in (%c128, %c1, %c1)
//  CHECK-NEXT:   return
func.func @beside_unaligned(%x: memref<6144x2880xbf16>, %s: memref<6144xf32>, %y: memref<6144x2880xbf16, strided<[2882, 1]>>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<6144x2880xbf16>) outs(%s : memref<6144xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<6144x2880xbf16>, memref<6144xf32>) outs(%y : memref<6144x2880xbf16, strided<[2882, 1]>>) {
  ^bb0(%a: bf16, %c: f32, %o: bf16):
    %0 = arith.truncf %c : f32 to bf16
    %1 = arith.subf %a, %0 : bf16
    linalg.yield %1 : bf16
  }
  return
}

// CHECK-LABEL: gpu.func @rows(
//   CHECK-NOT:   vector<4x
//       CHECK:   vector.load {{.*}} vector<8xbf16>
//       CHECK:   arith.addf %{{.*}} : vector<8xf32>
//       CHECK:   gpu.return

// CHECK-LABEL: gpu.func @rows_0(
//       CHECK:   vector.load {{.*}} vector<8xbf16>
//       CHECK:   arith.addf %{{.*}} : vector<8xf32>
//       CHECK:   gpu.shuffle xor
// CHECK-COUNT-2: vector.load {{.*}} {alignment = 16 : i64} : {{.*}} vector<4xf32>
//       CHECK:   arith.mulf %{{.*}} : vector<8xf32>
// CHECK-COUNT-2: vector.store {{.*}} {alignment = 16 : i64} : {{.*}} vector<4xf32>
//       CHECK:   gpu.return

// CHECK-LABEL: gpu.func @rows_1(
//       CHECK:   vector.load {{.*}} vector<8xbf16>
//       CHECK:   arith.addf %{{.*}} : vector<8xf32>
//       CHECK:   gpu.shuffle xor
//       CHECK:   arith.subf %{{.*}} : vector<8xbf16>
// CHECK-COUNT-4: vector.store {{.*}} {alignment = 4 : i64} : {{.*}} vector<2xbf16>
//       CHECK:   gpu.return
