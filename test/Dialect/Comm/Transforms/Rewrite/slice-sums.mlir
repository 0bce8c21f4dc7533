// RUN: braid-opt %s --comm-fuse-elementwise | FileCheck %s

// The gradient of a slice in a loop, as JAX's scan gives it: two slices at the
// same place, whose starts are read from stacks. Sums that begin with 0 are
// never -0, so adding 0 changes none.
//
// CHECK-LABEL: func @slices_of_carried_sum(
// CHECK:         scf.for %{{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
// CHECK-NOT:       linalg.fill
// CHECK:           %[[SLICE:.*]] = tensor.extract_slice %[[CARRIED]][%[[START:.*]], 0] [4, 16] [1, 1]
// CHECK:           %[[SUM:.*]] = linalg.generic
// CHECK-SAME:        ins(%[[SLICE]], %{{.*}}, %{{.*}} : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
// CHECK:             arith.addf
// CHECK:             arith.addf
// CHECK:           %[[NEXT:.*]] = tensor.insert_slice %[[SUM]] into %[[CARRIED]][%[[START]], 0] [4, 16] [1, 1]
// CHECK-NEXT:      scf.yield %[[NEXT]]
func.func @slices_of_carried_sum(%a: tensor<4x16xf32>, %b: tensor<4x16xf32>) -> tensor<128x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x16xf32>) -> tensor<128x16xf32>
  %result = scf.for %i = %c0 to %c32 step %c1 iter_args(%carried = %zeros) -> (tensor<128x16xf32>) {
    %start = arith.muli %i, %c4 : index
    %one = tensor.insert_slice %a into %zeros[%start, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<128x16xf32>
    %first = arith.addf %carried, %one : tensor<128x16xf32>
    %other = tensor.insert_slice %b into %zeros[%start, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<128x16xf32>
    %next = arith.addf %first, %other : tensor<128x16xf32>
    scf.yield %next : tensor<128x16xf32>
  }
  return %result : tensor<128x16xf32>
}

// The sum of -0 and 0 is 0.
//
// CHECK-LABEL: func @argument(
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}} : tensor<4xf32> into tensor<128xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      tensor<128xf32>, tensor<128xf32>
func.func @argument(%x: tensor<128xf32>, %a: tensor<4xf32>, %i: index) -> tensor<128xf32> {
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %one = tensor.insert_slice %a into %zeros[%i] [4] [1] : tensor<4xf32> into tensor<128xf32>
  %sum = arith.addf %x, %one : tensor<128xf32>
  return %sum : tensor<128xf32>
}

// The loop may begin with -0, or give it.
//
// CHECK-LABEL: func @maybe_negative_zeros(
// CHECK:         scf.for
// CHECK:           linalg.generic
// CHECK-SAME:        tensor<128xf32>, tensor<128xf32>
// CHECK:         scf.for
// CHECK:           linalg.generic
// CHECK-SAME:        tensor<128xf32>, tensor<128xf32>
func.func @maybe_negative_zeros(%x: tensor<128xf32>, %a: tensor<4xf32>, %scale: tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %begun = scf.for %i = %c0 to %c32 step %c1 iter_args(%carried = %x) -> (tensor<128xf32>) {
    %one = tensor.insert_slice %a into %zeros[%i] [4] [1] : tensor<4xf32> into tensor<128xf32>
    %next = arith.addf %carried, %one : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  %scaled = scf.for %i = %c0 to %c32 step %c1 iter_args(%carried = %zeros) -> (tensor<128xf32>) {
    %product = arith.mulf %carried, %scale : tensor<128xf32>
    %one = tensor.insert_slice %a into %zeros[%i] [4] [1] : tensor<4xf32> into tensor<128xf32>
    %next = arith.addf %product, %one : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  return %begun, %scaled : tensor<128xf32>, tensor<128xf32>
}

// Integers have one zero. A zero of -0 changes no float.
//
// CHECK-LABEL: func @other_zeros(
// CHECK:         %[[SLICE:.*]] = tensor.extract_slice %arg0[%arg4] [4] [1]
// CHECK:         %[[SUM:.*]] = linalg.generic
// CHECK-SAME:      ins(%arg2, %[[SLICE]] : tensor<4xi32>, tensor<4xi32>)
// CHECK:         tensor.insert_slice %[[SUM]] into %arg0[%arg4] [4] [1]
// CHECK:         tensor.extract_slice %arg1[%arg4] [4] [1]
// CHECK:         linalg.generic
// CHECK-SAME:      tensor<4xf32>, tensor<4xf32>
// CHECK:         tensor.insert_slice %{{.*}} into %arg1[%arg4] [4] [1]
func.func @other_zeros(%x: tensor<128xi32>, %y: tensor<128xf32>, %a: tensor<4xi32>, %b: tensor<4xf32>, %i: index) -> (tensor<128xi32>, tensor<128xf32>) {
  %zeros = arith.constant dense<0> : tensor<128xi32>
  %one = tensor.insert_slice %a into %zeros[%i] [4] [1] : tensor<4xi32> into tensor<128xi32>
  %sum = arith.addi %one, %x : tensor<128xi32>
  %negative = arith.constant dense<-0.0> : tensor<128xf32>
  %other = tensor.insert_slice %b into %negative[%i] [4] [1] : tensor<4xf32> into tensor<128xf32>
  %float = arith.addf %y, %other : tensor<128xf32>
  return %sum, %float : tensor<128xi32>, tensor<128xf32>
}

// Sums of sums have 2^34 paths to the argument.
//
// CHECK-LABEL: func @many_paths(
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}} : tensor<4xf32> into tensor<128xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      tensor<128xf32>, tensor<128xf32>
func.func @many_paths(%x0: tensor<128xf32>, %a: tensor<4xf32>, %i: index) -> tensor<128xf32> {
  %x1 = arith.addf %x0, %x0 : tensor<128xf32>
  %x2 = arith.addf %x1, %x1 : tensor<128xf32>
  %x3 = arith.addf %x2, %x2 : tensor<128xf32>
  %x4 = arith.addf %x3, %x3 : tensor<128xf32>
  %x5 = arith.addf %x4, %x4 : tensor<128xf32>
  %x6 = arith.addf %x5, %x5 : tensor<128xf32>
  %x7 = arith.addf %x6, %x6 : tensor<128xf32>
  %x8 = arith.addf %x7, %x7 : tensor<128xf32>
  %x9 = arith.addf %x8, %x8 : tensor<128xf32>
  %x10 = arith.addf %x9, %x9 : tensor<128xf32>
  %x11 = arith.addf %x10, %x10 : tensor<128xf32>
  %x12 = arith.addf %x11, %x11 : tensor<128xf32>
  %x13 = arith.addf %x12, %x12 : tensor<128xf32>
  %x14 = arith.addf %x13, %x13 : tensor<128xf32>
  %x15 = arith.addf %x14, %x14 : tensor<128xf32>
  %x16 = arith.addf %x15, %x15 : tensor<128xf32>
  %x17 = arith.addf %x16, %x16 : tensor<128xf32>
  %x18 = arith.addf %x17, %x17 : tensor<128xf32>
  %x19 = arith.addf %x18, %x18 : tensor<128xf32>
  %x20 = arith.addf %x19, %x19 : tensor<128xf32>
  %x21 = arith.addf %x20, %x20 : tensor<128xf32>
  %x22 = arith.addf %x21, %x21 : tensor<128xf32>
  %x23 = arith.addf %x22, %x22 : tensor<128xf32>
  %x24 = arith.addf %x23, %x23 : tensor<128xf32>
  %x25 = arith.addf %x24, %x24 : tensor<128xf32>
  %x26 = arith.addf %x25, %x25 : tensor<128xf32>
  %x27 = arith.addf %x26, %x26 : tensor<128xf32>
  %x28 = arith.addf %x27, %x27 : tensor<128xf32>
  %x29 = arith.addf %x28, %x28 : tensor<128xf32>
  %x30 = arith.addf %x29, %x29 : tensor<128xf32>
  %x31 = arith.addf %x30, %x30 : tensor<128xf32>
  %x32 = arith.addf %x31, %x31 : tensor<128xf32>
  %x33 = arith.addf %x32, %x32 : tensor<128xf32>
  %x34 = arith.addf %x33, %x33 : tensor<128xf32>
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %one = tensor.insert_slice %a into %zeros[%i] [4] [1] : tensor<4xf32> into tensor<128xf32>
  %sum = arith.addf %x34, %one : tensor<128xf32>
  return %sum : tensor<128xf32>
}
