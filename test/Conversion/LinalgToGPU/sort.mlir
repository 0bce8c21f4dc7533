// RUN: braid-opt %s --convert-linalg-to-gpu --canonicalize | FileCheck %s

// A block sorts the eight rows of a tile in shared memory.
// CHECK-LABEL: func.func @rows(
// CHECK:         gpu.launch_func @kernels::@sort blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1) args(%arg0 : memref<16x32xi64>)
// CHECK-NEXT:    return
func.func @rows(%x: memref<16x32xi64>) {
  library.call "sort" outs(%x : memref<16x32xi64>)
  return
}

// Two levels need elements of several tiles. The comparisons of up to three
// steps run in the registers of one kernel; the rest of a level runs in tiles.
// CHECK-LABEL: func.func @several_tiles(
// CHECK:         gpu.launch_func @kernels::@[[TILES:.*]] blocks in (%c4, %c1, %c1) threads in (%c512, %c1, %c1)
// CHECK-NEXT:    gpu.launch_func @kernels::@[[STEP:.*]] blocks in (%c32, %c1, %c1) threads in (%c256, %c1, %c1)
// CHECK-NEXT:    gpu.launch_func @kernels::@[[MERGE:.*]] blocks in (%c4, %c1, %c1) threads in (%c512, %c1, %c1)
// CHECK-NEXT:    gpu.launch_func @kernels::@[[STEPS:.*]] blocks in (%c16, %c1, %c1) threads in (%c256, %c1, %c1)
// CHECK-NEXT:    gpu.launch_func @kernels::@[[MERGE]] blocks in (%c4, %c1, %c1) threads in (%c512, %c1, %c1)
// CHECK-NEXT:    return
func.func @several_tiles(%x: memref<16000xi64>) {
  library.call "sort" outs(%x : memref<16000xi64>)
  return
}

// One number is sorted.
// CHECK-LABEL: func.func @one(
// CHECK-NEXT:    return
func.func @one(%x: memref<4x1xi64>) {
  library.call "sort" outs(%x : memref<4x1xi64>)
  return
}

// CHECK-LABEL: gpu.module @kernels
// CHECK:         gpu.func @sort(
// CHECK-SAME:      workgroup(%{{.*}} : memref<272xi64, #gpu.address_space<workgroup>>)
// The smaller number takes the smaller index.
// CHECK:           arith.minsi
// CHECK:           arith.maxsi
