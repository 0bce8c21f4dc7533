// RUN: split-file %s %t
// RUN: braid-opt %t/limit.mlir --comm-schedule="machine=ideal" --remarks-filter=comm-schedule 2>&1 | FileCheck %s --check-prefix=FREE
// RUN: braid-opt %t/limit.mlir --comm-schedule="machine=ideal max-memory=5KB" --remarks-filter=comm-schedule 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: not braid-opt %t/limit.mlir --comm-schedule="machine=ideal max-memory=4000B" 2>&1 | FileCheck %s --check-prefix=EXCESS

// Without a limit the second gather runs beside the first kernel.
// FREE: remark: [Passed] scheduled-function | {{.*}}Function=gather_twice | {{.*}}LowerBoundNs=300, MakespanBeforeNs=400, MakespanNs=300, {{.*}}Optimal=true, PeakBytes=6004{{$}}
// FREE: comm.all_gather {{.*}}"first"
// FREE-NEXT: comm.all_gather {{.*}}"second"

// LIMIT: remark: [Passed] scheduled-function | {{.*}}Function=gather_twice | {{.*}}MakespanBeforeNs=400, MakespanNs=400, {{.*}}Optimal=true, PeakBytes=4008{{$}}
// LIMIT: comm.all_gather {{.*}}"first"
// LIMIT: comm.compute "f"
// LIMIT: comm.all_gather {{.*}}"second"
// LIMIT: comm.compute "g"

// EXCESS: [[#G:]]:8: error: no order of this block keeps max-memory = 4000 bytes: the best needs 4008 bytes, 8 too many, at 'comm.compute' "g"; no order can need less than 4008 bytes
// EXCESS: note: 2000 bytes live there from here on
// EXCESS-NEXT: comm.all_gather {{.*}}"second"

//--- limit.mlir
comm.group @pairs [[0, 1], [2, 3]]

func.func @gather_twice(%a: tensor<250xf32>, %b: tensor<250xf32>) -> (tensor<f32>, tensor<f32>) {
  %t = comm.all_gather %a on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "first"} : tensor<250xf32> -> tensor<500xf32>
  %r = comm.wait %t : !comm.token<tensor<500xf32>>
  %f = comm.compute "f"(%r) {comm.cost_ns = 100 : i64} : (tensor<500xf32>) -> tensor<f32>
  %u = comm.all_gather %b on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "second"} : tensor<250xf32> -> tensor<500xf32>
  %s = comm.wait %u : !comm.token<tensor<500xf32>>
  %g = comm.compute "g"(%s) {comm.cost_ns = 100 : i64, comm.label = "g"} : (tensor<500xf32>) -> tensor<f32>
  return %f, %g : tensor<f32>, tensor<f32>
}
