// RUN: braid-opt %s --comm-split-all-reduce="all machine=h200x8 ranks=2" | FileCheck %s
// RUN: braid-opt %s --comm-split-all-reduce="all machine=h200x8" | FileCheck %s --check-prefix=WORLD
// RUN: braid-opt %s --comm-split-all-reduce="machine=h200x8 ranks=2 min-gain=50%" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %s --comm-split-all-reduce="machine=a100x8 ranks=2" | FileCheck %s --check-prefix=WHOLE
// RUN: not braid-opt %s --comm-split-all-reduce="all machine=a100x8 ranks=2" 2>&1 | FileCheck %s --check-prefix=ENGINES
// RUN: not braid-opt %s --comm-split-all-reduce="min-gain=101" 2>&1 | FileCheck %s --check-prefix=GAIN

// ENGINES: error: 'comm.all_reduce' op cannot gather by copy engines: machine 'a100x8' has none for collectives, expected 'all=false' or a machine with 'copy_engine_bandwidth_bytes_per_second'
// GAIN: error: invalid value {{.*}} of option 'min-gain', expected auto, a fraction below 0.1, such as 0.01, or a percentage, such as 1%
// WHOLE-NOT: comm.reduce_scatter

comm.group @world all
comm.group @pair [[0, 1]]
comm.group @uneven [[0, 1], [2]]

// CHECK-LABEL: func.func @parts
// CHECK-SAME:      (%[[X:.*]]: tensor<4096x4096xbf16>)
// CHECK-NEXT:    %[[S:.*]] = comm.reduce_scatter sum %[[X]] on @pair dim 0 {comm.label = "g.scatter"} : tensor<4096x4096xbf16> -> tensor<2048x4096xbf16>
// CHECK-NEXT:    %[[P:.*]] = comm.wait %[[S]] : !comm.token<tensor<2048x4096xbf16>>
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[P]] on @pair dim 0 {comm.label = "g.gather", comm.transport = "copy"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
// CHECK-NEXT:    %[[R:.*]] = comm.wait %[[T]] : !comm.token<tensor<4096x4096xbf16>>
// CHECK-NEXT:    return %[[R]]
func.func @parts(%x: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %t = comm.all_reduce sum %x on @pair {comm.label = "g"} : tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r : tensor<4096x4096xbf16>
}

// Nothing in the text says how many ranks there are.
// CHECK-LABEL: func.func @all_ranks
// CHECK:         comm.reduce_scatter max
// WORLD-LABEL: func.func @all_ranks
// WORLD:         comm.all_reduce max %{{.*}} on @world : tensor<4096x4096xbf16>
func.func @all_ranks(%x: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %t = comm.all_reduce max %x on @world : tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r : tensor<4096x4096xbf16>
}

// CHECK-LABEL: func.func @lists_of_other_lengths_stay
// CHECK:         comm.all_reduce sum %{{.*}} on @uneven
func.func @lists_of_other_lengths_stay(%x: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %t = comm.all_reduce sum %x on @uneven : tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r : tensor<4096x4096xbf16>
}

// CHECK-LABEL: func.func @odd_rows_stay
// CHECK:         comm.all_reduce sum %{{.*}} on @pair : tensor<4095x4096xbf16>
func.func @odd_rows_stay(%x: tensor<4095x4096xbf16>) -> tensor<4095x4096xbf16> {
  %t = comm.all_reduce sum %x on @pair : tensor<4095x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4095x4096xbf16>>
  return %r : tensor<4095x4096xbf16>
}

// CHECK-LABEL: func.func @transport_by_hand_stays
// CHECK:         comm.all_reduce sum %{{.*}} on @pair {comm.transport = "symmetric"} : tensor<4096x4096xbf16>
func.func @transport_by_hand_stays(%x: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %t = comm.all_reduce sum %x on @pair {comm.transport = "symmetric"} : tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r : tensor<4096x4096xbf16>
}

// CHECK-LABEL: func.func @reached_differently_stays
// CHECK:         comm.all_reduce sum %{{.*}} on @pair : tensor<4096x4096xbf16>
func.func @reached_differently_stays(%cond: i1, %x: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %r = scf.if %cond -> tensor<4096x4096xbf16> {
    %t = comm.all_reduce sum %x on @pair : tensor<4096x4096xbf16>
    %s = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    scf.yield %s : tensor<4096x4096xbf16>
  } else {
    scf.yield %x : tensor<4096x4096xbf16>
  }
  return %r : tensor<4096x4096xbf16>
}
