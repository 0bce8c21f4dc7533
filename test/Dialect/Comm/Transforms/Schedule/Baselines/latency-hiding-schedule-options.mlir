// RUN: not braid-opt %s --comm-latency-hiding-schedule="memory-limit=lots" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: braid-opt %s --comm-latency-hiding-schedule="machine=ideal" --remarks-filter=comm-latency-hiding-schedule -verify-diagnostics -o /dev/null
// RUN: braid-opt %s --comm-latency-hiding-schedule="machine=ideal memory-limit=350B post-process=false" | FileCheck %s --check-prefix=WISH
// RUN: braid-opt %s --comm-latency-hiding-schedule="machine=ideal memory-limit=350B post-process=false reruns=9" | FileCheck %s --check-prefix=RERUN

// SIZE: error: invalid size 'lots' in option 'memory-limit', expected a number of at least 0, with unit B, KB, MB, GB, TB, KiB, MiB, GiB, TiB or none, such as 80GiB

comm.group @world all

// The wish for at most 350 bytes is not looked at before 175 live; scheduled
// again with smaller limits, the compute of 256 bytes goes before the
// collective.

// WISH-LABEL: func.func @memory
// RERUN-LABEL: func.func @memory
func.func @memory(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // WISH-NEXT: comm.all_reduce
  // WISH-NEXT: comm.compute "f"
  // WISH-NEXT: comm.compute "g"
  // WISH-NEXT: comm.wait
  // RERUN-NEXT: comm.compute "f"
  // RERUN-NEXT: comm.compute "g"
  // RERUN-NEXT: comm.all_reduce
  // RERUN-NEXT: comm.wait
  // expected-remark@below {{[Passed] placed-op | Category:comm-latency-hiding-schedule | Function=memory | Rule="only choice"}}
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64} : tensor<8xf32>
  // expected-remark@below {{[Passed] placed-op | Category:comm-latency-hiding-schedule | Function=memory | Rule=ScheduleDone}}
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  // expected-remark@below {{[Passed] placed-op | Category:comm-latency-hiding-schedule | Function=memory | Rule=LessStall}}
  %f = comm.compute "f"(%a) {comm.cost_ns = 10 : i64} : (tensor<8xf32>) -> tensor<64xf32>
  // expected-remark@below {{[Passed] placed-op | Category:comm-latency-hiding-schedule | Function=memory | Rule=LessStall}}
  %g = comm.compute "g"(%f) {comm.cost_ns = 10 : i64} : (tensor<64xf32>) -> tensor<8xf32>
  return %r, %g : tensor<8xf32>, tensor<8xf32>
}
