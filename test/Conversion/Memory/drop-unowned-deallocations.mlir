// RUN: braid-opt %s --braid-drop-unowned-deallocations | FileCheck %s

// A loop exchanges two buffers that the function does not own.
// CHECK-LABEL: func.func @exchanged
// CHECK:         scf.for
// CHECK-NEXT:      %[[F:.*]] = arith.constant false
// CHECK-NEXT:      scf.yield %{{.*}}, %{{.*}}, %[[F]], %[[F]]
// CHECK-NOT:     dealloc
// CHECK:         return
func.func @exchanged(%a: memref<4xf32>, %b: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %p = %false, %q = %false)
      -> (memref<4xf32>, memref<4xf32>, i1, i1) {
    %o:2 = bufferization.dealloc (%x, %y : memref<4xf32>, memref<4xf32>) if (%p, %q)
        retain (%y, %x : memref<4xf32>, memref<4xf32>)
    scf.yield %y, %x, %o#0, %o#1 : memref<4xf32>, memref<4xf32>, i1, i1
  }
  bufferization.dealloc (%r#0, %r#1 : memref<4xf32>, memref<4xf32>) if (%r#2, %r#3)
  return
}

// One of the buffers is the loop's: both results may be.
// CHECK-LABEL: func.func @owned
// CHECK:         scf.for
// CHECK:           %[[O:.*]]:2 = bufferization.dealloc (%{{.*}}, %{{.*}} : memref<4xf32>, memref<4xf32>) if (%{{.*}}, %{{.*}}) retain
// CHECK-NEXT:      scf.yield %{{.*}}, %{{.*}}, %[[O]]#0, %[[O]]#1
// CHECK:         bufferization.dealloc (%{{.*}}#0, %{{.*}}#1 : memref<4xf32>, memref<4xf32>) if (%{{.*}}#2, %{{.*}}#3)
func.func @owned(%a: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %true = arith.constant true
  %b = memref.alloc() : memref<4xf32>
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %p = %false, %q = %true)
      -> (memref<4xf32>, memref<4xf32>, i1, i1) {
    %o:2 = bufferization.dealloc (%x, %y : memref<4xf32>, memref<4xf32>) if (%p, %q)
        retain (%y, %x : memref<4xf32>, memref<4xf32>)
    scf.yield %y, %x, %o#0, %o#1 : memref<4xf32>, memref<4xf32>, i1, i1
  }
  bufferization.dealloc (%r#0, %r#1 : memref<4xf32>, memref<4xf32>) if (%r#2, %r#3)
  return
}

// Of the buffers of one op those remain that may be owned; an argument may be true.
// CHECK-LABEL: func.func @some
// CHECK-SAME:      (%[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>, %[[P:.*]]: i1)
// CHECK:         bufferization.dealloc (%[[B]] : memref<4xf32>) if (%[[P]])
func.func @some(%a: memref<4xf32>, %b: memref<4xf32>, %p: i1) {
  %false = arith.constant false
  bufferization.dealloc (%a, %b : memref<4xf32>, memref<4xf32>) if (%false, %p)
  return
}

// Conditions travel through blocks and regions.
// CHECK-LABEL: func.func @blocks
// CHECK:       ^bb1(%[[X:.*]]: memref<4xf32>, %{{.*}}: i1, %[[Y:.*]]: memref<4xf32>, %[[Q:.*]]: i1):
// CHECK-NEXT:    bufferization.dealloc (%[[Y]] : memref<4xf32>) if (%[[Q]])
func.func @blocks(%a: memref<4xf32>, %b: memref<4xf32>, %p: i1) {
  %false = arith.constant false
  %true = arith.constant true
  %c:4 = scf.if %p -> (memref<4xf32>, i1, memref<4xf32>, i1) {
    scf.yield %a, %false, %b, %true : memref<4xf32>, i1, memref<4xf32>, i1
  } else {
    scf.yield %b, %false, %a, %false : memref<4xf32>, i1, memref<4xf32>, i1
  }
  cf.br ^end(%c#0, %c#1, %c#2, %c#3 : memref<4xf32>, i1, memref<4xf32>, i1)
^end(%x: memref<4xf32>, %q: i1, %y: memref<4xf32>, %r: i1):
  bufferization.dealloc (%x, %y : memref<4xf32>, memref<4xf32>) if (%q, %r)
  return
}
