// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s --verify-roundtrip -o /dev/null
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// The discardable attributes of the dialect, wherever they may stand.

// CHECK: module attributes {comm.machine = "h200x8", comm.mpmd}
module attributes {comm.machine = "h200x8", comm.mpmd} {
  comm.group @tp [[0, 1]]
  // CHECK: comm.group @lanes all {comm.lanes = [{ctas = 8 : i64, name = "bulk", transport = "copy"}]}
  comm.group @lanes all {comm.lanes = [{name = "bulk", ctas = 8 : i64, transport = "copy"}]}

  // CHECK: func.func private @pure(tensor<4xf32>) attributes {comm.effects = "none"}
  func.func private @pure(tensor<4xf32>) attributes {comm.effects = "none"}
  // CHECK: func.func private @on_arguments(memref<4xf32>) attributes {comm.effects = "args"}
  func.func private @on_arguments(memref<4xf32>) attributes {comm.effects = "args"}

  // CHECK-LABEL: func.func @donated
  // CHECK-SAME: tensor<4xf32> {comm.donated}
  func.func @donated(%x: tensor<4xf32> {comm.donated}) {
    return
  }

  // CHECK-LABEL: func.func @on_comm_ops
  func.func @on_comm_ops(%x: tensor<4xf32>, %a: memref<4xf32>) {
    // CHECK-NEXT: comm.all_reduce sum %{{.*}} on @tp {comm.cost_ns = 100 : i64, comm.label = "ar0", comm.order = 3 : i64} : tensor<4xf32>
    %0 = comm.all_reduce sum %x on @tp
      {comm.label = "ar0", comm.cost_ns = 100 : i64, comm.order = 3 : i64} : tensor<4xf32>
    // CHECK-NEXT: comm.all_gather %{{.*}} on @tp dim 0 {comm.label = "ag"} : tensor<4xf32> -> tensor<8xf32>
    %1 = comm.all_gather %x on @tp dim 0 {comm.label = "ag"} : tensor<4xf32> -> tensor<8xf32>
    // CHECK-NEXT: comm.all_to_all %{{.*}} on @tp splits {{\[\[}}1, 3], [1, 3]] {comm.label = "a2a"} : tensor<4xf32> -> tensor<?xf32>
    %2 = comm.all_to_all %x on @tp splits [[1, 3], [1, 3]] {comm.label = "a2a"}
      : tensor<4xf32> -> tensor<?xf32>
    // CHECK-NEXT: comm.permute %{{.*}} on @tp pairs {{\[\[}}0, 1]] {comm.label = "p"} : tensor<4xf32>
    %3 = comm.permute %x on @tp pairs [[0, 1]] {comm.label = "p"} : tensor<4xf32>
    // CHECK-NEXT: comm.send %{{.*}} on @tp to 1 {comm.label = "s", comm.order = 0 : i64} : tensor<4xf32>
    %4 = comm.send %x on @tp to 1 {comm.label = "s", comm.order = 0 : i64} : tensor<4xf32>
    // CHECK-NEXT: comm.recv into %{{.*}} on @tp from 1 {comm.label = "r"} : memref<4xf32>
    %5 = comm.recv into %a on @tp from 1 {comm.label = "r"} : memref<4xf32>
    // CHECK-NEXT: comm.barrier on @tp {comm.label = "b"}
    %6 = comm.barrier on @tp {comm.label = "b"}
    // CHECK-NEXT: comm.compute async "k"(%{{.*}}) {comm.order = 9 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %7 = comm.compute async "k"(%x) {comm.order = 9 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: comm.wait %{{.*}} {comm.label = "w"} : !comm.token<tensor<4xf32>>
    %8 = comm.wait %0 {comm.label = "w"} : !comm.token<tensor<4xf32>>
    // CHECK-NEXT: comm.wait %{{.*}} writes(%{{.*}} : memref<4xf32>) {comm.cost_ns = 0 : i64} : !comm.token
    comm.wait %5 writes(%a : memref<4xf32>) {comm.cost_ns = 0 : i64} : !comm.token
    // CHECK-NEXT: comm.all_reduce sum %{{.*}} on @tp {comm.ctas = 4 : i64, comm.lane = "latency", comm.transport = "symmetric"} : tensor<4xf32>
    %10 = comm.all_reduce sum %x on @tp {comm.lane = "latency", comm.ctas = 4 : i64, comm.transport = "symmetric"} : tensor<4xf32>
    // CHECK-NEXT: comm.all_reduce sum %{{.*}} on @tp {comm.chunks = 4 : i64} : tensor<4xf32>
    %11 = comm.all_reduce sum %x on @tp {comm.chunks = 4 : i64} : tensor<4xf32>
    // CHECK-NEXT: comm.rank on @tp {comm.label = "me"}
    %9 = comm.rank on @tp {comm.label = "me"}
    return
  }

  // CHECK-LABEL: func.func @on_products
  func.func @on_products(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>, %bias: tensor<2xf32>) {
    // CHECK-NEXT: linalg.matmul {comm.multiprocessors = 124 : i64}
    %0 = linalg.matmul {comm.multiprocessors = 124 : i64} ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>)
        outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
    // CHECK: linalg.generic {{.*}} attrs = {comm.multiprocessors = 2147483647 : i64}
    %1 = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n)>,
                         affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b, %bias : tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) outs(%c : tensor<4x2xf32>)
        attrs = {comm.multiprocessors = 2147483647 : i64} {
    ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x2xf32>
    return
  }

  // CHECK-LABEL: func.func @on_other_ops
  func.func @on_other_ops(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: math.exp %{{.*}} {comm.cost_ns = 12 : i64, comm.label = "exp"} : tensor<4xf32>
    %0 = math.exp %x {comm.cost_ns = 12 : i64, comm.label = "exp"} : tensor<4xf32>
    // CHECK-NEXT: scf.execute_region {
    scf.execute_region {
      scf.yield
    // CHECK: } {comm.label = "region"}
    } {comm.label = "region"}
    return %0 : tensor<4xf32>
  }
}
