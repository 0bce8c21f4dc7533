// RUN: braid-opt %s --comm-report="format=json output=%t.json machine=ideal passes=comm-sink-waits" -o /dev/null
// RUN: FileCheck %s < %t.json
// RUN: %python -m json.tool %t.json > /dev/null
// RUN: braid-opt %s --comm-report="format=json machine=ideal" -o /dev/null 2> %t.plain.json
// RUN: %python -m json.tool %t.plain.json > /dev/null
// RUN: FileCheck %s --check-prefix=PLAIN < %t.plain.json

comm.group @world all

// CHECK:      {
// CHECK-NEXT:   "machine": "ideal",
// CHECK-NEXT:   "collective_model": "link",
// CHECK-NEXT:   "ranks": 8,
// CHECK-NEXT:   "dynamic_size": 64,
// CHECK-NEXT:   "memory_limit_bytes": 85899345920,
// CHECK-NEXT:   "max_memory_bytes": null,
// CHECK-NEXT:   "passes": "comm-sink-waits",
// CHECK-NEXT:   "numerics": {
// CHECK-NEXT:     "class": "same bits",
// CHECK-NEXT:     "reordered_sums": []
// CHECK-NEXT:   },
// CHECK-NEXT:   "functions": [
// CHECK-NEXT:     {
// CHECK-NEXT:       "name": "step",
// CHECK-NEXT:       "makespan_ns": 100,
// CHECK-NEXT:       "compute_ns": 30,
// CHECK-NEXT:       "communication_ns": 100,
// CHECK-NEXT:       "exposed_ns": 70,
// CHECK-NEXT:       "lower_bound_ns": 100,
// CHECK-NEXT:       "peak_bytes": 48,
// CHECK-NEXT:       "gap": 0.000000,
// CHECK-NEXT:       "hidden_fraction": 0.300000,
// CHECK-NEXT:       "lower_bound_kind": "critical path",
// CHECK-NEXT:       "memory_excess_bytes": 0,
// CHECK-NEXT:       "nodes": [
// CHECK-NEXT:         {
// CHECK-NEXT:           "label": "ar \"0\"",
// CHECK-NEXT:           "kind": "all_reduce",
// CHECK-NEXT:           "lane": "world",
// CHECK-NEXT:           "start_ns": 0,
// CHECK-NEXT:           "end_ns": 100,
// CHECK-NEXT:           "cost_source": "attribute",
// CHECK-NEXT:           "op": "comm.all_reduce",
// CHECK-NEXT:           "type": "tensor<4xf32>",
// CHECK-NEXT:           "bytes": 16,
// CHECK-NEXT:           "cost_ns": 100,
// CHECK-NEXT:           "signature": "comm.all_reduce sum f32, 8 ranks, 16 bytes",
// CHECK-NEXT:           "issued_ns": 0,
// CHECK-NEXT:           "hidden": false,
// CHECK-NEXT:           "lost_ns": 0,
// CHECK-NEXT:           "exposed_ns": 70
// CHECK-NEXT:         },
// CHECK-NEXT:         {
// CHECK-NEXT:           "label": "k",
// CHECK-NEXT:           "kind": "compute",
// CHECK-NEXT:           "lane": "compute",
// CHECK-NEXT:           "start_ns": 0,
// CHECK-NEXT:           "end_ns": 30,
// CHECK-NEXT:           "cost_source": "attribute",
// CHECK-NEXT:           "op": "comm.compute",
// CHECK-NEXT:           "type": "tensor<4xf32>",
// CHECK-NEXT:           "bytes": 16,
// CHECK-NEXT:           "cost_ns": 30,
// CHECK-NEXT:           "signature": "comm.compute \"k\"(4xf32) -> (4xf32)",
// CHECK-NEXT:           "issued_ns": 0,
// CHECK-NEXT:           "hidden": true,
// CHECK-NEXT:           "lost_ns": 0
// CHECK-NEXT:         },
// CHECK-NEXT:         {
// CHECK-NEXT:           "label": "ar \"0\"",
// CHECK-NEXT:           "kind": "wait",
// CHECK-NEXT:           "lane": "compute",
// CHECK-NEXT:           "start_ns": 30,
// CHECK-NEXT:           "end_ns": 100,
// CHECK-NEXT:           "cost_source": "wait",
// CHECK-NEXT:           "op": "comm.wait",
// CHECK-NEXT:           "type": "tensor<4xf32>",
// CHECK-NEXT:           "bytes": 16,
// CHECK-NEXT:           "cost_ns": 0,
// CHECK-NEXT:           "issued_ns": 30,
// CHECK-NEXT:           "hidden": false,
// CHECK-NEXT:           "lost_ns": 0
// CHECK-NEXT:         }
// CHECK-NEXT:       ],
// CHECK-NEXT:       "collectives": [
// CHECK-NEXT:         {
// CHECK-NEXT:           "label": "ar \"0\"",
// CHECK-NEXT:           "kind": "all_reduce",
// CHECK-NEXT:           "group": "world",
// CHECK-NEXT:           "group_size": 8,
// CHECK-NEXT:           "bytes": 16,
// CHECK-NEXT:           "runs": 1,
// CHECK-NEXT:           "cost_ns": 100,
// CHECK-NEXT:           "cost_source": "attribute",
// CHECK-NEXT:           "exposed_ns": 70,
// CHECK-NEXT:           "exposed_before_ns": 100,
// CHECK-NEXT:           "reason": "no independent compute is left"
// CHECK-NEXT:         }
// CHECK-NEXT:       ],
// CHECK-NEXT:       "memory": [
// CHECK-NEXT:         {
// CHECK-NEXT:           "ns": 0,
// CHECK-NEXT:           "bytes": 16
// CHECK-NEXT:         },
// CHECK-NEXT:         {
// CHECK-NEXT:           "ns": 0,
// CHECK-NEXT:           "bytes": 48
// CHECK-NEXT:         }
// CHECK-NEXT:       ]
// CHECK-NEXT:     }
// CHECK:        "before": [
// CHECK-NEXT:     {
// CHECK-NEXT:       "name": "step",
// CHECK-NEXT:       "makespan_ns": 130,
// CHECK-NEXT:       "compute_ns": 30,
// CHECK-NEXT:       "communication_ns": 100,
// CHECK-NEXT:       "exposed_ns": 100,
// CHECK-NEXT:       "lower_bound_ns": 100,
// CHECK-NEXT:       "peak_bytes": 48,
// CHECK-NEXT:       "gap": 0.300000,
// CHECK-NEXT:       "hidden_fraction": 0.000000,

// PLAIN: "functions": [
// PLAIN: "makespan_ns": 130,
// PLAIN-NOT: exposed_before_ns
// PLAIN-NOT: "before"
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar \"0\""} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %k = comm.compute "k"(%x) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %k : tensor<4xf32>, tensor<4xf32>
}

// Bodies have timelines of their own.
// PLAIN: "name": "loop",
// PLAIN: "op": "scf.for",
// PLAIN: "bodies": [
// PLAIN-NEXT: {
// PLAIN-NEXT: "region": 0,
// PLAIN-NEXT: "trip_count": 4,
// PLAIN-NEXT: "makespan_ns": 7,
// PLAIN: "nodes": [
// PLAIN: "label": "body",
func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = comm.compute "body"(%a) {comm.cost_ns = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
