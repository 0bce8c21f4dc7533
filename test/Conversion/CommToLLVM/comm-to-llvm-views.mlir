// An operand becomes a view (braid_rt_view): where its data is, its sizes, and the
// numbers of its element type and of its dimensions.
//
// RUN: braid-opt %s --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts --canonicalize | FileCheck %s

comm.group @world all

// Sizes that are known are a constant.
// CHECK-LABEL: llvm.func @static_sizes(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr)
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[EMPTY:.*]] = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-DAG:     %[[F16:.*]] = llvm.mlir.constant(5 : i32)
// CHECK-DAG:     %[[RANK:.*]] = llvm.mlir.constant(3 : i32)
// CHECK-DAG:     %[[SIZES:.*]] = llvm.mlir.addressof @[[$STATIC_SIZES:__braid_array_[0-9]+]] :
// CHECK:         %[[V0:.*]] = llvm.insertvalue %[[A]], %[[EMPTY]][0]
// CHECK-NEXT:    %[[V1:.*]] = llvm.insertvalue %[[SIZES]], %[[V0]][1]
// CHECK-NEXT:    %[[V2:.*]] = llvm.insertvalue %[[F16]], %[[V1]][2]
// CHECK-NEXT:    %[[V3:.*]] = llvm.insertvalue %[[RANK]], %[[V2]][3]
// CHECK-NEXT:    %[[VIEWS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[V3]], %[[VIEWS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.call @braid_rt_send(%{{.*}}, %[[ONE]], %[[VIEWS]],
func.func @static_sizes(%a: memref<9x8x6xf16>) attributes {llvm.bareptr} {
  %t = comm.send %a on @world to 1 : memref<9x8x6xf16>
  comm.wait %t reads(%a : memref<9x8x6xf16>) : !comm.token
  return
}

// If one is not known, all come from the descriptor, by way of the stack.
// CHECK-LABEL: llvm.func @dynamic_sizes(
// CHECK-SAME:    %{{[^,]*}}: !llvm.ptr, %[[A:[^,]*]]: !llvm.ptr, %{{[^,]*}}: i64, %[[SIZE0:[^,]*]]: i64, %[[SIZE1:[^,]*]]: i64, %{{[^,]*}}: i64, %{{[^,]*}}: i64)
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[EMPTY:.*]] = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-DAG:     %[[F64:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG:     %[[RANK:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG:     %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[SIZES:.*]] = llvm.alloca %[[TWO]] x i64
// CHECK-NEXT:    llvm.store %[[SIZE0]], %[[SIZES]] : i64
// CHECK-NEXT:    %[[SECOND:.*]] = llvm.getelementptr %[[SIZES]][1]
// CHECK-NEXT:    llvm.store %[[SIZE1]], %[[SECOND]] : i64
// CHECK-NEXT:    %[[V0:.*]] = llvm.insertvalue %[[A]], %[[EMPTY]][0]
// CHECK-NEXT:    %[[V1:.*]] = llvm.insertvalue %[[SIZES]], %[[V0]][1]
// CHECK-NEXT:    %[[V2:.*]] = llvm.insertvalue %[[F64]], %[[V1]][2]
// CHECK-NEXT:    %[[V3:.*]] = llvm.insertvalue %[[RANK]], %[[V2]][3]
// CHECK-NEXT:    %[[VIEWS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[V3]], %[[VIEWS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.call @braid_rt_send(%{{.*}}, %[[ONE]], %[[VIEWS]],
func.func @dynamic_sizes(%a: memref<?x8xf64>) {
  %t = comm.send %a on @world to 1 : memref<?x8xf64>
  comm.wait %t reads(%a : memref<?x8xf64>) : !comm.token
  return
}

// Without dimensions there are no sizes.
// CHECK-LABEL: llvm.func @no_dimensions(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr)
// CHECK-DAG:     %[[EMPTY:.*]] = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-DAG:     %[[I8:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG:     %[[RANK:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[NULL:.*]] = llvm.mlir.zero
// CHECK:         %[[V0:.*]] = llvm.insertvalue %[[A]], %[[EMPTY]][0]
// CHECK-NEXT:    %[[V1:.*]] = llvm.insertvalue %[[NULL]], %[[V0]][1]
// CHECK-NEXT:    %[[V2:.*]] = llvm.insertvalue %[[I8]], %[[V1]][2]
// CHECK-NEXT:    %[[V3:.*]] = llvm.insertvalue %[[RANK]], %[[V2]][3]
// CHECK:         llvm.store %[[V3]],
func.func @no_dimensions(%a: memref<i8>) attributes {llvm.bareptr} {
  %t = comm.send %a on @world to 1 : memref<i8>
  comm.wait %t reads(%a : memref<i8>) : !comm.token
  return
}

// A view of a part of a buffer begins at the offset.
// CHECK-LABEL: llvm.func @offset(
// CHECK-SAME:    %{{[^,]*}}: !llvm.ptr, %[[A:[^,]*]]: !llvm.ptr, %[[OFFSET:[^,]*]]: i64,
// CHECK:         %[[DATA:.*]] = llvm.getelementptr %[[A]][%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         llvm.insertvalue %[[DATA]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
func.func @offset(%a: memref<9xf32, strided<[1], offset: ?>>) {
  %t = comm.send %a on @world to 1 : memref<9xf32, strided<[1], offset: ?>>
  comm.wait %t reads(%a : memref<9xf32, strided<[1], offset: ?>>) : !comm.token
  return
}

// Every element type has a number. The views stand in the order of the operands.
// CHECK-LABEL: llvm.func @element_types(
// CHECK-SAME:    %[[A0:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A1:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A2:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A3:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A4:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A5:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A6:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A7:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A8:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A9:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A10:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A11:[^,]*]]: !llvm.ptr,
// CHECK-SAME:    %[[A12:[^,]*]]: !llvm.ptr)
// CHECK-DAG:     %[[COUNT:.*]] = llvm.mlir.constant(13 : i64)
// CHECK-DAG:     %[[I1:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[I8:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG:     %[[I16:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG:     %[[I32:.*]] = llvm.mlir.constant(3 : i32)
// CHECK-DAG:     %[[I64:.*]] = llvm.mlir.constant(4 : i32)
// CHECK-DAG:     %[[F16:.*]] = llvm.mlir.constant(5 : i32)
// CHECK-DAG:     %[[BF16:.*]] = llvm.mlir.constant(6 : i32)
// CHECK-DAG:     %[[F32:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG:     %[[F64:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG:     %[[COMPLEX_F32:.*]] = llvm.mlir.constant(9 : i32)
// CHECK-DAG:     %[[COMPLEX_F64:.*]] = llvm.mlir.constant(10 : i32)
// CHECK-DAG:     %[[F8E4M3FN:.*]] = llvm.mlir.constant(11 : i32)
// CHECK-DAG:     %[[F8E5M2:.*]] = llvm.mlir.constant(12 : i32)
// CHECK:         llvm.insertvalue %[[A0]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[I1]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW0:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A1]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[I8]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW1:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A2]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[I16]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW2:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A3]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[I32]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW3:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A4]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[I64]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW4:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A5]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[F16]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW5:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A6]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[BF16]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW6:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A7]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[F32]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW7:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A8]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[F64]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW8:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A9]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[COMPLEX_F32]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW9:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A10]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[COMPLEX_F64]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW10:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A11]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[F8E4M3FN]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW11:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    llvm.insertvalue %[[A12]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[F8E5M2]], %{{.*}}[2]
// CHECK-NEXT:    %[[VIEW12:.*]] = llvm.insertvalue %{{.*}}[3]
// CHECK-NEXT:    %[[VIEWS:.*]] = llvm.alloca %[[COUNT]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW0]], %[[VIEWS]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW1]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW2]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW3]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][4] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW4]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][5] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW5]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][6] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW6]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][7] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW7]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][8] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW8]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][9] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW9]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][10] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW10]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][11] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW11]], %[[PLACE]] :
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[VIEWS]][12] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %[[VIEW12]], %[[PLACE]] :
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[COUNT]] x
// CHECK:         llvm.call @braid_rt_broadcast(%{{.*}}, %[[COUNT]], %[[VIEWS]], %[[DESTINATIONS]],
func.func @element_types(%a0: memref<9x8xi1>,
    %a1: memref<9x8xi8>,
    %a2: memref<9x8xi16>,
    %a3: memref<9x8xi32>,
    %a4: memref<9x8xi64>,
    %a5: memref<9x8xf16>,
    %a6: memref<9x8xbf16>,
    %a7: memref<9x8xf32>,
    %a8: memref<9x8xf64>,
    %a9: memref<9x8xcomplex<f32>>,
    %a10: memref<9x8xcomplex<f64>>,
    %a11: memref<9x8xf8E4M3FN>,
    %a12: memref<9x8xf8E5M2>) attributes {llvm.bareptr} {
  %t:13 = comm.broadcast %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12
      into %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12 on @world root 1
      : memref<9x8xi1>, memref<9x8xi8>, memref<9x8xi16>, memref<9x8xi32>,
        memref<9x8xi64>, memref<9x8xf16>, memref<9x8xbf16>, memref<9x8xf32>,
        memref<9x8xf64>, memref<9x8xcomplex<f32>>, memref<9x8xcomplex<f64>>, memref<9x8xf8E4M3FN>,
        memref<9x8xf8E5M2>,
        memref<9x8xi1>, memref<9x8xi8>, memref<9x8xi16>, memref<9x8xi32>,
        memref<9x8xi64>, memref<9x8xf16>, memref<9x8xbf16>, memref<9x8xf32>,
        memref<9x8xf64>, memref<9x8xcomplex<f32>>, memref<9x8xcomplex<f64>>, memref<9x8xf8E4M3FN>,
        memref<9x8xf8E5M2>
  comm.wait %t#0 writes(%a0 : memref<9x8xi1>) : !comm.token
  comm.wait %t#1 writes(%a1 : memref<9x8xi8>) : !comm.token
  comm.wait %t#2 writes(%a2 : memref<9x8xi16>) : !comm.token
  comm.wait %t#3 writes(%a3 : memref<9x8xi32>) : !comm.token
  comm.wait %t#4 writes(%a4 : memref<9x8xi64>) : !comm.token
  comm.wait %t#5 writes(%a5 : memref<9x8xf16>) : !comm.token
  comm.wait %t#6 writes(%a6 : memref<9x8xbf16>) : !comm.token
  comm.wait %t#7 writes(%a7 : memref<9x8xf32>) : !comm.token
  comm.wait %t#8 writes(%a8 : memref<9x8xf64>) : !comm.token
  comm.wait %t#9 writes(%a9 : memref<9x8xcomplex<f32>>) : !comm.token
  comm.wait %t#10 writes(%a10 : memref<9x8xcomplex<f64>>) : !comm.token
  comm.wait %t#11 writes(%a11 : memref<9x8xf8E4M3FN>) : !comm.token
  comm.wait %t#12 writes(%a12 : memref<9x8xf8E5M2>) : !comm.token
  return
}

// CHECK: llvm.mlir.global private constant @[[$STATIC_SIZES]](dense<[9, 8, 6]> : tensor<3xi64>)
