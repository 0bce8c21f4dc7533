// Files of the last release: their keys and words are read, and a warning at each
// says the new one. The reports are those of files with the new keys.
// RUN: split-file %s %t

// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 profile=%t/old.json output=%t/old.txt" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROFILE --implicit-check-not=warning
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 profile=%t/new.json output=%t/new.txt" -o /dev/null 2>&1 | count 0
// RUN: sed 's/old.json/new.json/' %t/old.txt | diff %t/new.txt -
// RUN: FileCheck %s --check-prefix=REPORT < %t/new.txt
// PROFILE-DAG: old.json:4:1: warning: the field "hardware" is the old spelling of "machine.name", expected the new one, which alone works from the next release on
// PROFILE-DAG: old.json:5:16: warning: the field "product_ops_per_second" is the old spelling of "matmul_ops_per_second"
// PROFILE-DAG: old.json:7:14: warning: "product" is the old spelling of "matmul"
// PROFILE-DAG: old.json:8:14: warning: "product" is the old spelling of "matmul"
// PROFILE-DAG: old.json:11:1: warning: the field "products" is the old spelling of "matmuls"
// REPORT: linalg.matmul {{.*}} 777777 ns (from profile {{.*}}new.json)

// RUN: braid-opt %t/program.mlir --comm-report="machine=cpu profile=%t/old-entries.json output=%t/old.txt" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ENTRIES --implicit-check-not=warning
// RUN: braid-opt %t/program.mlir --comm-report="machine=cpu profile=%t/new-entries.json output=%t/new.txt" -o /dev/null 2>&1 | count 0
// RUN: diff %t/new.txt %t/old.txt
// RUN: FileCheck %s --check-prefix=LABEL < %t/new.txt
// ENTRIES: old-entries.json:1:16: warning: the field "hardware" is the old spelling of "machine"
// LABEL: linalg.matmul "scores" {{.*}} 321 ns

// The contention of a machine has the same words.
// RUN: braid-opt %t/program.mlir --comm-report="machine=%t/lab.json output=%t/lab.txt" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LAB --implicit-check-not=warning
// LAB: lab.json:4:14: warning: "product" is the old spelling of "matmul"

// Both spellings at once are an error.
// RUN: not braid-opt %t/program.mlir --comm-report="machine=h200x8 profile=%t/both.json" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: both.json:1:34: error: unknown field "hardware", expected one of: entries machine version

//--- program.mlir
func.func @step(%a: tensor<4096x4096xbf16>, %e: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %y = linalg.matmul {comm.label = "scores"} ins(%a, %a : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
    outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %y : tensor<4096x4096xbf16>
}
//--- old.json
{"version": 2, "software": {}, "date": "2026-11-22", "spread": 0,
 "machine": {"gpu": "NVIDIA H200", "gpus": 2, "multiprocessors": 132},
 "launch_ns": 1000,
"hardware": "h200x8",
"sustained": { "product_ops_per_second": {"bf16": 500e12}},
"contention": {"model": "share", "interference": [
 {"compute": "product", "engine": "kernel", "compute_factor": 1.5, "collective_factor": 2},
 {"compute": "product", "engine": "copy", "compute_factor": 1, "collective_factor": 3},
 {"compute": "elementwise", "engine": "kernel", "compute_factor": 1, "collective_factor": 4},
 {"compute": "elementwise", "engine": "copy", "compute_factor": 1, "collective_factor": 5}]},
"products": [{"rows": 4096, "columns": 4096, "depth": 4096, "element": "bf16", "ns": 777777}]}
//--- new.json
{"version": 2, "software": {}, "date": "2026-11-22", "spread": 0,
 "machine": {"name": "h200x8", "gpu": "NVIDIA H200", "gpus": 2, "multiprocessors": 132},
 "launch_ns": 1000,
"sustained": { "matmul_ops_per_second": {"bf16": 500e12}},
"contention": {"model": "share", "interference": [
 {"compute": "matmul", "engine": "kernel", "compute_factor": 1.5, "collective_factor": 2},
 {"compute": "matmul", "engine": "copy", "compute_factor": 1, "collective_factor": 3},
 {"compute": "elementwise", "engine": "kernel", "compute_factor": 1, "collective_factor": 4},
 {"compute": "elementwise", "engine": "copy", "compute_factor": 1, "collective_factor": 5}]},
"matmuls": [{"rows": 4096, "columns": 4096, "depth": 4096, "element": "bf16", "ns": 777777}]}
//--- old-entries.json
{"version": 1, "hardware": "cpu", "entries": [{"label": "scores", "ns": 321}]}
//--- new-entries.json
{"version": 1, "machine": "cpu", "entries": [{"label": "scores", "ns": 321}]}
//--- lab.json
{"base": "h200x8", "contention": {
 "model": "share",
 "interference": [
 {"compute": "product", "engine": "kernel", "compute_factor": 1.5, "collective_factor": 2},
 {"compute": "matmul", "engine": "copy", "compute_factor": 1, "collective_factor": 3},
 {"compute": "elementwise", "engine": "kernel", "compute_factor": 1, "collective_factor": 4},
 {"compute": "elementwise", "engine": "copy", "compute_factor": 1, "collective_factor": 5}]}}
//--- both.json
{"version": 1, "machine": "cpu", "hardware": "cpu", "entries": []}
