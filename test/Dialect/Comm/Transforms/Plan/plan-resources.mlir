// RUN: braid-opt %s --comm-plan-resources="machine=h200x8 ranks=2" | FileCheck %s
// RUN: braid-opt %s --comm-plan-resources="machine=h200x8 ranks=2" \
// RUN:   | braid-opt --comm-plan-resources="machine=h200x8 ranks=2" | FileCheck %s
// RUN: braid-opt %s --pass-pipeline="builtin.module(braid-overlap{effort=low machine=h200x8 ranks=2})" \
// RUN:   | FileCheck %s --check-prefix=PLANNED
// RUN: braid-opt %s --pass-pipeline="builtin.module(braid-overlap{plan-resources=false machine=h200x8 ranks=2})" \
// RUN:   | FileCheck %s --check-prefix=UNPLANNED
// RUN: braid-opt %s --comm-plan-resources="machine=b200x8 ranks=2" | FileCheck %s --check-prefix=UNKNOWN
// RUN: braid-opt %s --comm-plan-resources="machine=h200x8 ranks=2 profile=none" | FileCheck %s --check-prefix=UNKNOWN
// RUN: braid-opt %s --pass-pipeline="builtin.module(braid-overlap{plan=1 combine=false effort=low machine=h200x8 ranks=2})" \
// RUN:   | FileCheck %s --check-prefix=OTHER

// Another plan is another pair of ways.
// OTHER-LABEL: func.func @chain(
// OTHER: comm.all_reduce sum %{{.*}} on @world {comm.ctas = 8 : i64, comm.reordered_sums = {planned = "8 CTAs"}}
// OTHER: linalg.matmul {comm.label = "a", comm.multiprocessors = 120 : i64, comm.reordered_sums

// braid-overlap plans unless told not to.
// PLANNED-LABEL: func.func @chain(
// PLANNED: comm.all_reduce {{.*}}comm.transport = "symmetric"
// PLANNED: linalg.matmul {comm.label = "a", comm.multiprocessors = 12{{[048]}} : i64, comm.reordered_sums
// UNPLANNED-LABEL: func.func @chain(
// UNPLANNED-NOT: comm.multiprocessors
// UNPLANNED: return

// Nothing is planned where nothing was measured.
// UNKNOWN-NOT: comm.transport = "symmetric"
// UNKNOWN: comm.transport = "default"
// UNKNOWN-NOT: comm.multiprocessors

module {
  comm.group @world all

  // The second all-reduce comes beside a matmul. Matmuls that leave room, and
  // kernels that fit into it, hide it.
  // CHECK-LABEL: func @chain(
  // CHECK: comm.all_reduce {{.*}}comm.ctas = [[CTAS:[48]]] : i64{{.*}}comm.transport = "symmetric"
  // CHECK: comm.all_reduce {{.*}}comm.ctas = [[CTAS]] : i64{{.*}}comm.transport = "symmetric"
  // CHECK: linalg.matmul {comm.label = "a", comm.multiprocessors = 12{{[048]}} : i64, comm.reordered_sums
  func.func @chain(%x: tensor<4096x4096xbf16>, %y: tensor<4096x8192xbf16>, %w: tensor<8192x8192xbf16>)
      -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x8192xbf16>) {
    %t = comm.all_reduce sum %x on @world : tensor<4096x4096xbf16>
    %u = comm.all_reduce sum %x on @world : tensor<4096x4096xbf16>
    %e = tensor.empty() : tensor<4096x8192xbf16>
    %m = linalg.matmul {comm.label = "a"} ins(%y, %w : tensor<4096x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    %s = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
    return %r, %s, %m : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x8192xbf16>
  }

  // What is set by hand is kept.
  // CHECK-LABEL: func @by_hand(
  // CHECK: comm.all_reduce sum %{{.*}} on @world {comm.transport = "default"} : tensor<4096x4096xbf16>
  // CHECK: comm.all_reduce sum %{{.*}} on @world {comm.lane = "mine"} : tensor<4096x4096xbf16>
  func.func @by_hand(%x: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
    %t = comm.all_reduce sum %x on @world {comm.transport = "default"} : tensor<4096x4096xbf16>
    %u = comm.all_reduce sum %x on @world {comm.lane = "mine"} : tensor<4096x4096xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    %s = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
    return %r, %s : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
  }

  // Nothing is gained with nothing beside it.
  // CHECK-LABEL: func @alone(
  // CHECK-NOT: comm.multiprocessors
  func.func @alone(%y: tensor<4096x8192xbf16>, %w: tensor<8192x8192xbf16>) -> tensor<4096x8192xbf16> {
    %e = tensor.empty() : tensor<4096x8192xbf16>
    %m = linalg.matmul ins(%y, %w : tensor<4096x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
    return %m : tensor<4096x8192xbf16>
  }

  // NCCL has no symmetric kernels for maxima.
  // CHECK-LABEL: func @maximum(
  // CHECK-NOT: symmetric
  func.func @maximum(%x: tensor<4096x4096xbf16>, %y: tensor<4096x8192xbf16>, %w: tensor<8192x8192xbf16>)
      -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x8192xbf16>) {
    %t = comm.all_reduce max %x on @world : tensor<4096x4096xbf16>
    %u = comm.all_reduce max %x on @world : tensor<4096x4096xbf16>
    %e = tensor.empty() : tensor<4096x8192xbf16>
    %m = linalg.matmul ins(%y, %w : tensor<4096x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    %s = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
    return %r, %s, %m : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x8192xbf16>
  }

  // Far below what was measured nothing is known of symmetric kernels.
  // CHECK-LABEL: func @small(
  // CHECK-NOT: symmetric
  func.func @small(%x: tensor<64x64xbf16>, %y: tensor<4096x8192xbf16>, %w: tensor<8192x8192xbf16>)
      -> (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<4096x8192xbf16>) {
    %t = comm.all_reduce sum %x on @world : tensor<64x64xbf16>
    %u = comm.all_reduce sum %x on @world : tensor<64x64xbf16>
    %e = tensor.empty() : tensor<4096x8192xbf16>
    %m = linalg.matmul ins(%y, %w : tensor<4096x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
    %r = comm.wait %t : !comm.token<tensor<64x64xbf16>>
    %s = comm.wait %u : !comm.token<tensor<64x64xbf16>>
    return %r, %s, %m : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<4096x8192xbf16>
  }
}
