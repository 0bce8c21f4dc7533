// What may share a launch, and what may not.
// RUN: braid-opt %s --comm-combine="bytes=1MiB" | FileCheck %s
// RUN: braid-opt %s --comm-combine="bytes=1MiB" --comm-combine="bytes=1MiB" | FileCheck %s
// RUN: braid-opt %s --comm-combine="bytes=1MiB kinds=reduce_scatter,permute" | FileCheck %s --check-prefix=KINDS
// RUN: braid-opt %s --comm-combine="bytes=1MiB" --remarks-filter=comm-combine -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not braid-opt %s --comm-combine="kinds=send" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not braid-opt %s --comm-combine="bytes=many" 2>&1 | FileCheck %s --check-prefix=BYTES

// KIND: error: invalid kind 'send' in option 'kinds', expected one of all_reduce, reduce, broadcast, all_gather, reduce_scatter, all_to_all, gather, scatter, permute
// BYTES: error: invalid size 'many' in option 'bytes', expected a number of at least 0, with unit B, KB, MB, GB, TB, KiB, MiB, GiB, TiB or none, such as 25MiB

comm.group @world [[0, 1, 2, 3]]
comm.group @pair [[0, 1], [2, 3]]

// Gathers of any types; waits and their users follow the last start.
// REMARK: remark: [Passed] combined-starts | Category:comm-combine | Function=gathers | Count=3
// REMARK: remark: [Passed] launches | Category:comm-combine | Function=gathers | Count=1
// CHECK-LABEL: func.func @gathers
// CHECK-SAME:      (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<2x3xbf16>, %[[C:.*]]: tensor<?xi1>)
// CHECK-NEXT:    %[[T:.*]]:3 = comm.all_gather %[[A]], %[[B]], %[[C]] on @world dim 0 {comm.label = "a+2"} : tensor<4xf32>, tensor<2x3xbf16>, tensor<?xi1> -> tensor<16xf32>, tensor<8x3xbf16>, tensor<?xi1>
// CHECK-NEXT:    %[[X:.*]] = comm.wait %[[T]]#0 : !comm.token<tensor<16xf32>>
// CHECK-NEXT:    %[[Z:.*]] = arith.negf %[[X]]
// CHECK-NEXT:    comm.wait %[[T]]#1 : !comm.token<tensor<8x3xbf16>>
// CHECK-NEXT:    comm.wait %[[T]]#2 : !comm.token<tensor<?xi1>>
// KINDS-LABEL: func.func @gathers
// KINDS-COUNT-3: comm.all_gather
func.func @gathers(%a: tensor<4xf32>, %b: tensor<2x3xbf16>, %c: tensor<?xi1>)
    -> (tensor<16xf32>, tensor<8x3xbf16>, tensor<?xi1>) {
  %t = comm.all_gather %a on @world dim 0 {comm.label = "a"} : tensor<4xf32> -> tensor<16xf32>
  %x = comm.wait %t : !comm.token<tensor<16xf32>>
  %z = arith.negf %x : tensor<16xf32>
  %u = comm.all_gather %b on @world dim 0 {comm.label = "b"} : tensor<2x3xbf16> -> tensor<8x3xbf16>
  %y = comm.wait %u : !comm.token<tensor<8x3xbf16>>
  %v = comm.all_gather %c on @world dim 0 : tensor<?xi1> -> tensor<?xi1>
  %w = comm.wait %v : !comm.token<tensor<?xi1>>
  return %z, %y, %w : tensor<16xf32>, tensor<8x3xbf16>, tensor<?xi1>
}

// A tensor without values may share its buffer with a result.
// CHECK-LABEL: func.func @without_values
// CHECK-COUNT-2: comm.all_reduce sum %{{.*}} on @world : tensor<4xf32>
// CHECK:         return
func.func @without_values() -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %t = comm.all_reduce sum %e on @world : tensor<4xf32>
  %u = comm.all_reduce sum %e on @world : tensor<4xf32>
  %x = comm.wait %t : !comm.token<tensor<4xf32>>
  %y = comm.wait %u : !comm.token<tensor<4xf32>>
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}

// Reductions of one kind and type; the library may add in another order. A
// launch of two takes more.
// CHECK-LABEL: func.func @reductions
// CHECK-DAG:     comm.all_reduce sum %{{.*}}, %{{.*}}, %{{.*}} on @world {comm.reordered_sums = {divided = "in a launch of 3"}} : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>
// CHECK-DAG:     comm.all_reduce max %{{.*}} on @world : tensor<4xf32>
// CHECK-DAG:     comm.all_reduce sum %{{.*}} on @world : tensor<4xbf16>
// CHECK-DAG:     comm.all_reduce sum %{{.*}} on @pair : tensor<4xf32>
// CHECK:         return
func.func @reductions(%a: tensor<4xf32>, %b: tensor<8xf32>, %c: tensor<4xbf16>)
    -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>) {
  %t:2 = comm.all_reduce sum %a, %b on @world : tensor<4xf32>, tensor<8xf32>
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  %v = comm.all_reduce max %a on @world : tensor<4xf32>
  %w = comm.all_reduce sum %c on @world : tensor<4xbf16>
  %p = comm.all_reduce sum %a on @pair : tensor<4xf32>
  %t0 = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  %t1 = comm.wait %t#1 : !comm.token<tensor<8xf32>>
  %u0 = comm.wait %u : !comm.token<tensor<4xf32>>
  %v0 = comm.wait %v : !comm.token<tensor<4xf32>>
  %w0 = comm.wait %w : !comm.token<tensor<4xbf16>>
  %p0 = comm.wait %p : !comm.token<tensor<4xf32>>
  return %t0, %t1, %u0, %v0, %w0, %p0
    : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>
}

// What all of an operation's text says has to agree; costs add up.
// CHECK-LABEL: func.func @arguments
// CHECK-DAG:     comm.reduce_scatter sum %{{.*}}, %{{.*}} on @world dim 0 {comm.cost_ns = 30 : i64,
// CHECK-DAG:     comm.reduce_scatter sum %{{.*}} on @world dim 1
// CHECK-DAG:     comm.broadcast %{{.*}} on @world root 0 :
// CHECK-DAG:     comm.broadcast %{{.*}} on @world root 1 :
// CHECK-DAG:     comm.permute %{{.*}}, %{{.*}} on @world pairs {{\[\[}}0, 1]] :
// CHECK-DAG:     comm.permute %{{.*}} on @world pairs {{\[\[}}1, 0]] :
// CHECK:         return
// KINDS-LABEL: func.func @arguments
// KINDS-DAG:     comm.reduce_scatter sum %{{.*}}, %{{.*}} on @world dim 0
// KINDS-DAG:     comm.permute %{{.*}}, %{{.*}} on @world pairs {{\[\[}}0, 1]]
func.func @arguments(%a: tensor<4x4xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %t = comm.reduce_scatter sum %a on @world dim 0 {comm.cost_ns = 10 : i64} : tensor<4x4xf32> -> tensor<1x4xf32>
  %u = comm.reduce_scatter sum %b on @world dim 0 {comm.cost_ns = 20 : i64} : tensor<8x4xf32> -> tensor<2x4xf32>
  %v = comm.reduce_scatter sum %a on @world dim 1 {comm.cost_ns = 20 : i64} : tensor<4x4xf32> -> tensor<4x1xf32>
  %b0 = comm.broadcast %a on @world root 0 : tensor<4x4xf32>
  %b1 = comm.broadcast %a on @world root 1 : tensor<4x4xf32>
  %p0 = comm.permute %a on @world pairs [[0, 1]] : tensor<4x4xf32>
  %p1 = comm.permute %b on @world pairs [[0, 1]] : tensor<8x4xf32>
  %p2 = comm.permute %b on @world pairs [[1, 0]] : tensor<8x4xf32>
  %t0 = comm.wait %t : !comm.token<tensor<1x4xf32>>
  %u0 = comm.wait %u : !comm.token<tensor<2x4xf32>>
  %v0 = comm.wait %v : !comm.token<tensor<4x1xf32>>
  %c0 = comm.wait %b0 : !comm.token<tensor<4x4xf32>>
  %c1 = comm.wait %b1 : !comm.token<tensor<4x4xf32>>
  %q0 = comm.wait %p0 : !comm.token<tensor<4x4xf32>>
  %q1 = comm.wait %p1 : !comm.token<tensor<8x4xf32>>
  %q2 = comm.wait %p2 : !comm.token<tensor<8x4xf32>>
  return %q0 : tensor<4x4xf32>
}

// What was set by hand stays, and so does a launch with an operand that all of
// it would share.
// CHECK-LABEL: func.func @by_hand
// CHECK-COUNT-2: comm.all_gather %{{[^,]*}} on @world dim 0 {comm.ctas = 4 : i64}
// CHECK-COUNT-2: comm.all_reduce premul_sum({{.*}}) %{{[^,]*}} on @world :
// CHECK-COUNT-2: comm.all_to_all %{{[^,]*}} on @pair splits
// CHECK:         return
func.func @by_hand(%a: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  %t = comm.all_gather %a on @world dim 0 {comm.ctas = 4 : i64} : tensor<4xf32> -> tensor<16xf32>
  %u = comm.all_gather %a on @world dim 0 {comm.ctas = 4 : i64} : tensor<4xf32> -> tensor<16xf32>
  %v = comm.all_reduce premul_sum(%f : f32) %a on @world : tensor<4xf32>
  %w = comm.all_reduce premul_sum(%f : f32) %a on @world : tensor<4xf32>
  %p = comm.all_to_all %a on @pair splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>
  %q = comm.all_to_all %a on @pair splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>
  %t0 = comm.wait %t : !comm.token<tensor<16xf32>>
  %u0 = comm.wait %u : !comm.token<tensor<16xf32>>
  %v0 = comm.wait %v : !comm.token<tensor<4xf32>>
  %w0 = comm.wait %w : !comm.token<tensor<4xf32>>
  %p0 = comm.wait %p : !comm.token<tensor<?xf32>>
  %q0 = comm.wait %q : !comm.token<tensor<?xf32>>
  return %w0 : tensor<4xf32>
}

// A start that needs what one of the launch gives goes to a later launch.
// CHECK-LABEL: func.func @dependent
// CHECK-SAME:      (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[T:.*]]:2 = comm.all_reduce sum %[[A]], %[[B]] on @world
// CHECK-NEXT:    %[[X:.*]] = comm.wait %[[T]]#0
// CHECK-NEXT:    %[[N:.*]] = arith.negf %[[X]]
// CHECK-NEXT:    %[[Y:.*]] = comm.wait %[[T]]#1
// CHECK-NEXT:    %[[M:.*]] = arith.negf %[[Y]]
// CHECK-NEXT:    %[[U:.*]]:2 = comm.all_reduce sum %[[N]], %[[M]] on @world
func.func @dependent(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %x = comm.wait %t : !comm.token<tensor<4xf32>>
  %n = arith.negf %x : tensor<4xf32>
  %u = comm.all_reduce sum %n on @world : tensor<4xf32>
  %v = comm.all_reduce sum %b on @world : tensor<4xf32>
  %y = comm.wait %v : !comm.token<tensor<4xf32>>
  %m = arith.negf %y : tensor<4xf32>
  %w = comm.all_reduce sum %m on @world : tensor<4xf32>
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  %s = comm.wait %w : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @chain_stays
// CHECK-COUNT-2: comm.all_reduce sum %{{[^,]*}} on @world : tensor<4xf32>
func.func @chain_stays(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %x = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce sum %x on @world : tensor<4xf32>
  %y = comm.wait %u : !comm.token<tensor<4xf32>>
  return %y : tensor<4xf32>
}

// A token that leaves its block stays.
// CHECK-LABEL: func.func @tokens_that_leave
// CHECK-COUNT-2: comm.all_reduce sum %{{[^,]*}} on @world : tensor<4xf32>
func.func @tokens_that_leave(%a: tensor<4xf32>) -> (tensor<4xf32>, !comm.token<tensor<4xf32>>) {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  %x = comm.wait %t : !comm.token<tensor<4xf32>>
  return %x, %u : tensor<4xf32>, !comm.token<tensor<4xf32>>
}
