// What loops gain, and loops that stay as they are whatever that gains.
// RUN: braid-opt %s --comm-pipeline-loops="machine=h200x8 ranks=2" --remarks-filter=comm-pipeline-loops 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: braid-opt %s --comm-pipeline-loops="machine=h200x8 ranks=2 max-memory=400MiB" | FileCheck %s --check-prefix=SHORT
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=2" | FileCheck %s --check-prefix=OVERLAP
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=2 pipeline-loops=false" | FileCheck %s --check-prefix=ALONE
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=2 keep-order" | FileCheck %s --check-prefix=ALONE

comm.group @pair [[0, 1]]

// The second gather runs beside the first matmul, in whatever iteration. The first one runs
// ahead, if there is memory for it.
// CHECK-LABEL:   func.func @layers
// CHECK:           scf.for {{.*}} -> (tensor<8192x8192xbf16>, !comm.token<tensor<8192x8192xbf16>>) {
// REMARK:          Function=layers | Reason="the loop becomes no shorter by it"
// SHORT-LABEL:   func.func @layers
// SHORT:           scf.for {{.*}} -> (tensor<8192x8192xbf16>) {
// OVERLAP-LABEL: func.func @layers
// OVERLAP:         scf.for {{.*}} -> (tensor<8192x8192xbf16>, !comm.token<tensor<8192x8192xbf16>>) {
// ALONE-LABEL:   func.func @layers
// ALONE:           scf.for {{.*}} -> (tensor<8192x8192xbf16>) {
func.func @layers(%ws: tensor<8x4096x8192xbf16>, %vs: tensor<8x4096x2048xbf16>, %x: tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %f = tensor.empty() : tensor<8192x2048xbf16>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<8192x8192xbf16> {
    %w = tensor.extract_slice %ws[%i, 0, 0] [1, 4096, 8192] [1, 1, 1] : tensor<8x4096x8192xbf16> to tensor<4096x8192xbf16>
    %t = comm.all_gather %w on @pair dim 0 : tensor<4096x8192xbf16> -> tensor<8192x8192xbf16>
    %g = comm.wait %t : !comm.token<tensor<8192x8192xbf16>>
    %m = linalg.matmul ins(%a, %g : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    %v = tensor.extract_slice %vs[%i, 0, 0] [1, 4096, 2048] [1, 1, 1] : tensor<8x4096x2048xbf16> to tensor<4096x2048xbf16>
    %u = comm.all_gather %v on @pair dim 0 : tensor<4096x2048xbf16> -> tensor<8192x2048xbf16>
    %h = comm.wait %u : !comm.token<tensor<8192x2048xbf16>>
    %n = linalg.matmul ins(%m, %h : tensor<8192x8192xbf16>, tensor<8192x2048xbf16>)
                       outs(%f : tensor<8192x2048xbf16>) -> tensor<8192x2048xbf16>
    %b = tensor.insert_slice %n into %m[0, 0] [8192, 2048] [1, 1] : tensor<8192x2048xbf16> into tensor<8192x8192xbf16>
    scf.yield %b : tensor<8192x8192xbf16>
  }
  return %r : tensor<8192x8192xbf16>
}

// A matmul hides most of the gather. Eight iterations gain more than the first gather costs
// that runs ahead, two do not.
// CHECK-LABEL:   func.func @few
// CHECK:           scf.for {{.*}} -> (tensor<8192x8192xbf16>, !comm.token<tensor<8192x8192xbf16>>) {
// CHECK:           scf.for {{.*}} -> (tensor<8192x8192xbf16>) {
func.func @few(%ws: tensor<8x4096x8192xbf16>, %c: tensor<8192x1024xbf16>, %x: tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %f = tensor.empty() : tensor<8192x1024xbf16>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<8192x8192xbf16> {
    %p = linalg.matmul ins(%a, %c : tensor<8192x8192xbf16>, tensor<8192x1024xbf16>)
                       outs(%f : tensor<8192x1024xbf16>) -> tensor<8192x1024xbf16>
    %w = tensor.extract_slice %ws[%i, 0, 0] [1, 4096, 8192] [1, 1, 1] : tensor<8x4096x8192xbf16> to tensor<4096x8192xbf16>
    %t = comm.all_gather %w on @pair dim 0 : tensor<4096x8192xbf16> -> tensor<8192x8192xbf16>
    %g = comm.wait %t : !comm.token<tensor<8192x8192xbf16>>
    %m = linalg.matmul ins(%a, %g : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    %b = tensor.insert_slice %p into %m[0, 0] [8192, 1024] [1, 1] : tensor<8192x1024xbf16> into tensor<8192x8192xbf16>
    scf.yield %b : tensor<8192x8192xbf16>
  }
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %r) -> tensor<8192x8192xbf16> {
    %p = linalg.matmul ins(%a, %c : tensor<8192x8192xbf16>, tensor<8192x1024xbf16>)
                       outs(%f : tensor<8192x1024xbf16>) -> tensor<8192x1024xbf16>
    %w = tensor.extract_slice %ws[%i, 0, 0] [1, 4096, 8192] [1, 1, 1] : tensor<8x4096x8192xbf16> to tensor<4096x8192xbf16>
    %t = comm.all_gather %w on @pair dim 0 : tensor<4096x8192xbf16> -> tensor<8192x8192xbf16>
    %g = comm.wait %t : !comm.token<tensor<8192x8192xbf16>>
    %m = linalg.matmul ins(%a, %g : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    %b = tensor.insert_slice %p into %m[0, 0] [8192, 1024] [1, 1] : tensor<8192x1024xbf16> into tensor<8192x8192xbf16>
    scf.yield %b : tensor<8192x8192xbf16>
  }
  return %s : tensor<8192x8192xbf16>
}

// Nothing could run beside the gather.
// REMARK: Function=alone | Reason="nothing in the loop could run beside it"
// CHECK-LABEL: func.func @alone
// CHECK:         scf.for {{.*}} -> (tensor<8192xbf16>) {
func.func @alone(%ws: tensor<8x4096xbf16>, %x: tensor<8192xbf16>) -> tensor<8192xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<8192xbf16> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 4096] [1, 1] : tensor<8x4096xbf16> to tensor<4096xbf16>
    %t = comm.all_gather %w on @pair dim 0 : tensor<4096xbf16> -> tensor<8192xbf16>
    %g = comm.wait %t : !comm.token<tensor<8192xbf16>>
    scf.yield %g : tensor<8192xbf16>
  }
  return %r : tensor<8192xbf16>
}

func.func private @log()

// Ranks may differ in %n; what @log does is not known; and bounds may be unsigned.
// REMARK: Function=uncertain | Reason="ranks may run the loop differently"
// REMARK: Function=uncertain | Reason="the loop has an op of unknown effects"
// REMARK: Function=uncertain | Reason="the bounds of the loop are unsigned"
// CHECK-LABEL: func.func @uncertain
// CHECK-NOT:     !comm.token<{{.*}}) {
// CHECK:         return
func.func @uncertain(%ws: tensor<8x2xf32>, %x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<8x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %q = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %p) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<8x2xf32> to tensor<2xf32>
    func.call @log() : () -> ()
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %r = scf.for unsigned %i = %c0 to %c8 step %c1 iter_args(%a = %q) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<8x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// On buffers, and as a message, which meets a single rank.
// REMARK: Function=others | Reason="it is on buffers"
// REMARK: Function=others | Reason="it meets a single rank"
// CHECK-LABEL: func.func @others
// CHECK-NOT:     iter_args
// CHECK:         return
func.func @others(%w: memref<2xf32>, %x: memref<4xf32>, %z: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %t = comm.all_gather %w into %x on @pair dim 0 : memref<2xf32>, memref<4xf32>
    comm.wait %t reads(%w : memref<2xf32>) writes(%x : memref<4xf32>) : !comm.token
    %s = comm.send %z on @pair to 1 : tensor<4xf32>
    comm.wait %s : !comm.token
  }
  return
}
