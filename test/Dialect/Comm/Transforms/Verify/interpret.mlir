// RUN: braid-opt %s --comm-interpret="ranks=2 arguments=0,1,3 rounds=4" --split-input-file --verify-diagnostics

// Runs of all ranks; each error is at the op at which the run fails.

comm.group @g all
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %first = comm.all_reduce sum %x on @g : tensor<4xf32>
  %last = scf.for %i = %zero to %n step %one iter_args(%t = %first) -> !comm.token<tensor<4xf32>> {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = comm.all_reduce max %r on @g : tensor<4xf32>
    scf.yield %next : !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %last : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// -----

// The loop does not run with argument 0.
comm.group @g all
func.func @main(%x: tensor<4xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{'comm.all_reduce' op is not awaited by rank 0, with argument 0 in interleaving 0}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %last = scf.for %i = %zero to %n step %n iter_args(%u = %t) -> !comm.token<tensor<4xf32>> {
    %r = comm.wait %u : !comm.token<tensor<4xf32>>
    %next = comm.all_reduce sum %r on @g : tensor<4xf32>
    scf.yield %next : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

comm.group @g all
func.func @main(%x: tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  // expected-error@+1 {{'comm.wait' op awaits an operation a second time on rank}}
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @a all
comm.group @b all
func.func @main(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @a
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    // expected-error@+1 {{'comm.wait' op blocks rank 0 forever}}
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %u = comm.all_reduce sum %x on @b : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  } else {
    %u = comm.all_reduce sum %x on @b : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

comm.group @g all
func.func @main(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %t = comm.broadcast %x on @g root 0 : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    // expected-error@+1 {{'comm.broadcast' op of rank 1 meets 'comm.broadcast' of rank 0}}
    %t = comm.broadcast %x on @g root 1 : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// One element of the slice in flight.
comm.group @g all
func.func @main(%x: memref<8xf32>, %f: f32) {
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %high = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %t = comm.all_reduce sum %high into %high on @g
    : memref<4xf32, strided<[1], offset: 4>>, memref<4xf32, strided<[1], offset: 4>>
  memref.store %f, %x[%three] : memref<8xf32>
  // expected-error@+1 {{'memref.store' op writes what an operation in flight uses}}
  memref.store %f, %x[%four] : memref<8xf32>
  comm.wait %t writes(%high : memref<4xf32, strided<[1], offset: 4>>) : !comm.token
  return
}

// -----

comm.group @g all
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xf32>)
  // expected-error@+1 {{'linalg.add' op reads what an operation in flight writes}}
  linalg.add ins(%x, %y : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @g all
func.func @main(%y: memref<4xf32>) {
  %x = memref.alloc() : memref<4xf32>
  memref.copy %y, %x : memref<4xf32> to memref<4xf32>
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'memref.dealloc' op frees what an operation in flight uses, or what is freed}}
  memref.dealloc %x : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

func.func private @unknown(tensor<4xf32>)
func.func @main(%x: tensor<4xf32>) {
  // expected-error@+1 {{'func.call' op is not known to the interpreter}}
  call @unknown(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-error@+1 {{the module has no function 'main' with a body, expected one to run; the option 'entry' names another}}
module {
}

// -----

comm.group @g all
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    // expected-error@+1 {{'comm.all_reduce' op of rank 1 meets 'comm.all_reduce' of rank 0}}
    %t = comm.all_reduce sum %y on @g : tensor<4xf16>
    %r = comm.wait %t : !comm.token<tensor<4xf16>>
  }
  return
}

// -----

comm.group @g all
func.func @main(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %t = comm.send %x on @g to %one : tensor<4xf32>
    comm.wait %t : !comm.token
  } else {
    // expected-error@+1 {{'comm.recv' op of rank 1 meets 'comm.send' of rank 0}}
    %t = comm.recv on @g from %zero : tensor<4xf16>
    %r = comm.wait %t : !comm.token<tensor<4xf16>>
  }
  return
}

// -----

comm.group @triple [[0, 1, 2]]
func.func @main(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op runs in a group that has rank 2, expected ranks below 2, with argument 0 in interleaving 0}}
  %t = comm.all_reduce sum %x on @triple : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

// A gather for three ranks on two.
comm.group @g all
func.func @main(%x: tensor<2xi32>) {
  // expected-error@+1 {{'comm.all_gather' op gives rank 0 4 elements, expected 6, with argument 0 in interleaving 0}}
  %t = comm.all_gather %x on @g dim 0 : tensor<2xi32> -> tensor<6xi32>
  %r = comm.wait %t : !comm.token<tensor<6xi32>>
  return
}

// -----

comm.group @g all
func.func @main(%x: tensor<2xi32>) {
  %source = memref.alloc() : memref<6xi32>
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%source : memref<6xi32>)
  %result = memref.alloc() : memref<2xi32>
  linalg.fill ins(%zero : i32) outs(%result : memref<2xi32>)
  // expected-error@+1 {{'comm.reduce_scatter' op gives rank 0 3 elements, expected 2, with argument 0 in interleaving 0}}
  %t = comm.reduce_scatter sum %source into %result on @g dim 0 : memref<6xi32>, memref<2xi32>
  comm.wait %t reads(%source : memref<6xi32>) writes(%result : memref<2xi32>) : !comm.token
  return
}

// -----

// Casts of arrays; an op that folds to what another one is computed from.
func.func @main(%x: tensor<4xf16>, %n: index) -> tensor<4xf32> {
  %one = arith.constant 1 : index
  %e = arith.extf %x : tensor<4xf16> to tensor<4xf32>
  %less = arith.subi %n, %one : index
  %same = arith.addi %less, %one : index
  %i = arith.index_cast %same : index to i32
  %f = arith.sitofp %i : i32 to f32
  %fs = tensor.splat %f : tensor<4xf32>
  %y = arith.addf %e, %fs : tensor<4xf32>
  return %y : tensor<4xf32>
}
