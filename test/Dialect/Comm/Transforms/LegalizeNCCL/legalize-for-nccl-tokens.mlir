// Tokens that travel through control flow, of collectives that NCCL does not have.
//
// RUN: braid-opt %s --split-input-file --comm-legalize-for-nccl | FileCheck %s

comm.group @world all

// The tokens of a loop carry the integers of the replacement, if all starts have
// the same one.
// CHECK-LABEL: func.func @loop_of_maxima
// CHECK:         %[[FIRST:.*]] = comm.all_reduce max %{{.*}} on @world : tensor<4xi32>
// CHECK:         %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[T:.*]] = %[[FIRST]]) -> (!comm.token<tensor<4xi32>>) {
// CHECK-NEXT:      %[[W:.*]] = comm.wait %[[T]] : !comm.token<tensor<4xi32>>
// CHECK:           linalg.generic {{.*}} ins(%[[W]] : tensor<4xi32>) outs(%{{.*}} : tensor<4xbf16>)
// CHECK:           %[[NEXT:.*]] = comm.all_reduce max %{{.*}} on @world : tensor<4xi32>
// CHECK-NEXT:      scf.yield %[[NEXT]] : !comm.token<tensor<4xi32>>
// CHECK:         %[[V:.*]] = comm.wait %[[LAST]] : !comm.token<tensor<4xi32>>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<4xi32>) outs(%{{.*}} : tensor<4xbf16>)
// CHECK:         return %[[R]]
func.func @loop_of_maxima(%x: tensor<4xbf16>, %n: index) -> tensor<4xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce max %x on @world : tensor<4xbf16>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (!comm.token<tensor<4xbf16>>) {
    %y = comm.wait %t : !comm.token<tensor<4xbf16>>
    %next = comm.all_reduce max %y on @world : tensor<4xbf16>
    scf.yield %next : !comm.token<tensor<4xbf16>>
  }
  %r = comm.wait %last : !comm.token<tensor<4xbf16>>
  return %r : tensor<4xbf16>
}

// -----

comm.group @world all

// The tokens of a branch carry tensors of another shape.
// CHECK-LABEL: func.func @branch_of_gathers
// CHECK:         %[[T:.*]] = scf.if %{{.*}} -> (!comm.token<tensor<8x2xf32>>) {
// CHECK:         %[[W:.*]] = comm.wait %[[T]] : !comm.token<tensor<8x2xf32>>
// CHECK-NEXT:    %[[P:.*]] = tensor.expand_shape %[[W]]
// CHECK:         linalg.transpose ins(%[[P]] : tensor<2x4x2xf32>)
func.func @branch_of_gathers(%x: tensor<4x2xf32>, %y: tensor<4x2xf32>, %c: i1) -> tensor<4x4xf32> {
  %t = scf.if %c -> !comm.token<tensor<4x4xf32>> {
    %a = comm.all_gather %x on @world dim 1 : tensor<4x2xf32> -> tensor<4x4xf32>
    scf.yield %a : !comm.token<tensor<4x4xf32>>
  } else {
    %b = comm.all_gather %y on @world dim 1 : tensor<4x2xf32> -> tensor<4x4xf32>
    scf.yield %b : !comm.token<tensor<4x4xf32>>
  }
  %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
  return %r : tensor<4x4xf32>
}

// -----

comm.group @world all

// No wait undoes anything: NCCL has a `max` of i1.
// CHECK-LABEL: func.func @loop_of_bits
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (!comm.token<tensor<4xi1>>) {
// CHECK-NEXT:      comm.wait
// CHECK-NEXT:      %[[NEXT:.*]] = comm.all_reduce max %{{.*}} on @world : tensor<4xi1>
// CHECK-NEXT:      scf.yield %[[NEXT]] : !comm.token<tensor<4xi1>>
func.func @loop_of_bits(%x: tensor<4xi1>, %n: index) -> tensor<4xi1> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce max %x on @world : tensor<4xi1>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (!comm.token<tensor<4xi1>>) {
    %y = comm.wait %t : !comm.token<tensor<4xi1>>
    %next = comm.all_reduce bor %y on @world : tensor<4xi1>
    scf.yield %next : !comm.token<tensor<4xi1>>
  }
  %r = comm.wait %last : !comm.token<tensor<4xi1>>
  return %r : tensor<4xi1>
}

// -----

comm.group @world all

// Tokens that blocks pass on.
// CHECK-LABEL: func.func @blocks
// CHECK:         %[[A:.*]] = comm.all_reduce sum %{{.*}} on @world : tensor<4xi32>
// CHECK-NEXT:    cf.br ^[[JOIN:.*]](%[[A]] : !comm.token<tensor<4xi32>>)
// CHECK:         %[[B:.*]] = comm.all_reduce sum %{{.*}} on @world : tensor<4xi32>
// CHECK-NEXT:    cf.br ^[[JOIN]](%[[B]] : !comm.token<tensor<4xi32>>)
// CHECK:       ^[[JOIN]](%[[T:.*]]: !comm.token<tensor<4xi32>>):
// CHECK-NEXT:    comm.wait %[[T]] : !comm.token<tensor<4xi32>>
func.func @blocks(%x: tensor<4xi16>, %y: tensor<4xi16>, %c: i1) -> tensor<4xi16> {
  cf.cond_br %c, ^first, ^second
^first:
  %a = comm.all_reduce sum %x on @world : tensor<4xi16>
  cf.br ^join(%a : !comm.token<tensor<4xi16>>)
^second:
  %b = comm.all_reduce sum %y on @world : tensor<4xi16>
  cf.br ^join(%b : !comm.token<tensor<4xi16>>)
^join(%t: !comm.token<tensor<4xi16>>):
  %r = comm.wait %t : !comm.token<tensor<4xi16>>
  return %r : tensor<4xi16>
}
