// RUN: braid-opt %s --comm-verify=ranks=2 --split-input-file --verify-diagnostics --allow-unregistered-dialect
// RUN: not braid-opt %s --comm-verify="ranks=2 strict" --split-input-file --allow-unregistered-dialect 2>&1 | FileCheck %s

// Regions of other dialects than scf.

comm.group @world all
func.func @lost_in_affine_for(%x: tensor<2xf32>) {
  affine.for %i = 0 to 4 {
    // expected-error@+1 {{'comm.all_reduce' op has a token without a wait, expected one wait of each token on every path}}
    %t = comm.all_reduce sum %x on @world : tensor<2xf32>
  }
  return
}

// -----

comm.group @world all
func.func @by_rank_in_affine_if(%x: memref<2xf32>, %y: memref<2xf32>) {
  %r = comm.rank on @world
  affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%r) {
    // expected-error@+3 {{'comm.all_reduce' op starts operation #0 of rank 1 on group 'world', where rank 0 starts only 0}}
    // expected-note@+2 {{rank 1 starts all_reduce on 'world'}}
    // expected-note@+1 {{rank 0 starts nothing}}
    %t = comm.all_reduce sum %x into %y on @world : memref<2xf32>, memref<2xf32>
    comm.wait %t reads(%x : memref<2xf32>) writes(%y : memref<2xf32>) : !comm.token
  }
  return
}

// -----

// The bounds of an affine loop are maps, here of the rank.
comm.group @world all
func.func @by_rank_in_affine_for(%x: tensor<2xf32>) {
  %r = comm.rank on @world
  affine.for %i = max affine_map<(d0) -> (d0, 1)>(%r) to min affine_map<(d0) -> (d0 * 2 + 1, 2)>(%r) {
    // expected-error@+3 {{'comm.barrier' op starts operation #0 of rank 1 on group 'world', where rank 0 starts only 0}}
    // expected-note@+2 {{rank 1 starts barrier on 'world'}}
    // expected-note@+1 {{rank 0 starts nothing}}
    %t = comm.barrier on @world
    comm.wait %t : !comm.token
  }
  return
}

// -----

comm.group @world all
func.func @right_in_affine(%x: memref<2xf32>, %y: memref<2xf32>, %n: index) {
  affine.for %i = 0 to min affine_map<()[s0] -> (s0, 4)>()[%n] {
    %t = comm.all_reduce sum %x into %y on @world : memref<2xf32>, memref<2xf32>
    affine.if affine_set<(d0)[s0] : (d0 - 1 >= 0, s0 - 2 == 0)>(%i)[%n] {
      comm.wait %t reads(%x : memref<2xf32>) writes(%y : memref<2xf32>) : !comm.token
    } else {
      comm.wait %t reads(%x : memref<2xf32>) writes(%y : memref<2xf32>) : !comm.token
    }
  }
  return
}

// -----

comm.group @world all
func.func @carried_by_affine_for(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<2xf32>
  %last = affine.for %i = 0 to 3 iter_args(%u = %t) -> !comm.token<tensor<2xf32>> {
    %r = comm.wait %u : !comm.token<tensor<2xf32>>
    %v = comm.all_reduce sum %r on @world : tensor<2xf32>
    affine.yield %v : !comm.token<tensor<2xf32>>
  }
  %r = comm.wait %last : !comm.token<tensor<2xf32>>
  return %r : tensor<2xf32>
}

// -----

comm.group @world all
func.func @in_alloca_scope(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<2xf32>
  %r = memref.alloca_scope -> (tensor<2xf32>) {
    %w = comm.wait %t : !comm.token<tensor<2xf32>>
    // expected-error@+1 {{'comm.broadcast' op has a token without a wait, expected one wait of each token on every path}}
    %u = comm.broadcast %w on @world root 0 : tensor<2xf32>
    memref.alloca_scope.return %w : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

// No op of a parallel loop communicates, but all iterations access buffers.
comm.group @world all
func.func @in_parallel(%x: memref<4xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %low = memref.subview %x[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %low into %low on @world : memref<2xf32, strided<[1]>>, memref<2xf32, strided<[1]>>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %c2) step (%c1, %c1) {
    %high = arith.addi %i, %c2 : index
    memref.store %f, %x[%high] : memref<4xf32>
    // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
    memref.store %f, %x[%j] : memref<4xf32>
    scf.reduce
  }
  comm.wait %t writes(%low : memref<2xf32, strided<[1]>>) : !comm.token
  return
}

// -----

// An op that does not say how it runs its regions: what a region loses is lost,
// what it awaits from outside may be awaited elsewhere.
comm.group @world all
func.func @in_an_unknown_op(%x: tensor<2xf32>) {
  %t = comm.all_reduce sum %x on @world : tensor<2xf32>
  // CHECK: error: 'other.either' op has regions that communicate and does not say how it runs them, what ranks do together is not proven
  "other.either"() ({
    %r = comm.wait %t : !comm.token<tensor<2xf32>>
    "other.end"() : () -> ()
  }, {
    %r = comm.wait %t : !comm.token<tensor<2xf32>>
    // expected-error@+1 {{'comm.broadcast' op has a token without a wait, expected one wait of each token on every path}}
    %u = comm.broadcast %x on @world root 0 : tensor<2xf32>
    "other.end"() : () -> ()
  }) : () -> ()
  return
}
