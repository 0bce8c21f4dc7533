// braid-overlap is comm-schedule, which emits no remark unless the user asks for remarks.
// RUN: braid-opt %s --comm-schedule="machine=ideal" > %t.pass
// RUN: braid-opt %s --braid-overlap="machine=ideal" > %t.pipeline 2> %t.messages
// RUN: cmp %t.pass %t.pipeline
// RUN: test ! -s %t.messages
// RUN: FileCheck %s --input-file=%t.pipeline
// RUN: braid-opt %s --braid-overlap="machine=ideal" --remarks-filter=comm-schedule 2>&1 | FileCheck %s --check-prefix=REMARK

// Options reach it.
// RUN: braid-opt %s --braid-overlap="machine=ideal keep-order" | FileCheck %s --check-prefix=KEEP
// RUN: braid-opt %s --braid-overlap="machine=ideal lanes=shared max-in-flight=1" | FileCheck %s --check-prefix=ONE
// RUN: not braid-opt %s --braid-overlap="machine=ideal max-memory=1KB" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not braid-opt %s --braid-overlap=machine=abacus 2>&1 | FileCheck %s --check-prefix=HARDWARE
// RUN: not braid-opt %s --braid-overlap=profile=%t.none 2>&1 | FileCheck %s --check-prefix=PROFILE
// RUN: not braid-opt %s --braid-overlap=lanes=many 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not braid-opt %s --braid-overlap=collective-model=abacus 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not braid-opt %s --braid-overlap="collective-model=link link-latency=long" 2>&1 | FileCheck %s --check-prefix=LATENCY
// RUN: not braid-opt %s --braid-overlap="collective-model=link link-bandwidth=wide" 2>&1 | FileCheck %s --check-prefix=BANDWIDTH
// RUN: not braid-opt %s --braid-overlap=ranks=-1 2>&1 | FileCheck %s --check-prefix=WORLD
// RUN: not braid-opt %s --braid-overlap=ranks-per-node=-1 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: not braid-opt %s --braid-overlap=dynamic-size=-1 2>&1 | FileCheck %s --check-prefix=DYNAMIC

comm.group @world all

// The first all-reduce depends on f, so the second one goes first.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: comm.all_reduce {{.*}}"second"
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.all_reduce {{.*}}"first"
// REMARK: remark: [Passed] scheduled-function | {{.*}}Function=main | {{.*}}LowerBoundNs=25, MakespanBeforeNs=40, MakespanNs=25, {{.*}}Optimal=true
// KEEP-LABEL: func.func @main
// KEEP-NEXT: comm.compute "f"
// KEEP-NEXT: comm.all_reduce {{.*}}"first"
// KEEP-NEXT: comm.all_reduce {{.*}}"second"
// KEEP-NEXT: comm.wait
// KEEP-NEXT: comm.compute "h"
// KEEP-NEXT: comm.wait
// KEEP-NEXT: comm.compute "g"
// ONE-LABEL: func.func @main
// ONE: comm.all_reduce
// ONE: comm.wait
// ONE: comm.all_reduce
// ONE: comm.wait
// MEMORY: error: no order of this block keeps max-memory = 1000 bytes
// HARDWARE: error: {{.*}}abacus
// PROFILE: error: {{.*}}.none
// LANES: for the --lanes option: Cannot find option named 'many'!
// MODEL: for the --collective-model option: Cannot find option named 'abacus'!
// LATENCY: error: {{.*}}long
// BANDWIDTH: error: {{.*}}wide
// WORLD: error: {{.*}}-1
// NODE: error: {{.*}}-1 in option 'ranks-per-node'
// DYNAMIC: error: {{.*}}-1
func.func @main(%a: tensor<100xf32>, %b: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  %f = comm.compute "f"(%a) {comm.cost_ns = 5 : i64} : (tensor<100xf32>) -> tensor<100xf32>
  %t = comm.all_reduce sum %f on @world {comm.cost_ns = 10 : i64, comm.label = "first"} : tensor<100xf32>
  %u = comm.all_reduce sum %b on @world {comm.cost_ns = 10 : i64, comm.label = "second"} : tensor<100xf32>
  %s = comm.wait %u : !comm.token<tensor<100xf32>>
  %g = comm.compute "g"(%s) {comm.cost_ns = 10 : i64} : (tensor<100xf32>) -> tensor<100xf32>
  %r = comm.wait %t : !comm.token<tensor<100xf32>>
  %h = comm.compute "h"(%r) {comm.cost_ns = 5 : i64} : (tensor<100xf32>) -> tensor<100xf32>
  return %g, %h : tensor<100xf32>, tensor<100xf32>
}
