// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-expand-divisions,cse))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: func.func @vector
  // CHECK-SAME:      (%[[X:.*]]: vector<4xf32>, %[[S:.*]]: f32)
  // CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-NEXT:    %[[Y:.*]] = arith.divf %[[ONE]], %[[S]] : f32
  // CHECK-NEXT:    %[[ABS:.*]] = math.absf %[[S]] : f32
  // CHECK-NEXT:    %[[MIN:.*]] = arith.constant 5.96046448E-8 : f32
  // CHECK-NEXT:    %[[LARGE:.*]] = arith.cmpf oge, %[[ABS]], %[[MIN]] : f32
  // CHECK-NEXT:    %[[MAX:.*]] = arith.constant 0x4B800000 : f32
  // CHECK-NEXT:    %[[SMALL:.*]] = arith.cmpf ole, %[[ABS]], %[[MAX]] : f32
  // CHECK-NEXT:    %[[DIVISOR_IS_SHORT:.*]] = arith.andi %[[LARGE]], %[[SMALL]] : i1
  // CHECK:         %[[EXPONENT:.*]] = arith.constant dense<452984832> : vector<4xi32>
  // CHECK-NEXT:    %[[BITS:.*]] = arith.bitcast %[[X]] : vector<4xf32> to vector<4xi32>
  // CHECK-NEXT:    %[[DOUBLED:.*]] = arith.addi %[[BITS]], %[[BITS]] : vector<4xi32>
  // CHECK-NEXT:    %[[BEYOND:.*]] = arith.subi %[[DOUBLED]], %[[EXPONENT]] : vector<4xi32>
  // CHECK-NEXT:    %[[ALL:.*]] = vector.reduction <or>, %[[BEYOND]] : vector<4xi32> into i32
  // CHECK:         %[[DIVIDENDS:.*]] = arith.cmpi sge, %[[ALL]], %{{.*}} : i32
  // CHECK-NEXT:    %[[IS_SHORT:.*]] = arith.andi %[[DIVISOR_IS_SHORT]], %[[DIVIDENDS]] : i1
  // CHECK-NEXT:    %[[R:.*]] = scf.if %[[IS_SHORT]] -> (vector<4xf32>) {
  // CHECK-NEXT:      %[[YS:.*]] = vector.broadcast %[[Y]] : f32 to vector<4xf32>
  // CHECK-NEXT:      %[[MINUS:.*]] = arith.negf %[[S]] : f32
  // CHECK-NEXT:      %[[NEGATED:.*]] = vector.broadcast %[[MINUS]] : f32 to vector<4xf32>
  // CHECK-NEXT:      %[[Q:.*]] = arith.mulf %[[X]], %[[YS]] : vector<4xf32>
  // CHECK-NEXT:      %[[REST:.*]] = math.fma %[[Q]], %[[NEGATED]], %[[X]] : vector<4xf32>
  // CHECK-NEXT:      %[[SHORT:.*]] = math.fma %[[REST]], %[[YS]], %[[Q]] : vector<4xf32>
  // CHECK-NEXT:      scf.yield %[[SHORT]]
  // CHECK-NEXT:    } else {
  // CHECK:           %[[WIDE_S:.*]] = arith.extf %[[S]] : f32 to f64
  // CHECK:           arith.divf %{{.*}}, %[[WIDE_S]] : f64
  // CHECK:           %[[WIDE_Q:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<4xf64>
  // CHECK-NEXT:      %[[WIDE_REST:.*]] = math.fma %[[WIDE_Q]], %{{.*}}, %{{.*}} : vector<4xf64>
  // CHECK-NEXT:      %[[CORRECTED:.*]] = math.fma %[[WIDE_REST]], %{{.*}}, %[[WIDE_Q]] : vector<4xf64>
  // The product replaces exact quotients, as zeros, and what is no number.
  // CHECK:           %[[INEXACT:.*]] = arith.cmpf one, %[[WIDE_REST]], %{{.*}} : vector<4xf64>
  // CHECK-NEXT:      %[[CHOSEN:.*]] = arith.select %[[INEXACT]], %[[CORRECTED]], %[[WIDE_Q]] : vector<4xi1>, vector<4xf64>
  // CHECK-NEXT:      %[[NARROW:.*]] = arith.truncf %[[CHOSEN]] : vector<4xf64> to vector<4xf32>
  // CHECK-NEXT:      scf.yield %[[NARROW]]
  // CHECK-NEXT:    }
  // CHECK:         return %[[R]]
  func.func @vector(%x: vector<4xf32>, %s: f32) -> vector<4xf32> {
    %d = vector.broadcast %s : f32 to vector<4xf32>
    %r = arith.divf %x, %d : vector<4xf32>
    return %r : vector<4xf32>
  }

  // CHECK-LABEL: func.func @one_reciprocal_of_a_divisor
  // CHECK:         arith.divf %{{.*}} : f32
  // CHECK-NOT:     arith.divf %{{.*}} : f32
  // CHECK:         scf.if
  // CHECK:         vector<4xf32>
  // CHECK:         scf.if
  // CHECK:         vector<8xf32>
  // CHECK:         return
  func.func @one_reciprocal_of_a_divisor(%x: vector<4xf32>, %y: vector<8xf32>, %s: f32) -> (vector<4xf32>, vector<8xf32>) {
    %d = vector.broadcast %s : f32 to vector<4xf32>
    %0 = arith.divf %x, %d : vector<4xf32>
    %e = vector.broadcast %s : f32 to vector<8xf32>
    %1 = arith.divf %y, %e : vector<8xf32>
    return %0, %1 : vector<4xf32>, vector<8xf32>
  }

  // CHECK-LABEL: func.func @small_floats_are_divided_in_f32
  // CHECK-SAME:      (%[[X:.*]]: vector<8xbf16>, %[[S:.*]]: bf16)
  // CHECK-NEXT:    %[[WIDE:.*]] = arith.extf %[[S]] : bf16 to f32
  // CHECK:         arith.divf %{{.*}}, %[[WIDE]] : f32
  // CHECK:         arith.extf %[[X]] : vector<8xbf16> to vector<8xf32>
  // CHECK:         %[[R:.*]] = scf.if
  // CHECK:         %[[NARROW:.*]] = arith.truncf %[[R]] : vector<8xf32> to vector<8xbf16>
  // CHECK-NEXT:    return %[[NARROW]]
  func.func @small_floats_are_divided_in_f32(%x: vector<8xbf16>, %s: bf16) -> vector<8xbf16> {
    %d = vector.broadcast %s : bf16 to vector<8xbf16>
    %r = arith.divf %x, %d : vector<8xbf16>
    return %r : vector<8xbf16>
  }

  // Numbers, short vectors, other types, and divisors that differ.
  // CHECK-LABEL: func.func @others
  // CHECK-NOT:     scf.if
  // CHECK:         return
  func.func @others(%x: f32, %y: vector<2xf32>, %z: vector<4xf64>, %s: f32, %t: f64, %u: vector<4xf32>)
      -> (f32, vector<2xf32>, vector<4xf64>, vector<4xf32>) {
    %0 = arith.divf %x, %s : f32
    %d = vector.broadcast %s : f32 to vector<2xf32>
    %1 = arith.divf %y, %d : vector<2xf32>
    %e = vector.broadcast %t : f64 to vector<4xf64>
    %2 = arith.divf %z, %e : vector<4xf64>
    %3 = arith.divf %u, %u : vector<4xf32>
    return %0, %1, %2, %3 : f32, vector<2xf32>, vector<4xf64>, vector<4xf32>
  }
}
