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

// Tokens of different starts carry a tag, by which the wait chooses what it undoes.
// The operand of the maximum stays bf16: NaN takes the place of infinity (32640),
// and numbers from +0 on move down by one.
// CHECK-LABEL: func.func @loop_of_sum_and_maxima
// CHECK:         %[[FIRST:.*]] = comm.all_reduce sum %{{.*}} on @world : tensor<4xbf16>
// CHECK-NEXT:    %[[SUM:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[LAST:.*]]:2 = scf.for {{.*}} iter_args(%[[T:.*]] = %[[FIRST]], %[[TAG:.*]] = %[[SUM]]) -> (!comm.token<tensor<4xbf16>>, index) {
// CHECK-NEXT:      %[[W:.*]] = comm.wait %[[T]] : !comm.token<tensor<4xbf16>>
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[ISSUM:.*]] = arith.cmpi eq, %[[TAG]], %[[ZERO]] : index
// CHECK-NEXT:      %[[V:.*]] = scf.if %[[ISSUM]] -> (tensor<4xbf16>) {
// CHECK-NEXT:        scf.yield %[[W]] : tensor<4xbf16>
// CHECK-NEXT:      } else {
// CHECK:             linalg.generic {{.*}} ins(%[[W]] : tensor<4xbf16>)
// CHECK-NEXT:        ^bb0(%[[IN:.*]]: bf16, %{{.*}}: bf16):
// CHECK:               %[[ORDERED:.*]] = arith.select
// CHECK-NEXT:          %[[INFINITY:.*]] = arith.constant 32640 : i16
// CHECK-NEXT:          %[[ISNAN:.*]] = arith.cmpi eq, %[[ORDERED]], %[[INFINITY]] : i16
// CHECK-NEXT:          %[[MINUSONE:.*]] = arith.constant -1 : i16
// CHECK-NEXT:          %[[MOVES:.*]] = arith.cmpi sge, %[[ORDERED]], %[[MINUSONE]] : i16
// CHECK-NEXT:          %[[ONE:.*]] = arith.constant 1 : i16
// CHECK-NEXT:          %[[MOVED:.*]] = arith.addi %[[ORDERED]], %[[ONE]] : i16
// CHECK-NEXT:          arith.select %[[MOVES]], %[[MOVED]], %[[ORDERED]] : i16
// CHECK:               %[[NAN:.*]] = arith.constant 32704 : i16
// CHECK-NEXT:          arith.select %[[ISNAN]], %[[NAN]], %{{.*}} : i16
// CHECK:           linalg.generic {{.*}} ins(%[[V]] : tensor<4xbf16>)
// CHECK:             arith.cmpi sge, %[[O:.*]], %{{.*}} : i16
// CHECK-NEXT:        %[[DOWN:.*]] = arith.constant -1 : i16
// CHECK-NEXT:        arith.addi %[[O]], %[[DOWN]] : i16
// CHECK:           %[[NEXT:.*]] = comm.all_reduce max %{{.*}} on @world : tensor<4xbf16>
// CHECK-NEXT:      %[[MAX:.*]] = arith.constant 1 : index
// CHECK-NEXT:      scf.yield %[[NEXT]], %[[MAX]] : !comm.token<tensor<4xbf16>>, index
// CHECK:         comm.wait %[[LAST]]#0 : !comm.token<tensor<4xbf16>>
// CHECK:         arith.cmpi eq, %[[LAST]]#1, %{{.*}} : index
func.func @loop_of_sum_and_maxima(%x: tensor<4xbf16>, %n: index) -> tensor<4xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce sum %x on @world : tensor<4xbf16>
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

// A minimum makes room for NaN at the other end of the order.
// CHECK-LABEL: func.func @select_of_minimum_and_maximum
// CHECK-SAME:      (%{{.*}}: tensor<4xf32>, %[[C:.*]]: i1)
// CHECK:           %[[O:.*]] = arith.select
// CHECK-NEXT:      arith.constant 0 : i32
// CHECK-NEXT:      arith.cmpi slt, %[[O]], %{{.*}} : i32
// CHECK-NEXT:      %[[UP:.*]] = arith.constant 1 : i32
// CHECK-NEXT:      arith.addi %[[O]], %[[UP]] : i32
// CHECK-NEXT:      arith.select
// CHECK-NEXT:      arith.constant -2139095041 : i32
// CHECK:         %[[A:.*]] = comm.all_reduce min %{{.*}} on @world : tensor<4xf32>
// CHECK-NEXT:    %[[MIN:.*]] = arith.constant 0 : index
// CHECK:         %[[B:.*]] = comm.all_reduce max %{{.*}} on @world : tensor<4xf32>
// CHECK-NEXT:    %[[MAX:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[T:.*]] = arith.select %[[C]], %[[A]], %[[B]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT:    %[[TAG:.*]] = arith.select %[[C]], %[[MIN]], %[[MAX]] : index
// CHECK-NEXT:    comm.wait %[[T]] : !comm.token<tensor<4xf32>>
// CHECK:         arith.cmpi eq, %[[TAG]], %{{.*}} : index
func.func @select_of_minimum_and_maximum(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %a = comm.all_reduce min %x on @world : tensor<4xf32>
  %b = comm.all_reduce max %x on @world : tensor<4xf32>
  %t = arith.select %c, %a, %b : !comm.token<tensor<4xf32>>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
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

// Reductions of i16 are replaced by those of i32, each kind with its own tag.
// CHECK-LABEL: func.func @blocks
// CHECK:         %[[A:.*]] = comm.all_reduce sum %{{.*}} on @world : tensor<4xi32>
// CHECK-NEXT:    %[[SUM:.*]] = arith.constant 0 : index
// CHECK-NEXT:    cf.br ^[[JOIN:.*]](%[[A]], %[[SUM]] : !comm.token<tensor<4xi32>>, index)
// CHECK:         %[[B:.*]] = comm.all_reduce max %{{.*}} on @world : tensor<4xi32>
// CHECK-NEXT:    %[[MAX:.*]] = arith.constant 1 : index
// CHECK-NEXT:    cf.br ^[[JOIN]](%[[B]], %[[MAX]] : !comm.token<tensor<4xi32>>, index)
// CHECK:       ^[[JOIN]](%[[T:.*]]: !comm.token<tensor<4xi32>>, %[[TAG:.*]]: index):
// CHECK-NEXT:    comm.wait %[[T]] : !comm.token<tensor<4xi32>>
func.func @blocks(%x: tensor<4xi16>, %c: i1) -> tensor<4xi16> {
  cf.cond_br %c, ^sum, ^max
^sum:
  %a = comm.all_reduce sum %x on @world : tensor<4xi16>
  cf.br ^join(%a : !comm.token<tensor<4xi16>>)
^max:
  %b = comm.all_reduce max %x on @world : tensor<4xi16>
  cf.br ^join(%b : !comm.token<tensor<4xi16>>)
^join(%t: !comm.token<tensor<4xi16>>):
  %r = comm.wait %t : !comm.token<tensor<4xi16>>
  return %r : tensor<4xi16>
}

// -----

comm.group @world all

// A token that no wait undoes in another way needs no tag: NCCL has a `max` of i1.
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
