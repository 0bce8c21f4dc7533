// RUN: split-file %s %t
// RUN: braid-opt %t/one.mlir --comm-verify=strict --comm-interpret
// RUN: braid-opt %t/one-of-all.mlir --comm-verify=strict --comm-interpret
// RUN: braid-opt %t/outsiders.mlir --comm-verify=strict --comm-interpret="print-results" 2>&1 | FileCheck %s --check-prefix=OUTSIDERS
// RUN: braid-compile %t/one.mlir -o %t/one.so
// RUN: braid-run %t/one.so --ranks=1 --arg=iota --print | FileCheck %s --check-prefix=ONE
// RUN: braid-run %t/one.mlir --ranks=1 --arg=iota --print --compare-results | FileCheck %s --check-prefix=ONE
// RUN: not braid-opt %t/one.mlir --comm-interpret=ranks=-1 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not braid-opt %t/many.mlir --comm-interpret 2>&1 | FileCheck %s --check-prefix=MANY

// The number of ranks is what the groups say, where nothing else gives it.

// ONE: rank 0: result0: tensor<2xf32> = [0, 1]
// INVALID: error: invalid number -1 in option 'ranks', expected 1 to 1024, or 0 for the number that the program implies
// MANY: error: the module implies 5001 ranks, expected at most 1024

//--- one.mlir
comm.group @world [[0]]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = comm.permute %x on @world pairs [[0, 0]] : tensor<2xf32>
  %r = comm.wait %t : !comm.token<tensor<2xf32>>
  %u = comm.all_reduce sum %r on @world : tensor<2xf32>
  %s = comm.wait %u : !comm.token<tensor<2xf32>>
  return %s : tensor<2xf32>
}
//--- one-of-all.mlir
comm.group @world all
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = comm.all_gather %x on @world dim 0 : tensor<2xf32> -> tensor<2xf32>
  %r = comm.wait %t : !comm.token<tensor<2xf32>>
  return %r : tensor<2xf32>
}
//--- outsiders.mlir
// The number that an index within a group is compared with names no rank.
comm.group @a [[0, 1]]
// OUTSIDERS: results on rank 0 with argument 1: 3 : i32
// OUTSIDERS: results on rank 1 with argument 1: 3 : i32
// OUTSIDERS-NOT: results on rank 2
func.func @main(%x: tensor<1xi32>) -> tensor<1xi32> {
  %c5 = arith.constant 5 : index
  %rank = comm.rank on @a
  %other = arith.cmpi eq, %rank, %c5 : index
  %t = comm.all_reduce sum %x on @a : tensor<1xi32>
  %r = comm.wait %t : !comm.token<tensor<1xi32>>
  return %r : tensor<1xi32>
}
//--- many.mlir
comm.group @a [[5000]]
func.func @main() {
  return
}
