// RUN: braid-opt %s --comm-report="format=trace machine=ideal output=%t.json passes=comm-sink-waits" -o /dev/null
// RUN: %python -m json.tool %t.json > /dev/null
// RUN: %python -c "import json, sys; [print(json.dumps(e)) for e in json.load(open(sys.argv[1]))['traceEvents']]" %t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=TOP < %t.json

// TOP:      {
// TOP-NEXT:  "schemaVersion": 1,
// TOP-NEXT:  "deviceProperties": [
// TOP-NEXT:   {
// TOP-NEXT:    "id": 0,
// TOP-NEXT:    "name": "ideal",
// TOP-NEXT:    "totalGlobalMem": 85899345920
// TOP-NEXT:   }
// TOP-NEXT:  ],
// TOP-NEXT:  "distributedInfo": {
// TOP-NEXT:   "backend": "nccl",
// TOP-NEXT:   "rank": 0,
// TOP-NEXT:   "world_size": 8
// TOP-NEXT:  },
// TOP-NEXT:  "displayTimeUnit": "ms",
// TOP-NEXT:  "baseTimeNanoseconds": 0,
// TOP:       "traceEvents": [

comm.group @world all
comm.group @pairs [[1, 2], [0, 3]]

// Processes and their tracks, before on top.
// CHECK:      {"name": "process_name", "ph": "M", "ts": 0.0, "pid": 1, "tid": 0, "args": {"name": "before"}}
// CHECK-NEXT: {"name": "process_labels", "ph": "M", "ts": 0.0, "pid": 1, "tid": 0, "args": {"labels": "ideal"}}
// CHECK-NEXT: {"name": "process_sort_index", "ph": "M", "ts": 0.0, "pid": 1, "tid": 0, "args": {"sort_index": 0}}
// CHECK-NEXT: {"name": "thread_name", "ph": "M", "ts": 0.0, "pid": 1, "tid": 0, "args": {"name": "function"}}
// CHECK-NEXT: {"name": "thread_sort_index"
// CHECK-NEXT: {"name": "thread_name", "ph": "M", "ts": 0.0, "pid": 1, "tid": 7, "args": {"name": "compute stream"}}
// CHECK-NEXT: {"name": "thread_sort_index"
// CHECK-NEXT: {"name": "thread_name", "ph": "M", "ts": 0.0, "pid": 1, "tid": 8, "args": {"name": "lane world"}}
// CHECK-NEXT: {"name": "thread_sort_index", "ph": "M", "ts": 0.0, "pid": 1, "tid": 8, "args": {"sort_index": 8}}
// CHECK-NEXT: {"name": "thread_name", "ph": "M", "ts": 0.0, "pid": 1, "tid": 9, "args": {"name": "lane pairs"}}
// CHECK-NEXT: {"name": "thread_sort_index"
// CHECK-NEXT: {"name": "process_name", "ph": "M", "ts": 0.0, "pid": 0, "tid": 0, "args": {"name": "after comm-sink-waits"}}
// CHECK:      {"name": "thread_name", "ph": "M", "ts": 0.0, "pid": 0, "tid": 9, "args": {"name": "lane pairs"}}
// CHECK-NEXT: {"name": "thread_sort_index"

// One event per op; communication has NCCL's names and Kineto's arguments.
// CHECK-NEXT: {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 0, "tid": 0, "ts": 0.0, "dur": 2.5}
// CHECK-NEXT: {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 0.0, "dur": 0.75, "args": {"device": 0, "stream": 7, "correlation": 1, "label": "k", "op": "comm.compute", "type": "tensor<4xbf16>", "cost_ns": 750, "cost_source": "attribute"}}
// CHECK-NEXT: {"ph": "X", "cat": "cuda_sync", "name": "wait ar", "pid": 0, "tid": 7, "ts": 0.75, "dur": 1.75, "args": {"correlation": 2, "label": "ar", "op": "comm.wait", "type": "tensor<4xbf16>", "cost_ns": 0, "cost_source": "wait"}}
// CHECK-NEXT: {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16(ar)", "pid": 0, "tid": 8, "ts": 0.0, "dur": 2.5, "args": {"device": 0, "stream": 8, "correlation": 3, "Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 4, "Out msg nelems": 4, "Group size": 8, "Process Group Name": "world", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]", "Rank": 0, "Seq": 0, "bytes": 8, "label": "ar", "op": "comm.all_reduce", "type": "tensor<4xbf16>", "cost_ns": 2500, "cost_source": "attribute", "issued_us": 0.0, "exposed_ns": 1750, "reason": "no independent compute is left"}}

// An arrow from what is awaited to the wait.
// CHECK-NEXT: {"ph": "s", "id": 1, "pid": 0, "tid": 8, "ts": 0.0, "cat": "awaits", "name": "awaits"}
// CHECK-NEXT: {"ph": "f", "id": 1, "pid": 0, "tid": 7, "ts": 0.75, "cat": "awaits", "name": "awaits", "bp": "e"}

// Memory, over time.
// CHECK-NEXT: {"ph": "C", "name": "memory", "pid": 0, "tid": 0, "ts": 0.0, "args": {"bytes": 8}}
// CHECK-NEXT: {"ph": "C", "name": "memory", "pid": 0, "tid": 0, "ts": 0.0, "args": {"bytes": 24}}
func.func @step(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 2500 : i64, comm.label = "ar"} : tensor<4xbf16>
  %r = comm.wait %t : !comm.token<tensor<4xbf16>>
  %k = comm.compute "k"(%x) {comm.cost_ns = 750 : i64} : (tensor<4xbf16>) -> tensor<4xbf16>
  return %r, %k : tensor<4xbf16>, tensor<4xbf16>
}

// The next function comes behind the first, where that ends in the slower of the
// two programs: at 3.25 us. Its callee runs within it, each trip of its loop;
// what lies around ops is no kernel and has no stream. Compute that is called
// like communication is told apart.
// CHECK-NEXT: {"ph": "X", "cat": "user_annotation", "name": "caller", "pid": 0, "tid": 0, "ts": 3.25, "dur": 4.0}
// CHECK-NEXT: {"ph": "X", "cat": "gpu_user_annotation", "name": "scf.for", "pid": 0, "tid": 7, "ts": 3.25, "dur": 4.0, "args": {"correlation": 4, {{.*}}"cost_source": "regions", "trips": 2}}
// CHECK-NEXT: {"ph": "X", "cat": "gpu_user_annotation", "name": "func.call", "pid": 0, "tid": 7, "ts": 3.25, "dur": 2.0,
// CHECK-NEXT: {"ph": "X", "cat": "kernel", "name": "comm.compute nccl_pack", "pid": 0, "tid": 7, "ts": 3.25, "dur": 2.0,
// CHECK-NEXT: {"ph": "X", "cat": "cuda_sync", "name": "wait", "pid": 0, "tid": 7, "ts": 5.25, "dur": 0.0,
// CHECK-NEXT: {"ph": "X", "cat": "gpu_user_annotation", "name": "func.call", "pid": 0, "tid": 7, "ts": 5.25, "dur": 2.0,
// CHECK-NEXT: {"ph": "X", "cat": "kernel", "name": "comm.compute nccl_pack", "pid": 0, "tid": 7, "ts": 5.25, "dur": 2.0,
// CHECK-NEXT: {"ph": "X", "cat": "cuda_sync", "name": "wait", "pid": 0, "tid": 7, "ts": 7.25, "dur": 0.0,

// On the lane of a partition: the ranks are those of rank 0's communicator.
// CHECK-NEXT: {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather", "pid": 0, "tid": 9, "ts": 3.25, "dur": 1.0, {{.*}}"Collective name": "_allgather_base", "dtype": "Int", "In msg nelems": 4, "Out msg nelems": 8, "Group size": 2, "Process Group Name": "pairs", "Process Group Ranks": "[0, 3]", "Rank": 0, "Seq": 0,
// CHECK-NEXT: {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather", "pid": 0, "tid": 9, "ts": 5.25, "dur": 1.0, {{.*}}"Seq": 1,
// CHECK-NOT: "name": "callee"
func.func private @callee(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<8xi32>) {
  %t = comm.all_gather %x on @pairs dim 0 {comm.cost_ns = 1000 : i64} : tensor<4xi32> -> tensor<8xi32>
  %k = comm.compute "nccl_pack"(%x) {comm.cost_ns = 2000 : i64} : (tensor<4xi32>) -> tensor<4xi32>
  %r = comm.wait %t : !comm.token<tensor<8xi32>>
  return %k, %r : tensor<4xi32>, tensor<8xi32>
}
func.func @caller(%x: tensor<4xi32>, %lower: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %result = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4xi32> {
    %b:2 = func.call @callee(%a) : (tensor<4xi32>) -> (tensor<4xi32>, tensor<8xi32>)
    scf.yield %b#0 : tensor<4xi32>
  }
  return %result : tensor<4xi32>
}

// The program before has a stream nowhere: who adds up streams leaves it out.
// CHECK: {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1,
// CHECK-NOT: "stream"
// CHECK-NOT: "name": "callee"
// CHECK: {"ph": "X", "cat": "user_annotation", "name": "caller", "pid": 1, "tid": 0, "ts": 3.25,
// CHECK-NOT: "stream"
// CHECK-NOT: "name": "callee"
