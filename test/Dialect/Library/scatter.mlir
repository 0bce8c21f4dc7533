// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s
// RUN: braid-opt %s --comm-bufferize --canonicalize --cse | FileCheck %s --check-prefix=BUFFER

// CHECK-LABEL: func.func @rows(
// CHECK: library.scatter ins(%{{.*}}, %{{.*}} : tensor<6xi32>, tensor<6x8xbf16>) outs(%{{.*}} : tensor<10x8xbf16>) {
// CHECK-NEXT: ^bb0(%[[OLD:.*]]: bf16, %[[UPDATE:.*]]: bf16):
// CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[OLD]], %[[UPDATE]] : bf16
// CHECK-NEXT:   library.yield %[[SUM]] : bf16
// CHECK-NEXT: } {batch_dims = array<i64>, comm.label = "a", indexed_dims = array<i64: 0>} -> tensor<10x8xbf16>

// The caller still reads the table, so the op updates a copy of it.
// BUFFER-LABEL: func.func @rows(
// BUFFER-SAME:    %[[ROWS:[^:]*]]: memref<6xi32
// BUFFER-SAME:    %[[UPDATES:[^:]*]]: memref<6x8xbf16
// BUFFER-SAME:    %[[TABLE:[^:]*]]: memref<10x8xbf16
// BUFFER:         %[[COPY:.*]] = memref.alloc() {{.*}} : memref<10x8xbf16>
// BUFFER:         memref.copy %[[TABLE]], %[[COPY]]
// BUFFER:         library.scatter ins(%[[ROWS]], %[[UPDATES]] : {{.*}}) outs(%[[COPY]] : memref<10x8xbf16>)
// BUFFER:         return %[[COPY]]
func.func @rows(%rows: tensor<6xi32>, %updates: tensor<6x8xbf16>, %table: tensor<10x8xbf16>) -> tensor<10x8xbf16> {
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<6x8xbf16>) outs(%table : tensor<10x8xbf16>) {
  ^bb0(%old: bf16, %update: bf16):
    %sum = arith.addf %old, %update : bf16
    library.yield %sum : bf16
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>, comm.label = "a"} -> tensor<10x8xbf16>
  return %r : tensor<10x8xbf16>
}

// Nobody else reads the zeros, so the op updates them in place.
// CHECK-LABEL: func.func @batches(
// CHECK: library.scatter ins(%{{.*}}, %{{.*}} : tensor<4x3xi64>, tensor<4x3x5xi32>) outs(%{{.*}} : tensor<7x5x4x2xi32>)
// CHECK: {batch_dims = array<i64: 2>, indexed_dims = array<i64: 0, 3>} -> tensor<7x5x4x2xi32>
// BUFFER-LABEL: func.func @batches(
// BUFFER:         %[[ZEROS:.*]] = memref.alloc()
// BUFFER:         linalg.fill {{.*}} outs(%[[ZEROS]]
// BUFFER-NOT:     memref.copy
// BUFFER:         library.scatter {{.*}} outs(%[[ZEROS]]
func.func @batches(%indices: tensor<4x3xi64>, %updates: tensor<4x3x5xi32>) -> tensor<7x5x4x2xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<7x5x4x2xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%e : tensor<7x5x4x2xi32>) -> tensor<7x5x4x2xi32>
  %r = library.scatter ins(%indices, %updates : tensor<4x3xi64>, tensor<4x3x5xi32>) outs(%zeros : tensor<7x5x4x2xi32>) {
  ^bb0(%old: i32, %update: i32):
    library.yield %update : i32
  } {batch_dims = array<i64: 2>, indexed_dims = array<i64: 0, 3>} -> tensor<7x5x4x2xi32>
  return %r : tensor<7x5x4x2xi32>
}
