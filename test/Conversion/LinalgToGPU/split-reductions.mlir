// RUN: braid-opt %s --braid-split-reductions -split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

// 1024 parts of 16384 elements each, then the sum of the parts. The fill of the
// result stands in front of the second step.
// CHECK-DAG:   #[[$IN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG:   #[[$PART:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG:   #[[$ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG:   #[[$NONE:.*]] = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @all(
//  CHECK-SAME:     %[[X:.*]]: memref<4096x4096xf32>, %[[S:.*]]: memref<f32>
//  CHECK-NEXT:   %[[START:.*]] = arith.constant 1.000000e+00 : f32
//  CHECK-NEXT:   %[[WIDE:.*]] = memref.expand_shape %[[X]] {{\[\[}}0, 1], [2{{\]\]}} output_shape [1024, 4, 4096]
//  CHECK-NEXT:   %[[PARTS:.*]] = memref.alloc() : memref<1024xf32>
//  CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
//  CHECK-NEXT:   linalg.fill ins(%[[ZERO]] : f32) outs(%[[PARTS]] : memref<1024xf32>)
//  CHECK-NEXT:   linalg.generic {indexing_maps = {{\[}}#[[$IN]], #[[$PART]]{{\]}}, iterator_types = ["parallel", "reduction", "reduction"]}
//  CHECK-SAME:       ins(%[[WIDE]] : {{.*}}) outs(%[[PARTS]] : memref<1024xf32>)
//       CHECK:   linalg.fill ins(%[[START]] : f32) outs(%[[S]] : memref<f32>)
//  CHECK-NEXT:   linalg.generic {indexing_maps = {{\[}}#[[$ID]], #[[$NONE]]{{\]}}, iterator_types = ["reduction"]}
//  CHECK-SAME:       ins(%[[PARTS]] : memref<1024xf32>) outs(%[[S]] : memref<f32>)
//       CHECK:   return
func.func @all(%x: memref<4096x4096xf32>, %s: memref<f32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%s : memref<f32>)
  linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<4096x4096xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The loops of a reduction take the order of memory, so that rows are what is
// adjacent: parts of the first dimension, whatever the order of the loops.
// CHECK-LABEL: func.func @order_of_memory(
//       CHECK:   memref.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3{{\]\]}} output_shape [12, 8, 8, 768]
//       CHECK:   memref.alloc() : memref<12x8xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]
//       CHECK:   linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]
//       CHECK:   return
func.func @order_of_memory(%x: memref<12x64x768xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, k, i)>, affine_map<(i, j, k) -> ()>],
                  iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : memref<12x64x768xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Few columns: their rows are split. What a body computes of an element is part
// of the first step alone.
// CHECK-LABEL: func.func @columns(
//       CHECK:   memref.expand_shape %{{.*}} {{\[\[}}0, 1], [2{{\]\]}} output_shape [128, 64, 40]
//       CHECK:   memref.alloc() : memref<40x128xi32>
//       CHECK:   arith.constant -2147483648 : i32
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
//       CHECK:     arith.muli
//  CHECK-NEXT:     arith.maxsi
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
//   CHECK-NOT:     arith.muli
//       CHECK:     arith.maxsi
//       CHECK:   return
func.func @columns(%x: memref<8192x40xi32>, %s: memref<40xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8192x40xi32>) outs(%s : memref<40xi32>) {
  ^bb0(%a: i32, %o: i32):
    %0 = arith.muli %a, %a : i32
    %1 = arith.maxsi %o, %0 : i32
    linalg.yield %1 : i32
  }
  return
}

// -----

// The parts of a column are adjacent, whatever the order of loops. The first
// loop is too short: all its iterations are parts, and the next is split.
// CHECK-LABEL: func.func @columns_first(
//       CHECK:   memref.expand_shape %{{.*}} output_shape [32, 8, 7, 56, 64]
//       CHECK:   memref.alloc() : memref<64x32x8xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]
//       CHECK:   return
func.func @columns_first(%x: memref<32x56x56x64xf32>, %s: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(c, i, j, k) -> (i, j, k, c)>, affine_map<(c, i, j, k) -> (c)>],
                  iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
      ins(%x : memref<32x56x56x64xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A first loop of two iterations, and a scalar of each row: a kernel for rows
// takes rows of one loop, so that each row of the first input is a part.
// CHECK-LABEL: func.func @short_loop(
//       CHECK:   memref.alloc() : memref<2x1024xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]
//       CHECK:   linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]
//       CHECK:   return
func.func @short_loop(%x: memref<2x1024x2048xf32>, %y: memref<2x1024xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> ()>],
                  iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %y : memref<2x1024x2048xf32>, memref<2x1024xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A body that reads the index of the split loop has that of the part and that
// within the part; other indices stay.
// CHECK-LABEL: func.func @indices(
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]
//       CHECK:   ^bb0(%[[A:.*]]: f32, %[[O:.*]]: f32):
//   CHECK-DAG:     %[[OUTER:.*]] = linalg.index 0 : index
//   CHECK-DAG:     %[[WITHIN:.*]] = linalg.index 1 : index
//   CHECK-DAG:     %[[COLUMN:.*]] = linalg.index 2 : index
//   CHECK-DAG:     %[[PART:.*]] = arith.constant 4 : index
//   CHECK-DAG:     %[[FIRST:.*]] = arith.muli %[[OUTER]], %[[PART]] : index
//   CHECK-DAG:     %[[ROW:.*]] = arith.addi %[[FIRST]], %[[WITHIN]] : index
//       CHECK:     %[[IS:.*]] = arith.cmpi ule, %[[COLUMN]], %[[ROW]] : index
//  CHECK-NEXT:     arith.select %[[IS]], %[[A]], %{{.*}} : f32
//       CHECK:   linalg.generic {{.*}} iterator_types = ["reduction"]
//   CHECK-NOT:     linalg.index
//       CHECK:   return
func.func @indices(%x: memref<4096x4096xf32>, %s: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
                  iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<4096x4096xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.cmpi ule, %j, %i : index
    %0 = arith.select %is, %a, %zero : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Parts of bf16 are f32. The second step rounds once, in its kernel.
// CHECK-LABEL: func.func @bf16(
//       CHECK:   memref.alloc() : memref<64x512xf32>
//       CHECK:   linalg.generic
//       CHECK:   ^bb0(%[[A:.*]]: bf16, %[[O:.*]]: f32):
//  CHECK-NEXT:     %[[W:.*]] = arith.extf %[[A]] : bf16 to f32
//  CHECK-NEXT:     arith.addf %[[O]], %[[W]] : f32
//       CHECK:   linalg.generic
//       CHECK:   ^bb0(%[[P:.*]]: f32, %[[R:.*]]: bf16):
//  CHECK-NEXT:     %[[B:.*]] = arith.extf %[[R]] : bf16 to f32
//  CHECK-NEXT:     %[[S:.*]] = arith.addf %[[B]], %[[P]] : f32
//  CHECK-NEXT:     arith.truncf %[[S]] : f32 to bf16
//       CHECK:   return
func.func @bf16(%x: memref<32768x64xbf16>, %s: memref<64xbf16>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<32768x64xbf16>) outs(%s : memref<64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.addf %o, %a : bf16
    linalg.yield %0 : bf16
  }
  return
}

// -----

// Enough columns for two blocks of 64 bytes on each multiprocessor.
// CHECK-LABEL: func.func @enough_columns(
//  CHECK-NEXT:   linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
//       CHECK:   return
func.func @enough_columns(%x: memref<4096x8448xbf16>, %s: memref<8448xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<4096x8448xbf16>) outs(%s : memref<8448xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// 128 such blocks do not fill the multiprocessors: eight parts have blocks that
// read whole lines of the cache.
// CHECK-LABEL: func.func @half_the_columns(
//       CHECK:   memref.alloc() : memref<4096x8xf32>
//       CHECK:   return
func.func @half_the_columns(%x: memref<16384x4096xbf16>, %s: memref<4096xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<16384x4096xbf16>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Enough results, and few elements.
// CHECK-LABEL: func.func @rows(
//  CHECK-NEXT:   linalg.reduce
//  CHECK-NEXT:   return
func.func @rows(%x: memref<4096x4096xf32>, %s: memref<4096xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<4096x4096xf32>) outs(%s : memref<4096xf32>) dimensions = [1]
  return
}

// One block would reduce few long rows for longer than two kernels take.
// CHECK-LABEL: func.func @long_row(
//       CHECK:   memref.alloc() : memref<32xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]
//       CHECK:   linalg.generic {{.*}} iterator_types = ["reduction"]
//       CHECK:   return
func.func @long_row(%x: memref<384x384xf32>, %s: memref<f32>) {
  linalg.reduce { arith.addf } ins(%x : memref<384x384xf32>) outs(%s : memref<f32>) dimensions = [0, 1]
  return
}

// CHECK-LABEL: func.func @few(
//  CHECK-NEXT:   linalg.reduce
//  CHECK-NEXT:   return
func.func @few(%x: memref<4096xf32>, %s: memref<f32>) {
  linalg.reduce { arith.addf } ins(%x : memref<4096xf32>) outs(%s : memref<f32>) dimensions = [0]
  return
}

// Few elements, too, are split into rows of one loop: one thread would compute
// them otherwise.
// CHECK-LABEL: func.func @few_of_two_shapes(
//       CHECK:   memref.alloc() : memref<4x8xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]
//       CHECK:   linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]
//       CHECK:   return
func.func @few_of_two_shapes(%x: memref<4x8x32xf32>, %y: memref<4x8xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> ()>],
                  iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %y : memref<4x8x32xf32>, memref<4x8xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Each element of a tensor beside all elements of another one of the same size:
// what is reduced is rows, and there are enough of these.
// CHECK-LABEL: func.func @pairs(
//  CHECK-NEXT:   linalg.generic
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @pairs(%x: memref<600xi32>, %y: memref<600xi32>, %s: memref<600xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : memref<600xi32>, memref<600xi32>) outs(%s : memref<600xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.subi %a, %b : i32
    %1 = arith.maxsi %o, %0 : i32
    linalg.yield %1 : i32
  }
  return
}

// A combination whose order matters, and a matmul, which the library splits.
// CHECK-LABEL: func.func @in_order(
//  CHECK-NEXT:   linalg.reduce
//  CHECK-NEXT:   return
func.func @in_order(%x: memref<4194304xf32>, %s: memref<f32>) {
  linalg.reduce { arith.subf } ins(%x : memref<4194304xf32>) outs(%s : memref<f32>) dimensions = [0]
  return
}

// CHECK-LABEL: func.func @product(
//  CHECK-NEXT:   linalg.matmul
//  CHECK-NEXT:   return
func.func @product(%a: memref<8x1048576xf32>, %b: memref<1048576x8xf32>, %c: memref<8x8xf32>) {
  linalg.matmul ins(%a, %b : memref<8x1048576xf32>, memref<1048576x8xf32>) outs(%c : memref<8x8xf32>)
  return
}

// -----

// The loops of a combination whose order matters keep their order, whatever that
// of memory.
// CHECK:       #[[$SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @in_order_of_loops(
//  CHECK-NEXT:   linalg.generic {indexing_maps = [#[[$SWAPPED]], #{{.*}}], iterator_types = ["reduction", "reduction"]}
//       CHECK:   return
func.func @in_order_of_loops(%x: memref<2048x2048xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> ()>],
                  iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<2048x2048xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.subf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The gradient of a convolution's weights beside the weights, in two layouts: 18
// parts of 256 rows are 288 blocks of columns. Loops have the order of the
// gradient's memory, whose adjacent elements are adjacent rows.
// CHECK-DAG:   #[[$GRADIENT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
// CHECK-DAG:   #[[$WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4, d0)>
// CHECK-DAG:   #[[$PARTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @two_layouts(
//  CHECK-SAME:     %[[G:.*]]: memref<512x3x3x512xf32>, %[[W:.*]]: memref<3x3x512x512xf32>, %[[S:.*]]: memref<512xf32>)
//   CHECK-DAG:   %[[G2:.*]] = memref.expand_shape %[[G]] {{.*}} into memref<512x3x3x2x256xf32>
//   CHECK-DAG:   %[[W2:.*]] = memref.expand_shape %[[W]] {{.*}} into memref<3x3x2x256x512xf32>
//       CHECK:   %[[P:.*]] = memref.alloc() : memref<512x3x3x2xf32>
//       CHECK:   linalg.generic {indexing_maps = [#[[$GRADIENT]], #[[$WEIGHTS]], #[[$PARTS]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[G2]], %[[W2]] : {{.*}}) outs(%[[P]] :
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%[[P]] : {{.*}}) outs(%[[S]] :
//       CHECK:   return
func.func @two_layouts(%g: memref<512x3x3x512xf32>, %w: memref<3x3x512x512xf32>, %s: memref<512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(o, h, w, i) -> (o, h, w, i)>, affine_map<(o, h, w, i) -> (h, w, i, o)>, affine_map<(o, h, w, i) -> (o)>],
                  iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
      ins(%g, %w : memref<512x3x3x512xf32>, memref<3x3x512x512xf32>) outs(%s : memref<512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// What has neither rows nor columns is split like rows, until there are enough
// results for a group of threads each.
// CHECK-LABEL: func.func @every_other(
//       CHECK:   memref.alloc() : memref<8x16xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
//       CHECK:   return
func.func @every_other(%x: memref<8x65536xf32, strided<[131072, 2]>>, %s: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x65536xf32, strided<[131072, 2]>>) outs(%s : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Enough results, and elements that are too few for two steps.
// CHECK-LABEL: func.func @every_other_of_many(
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @every_other_of_many(%x: memref<512x4096xf32, strided<[8192, 2]>>, %s: memref<512xf32>,
                               %y: memref<64x96xf32, strided<[192, 2]>>, %t: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x4096xf32, strided<[8192, 2]>>) outs(%s : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<64x96xf32, strided<[192, 2]>>) outs(%t : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Rows of four elements between those of other results: the first step has a
// result for each of the four, so that a kernel reads all columns of a row. Rows
// of a line or more, and those with other data in between, are reduced first.
// CHECK-LABEL: func.func @short_rows(
//       CHECK:   memref.alloc() : memref<8x32x4x16xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]
//       CHECK:   memref.alloc() : memref<8x4x64x16xf32>
//       CHECK:   memref.alloc() : memref<8x32x64x16xf32>
//       CHECK:   return
func.func @short_rows(%x: memref<8x64x16x32x4xf32>, %s: memref<8x32xf32>, %y: memref<8x64x16x4x64xf32>, %t: memref<8x4xf32>,
                      %z: memref<8x64x16x32x4xf32, strided<[262144, 4096, 256, 8, 1]>>, %u: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, g, c, h, w) -> (n, h, w, g, c)>, affine_map<(n, g, c, h, w) -> (n, g)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x : memref<8x64x16x32x4xf32>) outs(%s : memref<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(n, g, c, h, w) -> (n, h, w, g, c)>, affine_map<(n, g, c, h, w) -> (n, g)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%y : memref<8x64x16x4x64xf32>) outs(%t : memref<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(n, g, c, h, w) -> (n, h, w, g, c)>, affine_map<(n, g, c, h, w) -> (n, g)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%z : memref<8x64x16x32x4xf32, strided<[262144, 4096, 256, 8, 1]>>) outs(%u : memref<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Blocks of three columns each are enough.
// CHECK-LABEL: func.func @few_columns(
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @few_columns(%x: memref<1000x3xf32>, %y: memref<1000x1000xf32>, %s: memref<1000x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<1000x3xf32>, memref<1000x1000xf32>) outs(%s : memref<1000x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#all = affine_map<(d0, d1) -> ()>

// What computes the elements of a sum has the loops over its parts, and the same view of them.
// CHECK-LABEL: func.func @producer(
// CHECK-SAME:      %[[X:.*]]: memref<1024x1024xf32>, %[[Y:.*]]: memref<1024x1024xf32>,
// CHECK:         %[[Y3:.*]] = memref.expand_shape %[[Y]] {{\[\[}}0, 1], [2]] output_shape [256, 4, 1024]
// CHECK-NEXT:    linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}} : memref<256x4x1024xf32>) outs(%[[Y3]] : memref<256x4x1024xf32>)
// CHECK:           %[[PART:.*]] = linalg.index 0 : index
// CHECK:           %[[INNER:.*]] = linalg.index 1 : index
// CHECK:           %[[FIRST:.*]] = arith.muli %[[PART]], %c4{{.*}} : index
// CHECK-NEXT:      arith.addi %[[FIRST]], %[[INNER]] : index
// CHECK:           linalg.index 2 : index
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]} ins(%[[Y3]] : memref<256x4x1024xf32>)
func.func @producer(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1024xf32>) outs(%y : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %l = arith.index_cast %k : index to i32
    %f = arith.sitofp %l : i32 to f32
    %r = arith.addf %a, %f : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]}
      ins(%y : memref<1024x1024xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#all = affine_map<(d0, d1) -> ()>

// What another op writes keeps its loops.
// CHECK-LABEL: func.func @other(
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : memref<1024x1024xf32>)
func.func @other(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1024xf32>) outs(%y : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<1024x1024xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}
