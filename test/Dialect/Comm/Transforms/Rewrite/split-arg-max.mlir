// RUN: braid-opt %s --comm-fuse-elementwise=ops-per-byte=7 --canonicalize --mlir-print-local-scope | FileCheck %s
// RUN: braid-opt %s --comm-fuse-elementwise --mlir-print-local-scope | FileCheck %s --check-prefix=HOST

// JAX's argmax on a GPU: the largest elements, then the least place of one that
// equals it or is a NaN. The initial value is no larger than any element.
// CHECK-LABEL: func.func @arg_max(
//  CHECK-SAME:     %[[X:.*]]: tensor<4x1000xf32>)
//   CHECK-DAG:   %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
//   CHECK-DAG:   %[[LAST:.*]] = arith.constant 2147483647 : i32
//       CHECK:   %[[MAX:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] : tensor<4x1000xf32>)
//  CHECK-NEXT:   ^bb0(%[[E:.*]]: f32, %[[O:.*]]: f32):
//  CHECK-NEXT:     %[[M:.*]] = arith.maximumf %[[O]], %[[E]] : f32
//  CHECK-NEXT:     linalg.yield %[[M]] : f32
//       CHECK:   %[[FIRST:.*]] = linalg.fill ins(%[[LAST]] : i32)
//       CHECK:   %[[PLACES:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[MAX]] : tensor<4x1000xf32>, tensor<4xf32>) outs(%[[FIRST]] : tensor<4xi32>)
//  CHECK-NEXT:   ^bb0(%[[E:.*]]: f32, %[[M:.*]]: f32, %[[O:.*]]: i32):
//  CHECK-NEXT:     %[[J:.*]] = linalg.index 1 : index
//  CHECK-NEXT:     %[[PLACE:.*]] = arith.index_cast %[[J]] : index to i32
//  CHECK-NEXT:     %[[IS:.*]] = arith.cmpf oeq, %[[E]], %[[M]] : f32
//  CHECK-NEXT:     %[[NAN:.*]] = arith.cmpf uno, %[[E]], %[[E]] : f32
//  CHECK-NEXT:     %[[FOUND:.*]] = arith.ori %[[IS]], %[[NAN]] : i1
//  CHECK-NEXT:     %[[TAKEN:.*]] = arith.select %[[FOUND]], %[[PLACE]], %[[LAST]] : i32
//  CHECK-NEXT:     %[[LEAST:.*]] = arith.minsi %[[O]], %[[TAKEN]] : i32
//  CHECK-NEXT:     linalg.yield %[[LEAST]] : i32
//       CHECK:   return %[[PLACES]] : tensor<4xi32>
// HOST-LABEL: func.func @arg_max(
//       HOST:   arith.maximumf
//       HOST:   arith.minsi
//       HOST:   return
func.func @arg_max(%x: tensor<4x1000xf32>) -> tensor<4xi32> {
  %init = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %ep = tensor.empty() : tensor<4x1000xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ep : tensor<4x1000xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    linalg.yield %c : i32
  } -> tensor<4x1000xi32>
  %ev = tensor.empty() : tensor<4xf32>
  %ew = tensor.empty() : tensor<4xi32>
  %fv = linalg.fill ins(%init : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %fw = linalg.fill ins(%first : i32) outs(%ew : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<4x1000xf32>, tensor<4x1000xi32>) outs(%fv, %fw : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%e: f32, %i: i32, %v: f32, %w: i32):
    %c0 = arith.cmpf ogt, %v, %e : f32
    %c1 = arith.cmpf une, %v, %v : f32
    %stays = arith.ori %c0, %c1 : i1
    %c2 = arith.cmpf oeq, %v, %e : f32
    %c3 = arith.cmpi slt, %w, %i : i32
    %tie = arith.andi %c2, %c3 : i1
    %keeps = arith.ori %stays, %tie : i1
    %nv = arith.select %stays, %v, %e : f32
    %nw = arith.select %keeps, %w, %i : i32
    linalg.yield %nv, %nw : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %r#1 : tensor<4xi32>
}

// Comparisons with exchanged operands, and places without signs.
// CHECK-LABEL: func.func @exchanged_arg_min(
//       CHECK:   arith.minimumf
//       CHECK:   arith.cmpf oeq
//       CHECK:   arith.minui
//       CHECK:   return
func.func @exchanged_arg_min(%x: tensor<4x1000xbf16>) -> tensor<4xi16> {
  %init = arith.constant 0x7F80 : bf16
  %first = arith.constant 0 : i16
  %ep = tensor.empty() : tensor<4x1000xi16>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ep : tensor<4x1000xi16>) {
  ^bb0(%o: i16):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i16
    linalg.yield %c : i16
  } -> tensor<4x1000xi16>
  %ev = tensor.empty() : tensor<4xbf16>
  %ew = tensor.empty() : tensor<4xi16>
  %fv = linalg.fill ins(%init : bf16) outs(%ev : tensor<4xbf16>) -> tensor<4xbf16>
  %fw = linalg.fill ins(%first : i16) outs(%ew : tensor<4xi16>) -> tensor<4xi16>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<4x1000xbf16>, tensor<4x1000xi16>) outs(%fv, %fw : tensor<4xbf16>, tensor<4xi16>) {
  ^bb0(%e: bf16, %i: i16, %v: bf16, %w: i16):
    %c0 = arith.cmpf ogt, %e, %v : bf16
    %c1 = arith.cmpf uno, %v, %v : bf16
    %stays = arith.ori %c1, %c0 : i1
    %c2 = arith.cmpf oeq, %e, %v : bf16
    %c3 = arith.cmpi ugt, %i, %w : i16
    %tie = arith.andi %c3, %c2 : i1
    %keeps = arith.ori %tie, %stays : i1
    %nv = arith.select %stays, %v, %e : bf16
    %nw = arith.select %keeps, %w, %i : i16
    linalg.yield %nv, %nw : bf16, i16
  } -> (tensor<4xbf16>, tensor<4xi16>)
  return %r#1 : tensor<4xi16>
}

// Canonicalization makes a minimum of a comparison. The body itself has places.
// CHECK-LABEL: func.func @minimum(
//       CHECK:   arith.minui %{{.*}} : i8
//       CHECK:   linalg.fill ins(%{{.*}} : i32)
//       CHECK:   linalg.index 1 : index
//       CHECK:   arith.minsi %{{.*}} : i32
//       CHECK:   return
func.func @minimum(%x: tensor<4x1000xi8>) -> tensor<4xi32> {
  %init = arith.constant -1 : i8
  %first = arith.constant 0 : i32
  %ev = tensor.empty() : tensor<4xi8>
  %ew = tensor.empty() : tensor<4xi32>
  %fv = linalg.fill ins(%init : i8) outs(%ev : tensor<4xi8>) -> tensor<4xi8>
  %fw = linalg.fill ins(%first : i32) outs(%ew : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x1000xi8>) outs(%fv, %fw : tensor<4xi8>, tensor<4xi32>) {
  ^bb0(%e: i8, %v: i8, %w: i32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i32
    %nv = arith.minui %e, %v : i8
    %stays = arith.cmpi ult, %v, %e : i8
    %c2 = arith.cmpi eq, %v, %e : i8
    %c3 = arith.cmpi slt, %w, %i : i32
    %tie = arith.andi %c2, %c3 : i1
    %keeps = arith.ori %stays, %tie : i1
    %nw = arith.select %keeps, %w, %i : i32
    linalg.yield %nv, %nw : i8, i32
  } -> (tensor<4xi8>, tensor<4xi32>)
  return %r#1 : tensor<4xi32>
}

// Integers have no NaNs, and of equal ones each is the value: it may be used.
// Places that another op computes may be any ones; what they begin with stays if
// it belongs to an extremum.
// CHECK-LABEL: func.func @integers(
//   CHECK-DAG:   %[[LAST:.*]] = arith.constant 9223372036854775807 : i64
//   CHECK-DAG:   %[[BEGIN:.*]] = arith.constant -128 : i8
//   CHECK-DAG:   %[[PLACE:.*]] = arith.constant 7 : i64
//       CHECK:   %[[MAX:.*]] = linalg.generic
//       CHECK:     arith.maxsi
//       CHECK:   %[[FIRST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[MAX]] : tensor<4xi8>)
//       CHECK:     %[[IS:.*]] = arith.cmpi eq, %{{.*}}, %[[BEGIN]] : i8
//  CHECK-NEXT:     arith.select %[[IS]], %[[PLACE]], %[[LAST]] : i64
//       CHECK:   %[[PLACES:.*]] = linalg.generic {{.*}} outs(%[[FIRST]] : tensor<4xi64>)
//       CHECK:     %[[FOUND:.*]] = arith.cmpi eq
//  CHECK-NEXT:     arith.select %[[FOUND]]
//  CHECK-NEXT:     arith.minsi
//       CHECK:   return %[[MAX]], %[[PLACES]]
func.func @integers(%x: tensor<4x1000xi8>, %p: tensor<4x1000xi64>) -> (tensor<4xi8>, tensor<4xi64>) {
  %init = arith.constant -128 : i8
  %first = arith.constant 7 : i64
  %ev = tensor.empty() : tensor<4xi8>
  %ew = tensor.empty() : tensor<4xi64>
  %fv = linalg.fill ins(%init : i8) outs(%ev : tensor<4xi8>) -> tensor<4xi8>
  %fw = linalg.fill ins(%first : i64) outs(%ew : tensor<4xi64>) -> tensor<4xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<4x1000xi8>, tensor<4x1000xi64>) outs(%fv, %fw : tensor<4xi8>, tensor<4xi64>) {
  ^bb0(%e: i8, %i: i64, %v: i8, %w: i64):
    %stays = arith.cmpi sgt, %v, %e : i8
    %c2 = arith.cmpi eq, %v, %e : i8
    %c3 = arith.cmpi slt, %w, %i : i64
    %tie = arith.andi %c2, %c3 : i1
    %keeps = arith.ori %stays, %tie : i1
    %nv = arith.select %stays, %v, %e : i8
    %nw = arith.select %keeps, %w, %i : i64
    linalg.yield %nv, %nw : i8, i64
  } -> (tensor<4xi8>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xi8>, tensor<4xi64>
}

// A host computes adjacent results as vectors.
// CHECK-LABEL: func.func @columns(
//       CHECK:   arith.maximumf
//       CHECK:   arith.minsi
//       CHECK:   return
// HOST-LABEL: func.func @columns(
//   HOST-NOT:   arith.maximumf
//       HOST:   return
func.func @columns(%x: tensor<4x1000xf32>) -> tensor<1000xi32> {
  %init = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %ep = tensor.empty() : tensor<4x1000xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ep : tensor<4x1000xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 0 : index
    %c = arith.index_cast %j : index to i32
    linalg.yield %c : i32
  } -> tensor<4x1000xi32>
  %ev = tensor.empty() : tensor<1000xf32>
  %ew = tensor.empty() : tensor<1000xi32>
  %fv = linalg.fill ins(%init : f32) outs(%ev : tensor<1000xf32>) -> tensor<1000xf32>
  %fw = linalg.fill ins(%first : i32) outs(%ew : tensor<1000xi32>) -> tensor<1000xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>],
                         iterator_types = ["reduction", "parallel"]}
      ins(%x, %p : tensor<4x1000xf32>, tensor<4x1000xi32>) outs(%fv, %fw : tensor<1000xf32>, tensor<1000xi32>) {
  ^bb0(%e: f32, %i: i32, %v: f32, %w: i32):
    %c0 = arith.cmpf ogt, %v, %e : f32
    %c1 = arith.cmpf une, %v, %v : f32
    %stays = arith.ori %c0, %c1 : i1
    %c2 = arith.cmpf oeq, %v, %e : f32
    %c3 = arith.cmpi slt, %w, %i : i32
    %tie = arith.andi %c2, %c3 : i1
    %keeps = arith.ori %stays, %tie : i1
    %nv = arith.select %stays, %v, %e : f32
    %nw = arith.select %keeps, %w, %i : i32
    linalg.yield %nv, %nw : f32, i32
  } -> (tensor<1000xf32>, tensor<1000xi32>)
  return %r#1 : tensor<1000xi32>
}

// Zeros of two signs are equal, but are other values.
// CHECK-LABEL: func.func @used_values(
//   CHECK-NOT:   arith.maximumf
//       CHECK:   return
func.func @used_values(%x: tensor<4x1000xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %init = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %ep = tensor.empty() : tensor<4x1000xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ep : tensor<4x1000xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    linalg.yield %c : i32
  } -> tensor<4x1000xi32>
  %ev = tensor.empty() : tensor<4xf32>
  %ew = tensor.empty() : tensor<4xi32>
  %fv = linalg.fill ins(%init : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %fw = linalg.fill ins(%first : i32) outs(%ew : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<4x1000xf32>, tensor<4x1000xi32>) outs(%fv, %fw : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%e: f32, %i: i32, %v: f32, %w: i32):
    %c0 = arith.cmpf ogt, %v, %e : f32
    %c1 = arith.cmpf une, %v, %v : f32
    %stays = arith.ori %c0, %c1 : i1
    %c2 = arith.cmpf oeq, %v, %e : f32
    %c3 = arith.cmpi slt, %w, %i : i32
    %tie = arith.andi %c2, %c3 : i1
    %keeps = arith.ori %stays, %tie : i1
    %nv = arith.select %stays, %v, %e : f32
    %nw = arith.select %keeps, %w, %i : i32
    linalg.yield %nv, %nw : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>
}

// The first NaN need not have the least of such places.
// CHECK-LABEL: func.func @any_places(
//   CHECK-NOT:   arith.maximumf
//       CHECK:   return
func.func @any_places(%x: tensor<4x1000xf32>, %p: tensor<4x1000xi32>) -> tensor<4xi32> {
  %init = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %ev = tensor.empty() : tensor<4xf32>
  %ew = tensor.empty() : tensor<4xi32>
  %fv = linalg.fill ins(%init : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %fw = linalg.fill ins(%first : i32) outs(%ew : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<4x1000xf32>, tensor<4x1000xi32>) outs(%fv, %fw : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%e: f32, %i: i32, %v: f32, %w: i32):
    %c0 = arith.cmpf ogt, %v, %e : f32
    %c1 = arith.cmpf une, %v, %v : f32
    %stays = arith.ori %c0, %c1 : i1
    %c2 = arith.cmpf oeq, %v, %e : f32
    %c3 = arith.cmpi slt, %w, %i : i32
    %tie = arith.andi %c2, %c3 : i1
    %keeps = arith.ori %stays, %tie : i1
    %nv = arith.select %stays, %v, %e : f32
    %nw = arith.select %keeps, %w, %i : i32
    linalg.yield %nv, %nw : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %r#1 : tensor<4xi32>
}

// This comparison lets numbers take the places of NaNs.
// CHECK-LABEL: func.func @without_nans(
//   CHECK-NOT:   arith.maximumf
//       CHECK:   return
func.func @without_nans(%x: tensor<4x1000xf32>) -> tensor<4xi32> {
  %init = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %ep = tensor.empty() : tensor<4x1000xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ep : tensor<4x1000xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    linalg.yield %c : i32
  } -> tensor<4x1000xi32>
  %ev = tensor.empty() : tensor<4xf32>
  %ew = tensor.empty() : tensor<4xi32>
  %fv = linalg.fill ins(%init : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %fw = linalg.fill ins(%first : i32) outs(%ew : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<4x1000xf32>, tensor<4x1000xi32>) outs(%fv, %fw : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%e: f32, %i: i32, %v: f32, %w: i32):
    %stays = arith.cmpf ogt, %v, %e : f32
    %c2 = arith.cmpf oeq, %v, %e : f32
    %c3 = arith.cmpi slt, %w, %i : i32
    %tie = arith.andi %c2, %c3 : i1
    %keeps = arith.ori %stays, %tie : i1
    %nv = arith.select %stays, %v, %e : f32
    %nw = arith.select %keeps, %w, %i : i32
    linalg.yield %nv, %nw : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %r#1 : tensor<4xi32>
}

// Places of 8 bits begin again before the last element.
// CHECK-LABEL: func.func @narrow_places(
//   CHECK-NOT:   arith.maximumf
//       CHECK:   return
func.func @narrow_places(%x: tensor<4x1000xf32>) -> tensor<4xi8> {
  %init = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i8
  %ev = tensor.empty() : tensor<4xf32>
  %ew = tensor.empty() : tensor<4xi8>
  %fv = linalg.fill ins(%init : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %fw = linalg.fill ins(%first : i8) outs(%ew : tensor<4xi8>) -> tensor<4xi8>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x1000xf32>) outs(%fv, %fw : tensor<4xf32>, tensor<4xi8>) {
  ^bb0(%e: f32, %v: f32, %w: i8):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i8
    %c0 = arith.cmpf ogt, %v, %e : f32
    %c1 = arith.cmpf une, %v, %v : f32
    %stays = arith.ori %c0, %c1 : i1
    %c2 = arith.cmpf oeq, %v, %e : f32
    %c3 = arith.cmpi slt, %w, %i : i8
    %tie = arith.andi %c2, %c3 : i1
    %keeps = arith.ori %stays, %tie : i1
    %nv = arith.select %stays, %v, %e : f32
    %nw = arith.select %keeps, %w, %i : i8
    linalg.yield %nv, %nw : f32, i8
  } -> (tensor<4xf32>, tensor<4xi8>)
  return %r#1 : tensor<4xi8>
}

// Each op that elements depend on is looked at once: a chain of squares has 2^40 paths.
// CHECK-LABEL: func.func @squares
// CHECK-COUNT-40: arith.muli
// CHECK-NEXT:     arith.maxsi
// CHECK:          arith.minsi
func.func @squares(%x: tensor<8x16xi32>) -> tensor<8xi32> {
  %least = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<8xi32>
  %v = linalg.fill ins(%least : i32) outs(%empty : tensor<8xi32>) -> tensor<8xi32>
  %p = linalg.fill ins(%zero : i32) outs(%empty : tensor<8xi32>) -> tensor<8xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xi32>) outs(%v, %p : tensor<8xi32>, tensor<8xi32>) {
  ^bb0(%e: i32, %a: i32, %b: i32):
    %s1 = arith.muli %e, %e : i32
    %s2 = arith.muli %s1, %s1 : i32
    %s3 = arith.muli %s2, %s2 : i32
    %s4 = arith.muli %s3, %s3 : i32
    %s5 = arith.muli %s4, %s4 : i32
    %s6 = arith.muli %s5, %s5 : i32
    %s7 = arith.muli %s6, %s6 : i32
    %s8 = arith.muli %s7, %s7 : i32
    %s9 = arith.muli %s8, %s8 : i32
    %s10 = arith.muli %s9, %s9 : i32
    %s11 = arith.muli %s10, %s10 : i32
    %s12 = arith.muli %s11, %s11 : i32
    %s13 = arith.muli %s12, %s12 : i32
    %s14 = arith.muli %s13, %s13 : i32
    %s15 = arith.muli %s14, %s14 : i32
    %s16 = arith.muli %s15, %s15 : i32
    %s17 = arith.muli %s16, %s16 : i32
    %s18 = arith.muli %s17, %s17 : i32
    %s19 = arith.muli %s18, %s18 : i32
    %s20 = arith.muli %s19, %s19 : i32
    %s21 = arith.muli %s20, %s20 : i32
    %s22 = arith.muli %s21, %s21 : i32
    %s23 = arith.muli %s22, %s22 : i32
    %s24 = arith.muli %s23, %s23 : i32
    %s25 = arith.muli %s24, %s24 : i32
    %s26 = arith.muli %s25, %s25 : i32
    %s27 = arith.muli %s26, %s26 : i32
    %s28 = arith.muli %s27, %s27 : i32
    %s29 = arith.muli %s28, %s28 : i32
    %s30 = arith.muli %s29, %s29 : i32
    %s31 = arith.muli %s30, %s30 : i32
    %s32 = arith.muli %s31, %s31 : i32
    %s33 = arith.muli %s32, %s32 : i32
    %s34 = arith.muli %s33, %s33 : i32
    %s35 = arith.muli %s34, %s34 : i32
    %s36 = arith.muli %s35, %s35 : i32
    %s37 = arith.muli %s36, %s36 : i32
    %s38 = arith.muli %s37, %s37 : i32
    %s39 = arith.muli %s38, %s38 : i32
    %s40 = arith.muli %s39, %s39 : i32
    %index = linalg.index 1 : index
    %place = arith.index_cast %index : index to i32
    %above = arith.cmpi sgt, %a, %s40 : i32
    %same = arith.cmpi eq, %a, %s40 : i32
    %before = arith.cmpi slt, %b, %place : i32
    %tie = arith.andi %same, %before : i1
    %stays = arith.ori %above, %tie : i1
    %value = arith.select %above, %a, %s40 : i32
    %where = arith.select %stays, %b, %place : i32
    linalg.yield %value, %where : i32, i32
  } -> (tensor<8xi32>, tensor<8xi32>)
  return %r#1 : tensor<8xi32>
}
