// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @dimension(%rows: tensor<6xi32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has dimension 2 in 'batch_dims' and 'indexed_dims', expected different dimensions of the output, whose rank is 2}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 2>} -> tensor<10x8xf32>
  return
}

// -----

func.func @twice(%rows: tensor<6xi32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has dimension 0 in 'batch_dims' and 'indexed_dims', expected different dimensions of the output, whose rank is 2}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64: 0>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @index_type(%rows: tensor<6xi16>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has input #0 of type 'tensor<6xi16>', expected elements of type i32 or i64}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi16>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @no_updates(%rows: tensor<i32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has input #0 of type 'tensor<i32>', expected the batch dimensions and one more}}
  %r = library.scatter ins(%rows, %updates : tensor<i32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @batch(%rows: tensor<9x6xi32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has input #0 of type 'tensor<9x6xi32>', expected 10x6 elements of type 'i32', by the types of output #0 and input #0}}
  %r = library.scatter ins(%rows, %updates : tensor<9x6xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64: 0>, indexed_dims = array<i64: 1>} -> tensor<10x8xf32>
  return
}

// -----

func.func @window(%rows: tensor<6xi32>, %updates: tensor<6x7xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has input #1 of type 'tensor<6x7xf32>', expected 6x8 elements of type 'f32', by the types of output #0 and input #0}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<6x7xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @count(%rows: tensor<6xi32>, %updates: tensor<5x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has input #1 of type 'tensor<5x8xf32>', expected 6x8 elements of type 'f32', by the types of output #0 and input #0}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<5x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @element(%rows: tensor<6xi32>, %updates: tensor<6x8xf16>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has input #1 of type 'tensor<6x8xf16>', expected 6x8 elements of type 'f32', by the types of output #0 and input #0}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<6x8xf16>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @dynamic(%rows: tensor<?xi32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has an operand of type 'tensor<?xi32>', expected static sizes}}
  %r = library.scatter ins(%rows, %updates : tensor<?xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @mixed(%rows: memref<6xi32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has tensors and memrefs, expected either}}
  %r = library.scatter ins(%rows, %updates : memref<6xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @arguments(%rows: tensor<6xi32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has a region with arguments of types 'f32', 'f64', expected 2 of type 'f32'}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f64):
    library.yield %a : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @result(%rows: tensor<6xi32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has a region that ends with 'library.yield', expected 'library.yield' of a value of type 'f32'}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 0 : i32
    library.yield %c : i32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @effects(%rows: tensor<6xi32>, %updates: tensor<6x8xf32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has 'memref.alloc' in its region, expected ops without effects}}
  %r = library.scatter ins(%rows, %updates : tensor<6xi32>, tensor<6x8xf32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = memref.alloc() : memref<4xf32>
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}

// -----

func.func @operands(%rows: tensor<6xi32>, %table: tensor<10x8xf32>) {
  // expected-error@+1 {{'library.scatter' op has 1 inputs and 1 outputs, expected indices and updates, and an output}}
  %r = library.scatter ins(%rows : tensor<6xi32>) outs(%table : tensor<10x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    library.yield %b : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<10x8xf32>
  return
}
