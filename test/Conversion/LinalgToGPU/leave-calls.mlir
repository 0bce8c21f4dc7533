// Kernels before memory is planned: what becomes a call stays, and buffers that
// one kernel uses are gone.
//
// RUN: braid-opt %s --split-input-file --convert-linalg-to-gpu=leave-calls | FileCheck %s
// RUN: braid-opt %s --split-input-file --convert-linalg-to-gpu=leave-calls --convert-linalg-to-gpu | FileCheck %s --check-prefix=REST

// CHECK-LABEL: func.func @calls
// CHECK:         linalg.matmul
// CHECK-NEXT:    memref.copy
// CHECK:         gpu.launch_func @kernels::@elementwise
// CHECK-NOT:     gpu.launch_func
// The second run adds its kernels to the module of the first one.
// REST-LABEL:  func.func @calls
// REST-COUNT-3:  gpu.launch_func @kernels::
// REST-NOT:      gpu.launch_func
// REST-COUNT-1:  gpu.module @kernels
// REST-NOT:      gpu.module
func.func @calls(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  memref.copy %c, %b : memref<64x64xf32> to memref<64x64xf32>
  linalg.exp ins(%b : memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Two reductions start from copies of one fill. Both kernels take it in, and the
// exponentials of the rows stay in registers.
// REST-LABEL:  func.func @run
// CHECK-LABEL: func.func @run
// CHECK-SAME:      (%[[A:.*]]: memref<64x256xf32>, %[[R:.*]]: memref<64xf32>, %[[S:.*]]: memref<64xf32>)
// CHECK-NOT:     memref.copy
// CHECK-NOT:     memref.alloc() : memref<64x256xf32>
// CHECK:         gpu.launch_func @kernels::@rows
// CHECK-SAME:        args(%[[A]] : memref<64x256xf32>, %{{.*}} : memref<64xf32>
// CHECK:         return
func.func @run(%a: memref<64x256xf32>, %r: memref<64xf32>, %s: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %fill = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%fill : memref<64xf32>)
  %e = memref.alloc() : memref<64x256xf32>
  linalg.exp ins(%a : memref<64x256xf32>) outs(%e : memref<64x256xf32>)
  memref.copy %fill, %r : memref<64xf32> to memref<64xf32>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<64x256xf32>) outs(%r : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %o, %x : f32
    linalg.yield %0 : f32
  }
  memref.copy %fill, %s : memref<64xf32> to memref<64xf32>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<64x256xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %o, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The reduction of each iteration starts from a copy of a fill before the loop. Its kernel takes the fill in.
// CHECK-LABEL: func.func @in_loop
// CHECK-NOT:     memref.copy
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc() : memref<64xf32>
// CHECK-NOT:       memref.copy
// CHECK:           gpu.launch_func
// CHECK-NOT:       gpu.launch_func
// CHECK:           memref.copy %{{.*}}, %{{.*}} : memref<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @in_loop(%a: memref<64x256xf32>, %r: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %fill = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%fill : memref<64xf32>)
  scf.for %i = %c0 to %c5 step %c1 {
    %s = memref.alloc() : memref<64xf32>
    memref.copy %fill, %s : memref<64xf32> to memref<64xf32>
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<64x256xf32>) outs(%s : memref<64xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.addf %o, %x : f32
      linalg.yield %0 : f32
    }
    memref.copy %s, %r : memref<64xf32> to memref<64xf32>
  }
  return
}

// -----

// The second iteration copies what the first one has written.
// CHECK-LABEL: func.func @written_in_loop
// CHECK:         gpu.launch_func
// CHECK:         scf.for
// CHECK-NEXT:      memref.copy
// CHECK:           gpu.launch_func
func.func @written_in_loop(%a: memref<64xf32>, %r: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %fill = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%fill : memref<64xf32>)
  scf.for %i = %c0 to %c5 step %c1 {
    memref.copy %fill, %r : memref<64xf32> to memref<64xf32>
    linalg.exp ins(%a : memref<64xf32>) outs(%fill : memref<64xf32>)
  }
  return
}

// -----

// What was written behind the fill is no fill.
// CHECK-LABEL: func.func @other_writer
// CHECK:         gpu.launch_func
// CHECK:         memref.copy
func.func private @elsewhere()
func.func @other_writer(%a: memref<64xf32>, %r: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %fill = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%fill : memref<64xf32>)
  linalg.exp ins(%a : memref<64xf32>) outs(%fill : memref<64xf32>)
  call @elsewhere() : () -> ()
  memref.copy %fill, %r : memref<64xf32> to memref<64xf32>
  return
}

// A copy reads the buffer that a later body reads at other places: one kernel has
// blocks for both.
// CHECK-LABEL: func.func @copy_and_read
// CHECK-NOT:     memref.copy
// CHECK:         gpu.launch_func @kernels::@independent
// CHECK-NEXT:    return
func.func @copy_and_read(%x: memref<256x64xf32>, %y: memref<256x64xf32>, %z: memref<256x64xf32>) {
  memref.copy %x, %y : memref<256x64xf32> to memref<256x64xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%z : memref<256x64xf32>) {
  ^bb0(%o: f32):
    %last = arith.constant 255 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %last, %i : index
    %a = memref.load %x[%k, %j] : memref<256x64xf32>
    linalg.yield %a : f32
  }
  return
}
