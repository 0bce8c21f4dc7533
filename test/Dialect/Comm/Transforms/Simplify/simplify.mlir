// Rewrites that keep all bits.
// RUN: braid-opt %s --comm-simplify | FileCheck %s
// RUN: braid-opt %s --comm-simplify --remarks-filter=comm-simplify -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not braid-opt %s --comm-simplify="min-gain=many" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not braid-opt %s --comm-simplify="max-memory=many" 2>&1 | FileCheck %s --check-prefix=MEMORY

// GAIN: error: invalid value 'many' of option 'min-gain'
// MEMORY: error: invalid size 'many' in option 'max-memory'

comm.group @world [[0, 1]]
comm.group @pair [[0, 1], [2, 3]]

#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#column = affine_map<(i, j) -> (j)>
#row = affine_map<(i, j) -> (i)>

// REMARK: remark: [Passed] moved-elementwise | Category:comm-simplify | Function=narrow | Count=1
// REMARK: remark: [Passed] merged-collectives | Category:comm-simplify | Function=narrow | Count=0
// CHECK-LABEL: func.func @narrow
// CHECK-SAME:      (%[[W:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:    %[[N:.*]] = arith.truncf %[[W]] : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[N]] on @world dim 0 {comm.label = "w"} : tensor<4x8xbf16> -> tensor<8x8xbf16>
// CHECK-NEXT:    %[[B:.*]] = comm.wait %[[T]] : !comm.token<tensor<8x8xbf16>>
// CHECK-NEXT:    return %[[B]]
func.func @narrow(%w: tensor<4x8xf32>) -> tensor<8x8xbf16> {
  %t = comm.all_gather %w on @world dim 0 {comm.label = "w"} : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %b = arith.truncf %g : tensor<8x8xf32> to tensor<8x8xbf16>
  return %b : tensor<8x8xbf16>
}

// Two equal conversions are one.
// CHECK-LABEL: func.func @narrow_twice
// CHECK-NEXT:    %[[N:.*]] = arith.trunci
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[N]] on @world dim 1
// CHECK-NEXT:    %[[B:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    return %[[B]], %[[B]]
func.func @narrow_twice(%w: tensor<4x8xi64>) -> (tensor<4x16xi8>, tensor<4x16xi8>) {
  %t = comm.all_gather %w on @world dim 1 : tensor<4x8xi64> -> tensor<4x16xi64>
  %g = comm.wait %t : !comm.token<tensor<4x16xi64>>
  %b = arith.trunci %g : tensor<4x16xi64> to tensor<4x16xi8>
  %c = arith.trunci %g : tensor<4x16xi64> to tensor<4x16xi8>
  return %b, %c : tensor<4x16xi8>, tensor<4x16xi8>
}

// The sizes of a dynamic dimension are those of the operand. What else is read
// may differ along dimensions that stay with their member.
// CHECK-LABEL: func.func @quantize
// CHECK-SAME:      (%[[W:[^:]*]]: tensor<?x8xf32>,
// CHECK:         %[[SCALE:.*]] = comm.wait %{{.*}} : !comm.token<tensor<8xf32>>
// CHECK:         %[[DIM:.*]] = tensor.dim %[[W]], %{{.*}} : tensor<?x8xf32>
// CHECK-NEXT:    %[[E:.*]] = tensor.empty(%[[DIM]]) : tensor<?x8xi8>
// CHECK-NEXT:    %[[Q:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[SCALE]] : tensor<?x8xf32>, tensor<8xf32>) outs(%[[E]] : tensor<?x8xi8>)
// CHECK:         comm.all_gather %[[Q]] on @world dim 0 : tensor<?x8xi8> -> tensor<?x8xi8>
// CHECK-NOT:     linalg.generic
func.func @quantize(%w: tensor<?x8xf32>, %s: tensor<8xf32>, %e: tensor<?x8xi8>) -> tensor<?x8xi8> {
  %m = comm.all_reduce max %s on @world : tensor<8xf32>
  %scale = comm.wait %m : !comm.token<tensor<8xf32>>
  %t = comm.all_gather %w on @world dim 0 : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = comm.wait %t : !comm.token<tensor<?x8xf32>>
  %q = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %scale : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xi8>) {
  ^bb0(%x: f32, %f: f32, %o: i8):
    %d = arith.mulf %x, %f : f32
    %i = arith.fptosi %d : f32 to i8
    linalg.yield %i : i8
  } -> tensor<?x8xi8>
  return %q : tensor<?x8xi8>
}

// Scales that members may have for themselves.
// CHECK-LABEL: func.func @own_scale
// CHECK:         comm.all_gather %{{.*}} on @world dim 0 : tensor<4x8xf32>
func.func @own_scale(%w: tensor<4x8xf32>, %scale: tensor<8xf32>, %e: tensor<8x8xi8>) -> tensor<8x8xi8> {
  %t = comm.all_gather %w on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %q = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %scale : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xi8>) {
  ^bb0(%x: f32, %f: f32, %o: i8):
    %d = arith.mulf %x, %f : f32
    %i = arith.fptosi %d : f32 to i8
    linalg.yield %i : i8
  } -> tensor<8x8xi8>
  return %q : tensor<8x8xi8>
}

// A scale for each gathered row, of another group, or by the place.
// CHECK-LABEL: func.func @other_scales
// CHECK-COUNT-3: comm.all_gather %{{.*}} : tensor<4x8xf32>
func.func @other_scales(%w: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<8xf32>, %e: tensor<8x8xi8>)
    -> (tensor<8x8xi8>, tensor<8x8xi8>, tensor<8x8xi8>) {
  %m = comm.all_reduce max %s on @world : tensor<8xf32>
  %scale = comm.wait %m : !comm.token<tensor<8xf32>>
  %t = comm.all_gather %w on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %scale : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xi8>) {
  ^bb0(%x: f32, %f: f32, %o: i8):
    %d = arith.mulf %x, %f : f32
    %i = arith.fptosi %d : f32 to i8
    linalg.yield %i : i8
  } -> tensor<8x8xi8>
  %u = comm.all_gather %w on @pair dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %h = comm.wait %u : !comm.token<tensor<8x8xf32>>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %scale : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xi8>) {
  ^bb0(%x: f32, %f: f32, %o: i8):
    %d = arith.mulf %x, %f : f32
    %i = arith.fptosi %d : f32 to i8
    linalg.yield %i : i8
  } -> tensor<8x8xi8>
  %v = comm.all_gather %z on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %k = comm.wait %v : !comm.token<tensor<8x8xf32>>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<8x8xf32>) outs(%e : tensor<8x8xi8>) {
  ^bb0(%x: f32, %o: i8):
    %n = linalg.index 0 : index
    %c = arith.index_cast %n : index to i32
    %f = arith.sitofp %c : i32 to f32
    %d = arith.addf %x, %f : f32
    %i = arith.fptosi %d : f32 to i8
    linalg.yield %i : i8
  } -> tensor<8x8xi8>
  return %q, %r, %p : tensor<8x8xi8>, tensor<8x8xi8>, tensor<8x8xi8>
}

// What starts do not tell, another user needs, an effect separates, or does not
// get narrower.
// CHECK-LABEL: func.func @stay
// CHECK-NEXT:    comm.all_gather %{{.*}} {comm.ctas = 4 : i64} : tensor<4x8xf32>
// CHECK:         comm.all_gather %{{.*}} {comm.order = 0 : i64} : tensor<4x8xf32>
// CHECK:         comm.all_gather %{{.*}} {comm.cost_ns = 5 : i64} : tensor<4x8xf32>
// CHECK:         comm.all_gather %{{.*}} : tensor<4x8xf32>
// CHECK:         comm.all_gather %{{.*}} : tensor<2x8xf32>
// CHECK:         comm.all_reduce sum %{{.*}} : tensor<4x8xf32>
func.func @stay(%w: tensor<4x8xf32>, %v: tensor<2x8xf32>) -> (tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>,
    tensor<8x8xbf16>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>) {
  %t0 = comm.all_gather %w on @world dim 0 {comm.ctas = 4 : i64} : tensor<4x8xf32> -> tensor<8x8xf32>
  %g0 = comm.wait %t0 : !comm.token<tensor<8x8xf32>>
  %b0 = arith.truncf %g0 : tensor<8x8xf32> to tensor<8x8xbf16>
  %t1 = comm.all_gather %w on @world dim 0 {comm.order = 0 : i64} : tensor<4x8xf32> -> tensor<8x8xf32>
  %g1 = comm.wait %t1 : !comm.token<tensor<8x8xf32>>
  %b1 = arith.truncf %g1 : tensor<8x8xf32> to tensor<8x8xbf16>
  %t2 = comm.all_gather %w on @world dim 0 {comm.cost_ns = 5 : i64} : tensor<4x8xf32> -> tensor<8x8xf32>
  %g2 = comm.wait %t2 : !comm.token<tensor<8x8xf32>>
  %b2 = arith.truncf %g2 : tensor<8x8xf32> to tensor<8x8xbf16>
  %t3 = comm.all_gather %w on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %g3 = comm.wait %t3 : !comm.token<tensor<8x8xf32>>
  %b3 = arith.truncf %g3 : tensor<8x8xf32> to tensor<8x8xbf16>
  %t4 = comm.all_gather %v on @world dim 0 : tensor<2x8xf32> -> tensor<4x8xf32>
  %g4 = comm.wait %t4 : !comm.token<tensor<4x8xf32>>
  %b4 = arith.negf %g4 : tensor<4x8xf32>
  %t5 = comm.all_reduce sum %w on @world : tensor<4x8xf32>
  %g5 = comm.wait %t5 : !comm.token<tensor<4x8xf32>>
  %b5 = arith.truncf %g5 : tensor<4x8xf32> to tensor<4x8xbf16>
  return %b0, %b1, %b2, %b3, %g3, %b4, %b5 : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>,
    tensor<8x8xbf16>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>
}

// Where ranks may take different paths nothing changes.
// CHECK-LABEL: func.func @paths
// CHECK:         comm.all_gather %{{.*}} : tensor<4x8xf32>
func.func @paths(%w: tensor<4x8xf32>, %z: tensor<8x8xbf16>, %c: i1) -> tensor<8x8xbf16> {
  %r = scf.if %c -> tensor<8x8xbf16> {
    %t = comm.all_gather %w on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
    %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
    %b = arith.truncf %g : tensor<8x8xf32> to tensor<8x8xbf16>
    scf.yield %b : tensor<8x8xbf16>
  } else {
    scf.yield %z : tensor<8x8xbf16>
  }
  return %r : tensor<8x8xbf16>
}

// The bodies of all users begin with one conversion. What remains of the second
// one only copies.
// CHECK-LABEL: func.func @bodies
// CHECK-SAME:      (%[[W:.*]]: tensor<4x8xf32>
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4x8xbf16>
// CHECK-NEXT:    %[[N:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<4x8xf32>) outs(%[[E]] : tensor<4x8xbf16>)
// CHECK:         %[[T:.*]] = comm.all_gather %[[N]] on @world dim 0 : tensor<4x8xbf16> -> tensor<8x8xbf16>
// CHECK-NEXT:    %[[G:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {{.*}}"parallel", "reduction"{{.*}} ins(%[[G]] : tensor<8x8xbf16>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: bf16, %[[Y:.*]]: bf16):
// CHECK-NEXT:      arith.addf %[[X]], %[[Y]] : bf16
// CHECK:         return %[[R]], %[[G]]
func.func @bodies(%w: tensor<4x8xf32>, %z: tensor<8xbf16>, %e: tensor<8x8xbf16>) -> (tensor<8xbf16>, tensor<8x8xbf16>) {
  %t = comm.all_gather %w on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%g : tensor<8x8xf32>) outs(%z : tensor<8xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %n = arith.truncf %x : f32 to bf16
    %a = arith.addf %n, %o : bf16
    linalg.yield %a : bf16
  } -> tensor<8xbf16>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x8xf32>) outs(%e : tensor<8x8xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %n = arith.truncf %x : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<8x8xbf16>
  return %s, %b : tensor<8xbf16>, tensor<8x8xbf16>
}

// Gathers of one group and dimension that one op takes.
// CHECK-LABEL: func.func @binary
// CHECK-SAME:      (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:    %[[S:.*]] = arith.mulf %[[A]], %[[B]] : tensor<4x8xf32>
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[S]] on @world dim 0
// CHECK-NEXT:    %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    return %[[R]]
func.func @binary(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %t = comm.all_gather %a on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %u = comm.all_gather %b on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %x = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %y = comm.wait %u : !comm.token<tensor<8x8xf32>>
  %s = arith.mulf %x, %y : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @binary_of_others
// CHECK-COUNT-4: comm.all_gather
func.func @binary_of_others(%a: tensor<4x8xf32>, %c: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %t = comm.all_gather %a on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %u = comm.all_gather %b on @world dim 1 : tensor<8x4xf32> -> tensor<8x8xf32>
  %x = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %y = comm.wait %u : !comm.token<tensor<8x8xf32>>
  %s = arith.mulf %x, %y : tensor<8x8xf32>
  %v = comm.all_gather %a on @pair dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %w = comm.all_gather %c on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %p = comm.wait %v : !comm.token<tensor<8x8xf32>>
  %q = comm.wait %w : !comm.token<tensor<8x8xf32>>
  %r = arith.mulf %p, %q : tensor<8x8xf32>
  return %s, %r : tensor<8x8xf32>, tensor<8x8xf32>
}

// Other collectives that only move data. What is no target of a permute gets
// zeros, which a conversion keeps.
// CHECK-LABEL: func.func @moves
// CHECK-DAG:     comm.broadcast %{{.*}} on @world root 1 : tensor<4xbf16>
// CHECK-DAG:     comm.all_to_all %{{.*}} on @world : tensor<4xi8>
// CHECK-DAG:     comm.permute %{{.*}} on @world pairs {{\[\[}}0, 1]] : tensor<4xbf16>
// CHECK-DAG:     comm.scatter %{{.*}} on @world root 0 : tensor<4xbf16> -> tensor<2xbf16>
// CHECK-DAG:     comm.permute %{{.*}} on @world pairs {{\[\[}}1, 0]] : tensor<4xf32>
// CHECK:         return
func.func @moves(%a: tensor<4xf32>, %b: tensor<4xi32>)
    -> (tensor<4xbf16>, tensor<4xi8>, tensor<4xbf16>, tensor<2xbf16>, tensor<4xi1>) {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %t0 = comm.broadcast %a on @world root 1 : tensor<4xf32>
  %t1 = comm.all_to_all %b on @world : tensor<4xi32>
  %t2 = comm.permute %a on @world pairs [[0, 1]] : tensor<4xf32>
  %t3 = comm.scatter %a on @world root 0 : tensor<4xf32> -> tensor<2xf32>
  %t4 = comm.permute %a on @world pairs [[1, 0]] : tensor<4xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<4xf32>>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xi32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %r3 = comm.wait %t3 : !comm.token<tensor<2xf32>>
  %r4 = comm.wait %t4 : !comm.token<tensor<4xf32>>
  %b0 = arith.truncf %r0 : tensor<4xf32> to tensor<4xbf16>
  %b1 = arith.trunci %r1 : tensor<4xi32> to tensor<4xi8>
  %b2 = arith.truncf %r2 : tensor<4xf32> to tensor<4xbf16>
  %b3 = arith.truncf %r3 : tensor<2xf32> to tensor<2xbf16>
  %b4 = arith.cmpf olt, %r4, %one : tensor<4xf32>
  return %b0, %b1, %b2, %b3, %b4 : tensor<4xbf16>, tensor<4xi8>, tensor<4xbf16>, tensor<2xbf16>, tensor<4xi1>
}

// A constant has the shape that the operand has.
// CHECK-LABEL: func.func @splat
// CHECK:         %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[S:.*]] = arith.cmpf olt, %{{.*}}, %[[C]] : tensor<4xf32>
// CHECK-NEXT:    comm.all_gather %[[S]] on @world dim 0 : tensor<4xi1> -> tensor<8xi1>
func.func @splat(%a: tensor<4xf32>) -> tensor<8xi1> {
  %t = comm.all_gather %a on @world dim 0 : tensor<4xf32> -> tensor<8xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %s = arith.cmpf olt, %r, %one : tensor<8xf32>
  return %s : tensor<8xi1>
}

// Behind a transpose the gather is along dimension 0, which needs no packing.
// CHECK-LABEL: func.func @transpose
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT:    %[[X:.*]] = linalg.transpose ins(%{{.*}} : tensor<4x8xf32>) outs(%[[E]] : tensor<8x4xf32>) permutation = [1, 0]
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[X]] on @world dim 0 : tensor<8x4xf32> -> tensor<16x4xf32>
// CHECK-NEXT:    %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    return %[[R]]
func.func @transpose(%a: tensor<4x8xf32>, %e: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %t = comm.all_gather %a on @world dim 1 : tensor<4x8xf32> -> tensor<4x16xf32>
  %r = comm.wait %t : !comm.token<tensor<4x16xf32>>
  %x = linalg.transpose ins(%r : tensor<4x16xf32>) outs(%e : tensor<16x4xf32>) permutation = [1, 0]
  return %x : tensor<16x4xf32>
}

// The other way round it would have to be packed, be it narrower or not.
// CHECK-LABEL: func.func @transpose_stays
// CHECK-COUNT-2: comm.all_gather %{{.*}} dim 0 : tensor<4x8xf32>
func.func @transpose_stays(%a: tensor<4x8xf32>, %e: tensor<8x8xf32>, %f: tensor<8x8xi1>)
    -> (tensor<8x8xf32>, tensor<8x8xi1>) {
  %zero = arith.constant 0.0 : f32
  %t = comm.all_gather %a on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %r = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %x = linalg.transpose ins(%r : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %u = comm.all_gather %a on @pair dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %s = comm.wait %u : !comm.token<tensor<8x8xf32>>
  %y = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<8x8xf32>) outs(%f : tensor<8x8xi1>) {
  ^bb0(%i: f32, %o: i1):
    %c = arith.cmpf olt, %i, %zero : f32
    linalg.yield %c : i1
  } -> tensor<8x8xi1>
  return %x, %y : tensor<8x8xf32>, tensor<8x8xi1>
}

// One operand of a launch.
// CHECK-LABEL: func.func @launch
// CHECK:         comm.all_gather %{{.*}}, %{{.*}} on @world dim 0 : tensor<4xf32>, tensor<2xbf16> -> tensor<8xf32>, tensor<4xbf16>
func.func @launch(%a: tensor<4xf32>, %b: tensor<2xf32>) -> (tensor<8xf32>, tensor<4xbf16>) {
  %t:2 = comm.all_gather %a, %b on @world dim 0 : tensor<4xf32>, tensor<2xf32> -> tensor<8xf32>, tensor<4xf32>
  %x = comm.wait %t#0 : !comm.token<tensor<8xf32>>
  %y = comm.wait %t#1 : !comm.token<tensor<4xf32>>
  %n = arith.truncf %y : tensor<4xf32> to tensor<4xbf16>
  return %x, %n : tensor<8xf32>, tensor<4xbf16>
}

// Sums of integers are exact in any order, those of floats are not.
// CHECK-LABEL: func.func @sums
// CHECK:         %[[S:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<4xi32>
// CHECK-NEXT:    comm.all_reduce sum %[[S]] on @world : tensor<4xi32>
// CHECK-COUNT-2: comm.all_reduce sum %{{.*}} on @world : tensor<4xf32>
// CHECK:         return
func.func @sums(%a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<4xf32>, %d: tensor<4xf32>)
    -> (tensor<4xi32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world : tensor<4xi32>
  %u = comm.all_reduce sum %b on @world : tensor<4xi32>
  %v = comm.all_reduce sum %c on @world : tensor<4xf32>
  %w = comm.all_reduce sum %d on @world : tensor<4xf32>
  %x = comm.wait %t : !comm.token<tensor<4xi32>>
  %y = comm.wait %u : !comm.token<tensor<4xi32>>
  %p = comm.wait %v : !comm.token<tensor<4xf32>>
  %q = comm.wait %w : !comm.token<tensor<4xf32>>
  %s = arith.addi %x, %y : tensor<4xi32>
  %r = arith.addf %p, %q : tensor<4xf32>
  return %s, %r : tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @unused
// CHECK-NOT:     comm.all_gather
// CHECK-NOT:     comm.all_reduce
// CHECK:         comm.barrier
// CHECK:         comm.all_gather {{.*}}comm.cost_ns
// CHECK:         return
func.func @unused(%a: tensor<4xf32>) {
  %t = comm.all_gather %a on @world dim 0 : tensor<4xf32> -> tensor<8xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  %u = comm.all_reduce sum %r on @world : tensor<8xf32>
  %s = comm.wait %u : !comm.token<tensor<8xf32>>
  %b = comm.barrier on @world
  comm.wait %b : !comm.token
  %v = comm.all_gather %a on @world dim 0 {comm.cost_ns = 7 : i64} : tensor<4xf32> -> tensor<8xf32>
  %w = comm.wait %v : !comm.token<tensor<8xf32>>
  return
}

// Loops and calls in which nothing else is communicated.
// CHECK-LABEL: func.func private @unused_in_callee
// CHECK-NOT:     comm
// CHECK-LABEL: func.func @unused_in_loop
// CHECK-NOT:     comm.all_gather
// CHECK:         comm.all_reduce
func.func private @unused_in_callee(%a: tensor<4xf32>) {
  %t = comm.all_gather %a on @world dim 0 : tensor<4xf32> -> tensor<8xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  return
}
func.func @unused_in_loop(%a: tensor<4xf32>) -> tensor<4xf32> {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i2 = arith.constant 2 : index
  scf.for %i = %i0 to %i2 step %i1 {
    %t = comm.all_gather %a on @world dim 0 : tensor<4xf32> -> tensor<8xf32>
    %r = comm.wait %t : !comm.token<tensor<8xf32>>
    func.call @unused_in_callee(%a) : (tensor<4xf32>) -> ()
  }
  call @unused_in_callee(%a) : (tensor<4xf32>) -> ()
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}

// The own part of a gather is the operand. Other parts stay.
// CHECK-LABEL: func.func @own_part
// CHECK-SAME:      (%[[A:.*]]: tensor<4x8xf32>)
// CHECK-NOT:     comm.all_gather
// CHECK:         return %[[A]], %[[A]]
func.func @own_part(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %c = arith.constant 4 : index
  %rank = comm.rank on @world
  %i = arith.muli %rank, %c : index
  %j = affine.apply affine_map<(d) -> (d * 4)>(%rank)
  %t = comm.all_gather %a on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %r = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %x = tensor.extract_slice %r[%i, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %y = tensor.extract_slice %r[%j, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  return %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
}

// The same place as XLA computes it.
// CHECK-LABEL: func.func @own_part_in_bounds
// CHECK-SAME:      (%[[A:.*]]: tensor<4x8xf32>)
// CHECK-NOT:     comm.all_gather
// CHECK:         return %[[A]]
func.func @own_part_in_bounds(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %i8 = arith.constant 8 : i32
  %i4 = arith.constant 4 : i32
  %i2 = arith.constant 2 : i32
  %i0 = arith.constant 0 : i32
  %t = comm.all_gather %a on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %r = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %rank = comm.rank on @world
  %n = arith.index_cast %rank : index to i32
  %m = arith.remui %n, %i2 : i32
  %p = arith.muli %m, %i4 : i32
  %l = arith.cmpi slt, %p, %i0 : i32
  %q = arith.addi %p, %i8 : i32
  %s = arith.select %l, %q, %p : i32
  %o = arith.index_cast %s : i32 to index
  %u = arith.maxsi %o, %c0 : index
  %v = arith.minsi %u, %c4 : index
  %x = tensor.extract_slice %r[%v, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @other_part
// CHECK:         comm.all_gather
// CHECK-COUNT-4: tensor.extract_slice
func.func @other_part(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x8xf32>, tensor<4x8xf32>) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %rank = comm.rank on @world
  %other = comm.rank on @pair
  %i = arith.muli %rank, %c2 : index
  %j = arith.muli %other, %c4 : index
  %k = arith.muli %rank, %c4 : index
  %t = comm.all_gather %a on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %r = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %x = tensor.extract_slice %r[%i, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %y = tensor.extract_slice %r[%j, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %z = tensor.extract_slice %r[%k, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %v = tensor.extract_slice %r[4, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  return %x, %y, %z, %v : tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x8xf32>, tensor<4x8xf32>
}

// Sums that another collective gives may have another order.
// CHECK-LABEL: func.func @own_part_of_sum
// CHECK:         comm.all_reduce sum
func.func @own_part_of_sum(%a: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %c = arith.constant 4 : index
  %rank = comm.rank on @world
  %i = arith.muli %rank, %c : index
  %t = comm.all_reduce sum %a on @world : tensor<8x8xf32>
  %r = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %x = tensor.extract_slice %r[%i, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}

// The first value is used behind the second start. Labels do not matter.
// CHECK-LABEL: func.func @twice
// CHECK-SAME:      (%[[A:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[A]] on @world dim 0 {comm.label = "a"}
// CHECK-NEXT:    %[[X:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT:    %[[N:.*]] = arith.negf %[[X]]
// CHECK-NEXT:    return %[[S]], %[[N]]
func.func @twice(%a: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %t = comm.all_gather %a on @world dim 0 {comm.label = "a"} : tensor<4x8xf32> -> tensor<8x8xf32>
  %x = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %u = comm.all_gather %a on @world dim 0 {comm.label = "b"} : tensor<4x8xf32> -> tensor<8x8xf32>
  %y = comm.wait %u : !comm.token<tensor<8x8xf32>>
  %s = arith.addf %x, %y : tensor<8x8xf32>
  %n = arith.negf %y : tensor<8x8xf32>
  return %s, %n : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @not_twice
// CHECK-COUNT-5: comm.{{all_gather|all_reduce}}
func.func @not_twice(%a: tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %t0 = comm.all_gather %a on @world dim 0 : tensor<8x8xf32> -> tensor<16x8xf32>
  %t1 = comm.all_gather %a on @pair dim 0 : tensor<8x8xf32> -> tensor<16x8xf32>
  %t2 = comm.all_gather %a on @world dim 1 : tensor<8x8xf32> -> tensor<8x16xf32>
  %t3 = comm.all_reduce sum %a on @world : tensor<8x8xf32>
  %t4 = comm.all_reduce max %a on @world : tensor<8x8xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<16x8xf32>>
  %r1 = comm.wait %t1 : !comm.token<tensor<16x8xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<8x16xf32>>
  %r3 = comm.wait %t3 : !comm.token<tensor<8x8xf32>>
  %r4 = comm.wait %t4 : !comm.token<tensor<8x8xf32>>
  return %r0, %r1, %r2, %r3, %r4 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @empty
// CHECK:         comm.all_gather %{{.*}} on @world dim 0 : tensor<0x8xbf16> -> tensor<0x8xbf16>
func.func @empty(%w: tensor<0x8xf32>) -> tensor<0x8xbf16> {
  %t = comm.all_gather %w on @world dim 0 : tensor<0x8xf32> -> tensor<0x8xf32>
  %g = comm.wait %t : !comm.token<tensor<0x8xf32>>
  %b = arith.truncf %g : tensor<0x8xf32> to tensor<0x8xbf16>
  return %b : tensor<0x8xbf16>
}

// Scalars have no dimension to gather along.
// CHECK-LABEL: func.func @scalars
// CHECK:         comm.all_gather %{{.*}} : tensor<f32> -> tensor<2xf32>
// CHECK:         comm.all_gather %{{.*}} : tensor<f32> -> tensor<2xf32>
// CHECK:         comm.reduce_scatter sum %{{.*}} : tensor<2xf32> -> tensor<f32>
// CHECK:         comm.all_reduce sum %{{.*}} : tensor<f32>
// CHECK:         comm.broadcast %{{.*}} : tensor<bf16>
func.func @scalars(%a: tensor<f32>, %b: tensor<bf16>, %n: tensor<2xf32>)
    -> (tensor<2xbf16>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<bf16>) {
  %w = arith.extf %b : tensor<bf16> to tensor<f32>
  %t0 = comm.all_gather %a on @world dim 0 : tensor<f32> -> tensor<2xf32>
  %t1 = comm.all_gather %w on @world dim 0 : tensor<f32> -> tensor<2xf32>
  %t2 = comm.reduce_scatter sum %n on @world dim 0 : tensor<2xf32> -> tensor<f32>
  %t3 = comm.all_reduce sum %a on @world : tensor<f32>
  %t4 = comm.broadcast %a on @world root 0 : tensor<f32>
  %r0 = comm.wait %t0 : !comm.token<tensor<2xf32>>
  %r1 = comm.wait %t1 : !comm.token<tensor<2xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<f32>>
  %r3 = comm.wait %t3 : !comm.token<tensor<f32>>
  %r4 = comm.wait %t4 : !comm.token<tensor<f32>>
  %s0 = arith.truncf %r0 : tensor<2xf32> to tensor<2xbf16>
  %s4 = arith.truncf %r4 : tensor<f32> to tensor<bf16>
  return %s0, %r1, %r2, %r3, %s4 : tensor<2xbf16>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<bf16>
}

// Buffers stay.
// CHECK-LABEL: func.func @buffers
// CHECK-COUNT-2: comm.all_gather
func.func @buffers(%a: memref<4xf32>, %b: memref<8xf32>, %c: memref<8xf32>) {
  %t = comm.all_gather %a into %b on @world dim 0 : memref<4xf32>, memref<8xf32>
  comm.wait %t reads(%a : memref<4xf32>) writes(%b : memref<8xf32>) : !comm.token
  %u = comm.all_gather %a into %c on @world dim 0 : memref<4xf32>, memref<8xf32>
  comm.wait %u reads(%a : memref<4xf32>) writes(%c : memref<8xf32>) : !comm.token
  return
}
