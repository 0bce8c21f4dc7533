// RUN: split-file %s %t
// RUN: not braid-opt %t/plain.mlir --comm-report="format=xml" 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: for the --format option: Cannot find option named 'xml'!

// RUN: not braid-opt %t/plain.mlir --comm-report="output=%t/no/such/folder" 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: plain.mlir:1:1: error: option 'output': cannot write {{.*}}/no/such/folder: No such file or directory

// RUN: not braid-opt %t/plain.mlir --comm-report="passes=comm-no-such-pass" 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: plain.mlir:1:1: error: invalid pipeline 'comm-no-such-pass' in option 'passes': {{.*}}'comm-no-such-pass' does not refer to a registered pass or pass pipeline

// RUN: not braid-opt %t/plain.mlir --comm-report="passes=func.func(comm-sink-waits" 2>&1 | FileCheck %s --check-prefix=PAREN
// PAREN: plain.mlir:1:1: error: invalid pipeline 'func.func(comm-sink-waits' in option 'passes':

// RUN: not braid-opt %t/plain.mlir --comm-report="passes=builtin.module(cse" 2>&1 | FileCheck %s --check-prefix=MODULE
// MODULE: plain.mlir:1:1: error: invalid pipeline 'builtin.module(cse' in option 'passes': expected ')' at the end

// The error of a pass that does not run on the copy comes first. Options have no place in the program.
// RUN: not braid-opt %t/hardware.mlir --comm-report="machine=ideal passes=comm-reorder-compute-for-overlap{machine=h300x8}" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAILS
// FAILS: <unknown>:0: error: unknown machine 'h300x8' in option 'machine', expected one of: v100x8 a100x8 h100x8 h200x8 b200x8 cpu ideal, or a .json file
// FAILS: hardware.mlir:1:1: error: passes 'comm-reorder-compute-for-overlap{machine=h300x8}' of comm-report failed

// RUN: not braid-opt %t/hardware.mlir --comm-report 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// ATTRIBUTE: hardware.mlir:1:1: error: unknown machine 'h300x8' in attribute 'comm.machine', expected one of: v100x8 a100x8 h100x8 h200x8 b200x8 cpu ideal, or a .json file

// RUN: not braid-opt %t/plain.mlir --comm-report="machine=tpu" 2>&1 | FileCheck %s --check-prefix=HARDWARE
// HARDWARE: plain.mlir:1:1: error: unknown machine 'tpu' in option 'machine', expected one of: v100x8 a100x8 h100x8 h200x8 b200x8 cpu ideal, or a .json file

// RUN: not braid-opt %t/plain.mlir --comm-report="collective-model=gloo" 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: for the --collective-model option: Cannot find option named 'gloo'!

// RUN: not braid-opt %t/plain.mlir --comm-report="machine=ideal collective-model=nccl" 2>&1 | FileCheck %s --check-prefix=FIGURES
// FIGURES: plain.mlir:1:1: error: collective model 'nccl' in option 'collective-model' has no figures of machine 'ideal', expected a machine with NVIDIA GPUs

// RUN: not braid-opt %t/plain.mlir --comm-report="machine=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: plain.mlir:1:1: error: cannot read the machine '{{.*}}none.json' of option 'machine': No such file or directory

// RUN: not braid-opt %t/plain.mlir --comm-report="machine=%t/unknown.json" 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: plain.mlir:1:1: error: cannot read the machine '{{.*}}unknown.json' of option 'machine': unknown field "memory", expected one of: base collective_model

// RUN: not braid-opt %t/plain.mlir --comm-report="machine=%t/negative.json" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: cannot read the machine '{{.*}}negative.json' of option 'machine': found -1 in field "launch_ns", expected an integer from 0 to 1000000000

// RUN: cd %t && not braid-opt %t/file.mlir --comm-report 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: error: cannot read the machine 'syntax.json' of attribute 'comm.machine': [2:11, byte=13]: Invalid JSON value

// RUN: not braid-opt %t/plain.mlir --comm-report="link-latency=20" 2>&1 | FileCheck %s --check-prefix=LATENCY
// LATENCY: plain.mlir:1:1: error: invalid time '20' in option 'link-latency', expected a number of at least 0 with unit ns, us, ms or s, such as 20us

// RUN: not braid-opt %t/plain.mlir --comm-report="link-bandwidth=10Gb/s" 2>&1 | FileCheck %s --check-prefix=BANDWIDTH
// BANDWIDTH: plain.mlir:1:1: error: invalid rate '10Gb/s' in option 'link-bandwidth', expected a number of at least 0 with unit B/s, KB/s, MB/s, GB/s or TB/s, such as 10GB/s

// RUN: not braid-opt %t/plain.mlir --comm-report="link-bandwidth=10GB/s" 2>&1 | FileCheck %s --check-prefix=NOLINK
// NOLINK: plain.mlir:1:1: error: option 'link-bandwidth' has no meaning for collective model 'nccl' of machine 'h100x8', expected collective-model=link
// RUN: not braid-opt %t/plain.mlir --comm-report="machine=cpu collective-model=inductor link-latency=1us" 2>&1 | FileCheck %s --check-prefix=NOLINK2
// NOLINK2: plain.mlir:1:1: error: option 'link-latency' has no meaning for collective model 'inductor' of machine 'cpu', expected collective-model=link

// RUN: not braid-opt %t/plain.mlir --comm-report="ranks=-1" 2>&1 | FileCheck %s --check-prefix=WORLD
// WORLD: plain.mlir:1:1: error: invalid number of ranks -1 in option 'ranks', expected at least 1

// RUN: not braid-opt %t/plain.mlir --comm-report="ranks-per-node=-1" 2>&1 | FileCheck %s --check-prefix=NODE
// NODE: plain.mlir:1:1: error: invalid number of ranks -1 in option 'ranks-per-node', expected 1 to 16777216

// RUN: not braid-opt %t/plain.mlir --comm-report="ranks-per-node=16777217" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: plain.mlir:1:1: error: invalid number of ranks 16777217 in option 'ranks-per-node', expected 1 to 16777216

// RUN: not braid-opt %t/plain.mlir --comm-report="dynamic-size=-2" 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: plain.mlir:1:1: error: invalid size -2 in option 'dynamic-size', expected at least 1

// RUN: not braid-opt %t/plain.mlir --comm-report="colour=red" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option colour

//--- plain.mlir
module {
  func.func @f() {
    return
  }
}
//--- hardware.mlir
module attributes {comm.machine = "h300x8"} {
  comm.group @world all
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %t = comm.all_reduce sum %x on @world : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    return %r : tensor<4xf32>
  }
}
//--- file.mlir
module attributes {comm.machine = "syntax.json"} {
  comm.group @world all
}
//--- unknown.json
{"base": "h100x8", "memory": 80}
//--- negative.json
{"base": "h100x8", "launch_ns": -1}
//--- syntax.json
{
  "base": oops
}
