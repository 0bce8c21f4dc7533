// RUN: braid-opt %s --braid-decompose-scatters --canonicalize --cse | FileCheck %s --check-prefix=LOOP
// RUN: braid-opt %s --braid-decompose-scatters=target=cuda --canonicalize --cse | FileCheck %s
// RUN: braid-opt %s --braid-decompose-scatters=target=cuda --remarks-filter=braid-decompose-scatters -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: braid-opt %s --comm-bufferize --braid-decompose-scatters=target=cuda --remarks-filter=braid-decompose-scatters -o /dev/null 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: braid-opt %s --comm-bufferize --braid-decompose-scatters --comm-bufferize --canonicalize | FileCheck %s --check-prefix=BUFFER
// RUN: braid-opt %s --braid-prepare=target=cuda | FileCheck %s --check-prefixes=NONE,SHARED
// RUN: braid-opt %s --braid-prepare | FileCheck %s --check-prefix=NONE

// NONE-NOT: library.scatter
// BUFFER-NOT: library.scatter

// REMARK-COUNT-6: scatter-kernels{{.*}}Count=1
// HOST-COUNT-6: scatter-loops{{.*}}Count=1

// LOOP-LABEL: func.func @add(
// LOOP-SAME:    %[[ROWS:[^:]*]]: tensor<600xi32>, %[[U:[^:]*]]: tensor<600x8xbf16>, %[[T:[^:]*]]: tensor<100x8xbf16>
// LOOP:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[T]] : tensor<100x8xbf16>) outs(%{{.*}} : tensor<100x8xf32>)
// LOOP:         %[[ALL:.*]] = scf.for %[[N:.*]] = %{{.*}} to %c600 step %{{.*}} iter_args(%[[A:.*]] = %[[WIDE]])
// LOOP-NEXT:      %[[ROW:.*]] = tensor.extract %[[ROWS]][%[[N]]]
// LOOP-NEXT:      %[[INDEX:.*]] = arith.index_cast %[[ROW]] : i32 to index
// LOOP-NEXT:      %[[INSIDE:.*]] = arith.cmpi ult, %[[INDEX]], %c100
// LOOP-NEXT:      scf.if %[[INSIDE]]
// LOOP-NEXT:        %[[OLD:.*]] = tensor.extract_slice %[[A]][%[[INDEX]], 0] [1, 8] [1, 1]
// LOOP-NEXT:        %[[NEW:.*]] = tensor.extract_slice %[[U]][%[[N]], 0] [1, 8] [1, 1]
// LOOP-NEXT:        %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[NEW]] : tensor<8xbf16>) outs(%[[OLD]] : tensor<8xf32>)
// LOOP:               arith.addf %{{.*}}, %{{.*}} : f32
// LOOP:               tensor.insert_slice %[[SUM]] into %[[A]][%[[INDEX]], 0] [1, 8] [1, 1]
// LOOP:             else
// LOOP-NEXT:        scf.yield %[[A]]
// LOOP:         linalg.generic {{.*}} ins(%[[ALL]] : tensor<100x8xf32>) outs(%[[T]] : tensor<100x8xbf16>)

// The window's updates in their order: the first one, then always the next one.
// CHECK-LABEL: func.func @add(
// CHECK-SAME:    %[[ROWS:[^:]*]]: tensor<600xi32>, %[[U:[^:]*]]: tensor<600x8xbf16>, %[[T:[^:]*]]: tensor<100x8xbf16>
// CHECK:         %[[FIRST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[ROWS]] : tensor<600xi32>) outs(%{{.*}} : tensor<100xi32>)
// CHECK:           %[[IS:.*]] = arith.cmpi eq
// CHECK:           %[[NUMBER:.*]] = arith.select %[[IS]], %{{.*}}, %c600_i32
// CHECK:           arith.minsi %{{.*}}, %[[NUMBER]]
// CHECK:         %[[NEXT:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[ROWS]], %[[ROWS]] : {{.*}}) outs(%{{.*}} : tensor<600xi32>)
// CHECK:         %[[RESULT:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[T]], %[[FIRST]] : {{.*}}) outs(%{{.*}} : tensor<100x8xbf16>)
// CHECK:           scf.while
// CHECK:             arith.cmpi slt, %{{.*}}, %c600_i32
// CHECK:           do
// CHECK:             tensor.extract %[[NEXT]]
// CHECK:             tensor.extract %[[U]]
// CHECK:             arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:           arith.truncf
// CHECK:         return %[[RESULT]]
func.func @add(%rows: tensor<600xi32>, %updates: tensor<600x8xbf16>, %table: tensor<100x8xbf16>) -> tensor<100x8xbf16> {
  %r = library.scatter ins(%rows, %updates : tensor<600xi32>, tensor<600x8xbf16>) outs(%table : tensor<100x8xbf16>) {
  ^bb0(%old: bf16, %update: bf16):
    %sum = arith.addf %old, %update : bf16
    library.yield %sum : bf16
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<100x8xbf16>
  return %r : tensor<100x8xbf16>
}

// Only the last update of each window counts.
// CHECK-LABEL: func.func @set(
// CHECK:         arith.maxsi
// CHECK:         tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2]] output_shape [4, 7, 2]
// CHECK-NOT:     scf.while
// CHECK:         return
// LOOP-LABEL: func.func @set(
// LOOP:         scf.for
// LOOP:           scf.for
// LOOP:             arith.remui
// LOOP:             arith.divui
func.func @set(%indices: tensor<4x9xi64>, %updates: tensor<4x9x5xi32>, %table: tensor<7x5x4x2xi32>) -> tensor<7x5x4x2xi32> {
  %r = library.scatter ins(%indices, %updates : tensor<4x9xi64>, tensor<4x9x5xi32>) outs(%table : tensor<7x5x4x2xi32>) {
  ^bb0(%old: i32, %update: i32):
    library.yield %update : i32
  } {batch_dims = array<i64: 2>, indexed_dims = array<i64: 0, 3>} -> tensor<7x5x4x2xi32>
  return %r : tensor<7x5x4x2xi32>
}

// One update of each row: an elementwise op, without lists.
// CHECK-LABEL: func.func @few(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:           arith.cmpi eq
// CHECK:           arith.addf
// CHECK:           arith.select
// CHECK:         return
func.func @few(%indices: tensor<50x1xi32>, %updates: tensor<50x1xf32>, %table: tensor<50x80xf32>) -> tensor<50x80xf32> {
  %r = library.scatter ins(%indices, %updates : tensor<50x1xi32>, tensor<50x1xf32>) outs(%table : tensor<50x80xf32>) {
  ^bb0(%old: f32, %update: f32):
    %sum = arith.addf %old, %update : f32
    library.yield %sum : f32
  } {batch_dims = array<i64: 0>, indexed_dims = array<i64: 1>} -> tensor<50x80xf32>
  return %r : tensor<50x80xf32>
}

// Many comparisons: a sort by windows, a binary search for each window and the end, and the places between. Chunks of one
// window are combined first, and four places at once. The loop on hosts needs no buffer for each scalar.
// CHECK-LABEL: func.func @many(
// CHECK-SAME:    %[[PLACES:[^:]*]]: tensor<262144xi32>, %[[U:[^:]*]]: tensor<262144xf32>, %[[T:[^:]*]]: tensor<10xf32>
// CHECK:         %[[KEYS:.*]] = linalg.generic {{.*}} ins(%[[PLACES]] : {{.*}}) outs(%{{.*}} : tensor<262144xi64>)
// CHECK:           arith.minui %{{.*}}, %c10_i64
// CHECK:           arith.shli %{{.*}}, %c32_i64
// CHECK:         %[[SORTED:.*]] = library.call "sort" outs(%[[KEYS]] :
// CHECK:         %[[BEGINS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<11xi32>)
// CHECK:           scf.while
// CHECK:             tensor.extract %[[SORTED]]
// CHECK:         %[[CHUNKS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2048xf32>)
// CHECK:           %[[BEGIN:.*]] = arith.muli %{{.*}}, %c128_i32
// CHECK:           %[[FIRST:.*]] = arith.index_cast %[[BEGIN]]
// CHECK:           tensor.extract %[[SORTED]][%[[FIRST]]]
// CHECK:           %[[END:.*]] = arith.addi %[[BEGIN]], %c127_i32
// CHECK:           %[[LAST:.*]] = arith.index_cast %[[END]]
// CHECK:           tensor.extract %[[SORTED]][%[[LAST]]]
// CHECK:           %[[ONE:.*]] = arith.cmpi eq
// CHECK:           %[[WINDOW:.*]] = arith.cmpi ne, %{{.*}}, %c10_i64
// CHECK:           %[[WHOLE:.*]] = arith.andi %[[ONE]], %[[WINDOW]]
// CHECK:           arith.select %[[WHOLE]]
// CHECK-COUNT-2:   scf.while
// CHECK:         linalg.generic {{.*}} ins(%[[T]] : {{.*}}) outs(%{{.*}} : tensor<10xf32>)
// CHECK:           tensor.extract %[[BEGINS]]
// CHECK:           tensor.extract %[[BEGINS]]
// CHECK:           scf.while
// CHECK:             scf.condition
// CHECK-COUNT-4:     tensor.extract %[[U]][%{{.*}}] {braid.reads_once}
// CHECK-NOT:         tensor.extract %[[U]]
// CHECK:           scf.while
// CHECK:             tensor.extract %[[U]]
// CHECK:           scf.while
// CHECK-COUNT-4:     tensor.extract %[[CHUNKS]]
// CHECK:           scf.while
// CHECK:             tensor.extract %[[CHUNKS]]
// CHECK:         return
// LOOP-LABEL: func.func @many(
// LOOP-SAME:    %[[PLACES:[^:]*]]: tensor<262144xi32>, %[[U:[^:]*]]: tensor<262144xf32>, %[[T:[^:]*]]: tensor<10xf32>
// LOOP:         scf.for %[[N:.*]] = %{{.*}} to %c262144 step %{{.*}} iter_args(%[[A:.*]] = %[[T]])
// LOOP:           scf.if
// LOOP-NEXT:        %[[OLD:.*]] = tensor.extract %[[A]][%[[INDEX:.*]]] : tensor<10xf32>
// LOOP-NEXT:        %[[NEW:.*]] = tensor.extract %[[U]][%[[N]]]
// LOOP-NEXT:        %[[SUM:.*]] = arith.addf %[[OLD]], %[[NEW]] : f32
// LOOP-NEXT:        %[[RESULT:.*]] = tensor.insert %[[SUM]] into %[[A]][%[[INDEX]]]
// LOOP-NEXT:        scf.yield %[[RESULT]]
// BUFFER-LABEL: func.func @many(
// BUFFER:         scf.for
// BUFFER-NOT:       memref.alloc
// BUFFER:           memref.store
func.func @many(%indices: tensor<262144xi32>, %updates: tensor<262144xf32>, %table: tensor<10xf32>) -> tensor<10xf32> {
  %r = library.scatter ins(%indices, %updates : tensor<262144xi32>, tensor<262144xf32>) outs(%table : tensor<10xf32>) {
  ^bb0(%old: f32, %update: f32):
    %sum = arith.addf %old, %update : f32
    library.yield %sum : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10xf32>
  return %r : tensor<10xf32>
}

// The last of each window's updates is before the first one of the next window.
// CHECK-LABEL: func.func @set_many(
// CHECK:         %[[SORTED:.*]] = library.call "sort"
// CHECK:         %[[BEGINS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x15xi32>)
// CHECK:           scf.while
// CHECK:         linalg.generic
// CHECK:           %[[BEGIN:.*]] = tensor.extract %[[BEGINS]]
// CHECK:           %[[END:.*]] = tensor.extract %[[BEGINS]]
// CHECK:           %[[EXISTS:.*]] = arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK:           tensor.extract %[[SORTED]]
// CHECK:           arith.select %[[EXISTS]]
// CHECK:         return
func.func @set_many(%indices: tensor<4x9000xi64>, %updates: tensor<4x9000x5xi32>, %table: tensor<7x5x4x2xi32>) -> tensor<7x5x4x2xi32> {
  %r = library.scatter ins(%indices, %updates : tensor<4x9000xi64>, tensor<4x9000x5xi32>) outs(%table : tensor<7x5x4x2xi32>) {
  ^bb0(%old: i32, %update: i32):
    library.yield %update : i32
  } {batch_dims = array<i64: 2>, indexed_dims = array<i64: 0, 3>} -> tensor<7x5x4x2xi32>
  return %r : tensor<7x5x4x2xi32>
}

// The updates of a window have 50 others on average, in an order that counts: no comparisons, no chunks. One sort orders
// those of both scatters.
// CHECK-LABEL: func.func @long(
// CHECK:         library.call "sort"
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<7xi32>)
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<6x8xf32>)
// CHECK-COUNT-2:   scf.while
// CHECK-NOT:       scf.while
// CHECK:         linalg.generic
// CHECK:         return
// SHARED-LABEL: func.func @long(
// SHARED:         library.call "sort"
// SHARED-NOT:     library.call "sort"
// SHARED:         return
func.func @long(%rows: tensor<300xi32>, %updates: tensor<300x8xf32>, %others: tensor<300x8xf32>, %table: tensor<6x8xf32>)
    -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %r = library.scatter ins(%rows, %updates : tensor<300xi32>, tensor<300x8xf32>) outs(%table : tensor<6x8xf32>) {
  ^bb0(%old: f32, %update: f32):
    %s = arith.divf %update, %old : f32
    library.yield %s : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<6x8xf32>
  %r2 = library.scatter ins(%rows, %others : tensor<300xi32>, tensor<300x8xf32>) outs(%table : tensor<6x8xf32>) {
  ^bb0(%old: f32, %update: f32):
    %s = arith.addf %update, %old : f32
    library.yield %s : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<6x8xf32>
  return %r, %r2 : tensor<6x8xf32>, tensor<6x8xf32>
}

// CHECK-LABEL: func.func @no_updates(
// CHECK-SAME:    %[[T:[^:]*]]: tensor<10xf32>)
// CHECK-NEXT:    return %[[T]]
func.func @no_updates(%indices: tensor<0xi32>, %updates: tensor<0xf32>, %table: tensor<10xf32>) -> tensor<10xf32> {
  %r = library.scatter ins(%indices, %updates : tensor<0xi32>, tensor<0xf32>) outs(%table : tensor<10xf32>) {
  ^bb0(%old: f32, %update: f32):
    library.yield %update : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10xf32>
  return %r : tensor<10xf32>
}
