// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-tile-transposes,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// Rows of 4 KiB: 1,024 lines share 16 of 1,024 sets.
// Whole tiles are transposed on the stack, in squares of vectors.
// CHECK-LABEL: func.func @transpose
// CHECK-SAME:    (%[[A:.*]]: memref<1024x1000xf32, {{.*}}>, %[[B:.*]]: memref<1000x1024xf32>)
// CHECK-DAG:     %[[STACK:.*]] = memref.alloca() : memref<32x32xf32>
// CHECK-DAG:     %[[STEP:.*]] = arith.constant 32
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %[[STEP]]
// CHECK-NEXT:      scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %[[STEP]]
// CHECK-DAG:         %[[SIZE:.*]] = affine.min
// CHECK-DAG:         %[[IN:.*]] = memref.subview %[[A]][%[[J]], %[[I]]] [32, %[[SIZE]]] [1, 1]
// CHECK-DAG:         %[[OUT:.*]] = memref.subview %[[B]][%[[I]], %[[J]]] [%[[SIZE]], 32] [1, 1]
// CHECK:             %[[WHOLE:.*]] = arith.cmpi eq, %[[SIZE]], %{{.*}} : index
// CHECK-NEXT:        scf.if %[[WHOLE]] {
// CHECK-NEXT:          %[[TILE:.*]] = memref.subview %[[IN]][0, 0] [32, 32] [1, 1]
// CHECK-NEXT:          scf.for %[[ROW:.*]] = %{{.*}} to %[[STEP]] step %[[LANES:.*]] {
// CHECK-NEXT:            scf.for %[[COLUMN:.*]] = %{{.*}} to %[[STEP]] step %[[LANES]] {
// CHECK-NEXT:              %[[FIRST:.*]] = vector.load %[[TILE]][%[[ROW]], %[[COLUMN]]] : {{.*}}, vector<16xf32>
// CHECK-COUNT-15:          vector.load
// CHECK:                   vector.shuffle %[[FIRST]], %[[NINTH:.*]] [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]
// CHECK-NEXT:              vector.shuffle %[[FIRST]], %[[NINTH]] [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31]
// CHECK-COUNT-62:          vector.shuffle
// CHECK-NOT:               vector.shuffle
// CHECK:                   vector.store %{{.*}}, %[[STACK]][%[[COLUMN]], %[[ROW]]]
// CHECK-COUNT-15:          vector.store
// CHECK:               %[[RESULT:.*]] = memref.subview %[[OUT]][0, 0] [32, 32] [1, 1]
// CHECK-NEXT:          linalg.generic {indexing_maps = [#[[ID:.*]], #[[ID]]], {{.*}}} ins(%[[STACK]] : {{.*}}) outs(%[[RESULT]] :
// CHECK:             } else {
// CHECK-NEXT:          linalg.generic {{.*}} ins(%[[IN]] : {{.*}}) outs(%[[OUT]] :
func.func @transpose(%a: memref<1024x1000xf32, strided<[1024, 1]>>, %b: memref<1000x1024xf32>) {
  linalg.transpose ins(%a : memref<1024x1000xf32, strided<[1024, 1]>>) outs(%b : memref<1000x1024xf32>) permutation = [1, 0]
  return
}

// The index is that of the whole op.
// CHECK-LABEL: func.func @generic
// CHECK:         %[[STACK:.*]] = memref.alloca() : memref<32x32xf64>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to
// CHECK-NEXT:      scf.for %[[J:.*]] = %{{.*}} to
// CHECK-NOT:         scf.if
// CHECK:             vector.load {{.*}}, vector<8xf64>
// CHECK:             linalg.generic {{.*}} ins(%[[STACK]] :
// CHECK:               %[[INNER:.*]] = linalg.index 1
// CHECK-NEXT:          %[[WHOLE:.*]] = affine.apply #{{.*}}(%[[J]])[%[[INNER]]]
// CHECK-NEXT:          arith.index_cast %[[WHOLE]]
func.func @generic(%a: memref<2048x2048xf64>, %b: memref<2048x2048xf64>) {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a : memref<2048x2048xf64>) outs(%b : memref<2048x2048xf64>) {
  ^bb0(%in: f64, %out: f64):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i64
    %f = arith.sitofp %i : i64 to f64
    %s = arith.addf %in, %f : f64
    linalg.yield %s : f64
  }
  return
}

// Lines that stay in the cache, sizes of run time, and sums.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @others(%a: memref<2048x1500xf32>, %b: memref<1500x2048xf32>, %c: memref<128x2048xf32>, %d: memref<2048x128xf32>,
                  %e: memref<?x2048xf32>, %f: memref<2048x?xf32>, %g: memref<2048x2048xf32>, %h: memref<2048xf32>) {
  linalg.transpose ins(%a : memref<2048x1500xf32>) outs(%b : memref<1500x2048xf32>) permutation = [1, 0]
  linalg.transpose ins(%c : memref<128x2048xf32>) outs(%d : memref<2048x128xf32>) permutation = [1, 0]
  linalg.transpose ins(%e : memref<?x2048xf32>) outs(%f : memref<2048x?xf32>) permutation = [1, 0]
  linalg.reduce { arith.addf } ins(%g : memref<2048x2048xf32>) outs(%h : memref<2048xf32>) dimensions = [0]
  return
}
