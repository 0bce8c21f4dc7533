// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @layout(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has layout = "bsdh", expected "bshd" or "bhsd"}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {layout = "bsdh", scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @window(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has a window, expected 'causal' with it}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {window = 4 : i64, scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @scale(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op attribute 'scale' failed to satisfy constraint: number of type f32 or f64}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f16} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @no_window(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op attribute 'window' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {causal, window = 0 : i64, scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @count(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>) {
  // expected-error@+1 {{'library.attention' op has 3 inputs and 1 outputs, expected queries, keys, values and an optional bias, and a result and logarithms}}
  %r:1 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0 : tensor<1x8x4x16xf16>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>
  return
}

// -----

func.func @mixed(%a0: memref<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: memref<1x8x4x16xf16>, %o1: memref<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has tensors and memrefs, expected either}}
  library.attention ins(%a0, %a1, %a2 : memref<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : memref<1x8x4x16xf16>, memref<1x4x8xf32>) {scale = 1.0 : f32}
  return
}

// -----

func.func @dynamic(%a0: tensor<?x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has input #0 of type 'tensor<?x8x4x16xf16>', expected static sizes}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<?x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @rank(%a0: tensor<1x8x4x16xf16>, %a1: tensor<6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has input #1 of type 'tensor<6x2x16xf16>', expected 4 dimensions}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @element(%a0: tensor<1x8x4x16xi8>, %a1: tensor<1x6x2x16xi8>, %a2: tensor<1x6x2x16xi8>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has input #0 of type 'tensor<1x8x4x16xi8>', expected elements of type bf16, f16, f32 or f64}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xi8>, tensor<1x6x2x16xi8>, tensor<1x6x2x16xi8>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @values(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf32>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has input #2 of type 'tensor<1x6x2x16xf32>', expected 1x6x2x16 elements of type 'f16', by the types of inputs #0 to #2}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf32>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @depth(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x8xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has input #1 of type 'tensor<1x6x2x8xf16>', expected 1x6x2x16 elements of type 'f16'}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x8xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @heads(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x3x16xf16>, %a2: tensor<1x6x3x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has input #1 of type 'tensor<1x6x3x16xf16>', whose number of heads is 3, expected one that divides 4, the heads of input #0}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x3x16xf16>, tensor<1x6x3x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @bias(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %a3: tensor<1x4x7x6xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has input #3 of type 'tensor<1x4x7x6xf16>', expected the sizes 1 or 1, 4 or 1, 8 or 1, 6, by the sizes of inputs #0 and #1}}
  %r:2 = library.attention ins(%a0, %a1, %a2, %a3 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x4x7x6xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @mask(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %a3: tensor<1x4x8x6xi1>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has input #3 of type 'tensor<1x4x8x6xi1>', expected elements of type bf16, f16, f32 or f64}}
  %r:2 = library.attention ins(%a0, %a1, %a2, %a3 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x4x8x6xi1>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @result(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x4x8x16xf16>, %o1: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'library.attention' op has output #0 of type 'tensor<1x4x8x16xf16>', expected 1x8x4x16 elements of type 'f16'}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x4x8x16xf16>, tensor<1x4x8xf32>) {scale = 1.0 : f32} -> tensor<1x4x8x16xf16>, tensor<1x4x8xf32>
  return
}

// -----

func.func @logarithms(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x4x8xf16>) {
  // expected-error@+1 {{'library.attention' op has output #1 of type 'tensor<1x4x8xf16>', expected 1x4x8 elements of type 'f32'}}
  %r:2 = library.attention ins(%a0, %a1, %a2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) outs(%o0, %o1 : tensor<1x8x4x16xf16>, tensor<1x4x8xf16>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x4x8xf16>
  return
}

// -----

func.func @gradient_of_no_bias(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %a3: tensor<1x8x4x16xf16>, %a4: tensor<1x4x8xf32>, %a5: tensor<1x8x4x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x6x2x16xf16>, %o2: tensor<1x6x2x16xf16>, %o3: tensor<1x4x8x6xf16>) {
  // expected-error@+1 {{'library.attention_backward' op has 6 inputs and 4 outputs, expected queries, keys}}
  %r:4 = library.attention_backward ins(%a0, %a1, %a2, %a3, %a4, %a5 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x8x4x16xf16>, tensor<1x4x8xf32>, tensor<1x8x4x16xf16>) outs(%o0, %o1, %o2, %o3 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x4x8x6xf16>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x4x8x6xf16>
  return
}

// -----

func.func @out(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %a3: tensor<1x8x4x8xf16>, %a4: tensor<1x4x8xf32>, %a5: tensor<1x8x4x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x6x2x16xf16>, %o2: tensor<1x6x2x16xf16>) {
  // expected-error@+1 {{'library.attention_backward' op has input #3 of type 'tensor<1x8x4x8xf16>', expected 1x8x4x16 elements of type 'f16'}}
  %r:3 = library.attention_backward ins(%a0, %a1, %a2, %a3, %a4, %a5 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x8x4x8xf16>, tensor<1x4x8xf32>, tensor<1x8x4x16xf16>) outs(%o0, %o1, %o2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>
  return
}

// -----

func.func @sums(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %a3: tensor<1x8x4x16xf16>, %a4: tensor<1x8x4xf32>, %a5: tensor<1x8x4x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x6x2x16xf16>, %o2: tensor<1x6x2x16xf16>) {
  // expected-error@+1 {{'library.attention_backward' op has input #4 of type 'tensor<1x8x4xf32>', expected 1x4x8 elements of type 'f32'}}
  %r:3 = library.attention_backward ins(%a0, %a1, %a2, %a3, %a4, %a5 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x8x4x16xf16>, tensor<1x8x4xf32>, tensor<1x8x4x16xf16>) outs(%o0, %o1, %o2 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>
  return
}

// -----

func.func @gradient(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %a3: tensor<1x8x4x16xf16>, %a4: tensor<1x4x8xf32>, %a5: tensor<1x8x4x16xf16>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x6x4x16xf16>, %o2: tensor<1x6x2x16xf16>) {
  // expected-error@+1 {{'library.attention_backward' op has output #1 of type 'tensor<1x6x4x16xf16>', expected 1x6x2x16 elements of type 'f16'}}
  %r:3 = library.attention_backward ins(%a0, %a1, %a2, %a3, %a4, %a5 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x8x4x16xf16>, tensor<1x4x8xf32>, tensor<1x8x4x16xf16>) outs(%o0, %o1, %o2 : tensor<1x8x4x16xf16>, tensor<1x6x4x16xf16>, tensor<1x6x2x16xf16>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x6x4x16xf16>, tensor<1x6x2x16xf16>
  return
}

// -----

func.func @gradient_of_bias(%a0: tensor<1x8x4x16xf16>, %a1: tensor<1x6x2x16xf16>, %a2: tensor<1x6x2x16xf16>, %a3: tensor<1x8x4x16xf16>, %a4: tensor<1x4x8xf32>, %a5: tensor<1x8x4x16xf16>, %a6: tensor<1x1x8x6xf32>, %o0: tensor<1x8x4x16xf16>, %o1: tensor<1x6x2x16xf16>, %o2: tensor<1x6x2x16xf16>, %o3: tensor<1x4x8x6xf32>) {
  // expected-error@+1 {{'library.attention_backward' op has output #3 of type 'tensor<1x4x8x6xf32>', expected 1x1x8x6 elements of type 'f32'}}
  %r:4 = library.attention_backward ins(%a0, %a1, %a2, %a3, %a4, %a5, %a6 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x8x4x16xf16>, tensor<1x4x8xf32>, tensor<1x8x4x16xf16>, tensor<1x1x8x6xf32>) outs(%o0, %o1, %o2, %o3 : tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x4x8x6xf32>) {scale = 1.0 : f32} -> tensor<1x8x4x16xf16>, tensor<1x6x2x16xf16>, tensor<1x6x2x16xf16>, tensor<1x4x8x6xf32>
  return
}
