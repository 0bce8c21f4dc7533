// RUN: braid-opt %s --braid-check-allocation-sizes | FileCheck %s

// CHECK-LABEL: func.func @one_size
// CHECK-DAG:     %[[MOST:.*]] = arith.constant 1152921504606846975 : i64
// CHECK-DAG:     %[[SIZE:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK:         %[[FITS:.*]] = arith.cmpi ule, %[[SIZE]], %[[MOST]] : i64
// CHECK-NEXT:    cf.assert %[[FITS]], "memref<?x2xf32>: the sizes are negative or their product is too large"
// CHECK-NEXT:    memref.alloc(%{{.*}}) : memref<?x2xf32>
func.func @one_size(%n: index) -> memref<?x2xf32> {
  %a = memref.alloc(%n) : memref<?x2xf32>
  return %a : memref<?x2xf32>
}

// CHECK-LABEL: func.func @several_sizes
// CHECK:         %[[LOW:.*]], %[[HIGH:.*]] = arith.mului_extended
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[HIGH]], %{{.*}} : i64
// CHECK:         %[[LOW2:.*]], %[[HIGH2:.*]] = arith.mului_extended %[[LOW]]
// CHECK:         %[[SECOND:.*]] = arith.cmpi eq, %[[HIGH2]], %{{.*}} : i64
// CHECK:         %[[BOTH:.*]] = arith.andi %[[FIRST]], %[[SECOND]] : i1
// CHECK:         %[[LAST:.*]] = arith.cmpi ule, %[[LOW2]], %{{.*}} : i64
// CHECK:         %[[FITS:.*]] = arith.andi %[[BOTH]], %[[LAST]] : i1
// CHECK:         cf.assert %[[FITS]]
// CHECK-NEXT:    memref.alloca
func.func @several_sizes(%n: index, %m: index, %k: index) {
  %a = memref.alloca(%n, %m, %k) : memref<?x?x?xi8>
  return
}

// The sizes are those of a buffer that is there.
// CHECK-LABEL: func.func @sizes_of_another
// CHECK-NOT:     cf.assert
// CHECK:         memref.alloc
func.func @sizes_of_another(%x: memref<?x4x?xf32>) -> memref<?x2x?xf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x4x?xf32>
  %m = memref.dim %x, %c2 : memref<?x4x?xf32>
  %a = memref.alloc(%m, %n) : memref<?x2x?xf16>
  return %a : memref<?x2x?xf16>
}

// One size twice, larger elements, a part of the sizes, and those of two buffers are
// not.
// CHECK-LABEL: func.func @other_sizes
// CHECK-COUNT-4: cf.assert
func.func @other_sizes(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %k = memref.dim %y, %c1 : memref<?x?xf32>
  %a = memref.alloc(%n, %n) : memref<?x?xf32>
  %b = memref.alloc(%n, %m) : memref<?x?xf64>
  %c = memref.alloc(%n) : memref<?xf32>
  %d = memref.alloc(%n, %k) : memref<?x?xf32>
  return
}

// Nothing is allocated, whatever the size.
// CHECK-LABEL: func.func @no_bytes
// CHECK-NOT:     cf.assert
func.func @no_bytes(%n: index) {
  %a = memref.alloc(%n) : memref<?x0xf32>
  return
}
