// Buffers that are no arena are freed after their last use.
//
// RUN: braid-opt %s --split-input-file --braid-deallocate-buffers | FileCheck %s

// CHECK-LABEL: func.func private @temporary
// CHECK-NEXT:    %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    linalg.log
// CHECK-NEXT:    memref.dealloc %[[A]] : memref<?xf32>
// CHECK-NEXT:    linalg.sqrt
// CHECK-NEXT:    return
func.func private @temporary(%n: index, %y: memref<?xf32>) {
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%y : memref<?xf32>) outs(%a : memref<?xf32>)
  linalg.log ins(%a : memref<?xf32>) outs(%y : memref<?xf32>)
  linalg.sqrt ins(%y : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @planned
// CHECK-NEXT:    memref.alloc() {alignment = 256 : i64, braid.arena} : memref<256xi8>
// CHECK-NEXT:    return
func.func @planned() {
  %arena = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<256xi8>
  return
}

// -----

// A loop that rotates views of the arena frees none of them, and no list of frees is made.
// CHECK-LABEL: func.func @beside_an_arena
// CHECK:         memref.alloc() {alignment = 256 : i64, braid.arena} : memref<512xi8>
// CHECK:         scf.for {{.*}} -> (memref<64xf32>, memref<64xf32>) {
// CHECK-NEXT:      linalg.exp
// CHECK-NEXT:      scf.yield
// CHECK:         %[[D:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    linalg.log
// CHECK-NEXT:    memref.dealloc %[[D]]
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    return
func.func @beside_an_arena(%n: index, %x: memref<64xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %arena = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<512xi8>
  %a = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
  %b = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (memref<64xf32>, memref<64xf32>) {
    linalg.exp ins(%p : memref<64xf32>) outs(%q : memref<64xf32>)
    scf.yield %q, %p : memref<64xf32>, memref<64xf32>
  }
  %d = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%y : memref<?xf32>) outs(%d : memref<?xf32>)
  linalg.log ins(%d : memref<?xf32>) outs(%y : memref<?xf32>)
  memref.copy %r#0, %x : memref<64xf32> to memref<64xf32>
  return
}

// -----

// For a device the host compares addresses: lists of addresses would be in device memory.
// CHECK-LABEL: func.func @compared
// CHECK-NOT:     memref.alloc() : memref<{{.*}}index>
// CHECK:         %[[A:.*]] = memref.extract_aligned_pointer_as_index %{{.*}} : memref<?xf32> -> index
// CHECK:         arith.cmpi eq
// CHECK:         scf.if
// CHECK-NEXT:      memref.dealloc
// CHECK-NOT:     call @dealloc_helper
// CHECK-NOT:     memref.load
// CHECK:         return
module attributes {braid_rt.target = "cuda"} {
  func.func @compared(%n: index, %m: index, %y: memref<?xf32>) -> memref<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc(%n) : memref<?xf32>
    linalg.exp ins(%y : memref<?xf32>) outs(%a : memref<?xf32>)
    %r = scf.for %i = %c0 to %m step %c1 iter_args(%p = %a) -> (memref<?xf32>) {
      %b = memref.alloc(%n) : memref<?xf32>
      linalg.exp ins(%p : memref<?xf32>) outs(%b : memref<?xf32>)
      scf.yield %b : memref<?xf32>
    }
    return %r : memref<?xf32>
  }
}

// -----

// A kernel uses the buffer behind the address that its launch takes.
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @kernel(%x: memref<f32>) kernel {
    gpu.return
  }
}

// CHECK-LABEL: func.func private @taken_by_a_kernel
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[A]]
// CHECK-NEXT:    gpu.launch_func @kernels::@kernel {{.*}} args(%[[BASE]] : memref<f32>)
// CHECK-NEXT:    memref.dealloc %[[A]] : memref<?xf32>
// CHECK-NEXT:    linalg.sqrt
// CHECK-NEXT:    return
func.func private @taken_by_a_kernel(%n: index, %y: memref<?xf32>) {
  %one = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%y : memref<?xf32>) outs(%a : memref<?xf32>)
  %base, %offset, %size, %stride = memref.extract_strided_metadata %a : memref<?xf32> -> memref<f32>, index, index, index
  gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%base : memref<f32>)
  linalg.sqrt ins(%y : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
}
