// RUN: braid-opt %s --comm-bufferize -split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// What a loop computes for its stack, and uses no further, is computed in the
// stack; the view and its offset move before the first op that uses it.
// CHECK-LABEL: func.func @stacked(
//       CHECK:   scf.for %[[I:.*]] = %{{.*}} iter_args(%[[ALL:.*]] = %{{.*}}) -> (memref<8x4x3xf32>) {
//       CHECK:     %[[LAST:.*]] = arith.subi %{{.*}}, %[[I]] : index
//       CHECK:     %[[PART:.*]] = memref.subview %[[ALL]][%[[LAST]], 0, 0] [1, 4, 3] [1, 1, 1]
//       CHECK:     linalg.exp {{.*}} outs(%[[PART]] :
//       CHECK:     linalg.log ins(%[[PART]] : {{.*}}) outs(%[[PART]] :
//   CHECK-NOT:     memref.copy
//       CHECK:     scf.yield %[[ALL]]
func.func @stacked(%x: tensor<4x3xf32>) -> tensor<8x4x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %stack = tensor.empty() : tensor<8x4x3xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %stack) -> tensor<8x4x3xf32> {
    %e = tensor.empty() : tensor<4x3xf32>
    %0 = linalg.exp ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
    %1 = linalg.log ins(%0 : tensor<4x3xf32>) outs(%0 : tensor<4x3xf32>) -> tensor<4x3xf32>
    %last = arith.subi %c7, %i : index
    %2 = tensor.insert_slice %1 into %all[%last, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<4x3xf32> into tensor<8x4x3xf32>
    scf.yield %2 : tensor<8x4x3xf32>
  }
  return %r : tensor<8x4x3xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// What the next iteration needs, too, has its own buffer: the op that computes
// it writes both.
// CHECK-LABEL: func.func @carried(
//       CHECK:   scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[ALL:.*]] = %{{.*}}) -> (memref<4x3xf32>, memref<8x4x3xf32>) {
//       CHECK:     %[[NEXT:.*]] = memref.alloc() {{.*}} : memref<4x3xf32>
//       CHECK:     %[[PART:.*]] = memref.subview %[[ALL]]
//       CHECK:     linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[NEXT]], %[[PART]] :
//  CHECK-NEXT:     ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
//       CHECK:       %[[Y:.*]] = math.exp %[[IN]] : f32
//       CHECK:       linalg.yield %[[Y]], %[[Y]] : f32, f32
//   CHECK-NOT:     memref.copy
//       CHECK:     scf.yield %[[NEXT]], %[[ALL]]
func.func @carried(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<8x4x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %stack = tensor.empty() : tensor<8x4x3xf32>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%y = %x, %all = %stack) -> (tensor<4x3xf32>, tensor<8x4x3xf32>) {
    %e = tensor.empty() : tensor<4x3xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = math.exp %in : f32
      linalg.yield %v : f32
    } -> tensor<4x3xf32>
    %1 = tensor.insert_slice %0 into %all[%i, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<4x3xf32> into tensor<8x4x3xf32>
    scf.yield %0, %1 : tensor<4x3xf32>, tensor<8x4x3xf32>
  }
  return %r#0, %r#1 : tensor<4x3xf32>, tensor<8x4x3xf32>
}

// -----

// An op in between reads the stack, which must be as before then; and elements
// that stand apart, which a matmul cannot write in place.
// CHECK-LABEL: func.func @read_before(
//       CHECK:   scf.for
//       CHECK:     linalg.exp
//       CHECK:     linalg.reduce
//       CHECK:     memref.copy
//       CHECK:     scf.yield
//       CHECK:   scf.for
//       CHECK:     linalg.matmul
//       CHECK:     memref.copy
//       CHECK:     scf.yield
func.func @read_before(%x: tensor<4x3xf32>, %w: tensor<3x3xf32>) -> (tensor<8x4x3xf32>, tensor<4x3xf32>, tensor<4x8x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %stack = tensor.empty() : tensor<8x4x3xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%stack : tensor<8x4x3xf32>) -> tensor<8x4x3xf32>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %filled, %sum = %x) -> (tensor<8x4x3xf32>, tensor<4x3xf32>) {
    %e = tensor.empty() : tensor<4x3xf32>
    %0 = linalg.exp ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
    %1 = linalg.reduce { arith.addf } ins(%all : tensor<8x4x3xf32>) outs(%sum : tensor<4x3xf32>) dimensions = [0]
    %2 = tensor.insert_slice %0 into %all[%i, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<4x3xf32> into tensor<8x4x3xf32>
    scf.yield %2, %1 : tensor<8x4x3xf32>, tensor<4x3xf32>
  }
  %apart = tensor.empty() : tensor<4x8x3xf32>
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %apart) -> tensor<4x8x3xf32> {
    %e = tensor.empty() : tensor<4x3xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
    %0 = linalg.matmul ins(%x, %w : tensor<4x3xf32>, tensor<3x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
    %1 = tensor.insert_slice %0 into %all[0, %i, 0] [4, 1, 3] [1, 1, 1] : tensor<4x3xf32> into tensor<4x8x3xf32>
    scf.yield %1 : tensor<4x8x3xf32>
  }
  return %r#0, %r#1, %s : tensor<8x4x3xf32>, tensor<4x3xf32>, tensor<4x8x3xf32>
}

// -----

// A loop clears the slice that it has read, as the gradient of an update of a
// slice: behind the last read, in place.
// CHECK-LABEL: func.func @cleared(
//       CHECK:   scf.for %[[I:.*]] = %{{.*}} iter_args(%[[ALL:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
//   CHECK-NOT:     memref.copy
//       CHECK:     %[[PART:.*]] = memref.subview %[[ALL]][%[[I]], 0] [1, 3] [1, 1]
//       CHECK:     linalg.exp ins(%[[PART]] :
//       CHECK:     %[[PLACE:.*]] = memref.subview %[[ALL]][%[[I]], 0] [1, 3] [1, 1]
//       CHECK:     memref.copy %{{.*}}, %[[PLACE]]
//       CHECK:     scf.yield %[[ALL]], %{{.*}}
func.func @cleared(%x: tensor<8x3xf32> {comm.donated}, %zeros: tensor<1x3xf32>) -> (tensor<8x3xf32>, tensor<1x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %first = tensor.empty() : tensor<1x3xf32>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %x, %sum = %first) -> (tensor<8x3xf32>, tensor<1x3xf32>) {
    %cleared = tensor.insert_slice %zeros into %all[%i, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x3xf32>
    %part = tensor.extract_slice %all[%i, 0] [1, 3] [1, 1] : tensor<8x3xf32> to tensor<1x3xf32>
    %1 = linalg.exp ins(%part : tensor<1x3xf32>) outs(%sum : tensor<1x3xf32>) -> tensor<1x3xf32>
    scf.yield %cleared, %1 : tensor<8x3xf32>, tensor<1x3xf32>
  }
  return %r#0, %r#1 : tensor<8x3xf32>, tensor<1x3xf32>
}
