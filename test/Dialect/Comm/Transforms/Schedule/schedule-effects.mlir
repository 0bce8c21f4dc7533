// RUN: braid-opt %s --allow-unregistered-dialect --split-input-file --comm-sink-waits --comm-raise-collectives | FileCheck %s --check-prefixes=CHECK,MODULE
// RUN: braid-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline="builtin.module(func.func(comm-sink-waits,comm-raise-collectives))" | FileCheck %s --check-prefixes=CHECK,FUNC

// Waits and starts do not pass ops with side effects.

comm.group @world all

func.func private @unknown(tensor<4xf32>) -> tensor<4xf32>
func.func private @harmless(tensor<4xf32>) -> tensor<4xf32> attributes {comm.effects = "none"}
func.func private @touches_arguments(memref<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {comm.effects = "args"}

// CHECK-LABEL: func.func @unknown_op_stays_put
// CHECK-NEXT: "before"
// CHECK-NEXT: %[[R:.*]] = comm.wait
// CHECK-NEXT: "test.unknown"() : () -> ()
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: "after"
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: return
func.func @unknown_op_stays_put(%a: tensor<4xf32>, %t: !comm.token<tensor<4xf32>>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = comm.compute "before"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  "test.unknown"() : () -> ()
  %y = comm.compute "after"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s, %x, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @call_of_an_unknown_function
// CHECK-NEXT: comm.wait
// CHECK-NEXT: call @unknown
// CHECK-NEXT: comm.all_reduce
func.func @call_of_an_unknown_function(%a: tensor<4xf32>, %t: !comm.token<tensor<4xf32>>) -> (tensor<4xf32>, !comm.token<tensor<4xf32>>, tensor<4xf32>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = call @unknown(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  return %r, %u, %x : tensor<4xf32>, !comm.token<tensor<4xf32>>, tensor<4xf32>
}

// CHECK-LABEL: func.func @call_of_a_harmless_function
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: call @harmless
// CHECK-NEXT: comm.wait
func.func @call_of_a_harmless_function(%a: tensor<4xf32>, %t: !comm.token<tensor<4xf32>>) -> (tensor<4xf32>, !comm.token<tensor<4xf32>>, tensor<4xf32>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = call @harmless(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  return %r, %u, %x : tensor<4xf32>, !comm.token<tensor<4xf32>>, tensor<4xf32>
}

// CHECK-LABEL: func.func @call_that_touches_its_arguments
// CHECK: %[[T:.*]] = comm.all_reduce sum %[[M:.*]] into %[[M]]
// CHECK-NEXT: call @touches_arguments(%{{.*}}, %{{.*}})
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: call @touches_arguments(%[[M]], %{{.*}})
func.func @call_that_touches_its_arguments(%a: tensor<4xf32>, %m: memref<4xf32>, %n: memref<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %m into %m on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%m : memref<4xf32>) : !comm.token
  %x = call @touches_arguments(%n, %a) : (memref<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = call @touches_arguments(%m, %a) : (memref<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}

func.func private @pure(%a: tensor<4xf32>) -> tensor<4xf32> {
  %x = math.exp %a : tensor<4xf32>
  %y = call @harmless(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// On a module it is known what @pure does; on a function it is not.
// CHECK-LABEL: func.func @call_of_a_function_with_a_body
// MODULE-NEXT: comm.all_reduce
// MODULE-NEXT: call @pure
// MODULE-NEXT: comm.wait
// FUNC-NEXT: comm.wait
// FUNC-NEXT: call @pure
// FUNC-NEXT: comm.all_reduce
func.func @call_of_a_function_with_a_body(%a: tensor<4xf32>, %t: !comm.token<tensor<4xf32>>) -> (tensor<4xf32>, !comm.token<tensor<4xf32>>, tensor<4xf32>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = call @pure(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  return %r, %u, %x : tensor<4xf32>, !comm.token<tensor<4xf32>>, tensor<4xf32>
}

// Functions that call each other in a circle; one of them communicates.
func.func private @ping(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %x = scf.if %c -> tensor<4xf32> {
    %y = func.call @pong(%a, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %x : tensor<4xf32>
}
func.func private @pong(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = call @ping(%r, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// Starts keep their place relative to a call that starts something; a wait may
// pass it.
// CHECK-LABEL: func.func @call_that_communicates
// FUNC-NEXT: comm.wait
// CHECK-NEXT: call @ping
// MODULE-NEXT: comm.all_reduce
// MODULE-NEXT: "x"
// MODULE-NEXT: comm.wait
func.func @call_that_communicates(%a: tensor<4xf32>, %t: !comm.token<tensor<4xf32>>, %c: i1) -> (tensor<4xf32>, !comm.token<tensor<4xf32>>, tensor<4xf32>, tensor<4xf32>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = call @ping(%a, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
  %y = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  return %r, %u, %x, %y : tensor<4xf32>, !comm.token<tensor<4xf32>>, tensor<4xf32>, tensor<4xf32>
}

// The same for a loop with a collective inside.
// CHECK-LABEL: func.func @loop_that_communicates
// CHECK: comm.all_reduce max
// CHECK: scf.for
// CHECK-NEXT: comm.all_reduce sum
// CHECK: }
// CHECK-NEXT: comm.all_reduce min
// CHECK-NEXT: "x"
func.func @loop_that_communicates(%a: tensor<4xf32>, %n: index) -> (!comm.token<tensor<4xf32>>, !comm.token<tensor<4xf32>>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_reduce max %a on @world : tensor<4xf32>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<4xf32> {
    %u = comm.all_reduce sum %v on @world : tensor<4xf32>
    %r = comm.wait %u : !comm.token<tensor<4xf32>>
    scf.yield %r : tensor<4xf32>
  }
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %w = comm.all_reduce min %a on @world : tensor<4xf32>
  return %t, %w, %l, %x : !comm.token<tensor<4xf32>>, !comm.token<tensor<4xf32>>, tensor<4xf32>, tensor<4xf32>
}

// Printing is ordered with printing and with memory, not with tensors.
// CHECK-LABEL: func.func @side_effects_keep_their_order
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: vector.print str "one"
// CHECK-NEXT: vector.print str "two"
// CHECK-NEXT: comm.wait
func.func @side_effects_keep_their_order(%a: tensor<4xf32>, %t: !comm.token<tensor<4xf32>>) -> (tensor<4xf32>, !comm.token<tensor<4xf32>>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  vector.print str "one"
  vector.print str "two"
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  return %r, %u : tensor<4xf32>, !comm.token<tensor<4xf32>>
}

// -----

// A kernel touches its buffers alone.
module attributes {gpu.container_module} {
  comm.group @world all
  gpu.module @kernels {
    gpu.func @kernel(%m: memref<4xf32>) kernel {
      %i = gpu.thread_id x
      %x = arith.constant 0.0 : f32
      memref.store %x, %m[%i] : memref<4xf32>
      gpu.return
    }
  }
// CHECK-LABEL: func.func @kernel_launch
// CHECK: comm.all_reduce sum %[[M:.*]] into %[[M]]
// CHECK-NEXT: gpu.launch_func @kernels::@kernel {{.*}} args(%[[N:.*]] : memref<4xf32>)
// CHECK-NEXT: comm.wait
// CHECK-NEXT: gpu.launch_func @kernels::@kernel {{.*}} args(%[[M]] : memref<4xf32>)
  func.func @kernel_launch(%m: memref<4xf32>, %n: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    %t = comm.all_reduce sum %m into %m on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t writes(%m : memref<4xf32>) : !comm.token
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : memref<4xf32>)
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<4xf32>)
    return
  }
}

// -----

// What a kernel does to its buffers is what its body does. A pass on functions
// does not look at kernels, and takes them to read and write all their buffers.
module attributes {gpu.container_module} {
  comm.group @world all
  gpu.binary @binary [#gpu.object<#nvvm.target, "">]
  gpu.module @kernels {
    gpu.func @reads(%m: memref<4xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.subview %m[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
      %x = memref.load %v[%i] : memref<2xf32, strided<[1], offset: 2>>
      gpu.return
    }
    gpu.func @copies(%m: memref<4xf32>, %n: memref<4xf32>) kernel {
      %i = gpu.thread_id x
      %x = memref.load %m[%i] : memref<4xf32>
      memref.store %x, %n[%i] : memref<4xf32>
      gpu.return
    }
  }

// CHECK-LABEL: func.func @kernel_reads_what_is_read
// CHECK: comm.all_reduce
// FUNC-NEXT: comm.wait
// CHECK-NEXT: gpu.launch_func @kernels::@reads
// MODULE-NEXT: comm.wait
// CHECK-NEXT: return
  func.func @kernel_reads_what_is_read(%m: memref<4xf32>, %n: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    %t = comm.all_reduce sum %m into %n on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t reads(%m : memref<4xf32>) writes(%n : memref<4xf32>) : !comm.token
    gpu.launch_func @kernels::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<4xf32>)
    return
  }

// CHECK-LABEL: func.func @kernel_reads_what_is_written
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: gpu.launch_func @kernels::@reads
  func.func @kernel_reads_what_is_written(%m: memref<4xf32>, %n: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    %t = comm.all_reduce sum %m into %n on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t reads(%m : memref<4xf32>) writes(%n : memref<4xf32>) : !comm.token
    gpu.launch_func @kernels::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : memref<4xf32>)
    return
  }

// CHECK-LABEL: func.func @kernel_writes_what_is_read
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: gpu.launch_func @kernels::@copies
  func.func @kernel_writes_what_is_read(%m: memref<4xf32>, %n: memref<4xf32>, %o: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    %t = comm.all_reduce sum %m into %n on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t reads(%m : memref<4xf32>) writes(%n : memref<4xf32>) : !comm.token
    gpu.launch_func @kernels::@copies blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%o : memref<4xf32>, %m : memref<4xf32>)
    return
  }

// CHECK-LABEL: func.func @kernel_without_a_body
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: gpu.launch_func @binary::@reads
  func.func @kernel_without_a_body(%m: memref<4xf32>, %n: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    %t = comm.all_reduce sum %m into %n on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t reads(%m : memref<4xf32>) writes(%n : memref<4xf32>) : !comm.token
    gpu.launch_func @binary::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<4xf32>)
    return
  }

// A function does to its arguments what its kernels do.
// CHECK-LABEL: func.func private @launches_reader
  func.func private @launches_reader(%m: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<4xf32>)
    return
  }
// CHECK-LABEL: func.func @callee_launches_kernel
// CHECK-NEXT: comm.all_reduce
// FUNC-NEXT: comm.wait
// CHECK-NEXT: call @launches_reader
// MODULE-NEXT: comm.wait
// CHECK-NEXT: return
  func.func @callee_launches_kernel(%m: memref<4xf32>, %n: memref<4xf32>) {
    %t = comm.all_reduce sum %m into %n on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t reads(%m : memref<4xf32>) writes(%n : memref<4xf32>) : !comm.token
    call @launches_reader(%m) : (memref<4xf32>) -> ()
    return
  }
}
