// Kernels for sizes that only the program knows: what lies between them is allocated
// and freed while the program runs.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none --emit=llvm -o %t.ll && FileCheck %s < %t.ll

// CHECK-LABEL: define internal void @__braid_call_main
// CHECK:         call ptr @braid_rt_buffer_alloc
// CHECK:         call void @braid_rt_launch
// CHECK:         call ptr @braid_rt_buffer_alloc
// CHECK:         call void @braid_rt_launch
// CHECK:         call void @braid_rt_buffer_free
func.func @main(%x: tensor<?xf32>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%size) : tensor<?xf32>
  %s = linalg.map ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) (%a: f32, %o: f32) {
    %b = arith.mulf %a, %a : f32
    linalg.yield %b : f32
  }
  %v = tensor.extract %s[%c0] : tensor<?xf32>
  %h = tensor.empty(%size) : tensor<?xf16>
  %r = linalg.map ins(%s : tensor<?xf32>) outs(%h : tensor<?xf16>) (%a: f32, %o: f16) {
    %d = arith.subf %a, %v : f32
    %b = arith.truncf %d : f32 to f16
    linalg.yield %b : f16
  }
  return %r : tensor<?xf16>
}

// A kernel may read what an operation in flight reads.
// CHECK-LABEL: define internal void @__braid_call_reads
// CHECK:         call ptr @braid_rt_all_reduce
// CHECK:         call void @braid_rt_launch
// CHECK:         call void @braid_rt_wait
comm.group @world all
func.func @reads(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %t = comm.all_reduce sum %x on @world : tensor<?xf32>
  %e = tensor.empty(%size) : tensor<?xf32>
  %s = linalg.map ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) (%a: f32, %o: f32) {
    %b = arith.mulf %a, %a : f32
    linalg.yield %b : f32
  }
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  return %s, %r : tensor<?xf32>, tensor<?xf32>
}
