// A matmul becomes a call of the library. All arguments of the calls
// are pinned: element type, transposition, sizes, and of each matrix its data, the
// distance between rows and that between the matrices of a batch. The sizes and
// distances of one call differ; the canonicalizer makes constants of them.
//
// RUN: braid-opt %s --convert-linalg-to-braid-rt --canonicalize | FileCheck %s
//
// Without the library every matmul becomes loops.
// RUN: braid-opt %s --convert-linalg-to-braid-rt=library=false | FileCheck %s --check-prefix=LOOPS --implicit-check-not=braid_rt

// CHECK-DAG: llvm.func @braid_rt_matmul(i32, i32, i32, i64, i64, i64, !llvm.ptr, i64, !llvm.ptr, i64, f64, !llvm.ptr, i64, !llvm.ptr)
// CHECK-DAG: llvm.func @braid_rt_batch_matmul(i32, i32, i32, i64, i64, i64, i64, !llvm.ptr, i64, i64, !llvm.ptr, i64, i64, f64, !llvm.ptr, i64, i64, !llvm.ptr)

// A matmul is added to what the result holds: the factor of the result is 1.
// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[A:[^:]*]]: memref<4x10xf32, strided<[11, 1]>>, %[[B:[^:]*]]: memref<10x6xf32, strided<[12, 1]>>, %[[C:[^:]*]]: memref<4x6xf32, strided<[13, 1]>>)
// CHECK-DAG:     %[[F32:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG:     %[[NO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[M:.*]] = arith.constant 4 : i64
// CHECK-DAG:     %[[N:.*]] = arith.constant 6 : i64
// CHECK-DAG:     %[[K:.*]] = arith.constant 10 : i64
// CHECK-DAG:     %[[LDA:.*]] = arith.constant 11 : i64
// CHECK-DAG:     %[[LDB:.*]] = arith.constant 12 : i64
// CHECK-DAG:     %[[LDC:.*]] = arith.constant 13 : i64
// CHECK-DAG:     %[[BETA:.*]] = llvm.mlir.constant(1.000000e+00 : f64)
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK:         %[[IA:.*]] = memref.extract_aligned_pointer_as_index %[[A]] :
// CHECK-NEXT:    %[[JA:.*]] = arith.index_cast %[[IA]] : index to i64
// CHECK-NEXT:    %[[PA:.*]] = llvm.inttoptr %[[JA]] : i64 to !llvm.ptr
// CHECK:         %[[IB:.*]] = memref.extract_aligned_pointer_as_index %[[B]] :
// CHECK-NEXT:    %[[JB:.*]] = arith.index_cast %[[IB]] : index to i64
// CHECK-NEXT:    %[[PB:.*]] = llvm.inttoptr %[[JB]] : i64 to !llvm.ptr
// CHECK:         %[[IC:.*]] = memref.extract_aligned_pointer_as_index %[[C]] :
// CHECK-NEXT:    %[[JC:.*]] = arith.index_cast %[[IC]] : index to i64
// CHECK-NEXT:    %[[PC:.*]] = llvm.inttoptr %[[JC]] : i64 to !llvm.ptr
// CHECK-NEXT:    llvm.call @braid_rt_matmul(%[[F32]], %[[NO]], %[[NO]], %[[M]], %[[N]], %[[K]], %[[PA]], %[[LDA]], %[[PB]], %[[LDB]], %[[BETA]], %[[PC]], %[[LDC]], %[[SITE]])
// CHECK-NEXT:    return

// LOOPS-LABEL: func.func @product(
// LOOPS-SAME:    %[[C:[^:]*]]: memref<4x6xf32, strided<[13, 1]>>) {
// LOOPS-NEXT:    linalg.generic {{.*}} outs(%[[C]] :
func.func @product(%a: memref<4x10xf32, strided<[11, 1]>>, %b: memref<10x6xf32, strided<[12, 1]>>, %c: memref<4x6xf32, strided<[13, 1]>>) {
  linalg.matmul ins(%a, %b : memref<4x10xf32, strided<[11, 1]>>, memref<10x6xf32, strided<[12, 1]>>) outs(%c : memref<4x6xf32, strided<[13, 1]>>)
  return
}

// The mark of a matmul that overwrites its result makes the factor 0.
// CHECK-LABEL: func.func @overwrites(
// CHECK-SAME:    %[[A:[^:]*]]: memref<4x10xf32, strided<[11, 1]>>, %[[B:[^:]*]]: memref<10x6xf32, strided<[12, 1]>>, %[[C:[^:]*]]: memref<4x6xf32, strided<[13, 1]>>)
// CHECK-DAG:     %[[F32:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG:     %[[NO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[M:.*]] = arith.constant 4 : i64
// CHECK-DAG:     %[[N:.*]] = arith.constant 6 : i64
// CHECK-DAG:     %[[K:.*]] = arith.constant 10 : i64
// CHECK-DAG:     %[[LDA:.*]] = arith.constant 11 : i64
// CHECK-DAG:     %[[LDB:.*]] = arith.constant 12 : i64
// CHECK-DAG:     %[[LDC:.*]] = arith.constant 13 : i64
// CHECK-DAG:     %[[BETA:.*]] = llvm.mlir.constant(0.000000e+00 : f64)
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK:         %[[IA:.*]] = memref.extract_aligned_pointer_as_index %[[A]] :
// CHECK-NEXT:    %[[JA:.*]] = arith.index_cast %[[IA]] : index to i64
// CHECK-NEXT:    %[[PA:.*]] = llvm.inttoptr %[[JA]] : i64 to !llvm.ptr
// CHECK:         %[[IB:.*]] = memref.extract_aligned_pointer_as_index %[[B]] :
// CHECK-NEXT:    %[[JB:.*]] = arith.index_cast %[[IB]] : index to i64
// CHECK-NEXT:    %[[PB:.*]] = llvm.inttoptr %[[JB]] : i64 to !llvm.ptr
// CHECK:         %[[IC:.*]] = memref.extract_aligned_pointer_as_index %[[C]] :
// CHECK-NEXT:    %[[JC:.*]] = arith.index_cast %[[IC]] : index to i64
// CHECK-NEXT:    %[[PC:.*]] = llvm.inttoptr %[[JC]] : i64 to !llvm.ptr
// CHECK-NEXT:    llvm.call @braid_rt_matmul(%[[F32]], %[[NO]], %[[NO]], %[[M]], %[[N]], %[[K]], %[[PA]], %[[LDA]], %[[PB]], %[[LDB]], %[[BETA]], %[[PC]], %[[LDC]], %[[SITE]])
// CHECK-NEXT:    return

// LOOPS-LABEL: func.func @overwrites(
// LOOPS-SAME:    %[[C:[^:]*]]: memref<4x6xf32, strided<[13, 1]>>) {
// LOOPS:         linalg.fill ins(%{{.*}}) outs(%[[C]] :
// LOOPS-NEXT:    linalg.generic {{.*}} outs(%[[C]] :
func.func @overwrites(%a: memref<4x10xf32, strided<[11, 1]>>, %b: memref<10x6xf32, strided<[12, 1]>>, %c: memref<4x6xf32, strided<[13, 1]>>) {
  linalg.matmul {braid.overwrites} ins(%a, %b : memref<4x10xf32, strided<[11, 1]>>, memref<10x6xf32, strided<[12, 1]>>) outs(%c : memref<4x6xf32, strided<[13, 1]>>)
  return
}

// The distance between rows is that of the matrix as it is stored.
// CHECK-LABEL: func.func @transposed_a(
// CHECK-SAME:    %[[A:[^:]*]]: memref<10x4xf64, strided<[11, 1]>>, %[[B:[^:]*]]: memref<10x6xf64, strided<[12, 1]>>, %[[C:[^:]*]]: memref<4x6xf64, strided<[13, 1]>>)
// CHECK-DAG:     %[[F64:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG:     %[[YES:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG:     %[[NO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[M:.*]] = arith.constant 4 : i64
// CHECK-DAG:     %[[N:.*]] = arith.constant 6 : i64
// CHECK-DAG:     %[[K:.*]] = arith.constant 10 : i64
// CHECK-DAG:     %[[LDA:.*]] = arith.constant 11 : i64
// CHECK-DAG:     %[[LDB:.*]] = arith.constant 12 : i64
// CHECK-DAG:     %[[LDC:.*]] = arith.constant 13 : i64
// CHECK-DAG:     %[[BETA:.*]] = llvm.mlir.constant(1.000000e+00 : f64)
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK:         %[[IA:.*]] = memref.extract_aligned_pointer_as_index %[[A]] :
// CHECK-NEXT:    %[[JA:.*]] = arith.index_cast %[[IA]] : index to i64
// CHECK-NEXT:    %[[PA:.*]] = llvm.inttoptr %[[JA]] : i64 to !llvm.ptr
// CHECK:         %[[IB:.*]] = memref.extract_aligned_pointer_as_index %[[B]] :
// CHECK-NEXT:    %[[JB:.*]] = arith.index_cast %[[IB]] : index to i64
// CHECK-NEXT:    %[[PB:.*]] = llvm.inttoptr %[[JB]] : i64 to !llvm.ptr
// CHECK:         %[[IC:.*]] = memref.extract_aligned_pointer_as_index %[[C]] :
// CHECK-NEXT:    %[[JC:.*]] = arith.index_cast %[[IC]] : index to i64
// CHECK-NEXT:    %[[PC:.*]] = llvm.inttoptr %[[JC]] : i64 to !llvm.ptr
// CHECK-NEXT:    llvm.call @braid_rt_matmul(%[[F64]], %[[YES]], %[[NO]], %[[M]], %[[N]], %[[K]], %[[PA]], %[[LDA]], %[[PB]], %[[LDB]], %[[BETA]], %[[PC]], %[[LDC]], %[[SITE]])
// CHECK-NEXT:    return

// LOOPS-LABEL: func.func @transposed_a(
// LOOPS-SAME:    %[[C:[^:]*]]: memref<4x6xf64, strided<[13, 1]>>) {
// LOOPS-NEXT:    linalg.generic {{.*}} outs(%[[C]] :
func.func @transposed_a(%a: memref<10x4xf64, strided<[11, 1]>>, %b: memref<10x6xf64, strided<[12, 1]>>, %c: memref<4x6xf64, strided<[13, 1]>>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<10x4xf64, strided<[11, 1]>>, memref<10x6xf64, strided<[12, 1]>>) outs(%c : memref<4x6xf64, strided<[13, 1]>>)
  return
}

// Offsets are counted in elements.
// CHECK-LABEL: func.func @transposed_b(
// CHECK-SAME:    %[[A:[^:]*]]: memref<4x10xcomplex<f32>, strided<[11, 1], offset: 7>>, %[[B:[^:]*]]: memref<6x10xcomplex<f32>, strided<[12, 1], offset: 8>>, %[[C:[^:]*]]: memref<4x6xcomplex<f32>, strided<[13, 1], offset: 9>>)
// CHECK-DAG:     %[[COMPLEX_F32:.*]] = llvm.mlir.constant(9 : i32)
// CHECK-DAG:     %[[YES:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG:     %[[NO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[M:.*]] = arith.constant 4 : i64
// CHECK-DAG:     %[[N:.*]] = arith.constant 6 : i64
// CHECK-DAG:     %[[K:.*]] = arith.constant 10 : i64
// CHECK-DAG:     %[[LDA:.*]] = arith.constant 11 : i64
// CHECK-DAG:     %[[LDB:.*]] = arith.constant 12 : i64
// CHECK-DAG:     %[[LDC:.*]] = arith.constant 13 : i64
// CHECK-DAG:     %[[BETA:.*]] = llvm.mlir.constant(1.000000e+00 : f64)
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK:         %[[IA:.*]] = memref.extract_aligned_pointer_as_index %[[A]] :
// CHECK-NEXT:    %[[JA:.*]] = arith.index_cast %[[IA]] : index to i64
// CHECK-NEXT:    %[[BA:.*]] = llvm.inttoptr %[[JA]] : i64 to !llvm.ptr
// CHECK-NEXT:    %[[PA:.*]] = llvm.getelementptr %[[BA]][7] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(f32, f32)>
// CHECK:         %[[IB:.*]] = memref.extract_aligned_pointer_as_index %[[B]] :
// CHECK-NEXT:    %[[JB:.*]] = arith.index_cast %[[IB]] : index to i64
// CHECK-NEXT:    %[[BB:.*]] = llvm.inttoptr %[[JB]] : i64 to !llvm.ptr
// CHECK-NEXT:    %[[PB:.*]] = llvm.getelementptr %[[BB]][8] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(f32, f32)>
// CHECK:         %[[IC:.*]] = memref.extract_aligned_pointer_as_index %[[C]] :
// CHECK-NEXT:    %[[JC:.*]] = arith.index_cast %[[IC]] : index to i64
// CHECK-NEXT:    %[[BC:.*]] = llvm.inttoptr %[[JC]] : i64 to !llvm.ptr
// CHECK-NEXT:    %[[PC:.*]] = llvm.getelementptr %[[BC]][9] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(f32, f32)>
// CHECK-NEXT:    llvm.call @braid_rt_matmul(%[[COMPLEX_F32]], %[[NO]], %[[YES]], %[[M]], %[[N]], %[[K]], %[[PA]], %[[LDA]], %[[PB]], %[[LDB]], %[[BETA]], %[[PC]], %[[LDC]], %[[SITE]])
// CHECK-NEXT:    return

// LOOPS-LABEL: func.func @transposed_b(
// LOOPS-SAME:    %[[C:[^:]*]]: memref<4x6xcomplex<f32>, strided<[13, 1], offset: 9>>) {
// LOOPS-NEXT:    linalg.generic {{.*}} outs(%[[C]] :
func.func @transposed_b(%a: memref<4x10xcomplex<f32>, strided<[11, 1], offset: 7>>, %b: memref<6x10xcomplex<f32>, strided<[12, 1], offset: 8>>, %c: memref<4x6xcomplex<f32>, strided<[13, 1], offset: 9>>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<4x10xcomplex<f32>, strided<[11, 1], offset: 7>>, memref<6x10xcomplex<f32>, strided<[12, 1], offset: 8>>) outs(%c : memref<4x6xcomplex<f32>, strided<[13, 1], offset: 9>>)
  return
}

// A batch has a number of matrices, and a distance between those of each operand.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME:    %[[A:[^:]*]]: memref<3x4x10xcomplex<f64>, strided<[50, 11, 1]>>, %[[B:[^:]*]]: memref<3x10x6xcomplex<f64>, strided<[130, 12, 1], offset: 17>>, %[[C:[^:]*]]: memref<3x4x6xcomplex<f64>, strided<[60, 14, 1]>>)
// CHECK-DAG:     %[[COMPLEX_F64:.*]] = llvm.mlir.constant(10 : i32)
// CHECK-DAG:     %[[NO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[BATCH:.*]] = arith.constant 3 : i64
// CHECK-DAG:     %[[M:.*]] = arith.constant 4 : i64
// CHECK-DAG:     %[[N:.*]] = arith.constant 6 : i64
// CHECK-DAG:     %[[K:.*]] = arith.constant 10 : i64
// CHECK-DAG:     %[[LDA:.*]] = arith.constant 11 : i64
// CHECK-DAG:     %[[STRIDEA:.*]] = arith.constant 50 : i64
// CHECK-DAG:     %[[LDB:.*]] = arith.constant 12 : i64
// CHECK-DAG:     %[[STRIDEB:.*]] = arith.constant 130 : i64
// CHECK-DAG:     %[[LDC:.*]] = arith.constant 14 : i64
// CHECK-DAG:     %[[STRIDEC:.*]] = arith.constant 60 : i64
// CHECK-DAG:     %[[BETA:.*]] = llvm.mlir.constant(0.000000e+00 : f64)
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK:         %[[IA:.*]] = memref.extract_aligned_pointer_as_index %[[A]] :
// CHECK-NEXT:    %[[JA:.*]] = arith.index_cast %[[IA]] : index to i64
// CHECK-NEXT:    %[[PA:.*]] = llvm.inttoptr %[[JA]] : i64 to !llvm.ptr
// CHECK:         %[[IB:.*]] = memref.extract_aligned_pointer_as_index %[[B]] :
// CHECK-NEXT:    %[[JB:.*]] = arith.index_cast %[[IB]] : index to i64
// CHECK-NEXT:    %[[BB:.*]] = llvm.inttoptr %[[JB]] : i64 to !llvm.ptr
// CHECK-NEXT:    %[[PB:.*]] = llvm.getelementptr %[[BB]][17] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(f64, f64)>
// CHECK:         %[[IC:.*]] = memref.extract_aligned_pointer_as_index %[[C]] :
// CHECK-NEXT:    %[[JC:.*]] = arith.index_cast %[[IC]] : index to i64
// CHECK-NEXT:    %[[PC:.*]] = llvm.inttoptr %[[JC]] : i64 to !llvm.ptr
// CHECK-NEXT:    llvm.call @braid_rt_batch_matmul(%[[COMPLEX_F64]], %[[NO]], %[[NO]], %[[BATCH]], %[[M]], %[[N]], %[[K]], %[[PA]], %[[LDA]], %[[STRIDEA]], %[[PB]], %[[LDB]], %[[STRIDEB]], %[[BETA]], %[[PC]], %[[LDC]], %[[STRIDEC]], %[[SITE]])
// CHECK-NEXT:    return

// LOOPS-LABEL: func.func @batch(
// LOOPS-SAME:    %[[C:[^:]*]]: memref<3x4x6xcomplex<f64>, strided<[60, 14, 1]>>) {
// LOOPS:         linalg.fill ins(%{{.*}}) outs(%[[C]] :
// LOOPS-NEXT:    linalg.generic {{.*}} outs(%[[C]] :
func.func @batch(%a: memref<3x4x10xcomplex<f64>, strided<[50, 11, 1]>>, %b: memref<3x10x6xcomplex<f64>, strided<[130, 12, 1], offset: 17>>, %c: memref<3x4x6xcomplex<f64>, strided<[60, 14, 1]>>) {
  linalg.batch_matmul {braid.overwrites}
      ins(%a, %b : memref<3x4x10xcomplex<f64>, strided<[50, 11, 1]>>, memref<3x10x6xcomplex<f64>, strided<[130, 12, 1], offset: 17>>) outs(%c : memref<3x4x6xcomplex<f64>, strided<[60, 14, 1]>>)
  return
}

// Dynamic sizes come from the operands.
// CHECK-LABEL: func.func @dynamic_sizes(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x?xf32, strided<[?, 1], offset: ?>>, %[[B:[^:]*]]: memref<?x?xf32>, %[[C:[^:]*]]: memref<?x?xf32>)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDESA:.*]]:2 = memref.extract_strided_metadata %[[A]] :
// CHECK-NEXT:    %[[IA:.*]] = memref.extract_aligned_pointer_as_index %[[A]] :
// CHECK-NEXT:    %[[JA:.*]] = arith.index_cast %[[IA]] : index to i64
// CHECK-NEXT:    %[[BASEA:.*]] = llvm.inttoptr %[[JA]] : i64 to !llvm.ptr
// CHECK-NEXT:    %[[OFFSET64:.*]] = arith.index_cast %[[OFFSET]] : index to i64
// CHECK-NEXT:    %[[PA:.*]] = llvm.getelementptr %[[BASEA]][%[[OFFSET64]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:    %[[LDA:.*]] = arith.index_cast %[[STRIDESA]]#0 : index to i64
// CHECK-NEXT:    %{{.*}}:2, %[[STRIDESB:.*]]:2 = memref.extract_strided_metadata %[[B]] :
// CHECK:         %[[PB:.*]] = llvm.inttoptr
// CHECK-NEXT:    %[[LDB:.*]] = arith.index_cast %[[STRIDESB]]#0 : index to i64
// CHECK-NEXT:    %{{.*}}:2, %[[STRIDESC:.*]]:2 = memref.extract_strided_metadata %[[C]] :
// CHECK:         %[[PC:.*]] = llvm.inttoptr
// CHECK-NEXT:    %[[LDC:.*]] = arith.index_cast %[[STRIDESC]]#0 : index to i64
// CHECK-NEXT:    %[[M:.*]] = memref.dim %[[A]], %[[ZERO]] :
// CHECK-NEXT:    %[[M64:.*]] = arith.index_cast %[[M]] : index to i64
// CHECK-NEXT:    %[[N:.*]] = memref.dim %[[B]], %[[ONE]] :
// CHECK-NEXT:    %[[N64:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK-NEXT:    %[[K:.*]] = memref.dim %[[A]], %[[ONE]] :
// CHECK-NEXT:    %[[K64:.*]] = arith.index_cast %[[K]] : index to i64
// CHECK-NEXT:    llvm.call @braid_rt_matmul(%{{.*}}, %{{.*}}, %{{.*}}, %[[M64]], %[[N64]], %[[K64]], %[[PA]], %[[LDA]], %[[PB]], %[[LDB]], %{{.*}}, %[[PC]], %[[LDC]], %{{.*}})

// LOOPS-LABEL: func.func @dynamic_sizes(
// LOOPS-SAME:    %[[C:[^:]*]]: memref<?x?xf32>) {
// LOOPS-NEXT:    linalg.generic {{.*}} outs(%[[C]] :
func.func @dynamic_sizes(%a: memref<?x?xf32, strided<[?, 1], offset: ?>>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// The site has the position of the matmul.
// CHECK-LABEL: func.func @site(
// CHECK:         llvm.mlir.addressof @[[SITE:__braid_site_[0-9]+]] :
func.func @site(%a: memref<4x10xf32>, %b: memref<10x6xf32>, %c: memref<4x6xf32>) {
  linalg.matmul ins(%a, %b : memref<4x10xf32>, memref<10x6xf32>) outs(%c : memref<4x6xf32>) loc("prog.mlir":12:8)
  return
}

// CHECK:      llvm.mlir.global private constant @[[SITE]]() {{.*}} : !llvm.struct<(ptr, ptr, i32, i32)> {
// CHECK-DAG:    %[[FILE:.*]] = llvm.mlir.addressof @__braid_file_prog.mlir
// CHECK-DAG:    %[[LINE:.*]] = llvm.mlir.constant(12 : i32)
// CHECK-DAG:    %[[COLUMN:.*]] = llvm.mlir.constant(8 : i32)
// CHECK:        llvm.insertvalue %[[FILE]], %{{.*}}[0]
// CHECK:        llvm.insertvalue %[[LINE]], %{{.*}}[2]
// CHECK:        llvm.insertvalue %[[COLUMN]], %{{.*}}[3]
