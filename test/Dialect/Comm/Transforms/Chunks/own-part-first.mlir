// RUN: braid-opt %s --comm-own-part-first=matmuls=2 --cse --canonicalize | FileCheck %s
// RUN: braid-opt %s --comm-own-part-first=matmuls=1 --cse --canonicalize | FileCheck %s --check-prefix=ONE
// RUN: not braid-opt %s --comm-own-part-first=matmuls=-1 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: invalid value -1 of option 'matmuls', expected 0 or more

comm.group @world [[0, 1]]

// The rows of this rank come from the operand, and need no wait. All rows are
// computed in their places.
// CHECK-LABEL: func.func @own_rows_first
// CHECK-SAME:      (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x16xf32>)
// CHECK:         %[[RANK:.*]] = comm.rank on @world
// CHECK-NEXT:    %[[OWN:.*]] = arith.muli %[[RANK]], %c4 : index
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[RANK]], %c1 : index
// CHECK-NEXT:    %[[MEMBER:.*]] = arith.remui %[[NEXT]], %c2 : index
// CHECK-NEXT:    %[[OTHER:.*]] = arith.muli %[[MEMBER]], %c4 : index
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[X]] on @world dim 0 {comm.label = "ag"}
// CHECK-NEXT:    %[[G:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    %[[G1:.*]] = tensor.extract_slice %[[G]][%[[OTHER]], 0] [4, 8] [1, 1]
// CHECK-NEXT:    %[[E0:.*]] = tensor.extract_slice %[[E]][%[[OWN]], 0] [4, 16] [1, 1]
// CHECK-NEXT:    %[[Z0:.*]] = linalg.fill ins(%{{.*}}) outs(%[[E0]]
// CHECK-NEXT:    %[[H0:.*]] = linalg.matmul {comm.label = "mm.0", comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[X]], %[[W]] : {{.*}}) outs(%[[Z0]]
// CHECK-NEXT:    %[[I0:.*]] = tensor.insert_slice %[[H0]] into %[[E]][%[[OWN]], 0] [4, 16] [1, 1] {comm.cost_ns = 0 : i64}
// CHECK-NEXT:    %[[E1:.*]] = tensor.extract_slice %[[I0]][%[[OTHER]], 0] [4, 16] [1, 1]
// CHECK-NEXT:    %[[Z1:.*]] = linalg.fill ins(%{{.*}}) outs(%[[E1]]
// CHECK-NEXT:    %[[H1:.*]] = linalg.matmul {comm.label = "mm.1", comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[G1]], %[[W]] : {{.*}}) outs(%[[Z1]]
// CHECK-NEXT:    %[[I1:.*]] = tensor.insert_slice %[[H1]] into %[[I0]][%[[OTHER]], 0] [4, 16] [1, 1] {comm.cost_ns = 0 : i64}
// CHECK-NEXT:    return %[[I1]]
func.func @own_rows_first(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %t = comm.all_gather %x on @world dim 0 {comm.label = "ag"} : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %h = linalg.matmul {comm.label = "mm"} ins(%g, %w : tensor<8x8xf32>, tensor<8x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %h : tensor<8x16xf32>
}

// What stands between two matmuls is divided, too; the sum of all members reads
// the whole. Behind one matmul, the second one is whole.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:      (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[V:.*]]: tensor<8x8xf32>)
// CHECK:         %[[G:.*]] = comm.wait
// CHECK-NEXT:    %[[G1:.*]] = tensor.extract_slice %[[G]]
// CHECK:         %[[H0:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[W]] :
// CHECK-NEXT:    %[[H1:.*]] = linalg.matmul {{.*}} ins(%[[G1]], %[[W]] :
// CHECK-NEXT:    %[[R0:.*]] = arith.maximumf %[[H0]], %{{.*}} : tensor<4x8xf32>
// CHECK-NEXT:    %[[R1:.*]] = arith.maximumf %[[H1]], %{{.*}} : tensor<4x8xf32>
// CHECK:         %[[P0:.*]] = linalg.matmul {{.*}} ins(%[[R0]], %[[V]] :
// CHECK-NEXT:    %[[I0:.*]] = tensor.insert_slice %[[P0]]
// CHECK:         %[[P1:.*]] = linalg.matmul {{.*}} ins(%[[R1]], %[[V]] :
// CHECK-NEXT:    %[[I1:.*]] = tensor.insert_slice %[[P1]] into %[[I0]]
// CHECK-NEXT:    comm.reduce_scatter sum %[[I1]] on @world dim 0 : tensor<8x8xf32>
// ONE-LABEL:   func.func @chain
// ONE:           arith.maximumf %{{.*}} : tensor<4x8xf32>
// ONE:           linalg.matmul ins(%{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>)
// ONE-NEXT:      comm.reduce_scatter
func.func @chain(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %t = comm.all_gather %x on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %h = linalg.matmul ins(%g, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = arith.maximumf %h, %zero : tensor<8x8xf32>
  %p = linalg.matmul ins(%r, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %u = comm.reduce_scatter sum %p on @world dim 0 : tensor<8x8xf32> -> tensor<4x8xf32>
  %y = comm.wait %u : !comm.token<tensor<4x8xf32>>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @columns_of_a_weight
// CHECK-SAME:      (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x4xf32>)
// CHECK:         %[[G1:.*]] = tensor.extract_slice %{{.*}}[0, %[[OTHER:.*]]] [8, 4] [1, 1]
// CHECK:         linalg.matmul {{.*}} ins(%[[X]], %[[W]] : tensor<4x8xf32>, tensor<8x4xf32>)
// CHECK:         linalg.matmul {{.*}} ins(%[[X]], %[[G1]] : tensor<4x8xf32>, tensor<8x4xf32>)
func.func @columns_of_a_weight(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %t = comm.all_gather %w on @world dim 1 : tensor<8x4xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %h = linalg.matmul ins(%x, %g : tensor<4x8xf32>, tensor<8x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %h : tensor<4x8xf32>
}

// A matmul that adds up the gathered rows reads the whole.
// CHECK-LABEL: func.func @rows_that_are_summed
// CHECK-SAME:      (%[[X:.*]]: tensor<4x8xf32>, %[[D:.*]]: tensor<8x8xf32>)
// CHECK:         %[[G:.*]] = comm.wait
// CHECK-COUNT-2: linalg.matmul {{.*}} ins(%{{.*}}, %[[D]] : tensor<4x8xf32>, tensor<8x8xf32>)
// CHECK:         linalg.matmul ins(%[[D]], %[[G]] : tensor<8x8xf32>, tensor<8x8xf32>)
func.func @rows_that_are_summed(%x: tensor<4x8xf32>, %d: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %t = comm.all_gather %x on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %h = linalg.matmul ins(%g, %d : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %k = linalg.matmul ins(%d, %g : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %h, %k : tensor<8x8xf32>, tensor<8x8xf32>
}

// The op adds the number of a row, which is another one in a part.
// CHECK-LABEL: func.func @numbers_of_rows
// CHECK-COUNT-2: linalg.matmul {{.*}} : tensor<4x8xf32>, tensor<8x8xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf32>)
func.func @numbers_of_rows(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %t = comm.all_gather %x on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %h = linalg.matmul ins(%g, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %f = arith.sitofp %c : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %n : tensor<8x8xf32>
}

// Rows of what a matmul adds to are read where they are; the results are copied.
// CHECK-LABEL: func.func @residual
// CHECK-SAME:      (%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32>, %[[B:.*]]: tensor<8x8xf32>)
// CHECK:         %[[B0:.*]] = tensor.extract_slice %[[B]][%[[OWN:.*]], 0] [4, 8] [1, 1]
// CHECK:         %[[H0:.*]] = linalg.matmul {{.*}} outs(%[[B0]] : tensor<4x8xf32>)
// CHECK-NEXT:    tensor.insert_slice %[[H0]] into %{{.*}}[%[[OWN]], 0] [4, 8] [1, 1] : tensor<4x8xf32>
func.func @residual(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %t = comm.all_gather %x on @world dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %h = linalg.matmul ins(%g, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%b : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %h : tensor<8x8xf32>
}

// A gather with settings of its own stays.
// CHECK-LABEL: func.func @settings
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @settings(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %t = comm.all_gather %x on @world dim 0 {comm.transport = "copy"} : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
  %h = linalg.matmul ins(%g, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %h : tensor<8x8xf32>
}

// Scalars have no rows.
// CHECK-LABEL: func.func @scalars
// CHECK-NEXT:    comm.all_gather
// CHECK-NEXT:    comm.wait
func.func @scalars(%x: tensor<f32>) -> tensor<2xf32> {
  %t = comm.all_gather %x on @world dim 0 : tensor<f32> -> tensor<2xf32>
  %g = comm.wait %t : !comm.token<tensor<2xf32>>
  return %g : tensor<2xf32>
}
