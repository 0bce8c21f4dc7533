// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-arrange-loops))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @sums_of_columns_run_along_rows
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$COLUMN]]], iterator_types = ["reduction", "parallel"]}
// CHECK:           arith.addf %{{.*}}, %{{.*}} : f32
func.func @sums_of_columns_run_along_rows(%a: memref<32x64xf32>, %b: memref<64xf32>) {
  linalg.generic {indexing_maps = [#t, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<32x64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @sums_of_rows_may_have_another_order
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK:           %[[SQUARE:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:           arith.addf %{{.*}}, %[[SQUARE]] fastmath<reassoc> : f32
func.func @sums_of_rows_may_have_another_order(%a: memref<32x64xf32>, %b: memref<32xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<32x64xf32>) outs(%b : memref<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %s = arith.addf %out, %square : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @named_reductions
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$COLUMN]]], iterator_types = ["reduction", "parallel"]}
func.func @named_reductions(%a: memref<32x64xf32>, %b: memref<64xf32>) {
  linalg.reduce { arith.addf } ins(%a : memref<32x64xf32>) outs(%b : memref<64xf32>) dimensions = [0]
  return
}

// CHECK-LABEL: func.func @named_contractions
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #{{.*}}, #[[$ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK:           arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
// CHECK:         linalg.generic {indexing_maps = [#[[$ROW]], #[[$ID]], #[[$COLUMN]]], iterator_types = ["reduction", "parallel"]}
func.func @named_contractions(%a: memref<32x64xf16>, %x: memref<64xf16>, %y: memref<32xf32>,
                              %u: memref<32xf16>, %v: memref<64xf32>) {
  linalg.matvec ins(%a, %x : memref<32x64xf16>, memref<64xf16>) outs(%y : memref<32xf32>)
  linalg.vecmat ins(%u, %a : memref<32xf16>, memref<32x64xf16>) outs(%v : memref<64xf32>)
  return
}

// The last term stays the last one.
// CHECK-LABEL: func.func @results_that_depend_on_the_order_keep_it
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["reduction", "reduction"]}
// CHECK-SAME:      ins(%{{.*}} : memref<32x64xf32, strided<[1, 32]>>)
// CHECK-NOT:       fastmath
func.func @results_that_depend_on_the_order_keep_it(%a: memref<32x64xf32, strided<[1, 32]>>, %b: memref<f32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
    ins(%a : memref<32x64xf32, strided<[1, 32]>>) outs(%b : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %half = arith.divf %out, %in : f32
    %s = arith.addf %half, %in : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @short_loops_are_not_innermost
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%{{.*}} : memref<64x2xf32>) outs(%{{.*}} : memref<2x64xf32>)
func.func @short_loops_are_not_innermost(%a: memref<64x2xf32>, %b: memref<2x64xf32>) {
  linalg.generic {indexing_maps = [#id, #t], iterator_types = ["parallel", "parallel"]}
    ins(%a : memref<64x2xf32>) outs(%b : memref<2x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// CHECK-LABEL: func.func @an_op_in_place_reads_its_initial_value
// CHECK-SAME:    (%[[A:.*]]: memref<8x8xf32>, %[[B:.*]]: memref<8x8xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]]
// CHECK-SAME:      ins(%[[B]] : memref<8x8xf32>) outs(%[[A]] : memref<8x8xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT:      arith.subf %[[OUT]], %[[IN]] : f32
func.func @an_op_in_place_reads_its_initial_value(%a: memref<8x8xf32>, %b: memref<8x8xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  }
  return
}
