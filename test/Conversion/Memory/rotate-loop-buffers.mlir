// Buffers that loops carry are allocated before them and take turns.
//
// RUN: braid-opt %s --split-input-file --braid-rotate-loop-buffers | FileCheck %s

// CHECK-LABEL: func.func @for
// CHECK-SAME:      (%[[X:.*]]: memref<4xf32>, %[[N:.*]]: index)
// CHECK:         %[[B0:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[B1:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[P:.*]] = %[[B0]], %[[Q:.*]] = %[[B1]])
// CHECK-NEXT:      linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[P]] : memref<4xf32>)
// CHECK-NEXT:      scf.yield %[[P]], %[[Q]], %[[P]]
// CHECK:         return %[[R]]#0
func.func @for(%x: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    scf.yield %b : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// A buffer that no iteration passes on stays in its place.
// CHECK-LABEL: func.func @local
// CHECK:         scf.for {{.*}} {
// CHECK-NEXT:      memref.alloc
func.func @local(%x: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
    linalg.exp ins(%b : memref<4xf32>) outs(%x : memref<4xf32>)
  }
  return
}

// -----

// A buffer that lives for two more iterations needs three places.
// CHECK-LABEL: func.func @history
// CHECK-COUNT-3: memref.alloc
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}}, %[[R:.*]] = %{{.*}})
// CHECK:           scf.yield %[[P]], %[[A]], %[[Q]], %[[R]], %[[P]]
func.func @history(%x: memref<4xf32>, %n: index) -> (memref<4xf32>, memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x)
      -> (memref<4xf32>, memref<4xf32>) {
    %c = memref.alloc() : memref<4xf32>
    linalg.add ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    scf.yield %c, %a : memref<4xf32>, memref<4xf32>
  }
  return %r#0, %r#1 : memref<4xf32>, memref<4xf32>
}

// -----

// A loop that may keep a buffer for ever hands on a copy.
// CHECK-LABEL: func.func @kept
// CHECK:         %[[B0:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[B1:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[P:.*]] = %[[B0]], %[[Q:.*]] = %[[B1]])
// CHECK:           %[[NEW:.*]] = memref.alloc() : memref<4xf32>
// CHECK:           %[[V:.*]] = arith.select %{{.*}}, %[[NEW]], %[[A]]
// CHECK-NEXT:      memref.copy %[[V]], %[[P]]
// CHECK-NEXT:      scf.yield %[[P]], %[[Q]], %[[P]]
func.func @kept(%x: memref<4xf32>, %n: index, %p: i1) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    %v = arith.select %p, %b, %a : memref<4xf32>
    scf.yield %v : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// The copy of a column, whose stride the loop does not know, is contiguous.
// CHECK-LABEL: func.func @kept_column
// CHECK-COUNT-2: memref.alloc() : memref<64xf32>
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK:           %[[V:.*]] = arith.select
// CHECK-NEXT:      memref.copy %[[V]], %[[P]]
// CHECK-NEXT:      %[[COPY:.*]] = memref.cast %[[P]] : memref<64xf32> to memref<64xf32, strided<[?], offset: ?>>
// CHECK-NEXT:      scf.yield %[[COPY]], %[[Q]], %[[P]]
func.func @kept_column(%x: memref<64xf32, strided<[?], offset: ?>>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<64xf32, strided<[?], offset: ?>>) {
    %b = memref.alloc() : memref<64xf32>
    linalg.exp ins(%a : memref<64xf32, strided<[?], offset: ?>>) outs(%b : memref<64xf32>)
    %c = memref.cast %b : memref<64xf32> to memref<64xf32, strided<[?], offset: ?>>
    %v = arith.select %p, %c, %a : memref<64xf32, strided<[?], offset: ?>>
    scf.yield %v : memref<64xf32, strided<[?], offset: ?>>
  }
  return
}

// -----

// The copy of a column of known stride has that stride.
// CHECK-LABEL: func.func @kept_column_of_known_stride
// CHECK-COUNT-2: memref.alloc() : memref<253xf32>
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK:           %[[V:.*]] = arith.select
// CHECK-NEXT:      %[[VIEW:.*]] = memref.reinterpret_cast %[[P]] to offset: [0], sizes: [64], strides: [4]
// CHECK-NEXT:      memref.copy %[[V]], %[[VIEW]]
// CHECK-NEXT:      %[[COPY:.*]] = memref.cast %[[VIEW]] : memref<64xf32, strided<[4]>> to memref<64xf32, strided<[4], offset: ?>>
// CHECK-NEXT:      scf.yield %[[COPY]]
func.func @kept_column_of_known_stride(%x: memref<64xf32, strided<[4], offset: ?>>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<64xf32, strided<[4], offset: ?>>) {
    %b = memref.alloc() : memref<64x4xf32>
    %s = memref.subview %b[0, %i] [64, 1] [1, 1] : memref<64x4xf32> to memref<64xf32, strided<[4], offset: ?>>
    linalg.exp ins(%a : memref<64xf32, strided<[4], offset: ?>>) outs(%s : memref<64xf32, strided<[4], offset: ?>>)
    %v = arith.select %p, %s, %a : memref<64xf32, strided<[4], offset: ?>>
    scf.yield %v : memref<64xf32, strided<[4], offset: ?>>
  }
  return
}

// -----

// An inner loop that does not run gives what the outer one carries already, for any
// number of iterations: the outer loop hands on a copy.
// CHECK-LABEL: func.func @nested
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK-NEXT:      %[[B0:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:      %[[B1:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:      %[[S:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %[[A]], %[[R:.*]] = %[[B0]], %[[T:.*]] = %[[B1]])
// CHECK:             scf.yield %[[R]], %[[T]], %[[R]]
// CHECK:           memref.copy %[[S]]#0, %[[P]]
// CHECK-NEXT:      scf.yield %[[P]], %[[Q]], %[[P]]
func.func @nested(%x: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<4xf32>) {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (memref<4xf32>) {
      %c = memref.alloc() : memref<4xf32>
      linalg.exp ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
      scf.yield %c : memref<4xf32>
    }
    scf.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @while
// CHECK:         %[[B0:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[B1:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[R:.*]]:3 = scf.while (%[[A:.*]] = %{{.*}}, %[[P:.*]] = %[[B0]], %[[Q:.*]] = %[[B1]])
// CHECK:           scf.condition(%{{.*}}) %[[A]], %[[P]], %[[Q]]
// CHECK:         ^bb0(%[[C:.*]]: memref<4xf32>, %[[S:.*]]: memref<4xf32>, %[[T:.*]]: memref<4xf32>):
// CHECK-NEXT:      linalg.exp ins(%[[C]] : memref<4xf32>) outs(%[[S]] : memref<4xf32>)
// CHECK-NEXT:      scf.yield %[[S]], %[[T]], %[[S]]
// CHECK:         return %[[R]]#0
func.func @while(%x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 8.0 : f32
  %r = scf.while (%a = %x) : (memref<4xf32>) -> memref<4xf32> {
    %v = memref.load %a[%c0] : memref<4xf32>
    %go = arith.cmpf olt, %v, %limit : f32
    scf.condition(%go) %a : memref<4xf32>
  } do {
  ^bb0(%b: memref<4xf32>):
    %c = memref.alloc() : memref<4xf32>
    linalg.exp ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
    scf.yield %c : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// The outer loop carries what the condition of the inner one computes last.
// CHECK-LABEL: func.func @result_of_an_inner_loop
// CHECK:         %[[B0:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[B1:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[P:.*]] = %[[B0]], %[[Q:.*]] = %[[B1]])
// CHECK-NEXT:      %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK:           %[[W:.*]] = scf.while (%[[C:.*]] = %[[B]])
// CHECK-NEXT:        linalg.exp ins(%[[C]] : memref<4xf32>) outs(%[[P]] : memref<4xf32>)
// CHECK-NEXT:        scf.condition(%{{.*}}) %[[P]]
// CHECK:           scf.yield %[[W]], %[[Q]], %[[P]]
func.func @result_of_an_inner_loop(%x: memref<4xf32>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    %w = scf.while (%c = %b) : (memref<4xf32>) -> memref<4xf32> {
      %d = memref.alloc() : memref<4xf32>
      linalg.exp ins(%c : memref<4xf32>) outs(%d : memref<4xf32>)
      scf.condition(%p) %d : memref<4xf32>
    } do {
    ^bb0(%c: memref<4xf32>):
      linalg.exp ins(%c : memref<4xf32>) outs(%b : memref<4xf32>)
      scf.yield %b : memref<4xf32>
    }
    scf.yield %w : memref<4xf32>
  }
  return
}

// -----

comm.group @world all

// A loop that carries an operation in flight rotates the buffers of both.
// CHECK-LABEL: func.func @in_flight
// CHECK-COUNT-2: memref.alloc() : memref<4xf32>
// CHECK:         scf.for
// CHECK-NOT:       memref.alloc
// CHECK:           comm.all_reduce sum %{{.*}} into %[[P:.*]] on @world
// CHECK-NEXT:      scf.yield %{{.*}}, %[[P]], %[[Q:.*]], %[[P]]
func.func @in_flight(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t0 = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0, %f = %y)
      -> (!comm.token, memref<4xf32>) {
    comm.wait %t writes(%f : memref<4xf32>) : !comm.token
    %b = memref.alloc() : memref<4xf32>
    %u = comm.all_reduce sum %x into %b on @world : memref<4xf32>, memref<4xf32>
    scf.yield %u, %b : !comm.token, memref<4xf32>
  }
  comm.wait %r#0 writes(%r#1 : memref<4xf32>) : !comm.token
  return
}
