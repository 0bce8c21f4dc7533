// What stays whole, and why.
// RUN: braid-opt %s --comm-split-batch="batch=0:0 all numerics=same-terms" --comm-verify=ranks=2 --remarks-filter=comm-split-batch 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: braid-opt %s --comm-split-batch="batch=0:0 all" --remarks-filter=comm-split-batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: braid-opt %s --comm-split-batch=all | FileCheck %s --check-prefix=AGAIN
// RUN: braid-opt %s --comm-split-batch="batch=1:0 all" --remarks-filter=comm-split-batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: not braid-opt %s --comm-split-batch="batch=0:2 all" 2>&1 | FileCheck %s --check-prefix=DIMENSION
// RUN: not braid-opt %s --comm-split-batch="batch=7:0 all" 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not braid-opt %s --comm-split-batch="batch=0" 2>&1 | FileCheck %s --check-prefix=COLON
// RUN: not braid-opt %s --comm-split-batch="parts=1" 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not braid-opt %s --comm-split-batch="percentages=50,60" 2>&1 | FileCheck %s --check-prefix=PERCENT
// RUN: not braid-opt %s --comm-split-batch="min-gain=101" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not braid-opt %s --comm-split-batch="max-memory=much" 2>&1 | FileCheck %s --check-prefix=MEMORY

// DIMENSION: split-batch-whole.mlir:{{.*}}: error: found 0:2 in option 'batch' of comm-split-batch, expected a dimension with a static size of at least 2
// ARGUMENT: error: found 7:0 in option 'batch' of comm-split-batch, expected one of its 2 arguments
// COLON: error: invalid value '0' in option 'batch', expected the number of an argument and a dimension of it, such as 0:0
// PARTS: error: invalid value 1 of option 'parts', expected 0 or a number from 2 to 64
// PERCENT: error: invalid value '50, 60' of option 'percentages', expected two or more positive numbers whose sum is 100, such as 40,60
// GAIN: error: invalid value {{.*}} of option 'min-gain'
// MEMORY: error: invalid size 'much' in option 'max-memory'

comm.group @tp [[0, 1]]

// The mean of the batch is there after both halves; what takes it is split again. The sum
// over features is one of each part. Parts are computed in their places.
// EXACT:       Function=norm | Reason="'linalg.reduce' sums floats over the batch, which takes numerics=same-terms"
// GIVEN:       whole-block | Category:comm-split-batch | Function=norm | Reason="no collective has a part of the batch"
// CHECK-LABEL: func.func @norm
// CHECK-COUNT-2: comm.all_reduce {{.*}} : tensor<4x4xf32>
// CHECK:         %[[S:.*]] = linalg.reduce {{.*}} ins(%{{.*}} : tensor<4x4xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK-NEXT:    %[[R:.*]] = linalg.reduce {{.*}} ins(%{{.*}} : tensor<4x4xf32>) outs(%[[S]] : tensor<4xf32>)
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT:    %[[P:.*]] = tensor.extract_slice %[[E]][0, 0] [4, 4]
// CHECK-NEXT:    %[[N:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[R]] : tensor<4x4xf32>, tensor<4xf32>) outs(%[[P]] : tensor<4x4xf32>)
// CHECK:         tensor.insert_slice %[[N]] into %[[E]][0, 0] [4, 4] [1, 1] {comm.cost_ns = 0 : i64}
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[R]] : tensor<4x4xf32>, tensor<4xf32>)
func.func @norm(%x: tensor<8x4xf32>, %s: tensor<4xf32>) -> tensor<8x4xf32> {
  %t = comm.all_reduce sum %x on @tp : tensor<8x4xf32>
  %w = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %m = linalg.reduce {arith.addf} ins(%w : tensor<8x4xf32>) outs(%s : tensor<4xf32>) dimensions = [0]
  %e = tensor.empty() : tensor<8x4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w, %m : tensor<8x4xf32>, tensor<4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<8x4xf32>
  return %n : tensor<8x4xf32>
}

// A loop gives what it needs the whole batch for; its result is split again, and so is what
// comes of it.
// REMARK:        Function=again | Reason="'scf.for' mixes the elements of its operands, or is not known"
// AGAIN-LABEL: func.func @again
// AGAIN-COUNT-2: comm.all_reduce {{.*}} : tensor<4x4xf32>
// AGAIN:         scf.for
// AGAIN-COUNT-2: comm.all_reduce {{.*}} : tensor<4x4xf32>
func.func @again(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = comm.all_reduce max %x on @tp : tensor<8x4xf32>
  %w = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %w) -> (tensor<8x4xf32>) {
    %z = math.exp %s : tensor<8x4xf32>
    scf.yield %z : tensor<8x4xf32>
  }
  %u = comm.all_reduce max %l on @tp : tensor<8x4xf32>
  %v = comm.wait %u : !comm.token<tensor<8x4xf32>>
  %r = arith.addf %v, %x : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// Members get rows of the batch, a call gets all of it, and a window reads beyond its part.
// REMARK-DAG: Function=others | Reason="'func.call' mixes the elements of its operands, or is not known"
// REMARK-DAG: Function=others | Reason="'linalg.generic' mixes the elements of operand #0 along dimension 0"
// REMARK-DAG: Function=others | Reason="'comm.reduce_scatter' needs other than the same part of 2 of all of its operands"
// CHECK-LABEL: func.func @others
// CHECK:         comm.reduce_scatter {{.*}} : tensor<8x4xf32> -> tensor<4x4xf32>
// CHECK:         call @callee(%{{.*}}) : (tensor<8x4xf32>) -> tensor<8x4xf32>
func.func @others(%x: tensor<8x4xf32>, %k: tensor<3xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>, tensor<6x4xf32>) {
  %t = comm.all_reduce sum %x on @tp : tensor<8x4xf32>
  %w = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %u = comm.reduce_scatter sum %w on @tp dim 0 : tensor<8x4xf32> -> tensor<4x4xf32>
  %r = comm.wait %u : !comm.token<tensor<4x4xf32>>
  %c = call @callee(%w) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = tensor.empty() : tensor<6x4xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i + k, j)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %k : tensor<8x4xf32>, tensor<3xf32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %d, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x4xf32>
  return %r, %c, %v : tensor<4x4xf32>, tensor<8x4xf32>, tensor<6x4xf32>
}

func.func private @callee(tensor<8x4xf32>) -> tensor<8x4xf32>

// A number in the total order is that of one start; a token that a loop carries has a whole
// value; sizes that are not known cannot be divided.
// CHECK-LABEL: func.func @starts
// CHECK:         comm.all_reduce {{.*}} {comm.order = 0 : i64} : tensor<8x4xf32>
func.func @starts(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %d: tensor<?x4xf32>) -> (tensor<8x4xf32>, tensor<?x4xf32>) {
  %t = comm.all_reduce sum %x on @tp {comm.order = 0 : i64} : tensor<8x4xf32>
  %w = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %u = comm.all_reduce sum %d on @tp {comm.order = 1 : i64} : tensor<?x4xf32>
  %v = comm.wait %u : !comm.token<tensor<?x4xf32>>
  return %w, %v : tensor<8x4xf32>, tensor<?x4xf32>
}

// A start with columns that are not known, and one that gives scalars.
// CHECK-LABEL: func.func @sizes
// CHECK:         comm.all_reduce {{.*}} : tensor<2x?xf32>
// CHECK:         comm.reduce_scatter {{.*}} : tensor<2xf32> -> tensor<f32>
func.func @sizes(%x: tensor<2xf32>, %y: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<f32>) {
  %t = comm.all_reduce sum %y on @tp : tensor<2x?xf32>
  %w = comm.wait %t : !comm.token<tensor<2x?xf32>>
  %u = comm.reduce_scatter sum %x on @tp dim 0 : tensor<2xf32> -> tensor<f32>
  %v = comm.wait %u : !comm.token<tensor<f32>>
  return %w, %v : tensor<2x?xf32>, tensor<f32>
}
