// The memory limit of a body is the limit less the memory live around the body.

// RUN: split-file %s %t
// RUN: braid-opt %t/loop.mlir --comm-schedule="machine=ideal" --remarks-filter=comm-schedule --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOP-FREE
// RUN: braid-opt %t/loop.mlir --comm-schedule="machine=ideal max-memory=6007B" --remarks-filter=comm-schedule --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not braid-opt %t/loop.mlir --comm-schedule="machine=ideal max-memory=5KB" 2>&1 | FileCheck %s --check-prefix=LOOP-EXCESS
// RUN: braid-opt %t/call.mlir --comm-schedule="machine=ideal" --remarks-filter=comm-schedule --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CALL-FREE
// RUN: braid-opt %t/call.mlir --comm-schedule="machine=ideal max-memory=9KB" --remarks-filter=comm-schedule --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: not braid-opt %t/call.mlir --comm-schedule="machine=ideal max-memory=7KB" 2>&1 | FileCheck %s --check-prefix=CALL-EXCESS
// RUN: braid-opt %t/around.mlir --comm-schedule="machine=ideal" --remarks-filter=comm-schedule --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=AROUND-FREE
// RUN: braid-opt %t/around.mlir --comm-schedule="machine=ideal max-memory=14KB" --remarks-filter=comm-schedule --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=AROUND
// RUN: not braid-opt %t/around.mlir --comm-schedule="machine=ideal max-memory=12KB" 2>&1 | FileCheck %s --check-prefix=AROUND-EXCESS
// RUN: braid-opt %t/arms.mlir --comm-schedule="machine=ideal max-memory=14KB" --remarks-filter=comm-schedule --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARMS
// RUN: braid-opt %t/blocks.mlir --comm-schedule="machine=ideal max-memory=14KB" --remarks-filter=comm-schedule --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not braid-opt %t/blocks.mlir --comm-schedule="machine=ideal max-memory=12KB" 2>&1 | FileCheck %s --check-prefix=BLOCKS-EXCESS

// LOOP-FREE: remark: [Passed] scheduled-region | {{.*}}MakespanBeforeNs=400, MakespanNs=300, {{.*}}PeakBytes=4004{{$}}
// LOOP-FREE: remark: [Passed] scheduled-function | {{.*}}Function=loop | {{.*}}PeakBytes=10008{{$}}
// LOOP-FREE: peak memory 10008 bytes

// The value that the loop stands beside takes 4,000 bytes and comes after it.
// LOOP: remark: [Passed] scheduled-region | {{.*}}MakespanBeforeNs=400, MakespanNs=400, {{.*}}PeakBytes=2008, PeakLimitBytes=4003{{$}}
// LOOP: remark: [Passed] scheduled-function | {{.*}}Function=loop | {{.*}}PeakBytes=6004{{$}}
// LOOP: peak memory 6004 bytes
// LOOP-EXCESS: error: no order of this block was found that keeps max-memory = 5000 bytes: the best needs 6004 bytes, 1004 too many, at 'comm.compute'
// LOOP-EXCESS-NOT: no order can need less

// CALL-FREE: remark: [Passed] scheduled-function | {{.*}}Function=callee | {{.*}}MakespanBeforeNs=400, MakespanNs=300, {{.*}}PeakBytes=6004{{$}}
// CALL-FREE: remark: [Passed] scheduled-function | {{.*}}Function=caller | {{.*}}PeakBytes=10004{{$}}
// CALL-FREE: peak memory 6004 bytes
// CALL-FREE: peak memory 10004 bytes
// CALL: remark: [Passed] scheduled-function | {{.*}}Function=callee | {{.*}}MakespanBeforeNs=400, MakespanNs=400, {{.*}}PeakBytes=4008, PeakLimitBytes=5000{{$}}
// CALL: remark: [Passed] scheduled-function | {{.*}}Function=caller | {{.*}}PeakBytes=8008{{$}}
// CALL: peak memory 4008 bytes
// CALL: peak memory 8008 bytes
// CALL-EXCESS: error: no order of this block was found that keeps max-memory = 7000 bytes: the best needs 8008 bytes, 1008 too many, at 'func.call'

// AROUND-FREE: peak memory 14008 bytes
// AROUND: remark: [Passed] scheduled-region | {{.*}}MakespanBeforeNs=400, MakespanNs=400, {{.*}}PeakBytes=2008, PeakLimitBytes=3996{{$}}
// AROUND: peak memory 12012 bytes
// AROUND-EXCESS: error: no order of @around was found that keeps max-memory = 12000 bytes: the best needs 12012 bytes, 12 too many

// ARMS: remark: [Passed] scheduled-region | {{.*}}MakespanBeforeNs=400, MakespanNs=400, {{.*}}PeakBytes=2008, PeakLimitBytes=3996{{$}}
// ARMS: peak memory 12012 bytes

// BLOCKS: remark: [Passed] scheduled-function | {{.*}}Function=blocks | {{.*}}MakespanBeforeNs=400, MakespanNs=400, {{.*}}PeakBytes=4008, PeakLimitBytes=6000{{$}}
// BLOCKS: peak memory 12008 bytes
// BLOCKS-EXCESS: error: no order of @blocks was found that keeps max-memory = 12000 bytes: the best needs 12008 bytes, 8 too many

//--- loop.mlir
comm.group @pairs [[0, 1], [2, 3]]

func.func @loop(%a: tensor<250xf32>, %b: tensor<250xf32>) -> (tensor<1000xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %x0 = tensor.from_elements %zero : tensor<f32>
  %big = comm.compute "big"(%a) {comm.cost_ns = 100 : i64} : (tensor<250xf32>) -> tensor<1000xf32>
  %x = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %x0) -> tensor<f32> {
    %t = comm.all_gather %a on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "first"} : tensor<250xf32> -> tensor<500xf32>
    %r = comm.wait %t : !comm.token<tensor<500xf32>>
    %f = comm.compute "f"(%r, %s) {comm.cost_ns = 100 : i64} : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
    %u = comm.all_gather %b on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "second"} : tensor<250xf32> -> tensor<500xf32>
    %v = comm.wait %u : !comm.token<tensor<500xf32>>
    %g = comm.compute "g"(%v, %f) {comm.cost_ns = 100 : i64} : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
    scf.yield %g : tensor<f32>
  }
  %t = comm.all_reduce sum %big on @pairs {comm.cost_ns = 100 : i64} : tensor<1000xf32>
  %r = comm.wait %t : !comm.token<tensor<1000xf32>>
  return %r, %x : tensor<1000xf32>, tensor<f32>
}

//--- call.mlir
comm.group @pairs [[0, 1], [2, 3]]

func.func private @callee(%a: tensor<250xf32>, %b: tensor<250xf32>) -> (tensor<f32>, tensor<f32>) {
  %t = comm.all_gather %a on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "first"} : tensor<250xf32> -> tensor<500xf32>
  %r = comm.wait %t : !comm.token<tensor<500xf32>>
  %f = comm.compute "f"(%r) {comm.cost_ns = 100 : i64} : (tensor<500xf32>) -> tensor<f32>
  %u = comm.all_gather %b on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "second"} : tensor<250xf32> -> tensor<500xf32>
  %v = comm.wait %u : !comm.token<tensor<500xf32>>
  %g = comm.compute "g"(%v) {comm.cost_ns = 100 : i64} : (tensor<500xf32>) -> tensor<f32>
  return %f, %g : tensor<f32>, tensor<f32>
}

func.func @caller(%a: tensor<250xf32>, %b: tensor<250xf32>) -> (tensor<1000xf32>, tensor<f32>, tensor<f32>) {
  %big = comm.compute "big"(%a) {comm.cost_ns = 100 : i64} : (tensor<250xf32>) -> tensor<1000xf32>
  %t = comm.all_reduce sum %big on @pairs {comm.cost_ns = 100 : i64} : tensor<1000xf32>
  %f, %g = call @callee(%a, %b) : (tensor<250xf32>, tensor<250xf32>) -> (tensor<f32>, tensor<f32>)
  %r = comm.wait %t : !comm.token<tensor<1000xf32>>
  return %r, %f, %g : tensor<1000xf32>, tensor<f32>, tensor<f32>
}

//--- around.mlir
comm.group @pairs [[0, 1], [2, 3]]

// The block of the function has nothing to schedule itself.
func.func @around(%a: tensor<250xf32>, %b: tensor<250xf32>) -> (tensor<2000xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %x0 = tensor.from_elements %zero : tensor<f32>
  %big = comm.compute "big"(%a) {comm.cost_ns = 100 : i64} : (tensor<250xf32>) -> tensor<2000xf32>
  %x = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %x0) -> tensor<f32> {
    %t = comm.all_gather %a on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "first"} : tensor<250xf32> -> tensor<500xf32>
    %r = comm.wait %t : !comm.token<tensor<500xf32>>
    %f = comm.compute "f"(%r, %s) {comm.cost_ns = 100 : i64} : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
    %u = comm.all_gather %b on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "second"} : tensor<250xf32> -> tensor<500xf32>
    %v = comm.wait %u : !comm.token<tensor<500xf32>>
    %g = comm.compute "g"(%v, %f) {comm.cost_ns = 100 : i64} : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
    scf.yield %g : tensor<f32>
  }
  return %big, %x : tensor<2000xf32>, tensor<f32>
}

//--- arms.mlir
comm.group @pairs [[0, 1], [2, 3]]

// The arm that takes less time needs more memory.
func.func @arms(%a: tensor<250xf32>, %b: tensor<250xf32>, %c: i1) -> (tensor<2000xf32>, tensor<f32>) {
  %big = comm.compute "big"(%a) {comm.cost_ns = 100 : i64} : (tensor<250xf32>) -> tensor<2000xf32>
  %x = scf.if %c -> tensor<f32> {
    %f = comm.compute "long"(%a) {comm.cost_ns = 1000 : i64} : (tensor<250xf32>) -> tensor<f32>
    scf.yield %f : tensor<f32>
  } else {
    %t = comm.all_gather %a on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "first"} : tensor<250xf32> -> tensor<500xf32>
    %r = comm.wait %t : !comm.token<tensor<500xf32>>
    %f = comm.compute "f"(%r) {comm.cost_ns = 100 : i64} : (tensor<500xf32>) -> tensor<f32>
    %u = comm.all_gather %b on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "second"} : tensor<250xf32> -> tensor<500xf32>
    %v = comm.wait %u : !comm.token<tensor<500xf32>>
    %g = comm.compute "g"(%v, %f) {comm.cost_ns = 100 : i64} : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
    scf.yield %g : tensor<f32>
  }
  return %big, %x : tensor<2000xf32>, tensor<f32>
}

//--- blocks.mlir
comm.group @pairs [[0, 1], [2, 3]]

// Values of the first block are live while the second block runs.
func.func @blocks(%a: tensor<250xf32>, %b: tensor<250xf32>) -> (tensor<2000xf32>, tensor<f32>) {
  %big = comm.compute "big"(%a) {comm.cost_ns = 100 : i64} : (tensor<250xf32>) -> tensor<2000xf32>
  cf.br ^second
^second:
  %t = comm.all_gather %a on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "first"} : tensor<250xf32> -> tensor<500xf32>
  %r = comm.wait %t : !comm.token<tensor<500xf32>>
  %f = comm.compute "f"(%r) {comm.cost_ns = 100 : i64} : (tensor<500xf32>) -> tensor<f32>
  %u = comm.all_gather %b on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "second"} : tensor<250xf32> -> tensor<500xf32>
  %v = comm.wait %u : !comm.token<tensor<500xf32>>
  %g = comm.compute "g"(%v, %f) {comm.cost_ns = 100 : i64} : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
  return %big, %g : tensor<2000xf32>, tensor<f32>
}
