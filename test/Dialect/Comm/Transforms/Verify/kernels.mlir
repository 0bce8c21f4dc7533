// RUN: braid-opt %s --comm-verify --split-input-file --verify-diagnostics

// What a kernel does to a buffer in flight is what its body does to its
// argument, through views.

module attributes {gpu.container_module} {
comm.group @g [[0, 1]]
gpu.module @kernels {
  gpu.func @copy(%from: memref<4xf32>, %to: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %size = arith.constant 0 : index
    %n = memref.dim %from, %size : memref<4xf32>
    %view = memref.reinterpret_cast %from to offset: [0], sizes: [2, 2], strides: [2, 1] : memref<4xf32> to memref<2x2xf32>
    %f = memref.load %view[%i, %i] : memref<2x2xf32>
    memref.store %f, %to[%i] : memref<4xf32>
    gpu.return
  }
}
func.func @kernel_reads_source(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  %one = arith.constant 1 : index
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%x : memref<4xf32>, %z : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
func.func @kernel_writes_source(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  %one = arith.constant 1 : index
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'gpu.launch_func' op writes a buffer that an operation in flight reads}}
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%z : memref<4xf32>, %x : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
func.func @kernel_reads_destination(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  %one = arith.constant 1 : index
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'gpu.launch_func' op reads a buffer that an operation in flight writes}}
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%y : memref<4xf32>, %z : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
}

// -----

// A kernel that hands its argument on may write it.

module attributes {gpu.container_module} {
comm.group @g [[0, 1]]
gpu.module @kernels {
  gpu.func @pointer(%x: memref<4xf32>) kernel {
    %p = memref.extract_aligned_pointer_as_index %x : memref<4xf32> -> index
    gpu.return
  }
  gpu.func @view_stored_to(%x: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %view = memref.subview %x[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
    memref.store %zero, %view[%i] : memref<2xf32, strided<[1], offset: 2>>
    gpu.return
  }
}
func.func @kernel_hands_source_on(%x: memref<4xf32>, %y: memref<4xf32>) {
  %one = arith.constant 1 : index
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'gpu.launch_func' op writes a buffer that an operation in flight reads}}
  gpu.launch_func @kernels::@pointer blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%x : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
func.func @kernel_writes_a_view(%x: memref<4xf32>, %y: memref<4xf32>) {
  %one = arith.constant 1 : index
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'gpu.launch_func' op writes a buffer that an operation in flight reads}}
  gpu.launch_func @kernels::@view_stored_to blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%x : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
}

// -----

// Kernels cast masks to the bytes that they are: what they do to the bytes they do to the mask.

module attributes {gpu.container_module} {
comm.group @g [[0, 1]]
gpu.module @kernels {
  gpu.func @copy_mask(%from: memref<4xi1>, %to: memref<4xi1>) kernel {
    %i = gpu.thread_id x
    %bytes = builtin.unrealized_conversion_cast %from : memref<4xi1> to memref<4xi8>
    %places = builtin.unrealized_conversion_cast %to : memref<4xi1> to memref<4xi8>
    %byte = memref.load %bytes[%i] : memref<4xi8>
    memref.store %byte, %places[%i] : memref<4xi8>
    gpu.return
  }
}
func.func @kernel_reads_a_mask(%x: memref<4xi1>, %y: memref<4xi1>, %z: memref<4xi1>) {
  %one = arith.constant 1 : index
  %t = comm.all_reduce bor %x into %y on @g : memref<4xi1>, memref<4xi1>
  gpu.launch_func @kernels::@copy_mask blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%x : memref<4xi1>, %z : memref<4xi1>)
  comm.wait %t reads(%x : memref<4xi1>) writes(%y : memref<4xi1>) : !comm.token
  return
}
func.func @kernel_writes_a_mask(%x: memref<4xi1>, %y: memref<4xi1>, %z: memref<4xi1>) {
  %one = arith.constant 1 : index
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce bor %x into %y on @g : memref<4xi1>, memref<4xi1>
  // expected-error@+1 {{'gpu.launch_func' op writes a buffer that an operation in flight reads}}
  gpu.launch_func @kernels::@copy_mask blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%z : memref<4xi1>, %x : memref<4xi1>)
  comm.wait %t reads(%x : memref<4xi1>) writes(%y : memref<4xi1>) : !comm.token
  return
}
}

// -----

// A kernel in LLVM's dialect counts as a reader.

module attributes {gpu.container_module} {
comm.group @g [[0, 1]]
gpu.module @kernels {
  llvm.func @lowered(%x: !llvm.ptr) attributes {gpu.kernel} {
    llvm.return
  }
}
func.func @lowered_kernel_beside_source(%x: memref<4xf32>, %y: memref<4xf32>) {
  %one = arith.constant 1 : index
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  gpu.launch_func @kernels::@lowered blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%x : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
func.func @lowered_kernel_beside_destination(%x: memref<4xf32>, %y: memref<4xf32>) {
  %one = arith.constant 1 : index
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'gpu.launch_func' op reads a buffer that an operation in flight writes}}
  gpu.launch_func @kernels::@lowered blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%y : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
}
