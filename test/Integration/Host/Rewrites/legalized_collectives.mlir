// The replacements of collectives that NCCL lacks give the same bits, in groups of
// any size.
//
// RUN: braid-run %s --ranks=3 --passes='func.func(comm-legalize-for-nccl)' --compare-results \
// RUN:   --arg=random:1 --arg=random:2 --arg=random:3 --arg=random:4 --arg=random:5 | FileCheck %s
// RUN: braid-opt %s --comm-legalize-for-nccl | FileCheck %s --check-prefix=BYTES

// CHECK: the results of all 3 ranks are the same, bit for bit
// BYTES-NOT: comm.{{.*}} {{band|bor|bxor}}
// BYTES:     comm.all_reduce min %{{.*}} on @world : tensor<8x6xi8>
// BYTES-NOT: comm.{{.*}} {{band|bor|bxor}}

comm.group @world all
comm.group @known [[2, 0, 1]]

func.func @main(%a: tensor<6xi8>, %b: tensor<3x2xi16>, %c: tensor<5xi32>, %d: tensor<i64>, %e: tensor<6xi1>)
    -> (tensor<6xi8>, tensor<3x2xi16>, tensor<5xi32>, tensor<i64>, tensor<6xi1>, tensor<5xi32>, tensor<2xi8>, tensor<5xi32>, tensor<6xi1>) {
  %0 = comm.all_reduce band %a on @world : tensor<6xi8>
  %1 = comm.all_reduce bor %b on @world : tensor<3x2xi16>
  %2 = comm.all_reduce bxor %c on @world : tensor<5xi32>
  %3 = comm.all_reduce bxor %d on @world : tensor<i64>
  %4 = comm.all_reduce bxor %e on @world : tensor<6xi1>
  %5 = comm.reduce bxor %c on @world root 1 : tensor<5xi32>
  %6 = comm.reduce_scatter band %a on @world dim 0 : tensor<6xi8> -> tensor<2xi8>
  %7 = comm.reduce bor %c on @known root 2 : tensor<5xi32>
  %8 = comm.all_reduce bor %e on @known : tensor<6xi1>
  %r0 = comm.wait %0 : !comm.token<tensor<6xi8>>
  %r1 = comm.wait %1 : !comm.token<tensor<3x2xi16>>
  %r2 = comm.wait %2 : !comm.token<tensor<5xi32>>
  %r3 = comm.wait %3 : !comm.token<tensor<i64>>
  %r4 = comm.wait %4 : !comm.token<tensor<6xi1>>
  %r5 = comm.wait %5 : !comm.token<tensor<5xi32>>
  %r6 = comm.wait %6 : !comm.token<tensor<2xi8>>
  %r7 = comm.wait %7 : !comm.token<tensor<5xi32>>
  %r8 = comm.wait %8 : !comm.token<tensor<6xi1>>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8
      : tensor<6xi8>, tensor<3x2xi16>, tensor<5xi32>, tensor<i64>, tensor<6xi1>, tensor<5xi32>, tensor<2xi8>, tensor<5xi32>, tensor<6xi1>
}
