// The hash depends on the program's text, and not on where it stands.
//
// RUN: braid-opt %s --split-input-file --braid-hash-schedule | FileCheck %s

// CHECK: module attributes {braid_rt.numerics = [], braid_rt.schedule = "[[$HASH:[0-9a-f]{16}]]"}
comm.group @world all
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// -----

// Other names of values and another position make no difference.
// CHECK: module attributes {braid_rt.numerics = [], braid_rt.schedule = "[[$HASH]]"}


comm.group @world all
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %token = comm.all_reduce sum %x on @world : tensor<4xf32> loc("elsewhere.mlir":3:4)
  %result = comm.wait %token : !comm.token<tensor<4xf32>>
  return %result : tensor<4xf32>
}

// -----

// Another reduction does.
// CHECK-NOT: braid_rt.schedule = "[[$HASH]]"
// CHECK:     module attributes {braid_rt.numerics = [], braid_rt.schedule = "{{[0-9a-f]+}}"}
comm.group @world all
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce max %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// -----

// Ranks that run different texts have nothing to compare.
// CHECK:     module attributes {braid_rt.numerics = [], comm.mpmd} {
module attributes {comm.mpmd} {
}
