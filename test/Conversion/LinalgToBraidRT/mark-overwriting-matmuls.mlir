// RUN: braid-opt %s --braid-mark-overwriting-matmuls | FileCheck %s
// RUN: braid-opt %s --braid-mark-overwriting-matmuls --canonicalize | FileCheck %s --check-prefix=CANONICAL

// The fill has no other user and goes.
// CHECK-LABEL: func.func @fill(
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x6xf32>, %[[E:.*]]: tensor<4x6xf32>)
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT:    %[[C:.*]] = linalg.matmul {braid.overwrites} ins(%[[A]], %[[B]] : tensor<4x8xf32>, tensor<8x6xf32>) outs(%[[EMPTY]] : tensor<4x6xf32>)
// CHECK-NEXT:    return %[[C]]
func.func @fill(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// A fill that has other users stays for them.
// CHECK-LABEL: func.func @fill_with_other_users(
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT:    %[[C:.*]] = linalg.matmul {braid.overwrites} {{.*}} outs(%[[EMPTY]] :
// CHECK-NEXT:    return %[[C]], %[[Z]]
func.func @fill_with_other_users(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %e: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c, %z : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @constant_of_zeros(
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xf64>
// CHECK-NEXT:    linalg.matmul {braid.overwrites} {{.*}} outs(%[[EMPTY]] :
func.func @constant_of_zeros(%a: tensor<4x8xf64>, %b: tensor<8x6xf64>) -> tensor<4x6xf64> {
  %z = arith.constant dense<0.0> : tensor<4x6xf64>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf64>, tensor<8x6xf64>) outs(%z : tensor<4x6xf64>) -> tensor<4x6xf64>
  return %c : tensor<4x6xf64>
}

// CHECK-LABEL: func.func @complex_zeros(
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xcomplex<f32>>
// CHECK-NEXT:    linalg.matmul {braid.overwrites} {{.*}} outs(%[[EMPTY]] :
func.func @complex_zeros(%a: tensor<4x8xcomplex<f32>>, %b: tensor<8x6xcomplex<f32>>, %e: tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>> {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %z = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xcomplex<f32>>, tensor<8x6xcomplex<f32>>) outs(%z : tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  return %c : tensor<4x6xcomplex<f32>>
}

// The sizes are those of the fill, which canonicalization then finds elsewhere.
// CHECK-LABEL: func.func @dynamic_sizes(
// CHECK-SAME:    %{{.*}}: tensor<?x8xf32>, %{{.*}}: tensor<8x?xf32>, %[[M:.*]]: index, %[[N:.*]]: index)
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK:         %[[D0:.*]] = tensor.dim %[[Z]], %{{.*}} : tensor<?x?xf32>
// CHECK:         %[[D1:.*]] = tensor.dim %[[Z]], %{{.*}} : tensor<?x?xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty(%[[D0]], %[[D1]]) : tensor<?x?xf32>
// CHECK-NEXT:    linalg.matmul {braid.overwrites} {{.*}} outs(%[[EMPTY]] :

// CANONICAL-LABEL: func.func @dynamic_sizes(
// CANONICAL-SAME:    %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8x?xf32>, %[[M:.*]]: index, %[[N:.*]]: index)
// CANONICAL-NEXT:    %[[EMPTY:.*]] = tensor.empty(%[[M]], %[[N]]) : tensor<?x?xf32>
// CANONICAL-NEXT:    %[[C:.*]] = linalg.matmul {braid.overwrites} ins(%[[A]], %[[B]] : tensor<?x8xf32>, tensor<8x?xf32>) outs(%[[EMPTY]] : tensor<?x?xf32>)
// CANONICAL-NEXT:    return %[[C]]
func.func @dynamic_sizes(%a: tensor<?x8xf32>, %b: tensor<8x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<8x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @batch(
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<3x4x6xf32>
// CHECK-NEXT:    linalg.batch_matmul {braid.overwrites} {{.*}} outs(%[[EMPTY]] :
func.func @batch(%a: tensor<3x4x8xf32>, %b: tensor<3x8x6xf32>, %e: tensor<3x4x6xf32>) -> tensor<3x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<3x4x8xf32>, tensor<3x8x6xf32>) outs(%z : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return %c : tensor<3x4x6xf32>
}

// A generic op that multiplies matrices, here with B transposed, is a matmul.
// CHECK-LABEL: func.func @generic(
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[EMPTY]] : tensor<4x6xf32>) attrs = {braid.overwrites}
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @generic(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<6x8xf32>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// The library knows no matmul with more than one loop over rows.
// CHECK-LABEL: func.func @two_loops_over_rows(
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[Z]] : tensor<2x4x6xf32>) {
#a2 = affine_map<(l, m, n, k) -> (l, m, k)>
#b2 = affine_map<(l, m, n, k) -> (k, n)>
#c2 = affine_map<(l, m, n, k) -> (l, m, n)>
func.func @two_loops_over_rows(%a: tensor<2x4x8xf32>, %b: tensor<8x6xf32>, %e: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %c = linalg.generic {indexing_maps = [#a2, #b2, #c2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<2x4x6xf32>
  return %c : tensor<2x4x6xf32>
}

// The sum of -0 and -0 is -0, that of +0 and -0 is +0: the result could change.
// CHECK-LABEL: func.func @negative_zeros(
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK-NEXT:    linalg.matmul ins({{.*}}) outs(%[[Z]] :
func.func @negative_zeros(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant -0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// Both parts have to be +0.
// CHECK-LABEL: func.func @complex_negative_zeros(
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK-NEXT:    linalg.matmul ins({{.*}}) outs(%[[Z]] :
func.func @complex_negative_zeros(%a: tensor<4x8xcomplex<f32>>, %b: tensor<8x6xcomplex<f32>>, %e: tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>> {
  %zero = complex.constant [0.0 : f32, -0.0 : f32] : complex<f32>
  %z = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xcomplex<f32>>, tensor<8x6xcomplex<f32>>) outs(%z : tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  return %c : tensor<4x6xcomplex<f32>>
}

// CHECK-LABEL: func.func @fill_with_ones(
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK-NEXT:    linalg.matmul ins({{.*}}) outs(%[[Z]] :
func.func @fill_with_ones(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %one = arith.constant 1.0 : f32
  %z = linalg.fill ins(%one : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @unknown_init(
// CHECK-SAME:    %[[E:[^:]*]]: tensor<4x6xf32>)
// CHECK-NEXT:    linalg.matmul ins({{.*}}) outs(%[[E]] :
func.func @unknown_init(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// The library has no integers, and no matmul of two element types.
// CHECK-LABEL: func.func @integers(
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK-NEXT:    linalg.matmul ins({{.*}}) outs(%[[Z]] :
func.func @integers(%a: tensor<4x8xi32>, %b: tensor<8x6xi32>, %e: tensor<4x6xi32>) -> tensor<4x6xi32> {
  %zero = arith.constant 0 : i32
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<4x6xi32>) -> tensor<4x6xi32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%z : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %c : tensor<4x6xi32>
}

// CHECK-LABEL: func.func @mixed_element_types(
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK-NEXT:    linalg.matmul ins({{.*}}) outs(%[[Z]] :
func.func @mixed_element_types(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// Buffers are not looked at: what they hold depends on the schedule.
// CHECK-LABEL: func.func @buffers(
// CHECK:         linalg.fill
// CHECK-NEXT:    linalg.matmul ins(
func.func @buffers(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  return
}
