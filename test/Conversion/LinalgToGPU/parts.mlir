// RUN: braid-opt %s --convert-linalg-to-gpu=leave-calls --canonicalize | FileCheck %s

#id = affine_map<(b, t, c) -> (b, t, c)>
#flat = affine_map<(t, c) -> (t, c)>
#turned = affine_map<(t, c) -> (c, t)>
#one = affine_map<(i) -> (i)>

comm.group @world [[0, 1]]

// A level of a scan reads even and odd elements of the level below. Each of the
// 2 x 256 columns depends only on itself: a block computes 8 of them, level after
// level.
// CHECK-LABEL: func.func @levels(
//       CHECK:   %[[A:.*]] = memref.alloc() : memref<2x8x256xf32>
//       CHECK:   %[[B:.*]] = memref.alloc() : memref<2x4x256xf32>
//   CHECK-NOT:   gpu.launch_func
//       CHECK:   gpu.launch_func @kernels::@parts blocks in (%c64, %c1, %c1) threads in (%c512, %c1, %c1)
//  CHECK-SAME:     args(%arg0 : memref<2x16x256xf32>, %[[A]] : memref<2x8x256xf32>, %[[B]] : memref<2x4x256xf32>, %arg1 : memref<2x2x256xf32>)
//  CHECK-NEXT:   return
func.func @levels(%x: memref<2x16x256xf32>, %y: memref<2x2x256xf32>) {
  %a = memref.alloc() : memref<2x8x256xf32>
  %x0 = memref.subview %x[0, 0, 0] [2, 8, 256] [1, 2, 1] : memref<2x16x256xf32> to memref<2x8x256xf32, strided<[4096, 512, 1]>>
  %x1 = memref.subview %x[0, 1, 0] [2, 8, 256] [1, 2, 1] : memref<2x16x256xf32> to memref<2x8x256xf32, strided<[4096, 512, 1], offset: 256>>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x0, %x1 : memref<2x8x256xf32, strided<[4096, 512, 1]>>, memref<2x8x256xf32, strided<[4096, 512, 1], offset: 256>>)
      outs(%a : memref<2x8x256xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  }
  %b = memref.alloc() : memref<2x4x256xf32>
  %a0 = memref.subview %a[0, 0, 0] [2, 4, 256] [1, 2, 1] : memref<2x8x256xf32> to memref<2x4x256xf32, strided<[2048, 512, 1]>>
  %a1 = memref.subview %a[0, 1, 0] [2, 4, 256] [1, 2, 1] : memref<2x8x256xf32> to memref<2x4x256xf32, strided<[2048, 512, 1], offset: 256>>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a0, %a1 : memref<2x4x256xf32, strided<[2048, 512, 1]>>, memref<2x4x256xf32, strided<[2048, 512, 1], offset: 256>>)
      outs(%b : memref<2x4x256xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  }
  // A copy is an op of the run.
  %b1 = memref.subview %b[0, 1, 0] [2, 2, 256] [1, 2, 1] : memref<2x4x256xf32> to memref<2x2x256xf32, strided<[1024, 512, 1], offset: 256>>
  memref.copy %b1, %y : memref<2x2x256xf32, strided<[1024, 512, 1], offset: 256>> to memref<2x2x256xf32>
  return
}

// Two ops that need nothing of each other share a loop, without a barrier
// between them. A concatenation reads both behind it. Each row of the arrays is
// a part, so a wider axis is none.
// CHECK-LABEL: func.func @concatenation(
//       CHECK:   gpu.launch_func @kernels::@parts_0 blocks in (%c32, %c1, %c1)
//  CHECK-NEXT:   return
func.func @concatenation(%x: memref<256x3xf32>, %y: memref<256x5xf32>, %z: memref<256x8xf32>) {
  %c3 = arith.constant 3 : index
  %a = memref.alloc() : memref<256x3xf32>
  %b = memref.alloc() : memref<256x5xf32>
  linalg.exp ins(%x : memref<256x3xf32>) outs(%a : memref<256x3xf32>)
  linalg.abs ins(%y : memref<256x5xf32>) outs(%b : memref<256x5xf32>)
  linalg.generic {indexing_maps = [#flat], iterator_types = ["parallel", "parallel"]} outs(%z : memref<256x8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %low = arith.cmpi ult, %j, %c3 : index
    %0 = scf.if %low -> (f32) {
      %1 = memref.load %a[%i, %j] : memref<256x3xf32>
      scf.yield %1 : f32
    } else {
      %k = arith.subi %j, %c3 : index
      %1 = memref.load %b[%i, %k] : memref<256x5xf32>
      scf.yield %1 : f32
    }
    linalg.yield %0 : f32
  }
  return
}

// Ops of a run move behind a start and a matmul that use other buffers, but not
// behind a wait: what ran before it hides the collective.
// CHECK-LABEL: func.func @between(
//       CHECK:   comm.all_reduce
//       CHECK:   linalg.matmul
//       CHECK:   gpu.launch_func @kernels::@parts_1
//       CHECK:   comm.wait
//       CHECK:   gpu.launch_func @kernels::@elementwise
//  CHECK-NEXT:   return
func.func @between(%x: memref<64xf32>, %y: memref<64xf32>, %g: memref<8xf32>, %m: memref<16x16xf32>) {
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  %t = comm.all_reduce sum %g into %g on @world : memref<8xf32>, memref<8xf32>
  linalg.abs ins(%y : memref<64xf32>) outs(%x : memref<64xf32>)
  linalg.matmul ins(%m, %m : memref<16x16xf32>, memref<16x16xf32>) outs(%m : memref<16x16xf32>)
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  comm.wait %t writes(%g : memref<8xf32>) : !comm.token
  linalg.abs ins(%y : memref<64xf32>) outs(%x : memref<64xf32>)
  return
}

// An op that uses what the run has written ends it.
// CHECK-LABEL: func.func @used(
// CHECK-COUNT-2: gpu.launch_func @kernels::@elementwise
//       CHECK:   comm.all_reduce
//       CHECK:   comm.wait
//       CHECK:   gpu.launch_func @kernels::@elementwise
//  CHECK-NEXT:   return
func.func @used(%x: memref<64xf32>, %y: memref<64xf32>) {
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  linalg.abs ins(%y : memref<64xf32>) outs(%x : memref<64xf32>)
  %t = comm.all_reduce sum %x into %x on @world : memref<64xf32>, memref<64xf32>
  comm.wait %t writes(%x : memref<64xf32>) : !comm.token
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// Few blocks could not read large operands in time: each element of the sums
// depends on all.
// CHECK-LABEL: func.func @shifted(
// CHECK-COUNT-3: gpu.launch_func @kernels::@elementwise
//   CHECK-NOT:   gpu.launch_func
//       CHECK:   return
func.func @shifted(%x: memref<2000001xf32>, %y: memref<2000001xf32>) {
  %x0 = memref.subview %x[0] [2000000] [1] : memref<2000001xf32> to memref<2000000xf32, strided<[1]>>
  %x1 = memref.subview %x[1] [2000000] [1] : memref<2000001xf32> to memref<2000000xf32, strided<[1], offset: 1>>
  %y0 = memref.subview %y[0] [2000000] [1] : memref<2000001xf32> to memref<2000000xf32, strided<[1]>>
  %y1 = memref.subview %y[1] [2000000] [1] : memref<2000001xf32> to memref<2000000xf32, strided<[1], offset: 1>>
  linalg.exp ins(%x1 : memref<2000000xf32, strided<[1], offset: 1>>) outs(%y0 : memref<2000000xf32, strided<[1]>>)
  linalg.exp ins(%y1 : memref<2000000xf32, strided<[1], offset: 1>>) outs(%x0 : memref<2000000xf32, strided<[1]>>)
  linalg.exp ins(%x1 : memref<2000000xf32, strided<[1], offset: 1>>) outs(%y0 : memref<2000000xf32, strided<[1]>>)
  return
}

// A transpose has a kernel of its own.
// CHECK-LABEL: func.func @transpose(
//       CHECK:   gpu.launch_func @kernels::@elementwise
//       CHECK:   gpu.launch_func @kernels::@transposed
//       CHECK:   gpu.launch_func @kernels::@elementwise
func.func @transpose(%x: memref<64x96xf32>, %y: memref<96x64xf32>) {
  linalg.exp ins(%x : memref<64x96xf32>) outs(%x : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#turned, #flat], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x96xf32>) outs(%y : memref<96x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  linalg.exp ins(%y : memref<96x64xf32>) outs(%y : memref<96x64xf32>)
  return
}

// Buffers that may be the same memory are in no common run.
// CHECK-LABEL: func.func private @overlapping(
// CHECK-COUNT-3: gpu.launch_func @kernels::@elementwise
func.func private @overlapping(%x: memref<64xf32>, %y: memref<64xf32>) {
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  linalg.exp ins(%y : memref<64xf32>) outs(%x : memref<64xf32>)
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// The updates of parameters need nothing of each other: one kernel has blocks for
// each, whatever the shapes are.
// CHECK-LABEL: func.func @updates(
//       CHECK:   gpu.launch_func @kernels::@independent blocks in (%c6, %c1, %c1) threads in (%c256, %c1, %c1)
//  CHECK-SAME:     args(%arg0 : memref<64x64xf32>, %arg1 : memref<64x64xf32>, %arg2 : memref<100xf32>, %arg3 : memref<100xf32>, %arg4 : memref<f32>)
//  CHECK-NEXT:   return
func.func @updates(%p: memref<64x64xf32>, %g: memref<64x64xf32>, %q: memref<100xf32>, %h: memref<100xf32>, %step: memref<f32>) {
  linalg.sub ins(%p, %g : memref<64x64xf32>, memref<64x64xf32>) outs(%p : memref<64x64xf32>)
  linalg.add ins(%q, %h : memref<100xf32>, memref<100xf32>) outs(%q : memref<100xf32>)
  linalg.exp ins(%step : memref<f32>) outs(%step : memref<f32>)
  return
}

// What a loop carries may be the same memory under two names, which matters only if an op writes it.
// CHECK-LABEL: func.func @carried(
//       CHECK:   gpu.launch_func @kernels::@independent{{.*}} blocks in (%c2, %c1, %c1)
//   CHECK-NOT:   gpu.launch_func
//       CHECK:   scf.yield
func.func @carried(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x, %b = %y) -> (memref<64xf32>, memref<64xf32>) {
    %p = memref.alloc() : memref<64xf32>
    %q = memref.alloc() : memref<64xf32>
    linalg.add ins(%a, %b : memref<64xf32>, memref<64xf32>) outs(%p : memref<64xf32>)
    linalg.sub ins(%a, %b : memref<64xf32>, memref<64xf32>) outs(%q : memref<64xf32>)
    scf.yield %p, %q : memref<64xf32>, memref<64xf32>
  }
  return
}

// An op that moves much has a kernel of its own.
// CHECK-LABEL: func.func @large(
// CHECK-COUNT-2: gpu.launch_func @kernels::@elementwise
//  CHECK-NEXT:   return
func.func @large(%p: memref<2048x1024xf32>, %g: memref<2048x1024xf32>, %q: memref<100xf32>) {
  linalg.sub ins(%p, %g : memref<2048x1024xf32>, memref<2048x1024xf32>) outs(%p : memref<2048x1024xf32>)
  linalg.exp ins(%q : memref<100xf32>) outs(%q : memref<100xf32>)
  return
}

// Only the columns are common to all ops. A block with eight columns would read a
// sector of each row where alone it reads lines.
// CHECK-LABEL: func.func @sectors(
// CHECK-COUNT-3: gpu.launch_func @kernels::@elementwise
//  CHECK-NEXT:   return
func.func @sectors(%x: memref<4096x1024xf32>, %s: memref<1024xf32>, %y: memref<4096x1024xf32>) {
  linalg.exp ins(%s : memref<1024xf32>) outs(%s : memref<1024xf32>)
  linalg.exp ins(%s : memref<1024xf32>) outs(%s : memref<1024xf32>)
  linalg.generic {indexing_maps = [#flat, affine_map<(t, c) -> (c)>, #flat], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<4096x1024xf32>, memref<1024xf32>) outs(%y : memref<4096x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  }
  return
}

// What a thread reads behind a barrier may be new: only buffers that no op
// writes are noalias.
// CHECK-LABEL: gpu.func @parts(
//  CHECK-SAME:   %{{[^:]*}}: memref<2x16x256xf32> {llvm.align = 16 : i64, llvm.noalias}
//  CHECK-SAME:   %{{[^:]*}}: memref<2x8x256xf32> {llvm.align = 16 : i64}
//  CHECK-SAME:   nvvm.minctasm = 3
//       CHECK:   arith.mulf {{.*}} : vector<4xf32>
//       CHECK:   gpu.barrier
//       CHECK:   arith.addf {{.*}} : vector<4xf32>
//       CHECK:   gpu.barrier
//       CHECK:   gpu.return
// CHECK-LABEL: gpu.func @parts_0(
//       CHECK:   math.exp
//   CHECK-NOT:   gpu.barrier
//       CHECK:   math.absf
//       CHECK:   gpu.barrier
//       CHECK:   scf.if {{.*}} -> (f32)
//   CHECK-NOT:   gpu.barrier
//       CHECK:   gpu.return
// A block of independent ops finds its op by halves.
// CHECK-LABEL: gpu.func @independent(
//  CHECK-SAME:   llvm.noalias}, %{{.*}}llvm.noalias}
//   CHECK-NOT:   gpu.barrier
//       CHECK:   arith.cmpi ult, %{{.*}}, %c4{{.*}} : i32
//       CHECK:   scf.if
//       CHECK:     arith.subf {{.*}} : vector<4xf32>
//       CHECK:   else
//       CHECK:     arith.cmpi ult, %{{.*}}, %c5{{.*}} : i32
//       CHECK:     scf.if
//       CHECK:       arith.addf {{.*}} : vector<4xf32>
//       CHECK:     else
//       CHECK:       math.exp %{{.*}} : f32
