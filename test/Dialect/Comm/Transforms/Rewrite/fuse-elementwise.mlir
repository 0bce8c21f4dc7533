// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise))' | FileCheck %s
// A second run fuses nothing.
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise,comm-fuse-elementwise))' | FileCheck %s

comm.group @g [[0, 1]]

// exp and abs need no collective and become one; add needs the wait and stays
// apart, or nothing would be left to hide the collective behind.

// CHECK-LABEL: func @keeps_what_hides_the_collective
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    comm.all_reduce
// CHECK-NEXT:    linalg.generic
// CHECK-SAME:      attrs = {comm.cost_ns = 107 : i64, comm.label = "exp+abs"}
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      math.absf
// CHECK:         comm.wait
// CHECK-NEXT:    linalg.generic
// CHECK-SAME:      attrs = {comm.cost_ns = 7 : i64, comm.label = "add"}
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.addf
func.func @keeps_what_hides_the_collective(%a: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %t = comm.all_reduce sum %a on @g : tensor<64xf32>
  %x = linalg.exp {comm.label = "exp", comm.cost_ns = 100 : i64} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = math.absf %x {comm.label = "abs", comm.cost_ns = 7 : i64} : tensor<64xf32>
  %r = comm.wait %t : !comm.token<tensor<64xf32>>
  %z = arith.addf %y, %r {comm.label = "add", comm.cost_ns = 7 : i64} : tensor<64xf32>
  return %z : tensor<64xf32>
}

// Both depend on the same collective, one of them through a collective that
// depends on it: not the same set.

// CHECK-LABEL: func @compares_transitive_dependences
// CHECK:         comm.wait
// CHECK-NEXT:    linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      math.absf
// CHECK:         comm.all_reduce
// CHECK-NEXT:    linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.cos
// CHECK:         comm.wait
// CHECK-NEXT:    linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.addf
func.func @compares_transitive_dependences(%a: tensor<64xf32>) -> tensor<64xf32> {
  %t = comm.all_reduce sum %a on @g : tensor<64xf32>
  %r = comm.wait %t : !comm.token<tensor<64xf32>>
  %x = math.exp %r : tensor<64xf32>
  %y = math.absf %x : tensor<64xf32>
  %u = comm.all_reduce sum %y on @g : tensor<64xf32>
  %c = math.cos %y : tensor<64xf32>
  %s = comm.wait %u : !comm.token<tensor<64xf32>>
  %z = arith.addf %c, %s : tensor<64xf32>
  return %z : tensor<64xf32>
}

// A value with two users is not computed twice.

// CHECK-LABEL: func @keeps_shared_producer
// CHECK-COUNT-3: linalg.generic
func.func @keeps_shared_producer(%a: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %x = math.exp %a : tensor<64xf32>
  %y = math.absf %x : tensor<64xf32>
  %z = math.cos %x : tensor<64xf32>
  return %y, %z : tensor<64xf32>, tensor<64xf32>
}

// A matrix product stays one that the library knows.

// CHECK-LABEL: func @keeps_matmul
// CHECK:         linalg.generic
// CHECK:         linalg.matmul
func.func @keeps_matmul(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = math.exp %a : tensor<8x8xf32>
  %d = linalg.matmul ins(%x, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// The cost of an op without one is not known: the sum is dropped.

// CHECK-LABEL: func @drops_unknown_cost
// CHECK:         linalg.generic
// CHECK-SAME:      attrs = {comm.label = "exp"}
func.func @drops_unknown_cost(%a: tensor<64xf32>) -> tensor<64xf32> {
  %x = math.exp %a {comm.label = "exp", comm.cost_ns = 5 : i64} : tensor<64xf32>
  %y = math.absf %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
