// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

// A rank starts and awaits in one thread: not in parallel loops, not in kernels.

comm.group @tp [[0, 1]]
func.func @start_in_parallel_loop(%x: tensor<4xf32>, %l: index, %u: index, %s: index) {
  // expected-note@+1 {{the enclosing op is here}}
  scf.parallel (%i) = (%l) to (%u) step (%s) {
    // expected-error@+1 {{'comm.all_reduce' op is inside 'scf.parallel', expected it outside parallel loops and kernels}}
    %t = comm.all_reduce sum %x on @tp : tensor<4xf32>
    scf.reduce
  }
  return
}

// -----

func.func @wait_in_parallel_loop(%t: !comm.token, %l: index, %u: index, %s: index, %c: i1) {
  // expected-note@+1 {{the enclosing op is here}}
  scf.parallel (%i) = (%l) to (%u) step (%s) {
    scf.if %c {
      // expected-error@+1 {{'comm.wait' op is inside 'scf.parallel', expected it outside parallel loops and kernels}}
      comm.wait %t : !comm.token
    }
    scf.reduce
  }
  return
}

// -----

func.func @async_kernel_in_parallel_loop(%x: tensor<4xf32>, %l: index, %u: index, %s: index) {
  // expected-note@+1 {{the enclosing op is here}}
  scf.parallel (%i) = (%l) to (%u) step (%s) {
    // expected-error@+1 {{'comm.compute' op is inside 'scf.parallel', expected it outside parallel loops and kernels}}
    %t = comm.compute async "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.reduce
  }
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @start_in_forall() {
  // expected-note@+1 {{the enclosing op is here}}
  scf.forall (%i) in (8) {
    // expected-error@+1 {{'comm.barrier' op is inside 'scf.forall', expected it outside parallel loops and kernels}}
    %t = comm.barrier on @tp
  }
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @start_in_affine_parallel() {
  // expected-note@+1 {{the enclosing op is here}}
  affine.parallel (%i) = (0) to (8) {
    // expected-error@+1 {{'comm.barrier' op is inside 'affine.parallel', expected it outside parallel loops and kernels}}
    %t = comm.barrier on @tp
  }
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @start_in_linalg_body(%x: tensor<4xf32>) {
  // expected-note@+1 {{the enclosing op is here}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%x : tensor<4xf32>) {
  ^element(%e: f32):
    // expected-error@+1 {{'comm.send' op is inside 'linalg.generic', expected it outside parallel loops and kernels}}
    %t = comm.send %x on @tp to 1 : tensor<4xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @start_in_tensor_generate(%n: index) {
  // expected-note@+1 {{the enclosing op is here}}
  %0 = tensor.generate %n {
  ^element(%i: index):
    %c = arith.constant 0.0 : f32
    // expected-error@+1 {{'comm.recv' op is inside 'tensor.generate', expected it outside parallel loops and kernels}}
    %t = comm.recv on @tp from 0 : tensor<4xf32>
    tensor.yield %c : f32
  } : tensor<?xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @start_in_launch(%a: memref<4xf32>, %n: index) {
  // expected-note@+1 {{the enclosing op is here}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    // expected-error@+1 {{'comm.all_reduce' op is inside 'gpu.launch', expected it outside parallel loops and kernels}}
    %t = comm.all_reduce sum %a into %a on @tp : memref<4xf32>, memref<4xf32>
    gpu.terminator
  }
  return
}

// -----

// expected-note@+1 {{the enclosing op is here}}
gpu.module @kernels {
  comm.group @tp [[0, 1]]
  gpu.func @start_in_kernel(%a: memref<4xf32>) kernel {
    // expected-error@+1 {{'comm.all_reduce' op is inside 'gpu.module', expected it outside parallel loops and kernels}}
    %t = comm.all_reduce sum %a into %a on @tp : memref<4xf32>, memref<4xf32>
    gpu.return
  }
}

// -----

// expected-note@+1 {{the enclosing op is here}}
gpu.module @kernels {
  func.func @wait_in_device_function(%t: !comm.token) {
    // expected-error@+1 {{'comm.wait' op is inside 'gpu.module', expected it outside parallel loops and kernels}}
    comm.wait %t : !comm.token
    return
  }
}

// -----

comm.group @tp [[0, 1]]
func.func @start_in_compute(%x: tensor<4xf32>) {
  // expected-note@+1 {{the enclosing op is here}}
  comm.compute "f"(%a = %x : tensor<4xf32>) {
    // expected-error@+1 {{'comm.all_reduce' op is inside 'comm.compute', expected it outside parallel loops and kernels}}
    %t = comm.all_reduce sum %a on @tp : tensor<4xf32>
    comm.yield
  }
  return
}

// -----

func.func @async_kernel_in_compute(%x: tensor<4xf32>) {
  // expected-note@+1 {{the enclosing op is here}}
  comm.compute "f"(%a = %x : tensor<4xf32>) {
    // expected-error@+1 {{'comm.compute' op is inside 'comm.compute', expected it outside parallel loops and kernels}}
    %t = comm.compute async "g"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    comm.yield
  }
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @allowed_places(%x: tensor<4xf32>, %l: index, %u: index, %s: index, %c: i1) {
  scf.for %i = %l to %u step %s {
    scf.if %c {
      %t = comm.all_reduce sum %x on @tp : tensor<4xf32>
      %r = comm.wait %t : !comm.token<tensor<4xf32>>
    }
  }
  scf.execute_region {
    %t = comm.barrier on @tp
    comm.wait %t : !comm.token
    scf.yield
  }
  scf.parallel (%i) = (%l) to (%u) step (%s) {
    %rank = comm.rank on @tp
    %y = comm.compute "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.reduce
  }
  return
}
