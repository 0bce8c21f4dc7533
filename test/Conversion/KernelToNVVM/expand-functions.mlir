// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-expand-functions))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: func.func @number
  // CHECK-SAME:      (%[[X:.*]]: f32)
  // CHECK-NEXT:    arith.constant 1.000000e+00 : f32
  // CHECK-NEXT:    %[[T:.*]] = math.absf %[[X]] : f32
  // CHECK-NEXT:    %[[C8:.*]] = arith.constant -4.53586035E-5 : f32
  // CHECK-NEXT:    %[[C7:.*]] = arith.constant 4.455077E-4 : f32
  // CHECK-NEXT:    %[[P7:.*]] = math.fma %[[C8]], %[[T]], %[[C7]] : f32
  // CHECK-COUNT-6: math.fma
  // CHECK-NEXT:    %[[Q:.*]] = arith.mulf %{{.*}}, %[[T]] : f32
  // CHECK-NEXT:    %[[REST:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[Q]]) : (f32) -> f32
  // CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK-NEXT:    %[[OTHER:.*]] = arith.subf %[[TWO]], %[[REST]] : f32
  // CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT:    %[[NEGATIVE:.*]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
  // CHECK-NEXT:    %[[R:.*]] = arith.select %[[NEGATIVE]], %[[REST]], %[[OTHER]] : f32
  // CHECK-NEXT:    return %[[R]]
  func.func @number(%x: f32) -> f32 {
    %one = arith.constant 1.0 : f32
    %e = math.erf %x : f32
    %r = arith.addf %e, %one : f32
    return %r : f32
  }

  // CHECK-LABEL: func.func @vector
  // CHECK-NOT:     math.erf
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK:         vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
  // CHECK:         arith.select {{.*}} : vector<2xi1>, vector<2xf32>
  func.func @vector(%x: vector<2xf32>) -> vector<2xf32> {
    %one = arith.constant dense<1.0> : vector<2xf32>
    %e = math.erf %x : vector<2xf32>
    %r = arith.addf %one, %e : vector<2xf32>
    return %r : vector<2xf32>
  }

  // Another number, another type, and an error function that is needed anyway.
  // CHECK-LABEL: func.func @others
  // CHECK-COUNT-3: math.erf
  // CHECK-NOT:     math.fma
  // CHECK:         return
  func.func @others(%x: f32, %y: f64, %z: f32) -> (f32, f64, f32, f32) {
    %two = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %wide = arith.constant 1.0 : f64
    %0 = math.erf %x : f32
    %1 = arith.addf %0, %two : f32
    %2 = math.erf %y : f64
    %3 = arith.addf %2, %wide : f64
    %4 = math.erf %z : f32
    %5 = arith.addf %4, %one : f32
    return %1, %3, %4, %5 : f32, f64, f32, f32
  }

  // CHECK-LABEL: func.func @narrow
  // CHECK-SAME:      (%[[X:.*]]: bf16, %[[Y:.*]]: bf16)
  // CHECK-NEXT:    %[[X1:.*]] = arith.extf %[[X]] fastmath<contract> : bf16 to f32
  // CHECK-NEXT:    %[[T:.*]] = llvm.intr.tanh(%[[X1]]) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
  // CHECK-NEXT:    %[[TANH:.*]] = arith.truncf %[[T]] fastmath<contract> : f32 to bf16
  // CHECK-NEXT:    %[[X2:.*]] = arith.extf %[[X]] fastmath<contract> : bf16 to f32
  // CHECK-NEXT:    %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
  // CHECK-NEXT:    %[[P:.*]] = arith.mulf %[[X2]], %[[LOG2E]] : f32
  // CHECK-NEXT:    %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[P]]) : (f32) -> f32
  // CHECK-NEXT:    %[[EXP:.*]] = arith.truncf %[[E]] fastmath<contract> : f32 to bf16
  // CHECK-NEXT:    %[[X3:.*]] = arith.extf %[[X]] fastmath<contract> : bf16 to f32
  // CHECK-NEXT:    %[[Y3:.*]] = arith.extf %[[Y]] fastmath<contract> : bf16 to f32
  // CHECK-NEXT:    %[[D:.*]] = llvm.call_intrinsic "llvm.nvvm.div.full"(%[[X3]], %[[Y3]]) : (f32, f32) -> f32
  // CHECK-NEXT:    %[[QUOTIENT:.*]] = arith.truncf %[[D]] fastmath<contract> : f32 to bf16
  // CHECK-NEXT:    return %[[TANH]], %[[EXP]], %[[QUOTIENT]]
  func.func @narrow(%x: bf16, %y: bf16) -> (bf16, bf16, bf16) {
    %0 = math.tanh %x : bf16
    %1 = math.exp %x : bf16
    %2 = arith.divf %x, %y : bf16
    return %0, %1, %2 : bf16, bf16, bf16
  }

  // CHECK-LABEL: func.func @narrow_vector
  // CHECK:         llvm.intr.tanh({{.*}}) {{.*}} : (vector<2xf32>) -> vector<2xf32>
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.div.full"
  // CHECK:         vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
  // CHECK-NEXT:    arith.truncf {{.*}} : vector<2xf32> to vector<2xbf16>
  func.func @narrow_vector(%x: vector<2xbf16>, %y: vector<2xbf16>) -> vector<2xbf16> {
    %0 = math.tanh %x : vector<2xbf16>
    %1 = arith.divf %0, %y : vector<2xbf16>
    return %1 : vector<2xbf16>
  }

  // More digits than those of the instructions.
  // CHECK-LABEL: func.func @wide
  // CHECK-NEXT:    math.tanh %{{.*}} : f16
  // CHECK-NEXT:    math.exp %{{.*}} : f32
  // CHECK-NEXT:    arith.divf %{{.*}}, %{{.*}} : f32
  // CHECK-NEXT:    return
  func.func @wide(%x: f16, %y: f32) -> (f16, f32) {
    %0 = math.tanh %x : f16
    %1 = math.exp %y : f32
    %2 = arith.divf %1, %y : f32
    return %0, %2 : f16, f32
  }
}
