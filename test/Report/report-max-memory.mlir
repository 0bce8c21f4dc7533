// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=10000 output=%t.txt"
// RUN: FileCheck %s < %t.txt
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=10000B format=json output=%t.json"
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=10000 format=trace output=%t.trace"
// RUN: %python -c "import json, sys; [print(json.dumps(e)) for e in json.load(open(sys.argv[1]))['traceEvents']]" %t.trace | FileCheck %s --check-prefix=TRACE
// RUN: FileCheck %s --check-prefix=TOP < %t.trace
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=10000 format=html output=%t.html"
// RUN: FileCheck %s --check-prefix=HTML < %t.html
// RUN: not braid-opt %s --comm-report="max-memory=many" 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not braid-opt %s --comm-report="max-memory=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// INVALID: report-max-memory.mlir:{{.*}}: error: invalid size 'many' in option 'max-memory', expected a number of at least 0, with unit B, KB, MB, GB, TB, KiB, MiB, GiB, TiB or none, such as 80GiB
// NEGATIVE: error: invalid size '-1' in option 'max-memory', expected

comm.group @world all

// CHECK: comm-report: machine ideal, collective model link, 8 ranks, dynamic size 64, max-memory 10000 bytes
// JSON: "memory_limit_bytes": 10000,
// JSON-NEXT: "max_memory_bytes": 10000,
// HTML: "memory_limit_bytes":10000

// The trace shows the memory of the device.
// TOP: "totalGlobalMem": 85899345920

// At the limit is not above it.
// CHECK-LABEL: Timeline of @fits ====
// CHECK:       peak memory 10000 bytes
// CHECK-NOT:   EXCEEDED
// JSON:        "name": "fits",
// JSON:        "memory_excess_bytes": 0,
// TRACE:       {"ph": "X", "cat": "user_annotation", "name": "fits", {{.*}}
// TRACE-NOT:   exceeded
// TRACE:       {"ph": "C", "name": "memory limit", "pid": 0, "tid": 0, "ts": 0.0, "args": {"bytes": 10000}}
func.func @fits(%x: tensor<1250xf32>) -> tensor<1250xf32> {
  %y = comm.compute "f"(%x) {comm.cost_ns = 100 : i64} : (tensor<1250xf32>) -> tensor<1250xf32>
  return %y : tensor<1250xf32>
}

// Three tensors of 4,000 bytes live from 100 ns on, until the second compute
// has ended at 250 ns.
// CHECK-LABEL: Timeline of @exceeds ====
// CHECK:       peak memory 12000 bytes
// CHECK-NEXT:  MEMORY LIMIT EXCEEDED: the peak is 2000 bytes above the max-memory of 10000 bytes, first at 100 ns
// JSON:        "name": "exceeds",
// JSON:        "memory_excess_bytes": 2000,
// TRACE:       {"ph": "X", "cat": "user_annotation", "name": "exceeds", "pid": 0, "tid": 0, "ts": 0.1, "dur": 0.35}
// TRACE-NEXT:  {"ph": "X", "cat": "user_annotation", "name": "memory limit exceeded", "pid": 0, "tid": 0, "ts": 0.2, "dur": 0.15, "args": {"limit_bytes": 10000, "excess_bytes": 2000}}
// TRACE-NEXT:  {"ph": "C", "name": "memory limit", "pid": 0, "tid": 0, "ts": 0.1, "args": {"bytes": 10000}}
func.func @exceeds(%x: tensor<1000xf32>) -> tensor<1xf32> {
  %y = comm.compute "f"(%x) {comm.cost_ns = 100 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  %z = comm.compute "g"(%y) {comm.cost_ns = 150 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  %w = comm.compute "h"(%z) {comm.cost_ns = 100 : i64} : (tensor<1000xf32>) -> tensor<1xf32>
  return %w : tensor<1xf32>
}
