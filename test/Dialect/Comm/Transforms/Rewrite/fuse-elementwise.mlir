// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise))' | FileCheck %s
// A second run fuses nothing.
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise,comm-fuse-elementwise))' | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise{ops-per-byte=7}))' | FileCheck %s --check-prefix=FREE

comm.group @g [[0, 1]]

// exp and abs need no collective and become one; add needs the wait and stays
// apart, or nothing would be left to hide the collective behind.

// CHECK-LABEL: func @keeps_what_hides_the_collective
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    comm.all_reduce
// CHECK-NEXT:    linalg.generic
// CHECK-SAME:      attrs = {comm.cost_ns = 107 : i64, comm.label = "exp+abs"}
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      math.absf
// CHECK:         comm.wait
// CHECK-NEXT:    linalg.generic
// CHECK-SAME:      attrs = {comm.cost_ns = 7 : i64, comm.label = "add"}
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.addf
func.func @keeps_what_hides_the_collective(%a: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %t = comm.all_reduce sum %a on @g : tensor<64xf32>
  %x = linalg.exp {comm.label = "exp", comm.cost_ns = 100 : i64} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = math.absf %x {comm.label = "abs", comm.cost_ns = 7 : i64} : tensor<64xf32>
  %r = comm.wait %t : !comm.token<tensor<64xf32>>
  %z = arith.addf %y, %r {comm.label = "add", comm.cost_ns = 7 : i64} : tensor<64xf32>
  return %z : tensor<64xf32>
}

// Both depend on the same collective, one of them through a collective that
// depends on it: not the same set.

// CHECK-LABEL: func @compares_transitive_dependences
// CHECK:         comm.wait
// CHECK-NEXT:    linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      math.absf
// CHECK:         comm.all_reduce
// CHECK-NEXT:    linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.cos
// CHECK:         comm.wait
// CHECK-NEXT:    linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.addf
func.func @compares_transitive_dependences(%a: tensor<64xf32>) -> tensor<64xf32> {
  %t = comm.all_reduce sum %a on @g : tensor<64xf32>
  %r = comm.wait %t : !comm.token<tensor<64xf32>>
  %x = math.exp %r : tensor<64xf32>
  %y = math.absf %x : tensor<64xf32>
  %u = comm.all_reduce sum %y on @g : tensor<64xf32>
  %c = math.cos %y : tensor<64xf32>
  %s = comm.wait %u : !comm.token<tensor<64xf32>>
  %z = arith.addf %c, %s : tensor<64xf32>
  return %z : tensor<64xf32>
}

// An expensive value with two users is not computed twice: one op computes both.

// CHECK-LABEL: func @keeps_shared_producer
// CHECK-COUNT-1: math.exp
// CHECK:         linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NEXT:    } -> (tensor<64xf32>, tensor<64xf32>)
// CHECK-NEXT:    return
func.func @keeps_shared_producer(%a: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %x = math.exp %a : tensor<64xf32>
  %y = math.absf %x : tensor<64xf32>
  %z = math.cos %x : tensor<64xf32>
  return %y, %z : tensor<64xf32>, tensor<64xf32>
}

// A matmul stays one that the library knows.

// CHECK-LABEL: func @keeps_matmul
// CHECK:         linalg.generic
// CHECK:         linalg.matmul
func.func @keeps_matmul(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = math.exp %a : tensor<8x8xf32>
  %d = linalg.matmul ins(%x, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// The cost of an op without one is not known: the sum is dropped.

// CHECK-LABEL: func @drops_unknown_cost
// CHECK:         linalg.generic
// CHECK-SAME:      attrs = {comm.label = "exp"}
func.func @drops_unknown_cost(%a: tensor<64xf32>) -> tensor<64xf32> {
  %x = math.exp %a {comm.label = "exp", comm.cost_ns = 5 : i64} : tensor<64xf32>
  %y = math.absf %x : tensor<64xf32>
  return %y : tensor<64xf32>
}

// Each op reads the result before it twice: one copy of it is enough. Copies for
// each read would be 2^24 multiplications here. The first op reads a tensor twice, too.

// CHECK-LABEL: func @copies_no_producer_that_is_read_twice
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-COUNT-24:  arith.mulf
// CHECK-NEXT:      linalg.yield
// CHECK-NEXT:    } -> tensor<8xf32>
// CHECK-NEXT:    return
func.func @copies_no_producer_that_is_read_twice(%0: tensor<8xf32>) -> tensor<8xf32> {
  %1 = arith.mulf %0, %0 : tensor<8xf32>
  %2 = arith.mulf %1, %1 : tensor<8xf32>
  %3 = arith.mulf %2, %2 : tensor<8xf32>
  %4 = arith.mulf %3, %3 : tensor<8xf32>
  %5 = arith.mulf %4, %4 : tensor<8xf32>
  %6 = arith.mulf %5, %5 : tensor<8xf32>
  %7 = arith.mulf %6, %6 : tensor<8xf32>
  %8 = arith.mulf %7, %7 : tensor<8xf32>
  %9 = arith.mulf %8, %8 : tensor<8xf32>
  %10 = arith.mulf %9, %9 : tensor<8xf32>
  %11 = arith.mulf %10, %10 : tensor<8xf32>
  %12 = arith.mulf %11, %11 : tensor<8xf32>
  %13 = arith.mulf %12, %12 : tensor<8xf32>
  %14 = arith.mulf %13, %13 : tensor<8xf32>
  %15 = arith.mulf %14, %14 : tensor<8xf32>
  %16 = arith.mulf %15, %15 : tensor<8xf32>
  %17 = arith.mulf %16, %16 : tensor<8xf32>
  %18 = arith.mulf %17, %17 : tensor<8xf32>
  %19 = arith.mulf %18, %18 : tensor<8xf32>
  %20 = arith.mulf %19, %19 : tensor<8xf32>
  %21 = arith.mulf %20, %20 : tensor<8xf32>
  %22 = arith.mulf %21, %21 : tensor<8xf32>
  %23 = arith.mulf %22, %22 : tensor<8xf32>
  %24 = arith.mulf %23, %23 : tensor<8xf32>
  return %24 : tensor<8xf32>
}

// Each user converts the shared operand itself, and reads half of the bytes.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func @computes_conversions_again
// CHECK-SAME:      (%[[A:.*]]: tensor<64x64xbf16>,
// CHECK-NOT:     -> tensor<64x64xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : tensor<64x64xbf16>) outs(%{{.*}} : tensor<64xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[A]], %{{.*}} : tensor<64x64xbf16>, tensor<64xf32>) outs(%{{.*}} : tensor<64x64xbf16>)
// CHECK:         return
func.func @computes_conversions_again(%a: tensor<64x64xbf16>, %zero: tensor<64xf32>) -> tensor<64x64xbf16> {
  %e = tensor.empty() : tensor<64x64xbf16>
  %x = arith.extf %a : tensor<64x64xbf16> to tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xbf16>) {
  ^bb0(%in: f32, %sum: f32, %out: bf16):
    %0 = arith.mulf %in, %sum : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<64x64xbf16>
  return %y : tensor<64x64xbf16>
}

// A square, which reads one tensor twice, moves no fewer bytes than its sum.

// CHECK-LABEL: func @moves_a_square_behind_a_wait
// CHECK-SAME:      (%[[A:.*]]: tensor<64x64xf32>,
// CHECK:         %[[W:.*]] = comm.wait
// CHECK-NEXT:    linalg.generic {{.*}}"reduction"]} ins(%[[A]], %[[W]] : tensor<64x64xf32>, tensor<64xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-COUNT-2:   arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
func.func @moves_a_square_behind_a_wait(%a: tensor<64x64xf32>, %b: tensor<64xf32>, %zero: tensor<64xf32>) -> tensor<64xf32> {
  %t = comm.all_reduce sum %b on @g : tensor<64xf32>
  %x = arith.mulf %a, %a : tensor<64x64xf32>
  %w = comm.wait %t : !comm.token<tensor<64xf32>>
  %s = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<64x64xf32>, tensor<64xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%in: f32, %weight: f32, %out: f32):
    %0 = arith.mulf %in, %weight : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// A matrix times a vector is a sum as others are.

// CHECK-LABEL: func @joins_a_matrix_times_a_vector
// CHECK-COUNT-1: linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.absf
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @joins_a_matrix_times_a_vector(%a: tensor<64x32xf32>, %v: tensor<32xf32>, %zero: tensor<64xf32>) -> tensor<64xf32> {
  %x = math.absf %a : tensor<64x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #column, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %v : tensor<64x32xf32>, tensor<32xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%in: f32, %weight: f32, %out: f32):
    %0 = arith.mulf %in, %weight : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// Two tensors are more bytes than their product.

// CHECK-LABEL: func @moves_no_product_behind_a_wait
// CHECK:         comm.all_reduce
// CHECK-NEXT:    linalg.generic {{.*}}"parallel"]} ins(%{{.*}}, %{{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK:         comm.wait
// CHECK-NEXT:    linalg.generic {{.*}}"reduction"]}
func.func @moves_no_product_behind_a_wait(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>, %b: tensor<64xf32>, %zero: tensor<64xf32>) -> tensor<64xf32> {
  %t = comm.all_reduce sum %b on @g : tensor<64xf32>
  %x = arith.mulf %a, %c : tensor<64x64xf32>
  %w = comm.wait %t : !comm.token<tensor<64xf32>>
  %s = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<64x64xf32>, tensor<64xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%in: f32, %weight: f32, %out: f32):
    %0 = arith.mulf %in, %weight : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// A row that is broadcast takes no time that could hide the collective, but time
// of the add behind it.

// CHECK-LABEL: func @moves_a_broadcast_behind_a_wait
// CHECK:         comm.wait
// CHECK-NEXT:    linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64x64xf32>)
// CHECK:         return
func.func @moves_a_broadcast_behind_a_wait(%row: tensor<64xf32>, %a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = comm.all_reduce sum %a on @g : tensor<64x64xf32>
  %x = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%row : tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x64xf32>
  %r = comm.wait %t : !comm.token<tensor<64x64xf32>>
  %z = arith.addf %x, %r : tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// The square root of a row is computed once for each row.

// CHECK-LABEL: func @computes_an_expensive_row_once
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<64xf32>) outs(%{{.*}} : tensor<64xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.sqrt
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64x64xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK:         return
func.func @computes_an_expensive_row_once(%row: tensor<64xf32>, %a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %x = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%row : tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.sqrt %in : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  %z = arith.mulf %x, %a : tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// Dimensions of one element, and reshapes, stand between no ops.

// CHECK-LABEL: func @fuses_through_reshapes
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.negf
// CHECK-NEXT:      arith.addf
// CHECK:         tensor.collapse_shape
// CHECK-NEXT:    return
func.func @fuses_through_reshapes(%a: tensor<8x2x1x4xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = arith.negf %a : tensor<8x2x1x4xf32>
  %c = tensor.collapse_shape %x [[0], [1, 2, 3]] : tensor<8x2x1x4xf32> into tensor<8x8xf32>
  %z = arith.addf %c, %b : tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// Where a function costs nothing beside the bytes, both users compute it, and
// nobody stores it.

// FREE-LABEL:  func @computes_a_free_function_again
// FREE-COUNT-2:  math.exp
// FREE:          return
func.func @computes_a_free_function_again(%a: tensor<64x64xf32>, %zero: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %x = math.exp %a : tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %s, %m : tensor<64xf32>, tensor<64xf32>
}

// Both halves are converted where they are read.

// CHECK-LABEL: func @moves_slices_before_conversions
// CHECK-NOT:     -> tensor<8x16xf32>
// CHECK:         %[[A:.*]] = tensor.extract_slice %{{.*}}[0, 0] [8, 8] [1, 1] : tensor<8x16xbf16>
// CHECK:         %[[B:.*]] = tensor.extract_slice %{{.*}}[0, 8] [8, 8] [1, 1] : tensor<8x16xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%{{.*}} : tensor<8x8xf32>)
// CHECK:         return
func.func @moves_slices_before_conversions(%a: tensor<8x16xbf16>) -> tensor<8x8xf32> {
  %x = arith.extf %a : tensor<8x16xbf16> to tensor<8x16xf32>
  %l = tensor.extract_slice %x[0, 0] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
  %h = tensor.extract_slice %x[0, 8] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
  %s = arith.addf %l, %h : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// The reduction reads the operand of the conversion.

#abc = affine_map<(a, c, b) -> (a, b, c)>
#ac = affine_map<(a, c, b) -> (a, c)>

// CHECK-LABEL: func @moves_a_split_before_a_conversion
// CHECK:         %[[A:.*]] = tensor.expand_shape %{{.*}} : tensor<8x16xf32> into tensor<8x2x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : tensor<8x2x8xf32>) outs(%{{.*}} : tensor<8x8xbf16>)
// CHECK:         return
func.func @moves_a_split_before_a_conversion(%a: tensor<8x16xf32>, %zero: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %x = arith.truncf %a : tensor<8x16xf32> to tensor<8x16xbf16>
  %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [8, 2, 8] : tensor<8x16xbf16> into tensor<8x2x8xbf16>
  %s = linalg.generic {indexing_maps = [#abc, #ac], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<8x2x8xbf16>) outs(%zero : tensor<8x8xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %0 = arith.addf %out, %in : bf16
    linalg.yield %0 : bf16
  } -> tensor<8x8xbf16>
  return %s : tensor<8x8xbf16>
}

// A gather reads a few elements: they are computed where it reads them.

#first = affine_map<(a, b) -> (a)>
#one = affine_map<(a) -> (a)>

// CHECK-LABEL: func @computes_elements_where_they_are_read
// CHECK-SAME:    %[[A:.*]]: tensor<8x16xbf16>, %[[M:.*]]: tensor<8xf32>, %[[PLACES:.*]]: tensor<8xi32>
// CHECK-NOT:     -> tensor<8x16xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[PLACES]] : tensor<8xi32>)
// CHECK:           %[[ROW:.*]] = linalg.index 0
// CHECK:           %[[COLUMN:.*]] = arith.index_cast
// CHECK:           %[[X:.*]] = tensor.extract %[[A]][%[[ROW]], %[[COLUMN]]]
// CHECK:           %[[Y:.*]] = tensor.extract %[[M]][%[[ROW]]]
// CHECK:           %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK:           %[[DIFFERENCE:.*]] = arith.subf %[[WIDE]], %[[Y]]
// CHECK:           %[[SUM:.*]] = arith.addf %[[DIFFERENCE]], %{{.*}}
// CHECK:           linalg.yield %[[SUM]]
// CHECK:         return
func.func @computes_elements_where_they_are_read(%a: tensor<8x16xbf16>, %m: tensor<8xf32>, %places: tensor<8xi32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8x16xf32>
  %x = linalg.generic {indexing_maps = [#id, #first, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %m : tensor<8x16xbf16>, tensor<8xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%in: bf16, %max: f32, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.subf %0, %max : f32
    %2 = linalg.index 1 : index
    %3 = arith.index_cast %2 : index to i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.addf %1, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<8x16xf32>
  %few = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%places : tensor<8xi32>) outs(%few : tensor<8xf32>) {
  ^bb0(%in: i32, %out: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %in : i32 to index
    %2 = tensor.extract %x[%0, %1] : tensor<8x16xf32>
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// More reads than elements would compute elements twice.

// CHECK-LABEL: func @keeps_what_is_read_often
// CHECK:         math.exp
// CHECK:         tensor.extract
// CHECK:         return
func.func @keeps_what_is_read_often(%a: tensor<8xf32>, %places: tensor<16xi32>) -> tensor<16xf32> {
  %x = math.exp %a : tensor<8xf32>
  %empty = tensor.empty() : tensor<16xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%places : tensor<16xi32>) outs(%empty : tensor<16xf32>) {
  ^bb0(%in: i32, %out: f32):
    %0 = arith.index_cast %in : i32 to index
    %1 = tensor.extract %x[%0] : tensor<8xf32>
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// The body reads other elements of the producer, too, so both do not become one
// op: no op reads its own result.

// CHECK-LABEL: func @keeps_what_the_body_reads
// CHECK:         %[[X:.*]] = linalg.generic
// CHECK:           math.exp
// CHECK:         linalg.generic
// CHECK:           tensor.extract %[[X]]
// CHECK:         return
func.func @keeps_what_the_body_reads(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c7 = arith.constant 7 : index
  %empty = tensor.empty() : tensor<8xf32>
  %x = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = linalg.index 0 : index
    %1 = arith.subi %c7, %0 : index
    %2 = tensor.extract %x[%1] : tensor<8xf32>
    %3 = arith.addf %in, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// Ops on buffers stay as they are.

// CHECK-LABEL: func @buffers
// CHECK-COUNT-2: linalg.generic
func.func @buffers(%a: memref<4xf32>, %b: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// The loops of the reduction have their sizes from %x and from the result: the
// comparison is no result of the op that computes it.
// CHECK-LABEL: func.func @count_of_kinds(
// CHECK:         %[[N:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<16x2xi32>) outs(%{{.*}} : tensor<16x4xf32>)
// CHECK:           linalg.index 1
// CHECK:         return %[[N]]
func.func @count_of_kinds(%x: tensor<16x2xi32>, %zero: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %empty = tensor.empty() : tensor<16x2x4xf32>
  %is = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<16x2xi32>) outs(%empty : tensor<16x2x4xf32>) {
  ^bb0(%a: i32, %o: f32):
    %k = linalg.index 2 : index
    %i = arith.index_cast %k : index to i32
    %c = arith.cmpi eq, %a, %i : i32
    %f = arith.uitofp %c : i1 to f32
    linalg.yield %f : f32
  } -> tensor<16x2x4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, k, j) -> (i, j, k)>, affine_map<(i, k, j) -> (i, k)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%is : tensor<16x2x4xf32>) outs(%zero : tensor<16x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<16x4xf32>
  return %n : tensor<16x4xf32>
}

// Without the sum of %x, which is no input of the convolution any more, nothing
// tells how far the convolution sums.
// CHECK-LABEL: func.func @sizes_of_a_convolution(
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]}
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %[[SUM]] :
func.func @sizes_of_a_convolution(%x: tensor<12xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %z = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<12xf32>) outs(%empty : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<12xf32>, tensor<5xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// No operand of the fused op has the columns of a one-hot matrix: an input that
// it does not read tells how many there are.
// CHECK-LABEL: func.func @sizes_of_a_one_hot_matrix(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor<8xi32>
// CHECK:         %[[SIZES:.*]] = tensor.empty() : tensor<64xi8>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[SIZES]] : tensor<8xi32>, tensor<64xi8>)
// CHECK:           linalg.index 1
// CHECK:           arith.addf
// CHECK:         return %[[R]]
func.func @sizes_of_a_one_hot_matrix(%x: tensor<8xi32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8xi32>) outs(%empty : tensor<8x64xf32>) {
  ^bb0(%a: i32, %o: f32):
    %index = linalg.index 1 : index
    %column = arith.index_cast %index : index to i32
    %is = arith.cmpi eq, %a, %column : i32
    %r = arith.uitofp %is : i1 to f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<8x64xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = arith.addf %o, %a : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Two inputs read the same op, each other elements of it.
// CHECK-LABEL: func.func @two_places(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor<8xi32>
// CHECK:         %[[R:[a-z0-9]+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[X]] : tensor<8xi32>, tensor<8xi32>)
// CHECK:         return %[[R]]
func.func @two_places(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %empty = tensor.empty() : tensor<8xi32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%empty : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %r = arith.addi %a, %a : i32
    linalg.yield %r : i32
  } -> tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%s, %s : tensor<8xi32>, tensor<8xi32>) outs(%y : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.maxsi %a, %b : i32
    %n = arith.minsi %m, %o : i32
    linalg.yield %n : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// A slice is updated in place.
// CHECK-LABEL: func.func @slice_in_place(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[Y:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-NOT:     tensor.empty
// CHECK:         %[[SLICE:.*]] = tensor.extract_slice %[[Y]]
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<8xf32>) outs(%[[SLICE]] : tensor<8xf32>)
// CHECK:         return
func.func @slice_in_place(%x: tensor<8xf32>, %y: tensor<4x8xf32>, %i: index, %j: index) -> tensor<4x8xf32> {
  %slice = tensor.extract_slice %y[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%slice : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %r = tensor.insert_slice %sum into %y[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The sum goes to another place: the slice stays as it is.
// CHECK-LABEL: func.func @slice_moved(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[Y:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:         %[[SLICE:.*]] = tensor.extract_slice %[[Y]]
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<8xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[SLICE]] : tensor<8xf32>, tensor<8xf32>) outs(%[[EMPTY]] : tensor<8xf32>)
// CHECK:         return
func.func @slice_moved(%x: tensor<8xf32>, %y: tensor<4x8xf32>, %i: index, %j: index) -> tensor<4x8xf32> {
  %slice = tensor.extract_slice %y[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%slice : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %r = tensor.insert_slice %sum into %y[%j, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Blocks keep their arguments, of which tokens have a place in the order.
// CHECK-LABEL: func.func @token_argument
// CHECK:         cf.cond_br %{{.*}}, ^[[A:bb[0-9]+]], ^[[B:bb[0-9]+]](%{{.*}} : !comm.token<tensor<8xf32>>)
// CHECK:       ^[[A]]:
// CHECK:       ^[[B]](%{{.*}}: !comm.token<tensor<8xf32>>):
func.func @token_argument(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %t = comm.all_reduce sum %x on @g : tensor<8xf32>
  cf.cond_br %c, ^a, ^b(%t : !comm.token<tensor<8xf32>>)
^a:
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  %y = arith.addf %x, %r : tensor<8xf32>
  return %y : tensor<8xf32>
^b(%u: !comm.token<tensor<8xf32>>):
  %s = comm.wait %u : !comm.token<tensor<8xf32>>
  return %s : tensor<8xf32>
}

// On a GPU a reduction absorbs what stands before a reshape, unless it reduces adjacent elements or what the reshape joins.
// FREE-LABEL: func.func @joined_before_reductions
// FREE:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 :
// FREE-COUNT-2: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
// CHECK-LABEL: func.func @joined_before_reductions
// CHECK-COUNT-3: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
func.func @joined_before_reductions(%a: tensor<4x8x24x128xf32>, %b: tensor<4x8x24x128xf32>, %c: tensor<32x128xf32>, %d: tensor<32x24xf32>, %e: tensor<24x128xf32>)
    -> (tensor<32x128xf32>, tensor<32x24xf32>, tensor<24x128xf32>) {
  %0 = arith.addf %a, %b : tensor<4x8x24x128xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2], [3]] : tensor<4x8x24x128xf32> into tensor<32x24x128xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1 : tensor<32x24x128xf32>) outs(%c : tensor<32x128xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  } -> tensor<32x128xf32>
  %3 = arith.mulf %a, %b : tensor<4x8x24x128xf32>
  %4 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<4x8x24x128xf32> into tensor<32x24x128xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%4 : tensor<32x24x128xf32>) outs(%d : tensor<32x24xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  } -> tensor<32x24xf32>
  %6 = arith.subf %a, %b : tensor<4x8x24x128xf32>
  %7 = tensor.collapse_shape %6 [[0, 1], [2], [3]] : tensor<4x8x24x128xf32> into tensor<32x24x128xf32>
  %8 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%7 : tensor<32x24x128xf32>) outs(%e : tensor<24x128xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  } -> tensor<24x128xf32>
  return %2, %5, %8 : tensor<32x128xf32>, tensor<32x24xf32>, tensor<24x128xf32>
}

// Two reductions of the same sum read it by the same dimensions, also where one sees it through a reshape, and so read its
// operands once.
// FREE-LABEL: func.func @joined_before_one_of_two
// FREE:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : {{.*}} outs(%{{.*}}, %arg3 :
// FREE-NOT:     linalg.generic
// FREE:         return
func.func @joined_before_one_of_two(%a: tensor<4x8x24x128xf32>, %b: tensor<4x8x24x128xf32>, %c: tensor<32x128xf32>, %d: tensor<4x8x128xf32>)
    -> (tensor<32x128xf32>, tensor<4x8x128xf32>) {
  %0 = arith.addf %a, %b : tensor<4x8x24x128xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2], [3]] : tensor<4x8x24x128xf32> into tensor<32x24x128xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1 : tensor<32x24x128xf32>) outs(%c : tensor<32x128xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  } -> tensor<32x128xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, k, j)>, affine_map<(h, i, j, k) -> (h, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%0 : tensor<4x8x24x128xf32>) outs(%d : tensor<4x8x128xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.mulf %x, %x : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x8x128xf32>
  return %2, %3 : tensor<32x128xf32>, tensor<4x8x128xf32>
}

// One window that leaves two rows unread: an index without the loop over windows would read all 14. Of columns none is left.

// CHECK-LABEL: func @keeps_loops_of_one_window
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}], iterator_types = ["parallel", "reduction", "reduction"]}
func.func @keeps_loops_of_one_window(%x: tensor<14x11xf32>, %low: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %shape = tensor.empty() : tensor<12x11xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0 * 3 + d2, d1 * 4 + d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %shape : tensor<14x11xf32>, tensor<12x11xf32>) outs(%low : tensor<1x1xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %1 = arith.maximumf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
