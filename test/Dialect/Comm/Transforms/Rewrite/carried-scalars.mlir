// RUN: braid-opt %s --comm-fuse-elementwise=ops-per-byte=7 --canonicalize | FileCheck %s
// RUN: braid-opt %s --comm-fuse-elementwise --canonicalize | FileCheck %s --check-prefix=HOST

#scalar = affine_map<() -> ()>
#vector = affine_map<(d0) -> (d0)>
#first = affine_map<(d0) -> ()>

// A loop of JAX counts in a tensor. No GPU computes the condition.
//
// CHECK-LABEL: func @counter(
// CHECK:         scf.while (%[[I:.*]] = %c0_i32, %{{.*}} = %arg0) : (i32, tensor<8xf32>) -> (i32, tensor<8xf32>)
// CHECK-NEXT:      %[[GOES_ON:.*]] = arith.cmpi slt, %[[I]], %c5_i32 : i32
// CHECK-NEXT:      scf.condition(%[[GOES_ON]]) %[[I]], %{{.*}} : i32, tensor<8xf32>
// CHECK:         ^bb0(%[[I:.*]]: i32, %{{.*}}: tensor<8xf32>):
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %c2_i32 : i32
// CHECK-NEXT:      scf.yield %[[NEXT]], %{{.*}} : i32, tensor<8xf32>
//
// A host reads its memory at once.
// HOST-LABEL: func @counter(
// HOST:         tensor.extract %{{.*}}[] : tensor<i1>
func.func @counter(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %two = arith.constant 2 : i32
  %five = arith.constant 5 : i32
  %bit = tensor.empty() : tensor<i1>
  %number = tensor.empty() : tensor<i32>
  %loop:2 = scf.while (%i = %zero, %v = %x) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %less = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%bit : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %c = arith.cmpi slt, %in, %five : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %goes_on = tensor.extract %less[] : tensor<i1>
    scf.condition(%goes_on) %i, %v : tensor<i32>, tensor<8xf32>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<8xf32>):
    %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%number : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %sum = arith.addi %in, %two : i32
      linalg.yield %sum : i32
    } -> tensor<i32>
    %w = arith.addf %v, %v : tensor<8xf32>
    scf.yield %next, %w : tensor<i32>, tensor<8xf32>
  }
  return %loop#1 : tensor<8xf32>
}

// The step of a solver: floats that a host adds to the same bits. What the loop
// ends with decides how another one begins.
//
// CHECK-LABEL: func @times(
// CHECK:         %[[LOOP:.*]] = scf.while (%[[T:.*]] = %{{.*}}) : (f32) -> f32
// CHECK-NEXT:      arith.cmpf olt, %[[T]], %{{.*}} : f32
// CHECK:         ^bb0(%[[T:.*]]: f32):
// CHECK-NEXT:      arith.addf %[[T]], %{{.*}} : f32
// CHECK:         %[[IS_LATE:.*]] = arith.cmpf ogt, %[[LOOP]], %{{.*}} : f32
// CHECK-NEXT:    scf.if %[[IS_LATE]] -> (tensor<8xf32>)
func.func @times(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %step = arith.constant 3.000000e-01 : f32
  %end = arith.constant 2.0 : f32
  %bit = tensor.empty() : tensor<i1>
  %time = tensor.empty() : tensor<f32>
  %last = scf.while (%t = %zero) : (tensor<f32>) -> tensor<f32> {
    %less = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%t : tensor<f32>) outs(%bit : tensor<i1>) {
    ^bb0(%in: f32, %out: i1):
      %c = arith.cmpf olt, %in, %end : f32
      linalg.yield %c : i1
    } -> tensor<i1>
    %goes_on = tensor.extract %less[] : tensor<i1>
    scf.condition(%goes_on) %t : tensor<f32>
  } do {
  ^bb0(%t: tensor<f32>):
    %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%t : tensor<f32>) outs(%time : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %step : f32
      linalg.yield %sum : f32
    } -> tensor<f32>
    scf.yield %next : tensor<f32>
  }
  %late = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%last : tensor<f32>) outs(%bit : tensor<i1>) {
  ^bb0(%in: f32, %out: i1):
    %c = arith.cmpf ogt, %in, %end : f32
    linalg.yield %c : i1
  } -> tensor<i1>
  %is_late = tensor.extract %late[] : tensor<i1>
  %result = scf.if %is_late -> (tensor<8xf32>) {
    %twice = arith.addf %x, %x : tensor<8xf32>
    scf.yield %twice : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %result : tensor<8xf32>
}

// The exponential has other bits on a host.
//
// CHECK-LABEL: func @functions_of_floats(
// CHECK:         scf.while {{.*}} : (tensor<f32>) -> tensor<f32>
// CHECK:           tensor.extract %{{.*}}[] : tensor<i1>
func.func @functions_of_floats() -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %end = arith.constant 2.0 : f32
  %bit = tensor.empty() : tensor<i1>
  %last = scf.while (%t = %zero) : (tensor<f32>) -> tensor<f32> {
    %less = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%t : tensor<f32>) outs(%bit : tensor<i1>) {
    ^bb0(%in: f32, %out: i1):
      %c = arith.cmpf olt, %in, %end : f32
      linalg.yield %c : i1
    } -> tensor<i1>
    %goes_on = tensor.extract %less[] : tensor<i1>
    scf.condition(%goes_on) %t : tensor<f32>
  } do {
  ^bb0(%t: tensor<f32>):
    %next = math.exp %t : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %last : tensor<f32>
}

// One counter takes what another one has in the iteration before, which an
// element of the argument takes part in.
//
// CHECK-LABEL: func @follows_an_argument(
// CHECK:         scf.while {{.*}} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
// CHECK:           tensor.extract %{{.*}}[] : tensor<i1>
func.func @follows_an_argument(%x: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %five = arith.constant 5 : i32
  %bit = tensor.empty() : tensor<i1>
  %loop:2 = scf.while (%i = %zero, %j = %zero) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %less = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%bit : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %c = arith.cmpi slt, %in, %five : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %goes_on = tensor.extract %less[] : tensor<i1>
    scf.condition(%goes_on) %i, %j : tensor<i32>, tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>, %j: tensor<i32>):
    %next = arith.addi %j, %x : tensor<i32>
    scf.yield %j, %next : tensor<i32>, tensor<i32>
  }
  return %loop#0 : tensor<i32>
}

// Branches give the number of iterations. A counter that only bodies read
// stays: the loop repeats the same kernels.
//
// CHECK-LABEL: func @branches(
// CHECK:         %[[COUNT:.*]] = arith.select %arg0, %c3_i32, %c7_i32 : i32
// CHECK:         %[[END:.*]] = arith.index_cast %[[COUNT]] : i32 to index
// CHECK:         scf.for {{.*}} to %[[END]] {{.*}} -> (tensor<i32>, tensor<8xi32>)
func.func @branches(%chooses: i1, %x: tensor<8xi32>) -> tensor<8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : tensor<i32>
  %three = arith.constant dense<3> : tensor<i32>
  %seven = arith.constant dense<7> : tensor<i32>
  %number = tensor.empty() : tensor<i32>
  %numbers = tensor.empty() : tensor<8xi32>
  %count = scf.if %chooses -> (tensor<i32>) {
    scf.yield %three : tensor<i32>
  } else {
    scf.yield %seven : tensor<i32>
  }
  %element = tensor.extract %count[] : tensor<i32>
  %end = arith.index_cast %element : i32 to index
  %loop:2 = scf.for %i = %c0 to %end step %c1 iter_args(%j = %zero, %v = %x) -> (tensor<i32>, tensor<8xi32>) {
    %one = arith.constant 1 : i32
    %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%j : tensor<i32>) outs(%number : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %sum = arith.addi %in, %one : i32
      linalg.yield %sum : i32
    } -> tensor<i32>
    %w = linalg.generic {indexing_maps = [#vector, #first, #vector], iterator_types = ["parallel"]} ins(%v, %j : tensor<8xi32>, tensor<i32>) outs(%numbers : tensor<8xi32>) {
    ^bb0(%in: i32, %of: i32, %out: i32):
      %product = arith.muli %in, %of : i32
      linalg.yield %product : i32
    } -> tensor<8xi32>
    scf.yield %next, %w : tensor<i32>, tensor<8xi32>
  }
  return %loop#1 : tensor<8xi32>
}
