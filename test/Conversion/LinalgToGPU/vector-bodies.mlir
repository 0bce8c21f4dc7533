// Bodies that load from other buffers, with branches and loops, compute vectors of adjacent elements if all of a vector
// go the same way.
//
// RUN: braid-opt %s --convert-linalg-to-gpu --canonicalize | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

func.func @list(%first: memref<64xi32>, %next: memref<128xi32>, %updates: memref<128x256xbf16>, %r: memref<64x256xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %end = arith.constant 128 : i32
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%first : memref<64xi32>) outs(%r : memref<64x256xbf16>) {
  ^bb0(%a: i32, %o: bf16):
    %j = linalg.index 1 : index
    %l:2 = scf.while (%n = %a, %s = %zero) : (i32, bf16) -> (i32, bf16) {
      %m = arith.cmpi slt, %n, %end : i32
      scf.condition(%m) %n, %s : i32, bf16
    } do {
    ^bb0(%n: i32, %s: bf16):
      %i = arith.index_cast %n : i32 to index
      %u = memref.load %updates[%i, %j] : memref<128x256xbf16>
      %t = arith.addf %s, %u : bf16
      %f = memref.load %next[%i] : memref<128xi32>
      scf.yield %f, %t : i32, bf16
    }
    linalg.yield %l#1 : bf16
  }
  return
}

func.func @branch(%which: memref<64xi32>, %x: memref<32x256xf32>, %r: memref<64x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 32 : index
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%which : memref<64xi32>) outs(%r : memref<64x256xf32>) {
  ^bb0(%a: i32, %o: f32):
    %i = affine.apply affine_map<(i) -> (i + 1)>(%size)
    %n = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %m = arith.cmpi ult, %n, %i : index
    %v = scf.if %m -> f32 {
      %e = memref.load %x[%n, %j] : memref<32x256xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  }
  return
}

// The elements of a vector go different ways.
func.func @ways(%x: memref<64x256xf32>, %r: memref<64x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xf32>) outs(%r : memref<64x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 1 : index
    %m = arith.cmpf olt, %a, %zero : f32
    %v = scf.if %m -> f32 {
      %e = memref.load %x[%c0, %j] : memref<64x256xf32>
      scf.yield %e : f32
    } else {
      scf.yield %a : f32
    }
    linalg.yield %v : f32
  }
  return
}

// The rows of `%y` have no alignment.
func.func @rows(%y: memref<64x255xf32>, %s: memref<64x252xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%s : memref<64x252xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %e = memref.load %y[%i, %j] : memref<64x255xf32>
    linalg.yield %e : f32
  }
  return
}

// Memory has a byte for each i1.
func.func @bits(%bits: memref<32x256xi1>, %x: memref<64x256xf32>, %r: memref<64x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 32 : index
  %false = arith.constant false
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xf32>) outs(%r : memref<64x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.cmpi ult, %i, %size : index
    %v = scf.if %m -> i1 {
      %e = memref.load %bits[%i, %j] : memref<32x256xi1>
      scf.yield %e : i1
    } else {
      scf.yield %false : i1
    }
    %s = arith.select %v, %a, %zero : f32
    linalg.yield %s : f32
  }
  return
}

// Bounds between vectors: all elements of a vector are in one piece.
func.func @pieces(%a: memref<64x96xf32>, %b: memref<64x160xf32>, %r: memref<64x256xf32>) {
  %bound = arith.constant 96 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%r : memref<64x256xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.cmpi ult, %j, %bound : index
    %v = scf.if %m -> f32 {
      %e = memref.load %a[%i, %j] : memref<64x96xf32>
      scf.yield %e : f32
    } else {
      %k = arith.subi %j, %bound : index
      %e = memref.load %b[%i, %k] : memref<64x160xf32>
      scf.yield %e : f32
    }
    linalg.yield %v : f32
  }
  return
}

// The second piece begins inside of a vector of four.
func.func @pieces_of_two(%a: memref<64x98xf32>, %b: memref<64x158xf32>, %r: memref<64x256xf32>) {
  %bound = arith.constant 98 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%r : memref<64x256xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.cmpi ult, %j, %bound : index
    %v = scf.if %m -> f32 {
      %e = memref.load %a[%i, %j] : memref<64x98xf32>
      scf.yield %e : f32
    } else {
      %k = arith.subi %j, %bound : index
      %e = memref.load %b[%i, %k] : memref<64x158xf32>
      scf.yield %e : f32
    }
    linalg.yield %v : f32
  }
  return
}

// CHECK:       gpu.func @elementwise(
// CHECK:         scf.while ({{.*}}) : (i32, vector<8xbf16>) -> (i32, vector<8xbf16>)
// CHECK:           vector.load %{{.*}} {alignment = 16 : i64} : memref<128x256xbf16>, vector<8xbf16>
// CHECK:           memref.load %{{.*}} : memref<128xi32>
// CHECK:         vector.store
// CHECK:       gpu.func @elementwise_0(
// CHECK:         scf.if %{{.*}} -> (vector<4xf32>)
// CHECK:           vector.load %{{.*}} {alignment = 16 : i64} : memref<32x256xf32>, vector<4xf32>
// CHECK:         vector.store
// CHECK:       gpu.func @elementwise_1(
// CHECK-NOT:     vector
// CHECK:         scf.if %{{.*}} -> (f32)
// CHECK-NOT:     vector
// CHECK:       gpu.func @elementwise_2(
// CHECK-NOT:     vector
// CHECK:         gpu.return
// CHECK:       gpu.func @elementwise_3(
// CHECK:         scf.if %{{.*}} -> (vector<4xi1>)
// CHECK:           %[[BYTES:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<32x256xi1> to memref<32x256xi8>
// CHECK-NEXT:      %[[LOADED:.*]] = vector.load %[[BYTES]]{{.*}} {alignment = 4 : i64} : memref<32x256xi8>, vector<4xi8>
// CHECK-NEXT:      %[[BITS:.*]] = arith.trunci %[[LOADED]] : vector<4xi8> to vector<4xi1>
// CHECK-NEXT:      scf.yield %[[BITS]] : vector<4xi1>
// CHECK:         vector.store
// CHECK:       gpu.func @elementwise_4(
// CHECK:         %[[ALIKE:.*]] = vector.extract %{{.*}}[0] : i1 from vector<4xi1>
// CHECK-NEXT:    scf.if %[[ALIKE]] -> (vector<4xf32>)
// CHECK:           vector.load %{{.*}} {alignment = 16 : i64} : memref<64x96xf32>, vector<4xf32>
// CHECK:         } else {
// CHECK:           vector.load %{{.*}} {alignment = 16 : i64} : memref<64x160xf32>, vector<4xf32>
// CHECK:         vector.store
// CHECK:       gpu.func @elementwise_5(
// CHECK:           vector.load %{{.*}} {alignment = 8 : i64} : memref<64x158xf32>, vector<2xf32>
// Threads read elements of a bounded place one by one, and all else in vectors.
// CHECK:       gpu.func @elementwise_6(
// CHECK-COUNT-4: memref.load %{{.*}} : memref<64x64xf32>
// CHECK:         vector.store
func.func @bounded(%a: memref<64x64xf32>, %r: memref<64x64xf32>) {
  %last = arith.constant 63 : index
  %one = arith.constant 1 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%r : memref<64x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %j, %one : index
    %m = arith.minui %k, %last : index
    %e = memref.load %a[%i, %m] : memref<64x64xf32>
    linalg.yield %e : f32
  }
  return
}

// The rows of a vector are alike if they divide no vector.
// CHECK:       gpu.func @elementwise_7(
// CHECK:         %[[ROW:.*]] = vector.extract %{{.*}}[0] : index from vector<4xindex>
// CHECK:         vector.load %{{.*}}[%{{.*}}, %[[ROW]], %{{.*}}] {alignment = 16 : i64} : memref<64x2x32xf32>, vector<4xf32>
func.func @quotients(%a: memref<64x2x32xf32>, %r: memref<64x64xf32>) {
  %size = arith.constant 32 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%r : memref<64x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.divui %j, %size : index
    %l = arith.remui %j, %size : index
    %e = memref.load %a[%i, %k, %l] : memref<64x2x32xf32>
    linalg.yield %e : f32
  }
  return
}
