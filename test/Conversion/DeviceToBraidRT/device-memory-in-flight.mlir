// Operations in flight write pieces of the arena: what the runtime gives for it
// has the same pieces, so that the validation of the pass finds no conflict.
//
// RUN: braid-opt %s --convert-device-memory-to-braid-rt | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @pieces
// CHECK:         %[[BASE:.*]] = llvm.call @braid_rt_arena
// CHECK:         %[[ARENA:.*]] = builtin.unrealized_conversion_cast %{{.*}} : !llvm.struct<{{.*}}> to memref<64xi8>
// CHECK-NEXT:    %[[FIRST:.*]] = memref.view %[[ARENA]][%c0]
// CHECK-NEXT:    comm.all_gather %{{.*}} into %[[FIRST]]
// CHECK-NEXT:    %[[SECOND:.*]] = memref.view %[[ARENA]][%c32]
// CHECK-NEXT:    comm.all_gather %{{.*}} into %[[SECOND]]
func.func @pieces(%x: memref<4xf32>, %y: memref<4xf32>) -> memref<64xi8> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %arena = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<64xi8>
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<8xf32>
  %t = comm.all_gather %x into %a on @world dim 0 : memref<4xf32>, memref<8xf32>
  %b = memref.view %arena[%c32][] : memref<64xi8> to memref<8xf32>
  %u = comm.all_gather %y into %b on @world dim 0 : memref<4xf32>, memref<8xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%a : memref<8xf32>) : !comm.token
  comm.wait %u reads(%y : memref<4xf32>) writes(%b : memref<8xf32>) : !comm.token
  return %arena : memref<64xi8>
}

// CHECK-LABEL: func.func @piece_of_a_piece
// CHECK:         %[[ARENA:.*]] = builtin.unrealized_conversion_cast %{{.*}} : !llvm.struct<{{.*}}> to memref<64xi8>
// CHECK-NEXT:    %[[WHOLE:.*]] = memref.view %[[ARENA]][%c0]
// CHECK-NEXT:    %[[HALF:.*]] = memref.subview %[[WHOLE]][8] [8] [1]
// CHECK-NEXT:    comm.all_gather %{{.*}} into %[[HALF]]
// CHECK-NEXT:    %[[OTHER:.*]] = memref.view %[[ARENA]][%c0]
// CHECK-NEXT:    comm.all_gather %{{.*}} into %[[OTHER]]
func.func @piece_of_a_piece(%x: memref<4xf32>, %y: memref<4xf32>) -> memref<64xi8> {
  %c0 = arith.constant 0 : index
  %arena = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<64xi8>
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  %half = memref.subview %a[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  %t = comm.all_gather %x into %half on @world dim 0 : memref<4xf32>, memref<8xf32, strided<[1], offset: 8>>
  %b = memref.view %arena[%c0][] : memref<64xi8> to memref<8xf32>
  %u = comm.all_gather %y into %b on @world dim 0 : memref<4xf32>, memref<8xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%half : memref<8xf32, strided<[1], offset: 8>>) : !comm.token
  comm.wait %u reads(%y : memref<4xf32>) writes(%b : memref<8xf32>) : !comm.token
  return %arena : memref<64xi8>
}
