// RUN: braid-opt %s --comm-order-collectives | FileCheck %s
// RUN: braid-opt %s --comm-order-collectives --comm-order-collectives | FileCheck %s
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(comm-order-collectives))" | FileCheck %s
// RUN: braid-opt %s --comm-order-collectives --comm-raise-collectives=with-producers | FileCheck %s --check-prefixes=CHECK,LATER

comm.group @world all
comm.group @tp [[0, 1], [2, 3]]

// Numbers run through all groups and all kinds, and old numbers are replaced.
// CHECK-LABEL: func.func @all_groups
// CHECK: comm.all_reduce {{.*}} {comm.order = 0 : i64}
// CHECK: comm.send {{.*}} {comm.order = 1 : i64}
// CHECK: comm.all_gather {{.*}} {comm.order = 2 : i64}
// CHECK: comm.barrier {{.*}} {comm.order = 3 : i64}
func.func @all_groups(%a: tensor<4xf32>) -> tensor<8xf32> {
  %t = comm.all_reduce sum %a on @world {comm.order = 7 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.send %a on @tp to 1 : tensor<4xf32>
  comm.wait %s : !comm.token
  %u = comm.all_gather %r on @tp dim 0 : tensor<4xf32> -> tensor<8xf32>
  %v = comm.wait %u : !comm.token<tensor<8xf32>>
  %b = comm.barrier on @world
  comm.wait %b : !comm.token
  return %v : tensor<8xf32>
}

// CHECK-LABEL: func.func @nested
// CHECK: comm.all_reduce max {{.*}} {comm.order = 0 : i64}
// CHECK: scf.if
// CHECK: comm.all_reduce sum {{.*}} {comm.order = 1 : i64}
// CHECK: else
// CHECK: comm.all_reduce sum {{.*}} {comm.order = 2 : i64}
// CHECK: comm.all_reduce min {{.*}} {comm.order = 3 : i64}
func.func @nested(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %t = comm.all_reduce max %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = scf.if %c -> tensor<4xf32> {
    %u = comm.all_reduce sum %r on @world : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    scf.yield %s : tensor<4xf32>
  } else {
    %u = comm.all_reduce sum %r on @tp : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    scf.yield %s : tensor<4xf32>
  }
  %v = comm.all_reduce min %x on @world : tensor<4xf32>
  %q = comm.wait %v : !comm.token<tensor<4xf32>>
  return %q : tensor<4xf32>
}

// CHECK-LABEL: func.func @later_passes_keep_the_numbers
// LATER-NEXT: "y"
// CHECK: comm.all_reduce {{.*}} {comm.order = 0 : i64}
// CHECK: comm.all_reduce {{.*}} {comm.order = 1 : i64}
// LATER-NEXT: "x"
func.func @later_passes_keep_the_numbers(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %y on @world : tensor<4xf32>
  %u = comm.all_reduce sum %a on @tp : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
