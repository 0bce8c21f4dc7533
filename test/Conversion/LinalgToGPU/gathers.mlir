// Reductions whose bodies load from other buffers, at places that they compute.
//
// RUN: braid-opt %s --convert-linalg-to-gpu --canonicalize | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A row of another buffer, which the body chooses: each thread loads single elements.
// CHECK-LABEL: func.func @sum_of_chosen_rows(
//       CHECK:   gpu.launch_func @kernels::@rows{{.*}} blocks in (%c4096, %c1, %c1)
//  CHECK-SAME:     args(%arg3 : memref<4096xf32>, %arg1 : memref<4096xi32>, %arg2 : memref<4096x2048xf32>, %arg0 : memref<512x2048xbf16>)
//  CHECK-NEXT:   return
func.func @sum_of_chosen_rows(%table: memref<512x2048xbf16>, %which: memref<4096xi32>, %x: memref<4096x2048xf32>, %sums: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sums : memref<4096xf32>)
  linalg.generic {indexing_maps = [#row, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%which, %x : memref<4096xi32>, memref<4096x2048xf32>) outs(%sums : memref<4096xf32>) {
  ^bb0(%w: i32, %b: f32, %o: f32):
    %j = linalg.index 1 : index
    %row = arith.index_cast %w : i32 to index
    %a = memref.load %table[%row, %j] : memref<512x2048xbf16>
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// The loops of a sum of all elements become one, from which the indices follow.
// CHECK-LABEL: func.func @sum_of_chosen_elements(
//       CHECK:   gpu.launch_func @kernels::@rows{{.*}} blocks in (%c1, %c1, %c1)
//  CHECK-NEXT:   return
func.func @sum_of_chosen_elements(%table: memref<4x1023x512xf32>, %which: memref<4x1023xi32>, %sum: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<f32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%which : memref<4x1023xi32>) outs(%sum : memref<f32>) {
  ^bb0(%w: i32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %column = arith.index_cast %w : i32 to index
    %a = memref.load %table[%i, %j, %column] : memref<4x1023x512xf32>
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// The second op reads what the first one writes, from other rows: no kernel computes both.
// CHECK-LABEL: func.func @reads_other_rows(
//       CHECK:   gpu.launch_func @kernels::@rows
//  CHECK-NEXT:   gpu.launch_func @kernels::@elementwise
//  CHECK-NEXT:   return
func.func @reads_other_rows(%x: memref<256x64xf32>, %sums: memref<256xf32>, %y: memref<256x64xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<256x64xf32>) outs(%sums : memref<256xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<256x64xf32>) outs(%y : memref<256x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %last = arith.constant 255 : index
    %i = linalg.index 0 : index
    %other = arith.subi %last, %i : index
    %s = memref.load %sums[%other] : memref<256xf32>
    %0 = arith.subf %a, %s : f32
    linalg.yield %0 : f32
  }
  return
}

// The gradient of a scale whose factor is a chosen row: threads share the rows.
// CHECK-LABEL: func.func @columns_of_chosen_rows(
//       CHECK:   gpu.launch_func @kernels::@columns
//  CHECK-NEXT:   return
func.func @columns_of_chosen_rows(%table: memref<512x2048xf32>, %which: memref<4x1024xi32>, %x: memref<4x1024x2048xf32>, %sums: memref<2048xf32>) {
  linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (i, j)>, affine_map<(k, i, j) -> (i, j, k)>, affine_map<(k, i, j) -> (k)>],
                  iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%which, %x : memref<4x1024xi32>, memref<4x1024x2048xf32>) outs(%sums : memref<2048xf32>) {
  ^bb0(%w: i32, %a: f32, %o: f32):
    %k = linalg.index 0 : index
    %row = arith.index_cast %w : i32 to index
    %b = memref.load %table[%row, %k] : memref<512x2048xf32>
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A branch chooses the buffer, which is older than that of the result: they are
// no one memory.
// CHECK-LABEL: func.func @older_buffer(
//       CHECK:   gpu.launch_func @kernels::@rows{{.*}} blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
//  CHECK-NEXT:   return
func.func @older_buffer(%chooses: i1, %a: memref<16xi1>, %b: memref<16xi1>, %which: memref<4096xi32>) -> memref<i1> {
  %table = scf.if %chooses -> memref<16xi1> {
    scf.yield %a : memref<16xi1>
  } else {
    scf.yield %b : memref<16xi1>
  }
  %false = arith.constant false
  %any = memref.alloc() : memref<i1>
  linalg.fill ins(%false : i1) outs(%any : memref<i1>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%which : memref<4096xi32>) outs(%any : memref<i1>) {
  ^bb0(%w: i32, %o: i1):
    %place = arith.index_cast %w : i32 to index
    %e = memref.load %table[%place] : memref<16xi1>
    %0 = arith.ori %o, %e : i1
    linalg.yield %0 : i1
  }
  return %any : memref<i1>
}
