// Rewrites that have to pay, and sums in another order.
// RUN: braid-opt %s --comm-simplify | FileCheck %s
// RUN: braid-opt %s --comm-simplify="max-memory=1GiB numerics=same-terms" | FileCheck %s --check-prefixes=LARGE,TERMS
// RUN: braid-opt %s --comm-simplify="max-memory=28KiB numerics=reassociate" | FileCheck %s --check-prefixes=SMALL,ADD

comm.group @world [[0, 1, 2, 3]]

// A second gather saves the memory of the first value in between. With room for
// it the value stays.
// SMALL-LABEL: func.func @again
// SMALL-COUNT-2: comm.all_gather
// LARGE-LABEL: func.func @again
// LARGE:         comm.all_gather
// LARGE:         %[[X:.*]] = comm.wait
// LARGE:         comm.compute "first"(%[[X]])
// LARGE-NOT:     comm.all_gather
// LARGE:         comm.compute "last"(%[[X]],
func.func @again(%w: tensor<1024xf32>) -> tensor<4xf32> {
  %t = comm.all_gather %w on @world dim 0 : tensor<1024xf32> -> tensor<4096xf32>
  %x = comm.wait %t : !comm.token<tensor<4096xf32>>
  %a = comm.compute "first"(%x) {comm.cost_ns = 1000 : i64} : (tensor<4096xf32>) -> tensor<4xf32>
  %b = comm.compute "large"(%a) {comm.cost_ns = 1000 : i64} : (tensor<4xf32>) -> tensor<4096xf32>
  %c = comm.compute "small"(%b) {comm.cost_ns = 1000 : i64} : (tensor<4096xf32>) -> tensor<4xf32>
  %u = comm.all_gather %w on @world dim 0 : tensor<1024xf32> -> tensor<4096xf32>
  %y = comm.wait %u : !comm.token<tensor<4096xf32>>
  %d = comm.compute "last"(%y, %c) {comm.cost_ns = 1000 : i64} : (tensor<4096xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// CHECK-LABEL: func.func @widen
// CHECK-SAME:      (%[[W:.*]]: tensor<4194304xbf16>)
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[W]] on @world dim 0 : tensor<4194304xbf16> -> tensor<16777216xbf16>
// CHECK-NEXT:    %[[G:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    %[[X:.*]] = arith.extf %[[G]] : tensor<16777216xbf16> to tensor<16777216xf32>
// CHECK-NEXT:    return %[[X]]
func.func @widen(%w: tensor<4194304xbf16>) -> tensor<16777216xf32> {
  %x = arith.extf %w : tensor<4194304xbf16> to tensor<4194304xf32>
  %t = comm.all_gather %x on @world dim 0 : tensor<4194304xf32> -> tensor<16777216xf32>
  %g = comm.wait %t : !comm.token<tensor<16777216xf32>>
  return %g : tensor<16777216xf32>
}

// What is gathered wide is also used wide, and sums are those of wide terms.
// CHECK-LABEL: func.func @widen_stays
// CHECK:         comm.all_gather %{{.*}} : tensor<4194304xf32>
// CHECK:         comm.all_reduce sum %{{.*}} : tensor<4194304xf32>
func.func @widen_stays(%w: tensor<4194304xbf16>, %v: tensor<4194304xbf16>) -> (tensor<4194304xf32>, tensor<16777216xf32>, tensor<4194304xf32>) {
  %x = arith.extf %w : tensor<4194304xbf16> to tensor<4194304xf32>
  %t = comm.all_gather %x on @world dim 0 : tensor<4194304xf32> -> tensor<16777216xf32>
  %g = comm.wait %t : !comm.token<tensor<16777216xf32>>
  %y = arith.extf %v : tensor<4194304xbf16> to tensor<4194304xf32>
  %u = comm.all_reduce sum %y on @world : tensor<4194304xf32>
  %s = comm.wait %u : !comm.token<tensor<4194304xf32>>
  return %x, %g, %s : tensor<4194304xf32>, tensor<16777216xf32>, tensor<4194304xf32>
}

// CHECK-LABEL: func.func @join
// CHECK:         comm.reduce_scatter
// CHECK:         comm.all_gather
// TERMS-LABEL: func.func @join
// TERMS-SAME:      (%[[A:.*]]: tensor<4096xf32>)
// TERMS-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[A]] on @world {comm.reordered_sums = {divided = "of a reduce_scatter and an all_gather"}} : tensor<4096xf32>
// TERMS-NEXT:    %[[R:.*]] = comm.wait %[[T]]
// TERMS-NEXT:    return %[[R]]
func.func @join(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %t = comm.reduce_scatter sum %a on @world dim 0 : tensor<4096xf32> -> tensor<1024xf32>
  %p = comm.wait %t : !comm.token<tensor<1024xf32>>
  %u = comm.all_gather %p on @world dim 0 : tensor<1024xf32> -> tensor<4096xf32>
  %r = comm.wait %u : !comm.token<tensor<4096xf32>>
  return %r : tensor<4096xf32>
}

// The part has another user, or is gathered along another dimension.
// TERMS-LABEL: func.func @join_stays
// TERMS-COUNT-2: comm.reduce_scatter
func.func @join_stays(%a: tensor<64x64xf32>) -> (tensor<16x64xf32>, tensor<64x64xf32>, tensor<16x256xf32>) {
  %t = comm.reduce_scatter sum %a on @world dim 0 : tensor<64x64xf32> -> tensor<16x64xf32>
  %p = comm.wait %t : !comm.token<tensor<16x64xf32>>
  %u = comm.all_gather %p on @world dim 0 : tensor<16x64xf32> -> tensor<64x64xf32>
  %r = comm.wait %u : !comm.token<tensor<64x64xf32>>
  %v = comm.reduce_scatter max %a on @world dim 0 : tensor<64x64xf32> -> tensor<16x64xf32>
  %q = comm.wait %v : !comm.token<tensor<16x64xf32>>
  %w = comm.all_gather %q on @world dim 1 : tensor<16x64xf32> -> tensor<16x256xf32>
  %s = comm.wait %w : !comm.token<tensor<16x256xf32>>
  return %p, %r, %s : tensor<16x64xf32>, tensor<64x64xf32>, tensor<16x256xf32>
}

// CHECK-LABEL: func.func @own_part
// CHECK:         comm.all_reduce
// TERMS-LABEL: func.func @own_part
// TERMS-SAME:      (%[[A:.*]]: tensor<8x8xf32>)
// TERMS:         %[[T:.*]] = comm.reduce_scatter sum %[[A]] on @world dim 0 {comm.label = "s", comm.reordered_sums = {divided = "of an all_reduce"}} : tensor<8x8xf32> -> tensor<2x8xf32>
// TERMS-NEXT:    %[[R:.*]] = comm.wait %[[T]]
// TERMS-NEXT:    return %[[R]]
func.func @own_part(%a: tensor<8x8xf32>) -> tensor<2x8xf32> {
  %c = arith.constant 2 : index
  %rank = comm.rank on @world
  %i = arith.muli %rank, %c : index
  %t = comm.all_reduce sum %a on @world {comm.label = "s"} : tensor<8x8xf32>
  %r = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %x = tensor.extract_slice %r[%i, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  return %x : tensor<2x8xf32>
}

// All is used besides, or the part is along a dimension that has to be packed.
// TERMS-LABEL: func.func @own_part_stays
// TERMS-COUNT-2: comm.all_reduce
func.func @own_part_stays(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<2x8xf32>, tensor<8x2xf32>) {
  %c = arith.constant 2 : index
  %rank = comm.rank on @world
  %i = arith.muli %rank, %c : index
  %t = comm.all_reduce sum %a on @world : tensor<8x8xf32>
  %r = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %x = tensor.extract_slice %r[%i, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %u = comm.all_reduce max %a on @world : tensor<8x8xf32>
  %s = comm.wait %u : !comm.token<tensor<8x8xf32>>
  %y = tensor.extract_slice %s[0, %i] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  return %r, %x, %y : tensor<8x8xf32>, tensor<2x8xf32>, tensor<8x2xf32>
}

// Gradients that are added: one reduction of the sum.
// CHECK-LABEL: func.func @sum
// CHECK-COUNT-3: comm.reduce_scatter
// TERMS-LABEL: func.func @sum
// TERMS-COUNT-3: comm.reduce_scatter
// ADD-LABEL: func.func @sum
// ADD-SAME:      (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>, %[[C:.*]]: tensor<8xf32>)
// ADD-NEXT:    %[[S:.*]] = arith.addf %[[A]], %[[B]] : tensor<8xf32>
// ADD-NEXT:    %[[R:.*]] = arith.addf %[[S]], %[[C]] : tensor<8xf32>
// ADD-NEXT:    %[[T:.*]] = comm.reduce_scatter sum %[[R]] on @world dim 0 {comm.reordered_sums = {divided = "of the sum of 2"}} : tensor<8xf32> -> tensor<2xf32>
// ADD-NEXT:    %[[X:.*]] = comm.wait %[[T]]
// ADD-NEXT:    return %[[X]]
func.func @sum(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<2xf32> {
  %t = comm.reduce_scatter sum %a on @world dim 0 : tensor<8xf32> -> tensor<2xf32>
  %x = comm.wait %t : !comm.token<tensor<2xf32>>
  %u = comm.reduce_scatter sum %b on @world dim 0 : tensor<8xf32> -> tensor<2xf32>
  %y = comm.wait %u : !comm.token<tensor<2xf32>>
  %s = arith.addf %x, %y : tensor<2xf32>
  %v = comm.reduce_scatter sum %c on @world dim 0 : tensor<8xf32> -> tensor<2xf32>
  %z = comm.wait %v : !comm.token<tensor<2xf32>>
  %r = arith.addf %s, %z : tensor<2xf32>
  return %r : tensor<2xf32>
}

// Products, maxima and averages of truncated integers are no sums of sums.
// ADD-LABEL: func.func @no_sum
// ADD-COUNT-6: comm.all_reduce
func.func @no_sum(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xi32>, %d: tensor<8xi32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi32>) {
  %t0 = comm.all_reduce sum %a on @world : tensor<8xf32>
  %t1 = comm.all_reduce sum %b on @world : tensor<8xf32>
  %t2 = comm.all_reduce max %a on @world : tensor<8xf32>
  %t3 = comm.all_reduce max %b on @world : tensor<8xf32>
  %t4 = comm.all_reduce avg %c on @world : tensor<8xi32>
  %t5 = comm.all_reduce avg %d on @world : tensor<8xi32>
  %r0 = comm.wait %t0 : !comm.token<tensor<8xf32>>
  %r1 = comm.wait %t1 : !comm.token<tensor<8xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<8xf32>>
  %r3 = comm.wait %t3 : !comm.token<tensor<8xf32>>
  %r4 = comm.wait %t4 : !comm.token<tensor<8xi32>>
  %r5 = comm.wait %t5 : !comm.token<tensor<8xi32>>
  %p = arith.mulf %r0, %r1 : tensor<8xf32>
  %s = arith.addf %r2, %r3 : tensor<8xf32>
  %q = arith.addi %r4, %r5 : tensor<8xi32>
  return %p, %s, %q : tensor<8xf32>, tensor<8xf32>, tensor<8xi32>
}
