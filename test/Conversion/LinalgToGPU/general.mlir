// Ops whose sizes, strides or maps no other kernel has.
//
// RUN: braid-opt %s --split-input-file --convert-linalg-to-gpu --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @dynamic_shape
// CHECK-SAME:      (%[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[BLOCK:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[MORE:.*]] = arith.constant 255 : index
// CHECK:         %[[BASE_A:.*]], %{{.*}}, %[[SIZE_A:.*]], %{{.*}} = memref.extract_strided_metadata %[[A]]
// CHECK:         %[[BASE_B:.*]], %{{.*}}, %[[SIZE_B:.*]], %{{.*}} = memref.extract_strided_metadata %[[B]]
// CHECK:         %[[N:.*]] = memref.dim %[[A]]
// CHECK:         %[[UP:.*]] = arith.addi %[[N]], %[[MORE]] : index
// CHECK:         %[[BLOCKS:.*]] = arith.divui %[[UP]], %[[BLOCK]] : index
// CHECK:         gpu.launch_func @kernels::@general blocks in (%[[BLOCKS]], %[[ONE]], %[[ONE]]) threads in (%[[BLOCK]], %[[ONE]], %[[ONE]])
// CHECK-SAME:        args(%[[BASE_A]] : memref<f32>, %[[SIZE_A]] : index, %[[BASE_B]] : memref<f32>, %[[SIZE_B]] : index, %[[N]] : index)
// CHECK:         gpu.func @general(%{{.*}}: memref<f32>, %{{.*}}: index, %{{.*}}: memref<f32>, %{{.*}}: index, %[[BOUND:.*]]: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[THREAD:.*]], %[[BOUND]] : index
// CHECK:           scf.if %[[INSIDE]]
// CHECK:             %[[I:.*]] = arith.remui %[[THREAD]], %[[BOUND]] : index
// CHECK:             %[[X:.*]] = memref.load %{{.*}}[%[[I]]] : memref<?xf32>
// CHECK:             %[[Y:.*]] = math.exp %[[X]] : f32
// CHECK:             memref.store %[[Y]], %{{.*}}[%[[I]]] : memref<?xf32>
func.func @dynamic_shape(%a: memref<?xf32>, %b: memref<?xf32>) {
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}

// -----

// A thread runs the reduction in order.
// CHECK-LABEL: func.func @reduction
// CHECK:         gpu.func @general
// CHECK:           scf.if
// CHECK:             %[[INIT:.*]] = memref.load
// CHECK:             %[[SUM:.*]] = scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %[[INIT]]) -> (f32)
// CHECK:               %[[X:.*]] = memref.load
// CHECK:               %[[NEXT:.*]] = arith.addf %[[X]], %[[SO_FAR]] : f32
// CHECK:               scf.yield %[[NEXT]] : f32
// CHECK:             memref.store %[[SUM]]
func.func @reduction(%a: memref<?x?xf32>, %b: memref<?xf32>) {
  linalg.reduce ins(%a : memref<?x?xf32>) outs(%b : memref<?xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    }
  return
}

// -----

// A sum of bf16 has f32 in between, as in every kernel.
// CHECK-LABEL: func.func @small_floats
// CHECK:         gpu.func @general
// CHECK:           scf.if
// CHECK:             %[[INIT:.*]] = memref.load {{.*}} : memref<?xbf16>
// CHECK:             %[[WIDE:.*]] = arith.extf %[[INIT]] : bf16 to f32
// CHECK:             %[[SUM:.*]] = scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %[[WIDE]]) -> (f32)
// CHECK:               %[[X:.*]] = memref.load {{.*}} : memref<?x?xbf16>
// CHECK:               %[[ELEMENT:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK:               %[[NEXT:.*]] = arith.addf %[[ELEMENT]], %[[SO_FAR]] : f32
// CHECK:               scf.yield %[[NEXT]] : f32
// CHECK:             %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK:             memref.store %[[ROUNDED]]
func.func @small_floats(%a: memref<?x?xbf16>, %b: memref<?xbf16>) {
  linalg.reduce ins(%a : memref<?x?xbf16>) outs(%b : memref<?xbf16>) dimensions = [1]
    (%in: bf16, %out: bf16) {
      %0 = arith.addf %in, %out : bf16
      linalg.yield %0 : bf16
    }
  return
}

// -----

// CHECK-LABEL: func.func @dynamic_strides
// CHECK:         gpu.launch_func @kernels::@general
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4, 4], strides: [%{{.*}}, 1] : memref<f32> to memref<4x4xf32, strided<[?, 1]>>
func.func @dynamic_strides(%a: memref<4x4xf32, strided<[?, 1]>>, %b: memref<4x4xf32>) {
  linalg.exp ins(%a : memref<4x4xf32, strided<[?, 1]>>) outs(%b : memref<4x4xf32>)
  return
}

// -----

// A body that reads a buffer of any size.
// CHECK-LABEL: func.func @captured
// CHECK:         gpu.func @general(%[[A:[a-z0-9]*]]: memref<f32>, %[[X:[a-z0-9]*]]: memref<f32>, %[[N:[a-z0-9]*]]: index)
// CHECK:           %[[READ:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[N]]], strides: [1]
// CHECK:           scf.if
// CHECK:             %[[I:.*]] = arith.remui
// CHECK:             memref.load %[[READ]][%[[I]]] : memref<?xf32>
func.func @captured(%a: memref<8xf32>, %x: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %0 = memref.load %x[%i] : memref<?xf32>
    linalg.yield %0 : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @not_linear
// CHECK:         gpu.func @general
// CHECK:           scf.if
// CHECK:             %[[HALF:.*]] = arith.divsi
// CHECK:             memref.load %{{.*}} : memref<4xf32>
func.func @not_linear(%a: memref<4xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// A body that loads from a buffer of dynamic strides has a kernel apart from
// the rows of its neighbour.
// CHECK-LABEL: func.func @dynamic_reads
// CHECK:         gpu.launch_func @kernels::@general
// CHECK:         gpu.launch_func @kernels::@rows
#e = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
func.func @dynamic_reads(%table: memref<256xf32, strided<[?], offset: ?>>, %x: memref<4x256xf32>, %y: memref<4x256xf32>, %sums: memref<4xf32>) {
  linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x256xf32>) outs(%y : memref<4x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %t = memref.load %table[%i] : memref<256xf32, strided<[?], offset: ?>>
    %s = arith.addf %in, %t : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<4x256xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Elements whose places do not fit 64 bits together.
// CHECK-LABEL: func.func @huge_strides
// CHECK:         gpu.launch_func @kernels::@general
// CHECK-NOT:     gpu.launch_func
func.func @huge_strides(%a: memref<4x10xf32, strided<[11, 9223372036854775806]>>, %b: memref<10x6xf32, strided<[12, 9223372036854775806]>>, %c: memref<4x6xf32>) {
  linalg.matmul ins(%a, %b : memref<4x10xf32, strided<[11, 9223372036854775806]>>, memref<10x6xf32, strided<[12, 9223372036854775806]>>) outs(%c : memref<4x6xf32>)
  return
}
