// RUN: braid-opt %s --comm-verify=strict --split-input-file --verify-diagnostics

// Conditions that linalg ops compute on tensors without dimensions, as JAX
// writes those of `while` and `cond`.

#map = affine_map<() -> ()>
comm.group @g [[0, 1]]
func.func @counts_to_a_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %hundred = arith.constant dense<100> : tensor<i32>
  %flag = tensor.empty() : tensor<i1>
  %number = tensor.empty() : tensor<i32>
  %r:2 = scf.while (%i = %zero, %a = %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %less = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []}
        ins(%i, %hundred : tensor<i32>, tensor<i32>) outs(%flag : tensor<i1>) {
    ^bb0(%p: i32, %q: i32, %o: i1):
      %s = arith.cmpi slt, %p, %q : i32
      linalg.yield %s : i1
    } -> tensor<i1>
    %c = tensor.extract %less[] : tensor<i1>
    scf.condition(%c) %i, %a : tensor<i32>, tensor<4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %t = comm.all_reduce sum %a on @g : tensor<4xf32>
    %y = comm.wait %t : !comm.token<tensor<4xf32>>
    %n = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []}
        ins(%i, %one : tensor<i32>, tensor<i32>) outs(%number : tensor<i32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %s = arith.addi %p, %q : i32
      linalg.yield %s : i32
    } -> tensor<i32>
    scf.yield %n, %y : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// The number of iterations is the rank.
#map = affine_map<() -> ()>
comm.group @g [[0, 1]]
func.func @counts_to_the_rank() {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %index = comm.rank on @g
  %scalar = arith.index_cast %index : index to i32
  %empty = tensor.empty() : tensor<i32>
  %rank = linalg.fill ins(%scalar : i32) outs(%empty : tensor<i32>) -> tensor<i32>
  %flag = tensor.empty() : tensor<i1>
  %r = scf.while (%i = %zero) : (tensor<i32>) -> tensor<i32> {
    %less = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []}
        ins(%i, %rank : tensor<i32>, tensor<i32>) outs(%flag : tensor<i1>) {
    ^bb0(%p: i32, %q: i32, %o: i1):
      %s = arith.cmpi slt, %p, %q : i32
      linalg.yield %s : i1
    } -> tensor<i1>
    %c = tensor.extract %less[] : tensor<i1>
    scf.condition(%c) %i : tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    // expected-error@+3 {{'comm.barrier' op starts operation #0 of rank 1 on group 'g', where rank 0 starts only 0, expected the same operations on all members}}
    // expected-note@+2 {{rank 1 starts barrier on 'g'}}
    // expected-note@+1 {{rank 0 starts nothing}}
    %t = comm.barrier on @g
    comm.wait %t : !comm.token
    %n = arith.addi %i, %one : tensor<i32>
    scf.yield %n : tensor<i32>
  }
  return
}

// -----

#map = affine_map<() -> ()>
comm.group @g [[0, 1]]
func.func @missing_on_one_rank(%x: tensor<4xf32>) {
  %index = comm.rank on @g
  %scalar = arith.index_cast %index : index to i32
  %rank = tensor.from_elements %scalar : tensor<i32>
  %flag = tensor.empty() : tensor<i1>
  %first = linalg.generic {indexing_maps = [#map, #map], iterator_types = []}
      ins(%rank : tensor<i32>) outs(%flag : tensor<i1>) {
  ^bb0(%p: i32, %o: i1):
    %zero = arith.constant 0 : i32
    %s = arith.cmpi eq, %p, %zero : i32
    linalg.yield %s : i1
  } -> tensor<i1>
  %c = tensor.extract %first[] : tensor<i1>
  scf.if %c {
    // expected-error@+3 {{'comm.all_reduce' op starts operation #0 of rank 0 on group 'g', where rank 1 starts only 0, expected the same operations on all members}}
    // expected-note@+2 {{rank 0 starts all_reduce on 'g'}}
    // expected-note@+1 {{rank 1 starts nothing}}
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// The ranks take different paths to the same operation.
#map = affine_map<() -> ()>
comm.group @g [[0, 1]]
func.func @balanced(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %index = comm.rank on @g
  %scalar = arith.index_cast %index : index to i32
  %rank = tensor.from_elements %scalar : tensor<i32>
  %flag = tensor.empty() : tensor<i1>
  %first = linalg.generic {indexing_maps = [#map, #map], iterator_types = []}
      ins(%rank : tensor<i32>) outs(%flag : tensor<i1>) {
  ^bb0(%p: i32, %o: i1):
    %zero = arith.constant 0 : i32
    %s = arith.cmpi eq, %p, %zero : i32
    linalg.yield %s : i1
  } -> tensor<i1>
  %c = tensor.extract %first[] : tensor<i1>
  scf.if %c {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    %t = comm.all_reduce sum %y on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// Two ops with the same body on the same numbers give the same.
#map = affine_map<() -> ()>
comm.group @g [[0, 1]]
func.func @same_comparison_of_floats(%a: tensor<f32>, %b: tensor<f32>, %x: tensor<4xf32>) {
  %flag = tensor.empty() : tensor<i1>
  %u = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []}
      ins(%a, %b : tensor<f32>, tensor<f32>) outs(%flag : tensor<i1>) {
  ^bb0(%p: f32, %q: f32, %o: i1):
    %s = arith.cmpf olt, %p, %q : f32
    linalg.yield %s : i1
  } -> tensor<i1>
  %v = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []}
      ins(%a, %b : tensor<f32>, tensor<f32>) outs(%flag : tensor<i1>) {
  ^bb0(%p: f32, %q: f32, %o: i1):
    %s = arith.cmpf olt, %p, %q : f32
    linalg.yield %s : i1
  } -> tensor<i1>
  %c = tensor.extract %u[] : tensor<i1>
  %d = tensor.extract %v[] : tensor<i1>
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.if %c {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  scf.if %d {
  } else {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// Two ops that differ in their bodies alone do not.
#map = affine_map<() -> ()>
comm.group @g [[0, 1]]
func.func @different_bodies(%a: tensor<f32>, %b: tensor<f32>, %x: tensor<4xf32>) {
  %flag = tensor.empty() : tensor<i1>
  %u = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []}
      ins(%a, %b : tensor<f32>, tensor<f32>) outs(%flag : tensor<i1>) {
  ^bb0(%p: f32, %q: f32, %o: i1):
    // expected-note@+1 {{the path where this value is 0}}
    %s = arith.cmpf olt, %p, %q : f32
    linalg.yield %s : i1
  } -> tensor<i1>
  %v = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []}
      ins(%a, %b : tensor<f32>, tensor<f32>) outs(%flag : tensor<i1>) {
  ^bb0(%p: f32, %q: f32, %o: i1):
    // expected-note@+1 {{the path where this value is 1}}
    %s = arith.cmpf ogt, %p, %q : f32
    linalg.yield %s : i1
  } -> tensor<i1>
  %c = tensor.extract %u[] : tensor<i1>
  %d = tensor.extract %v[] : tensor<i1>
  // expected-error@+2 {{'comm.all_reduce' op has a token without a wait on a path, expected one wait of each token on every path}}
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.if %c {
    // expected-note@+1 {{the first wait is here}}
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  scf.if %d {
  } else {
    // expected-error@+1 {{'comm.wait' op awaits an operation a second time, expected one wait of each token on every path}}
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}
