// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @labels(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has dim_labels = "b01f_01io->b10", expected labels such as "b01f_01io->b01f" with 1 to 3 spatial dimensions}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b10"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @kernel_labels(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has dim_labels = "b01f_01if->b01f", expected labels}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01if->b01f"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @no_spatial(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has dim_labels = "bf_io->bf", expected labels}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "bf_io->bf"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @rank(%x: tensor<2x8x8x4xf32>, %w: tensor<3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has an operand of type 'tensor<3x4x6xf32>', expected 4 static sizes of at least 1}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @dynamic(%x: tensor<?x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has an operand of type 'tensor<?x8x8x4xf32>', expected 4 static sizes}}
  %y = library.convolution ins(%x, %w : tensor<?x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @empty(%x: tensor<0x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has an operand of type 'tensor<0x8x8x4xf32>', expected 4 static sizes}}
  %y = library.convolution ins(%x, %w : tensor<0x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @elements(%x: tensor<2x8x8x4xi32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has an input of type 'tensor<2x8x8x4xi32>', expected elements of type bf16, f16, f32 or f64}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xi32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @kernel_elements(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf16>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has a kernel of type 'tensor<3x3x4x6xf16>', expected elements of type 'f32'}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf16>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @output_elements(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf16>) {
  // expected-error@+1 {{has an output of type 'tensor<2x6x6x6xf16>', expected elements of type 'f32' or f32}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf16>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x6x6x6xf16>
  return
}

// -----

func.func @f64_elements(%x: tensor<2x8x8x4xf64>, %w: tensor<3x3x4x6xf64>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has an output of type 'tensor<2x6x6x6xf32>', expected elements of type 'f64'}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf64>, tensor<3x3x4x6xf64>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @strides(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 1 numbers in 'strides', expected 2}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", strides = array<i64: 1>} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @padding(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 2 numbers in 'padding', expected 4}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", padding = array<i64: 1, 1>} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @stride(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 0 in 'strides', expected a number of at least 1 that has 32 bits}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", strides = array<i64: 1, 0>} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @lhs_dilation(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has -1 in 'lhs_dilation', expected a number of at least 1}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", lhs_dilation = array<i64: 1, -1>} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @rhs_dilation(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 4294967296 in 'rhs_dilation', expected a number of at least 1 that has 32 bits}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", rhs_dilation = array<i64: 4294967296, 1>} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @reversed(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 3 numbers in 'reversed', expected 2}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", reversed = array<i1: true, true, true>} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @groups(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 2 groups of features and 2 of the batch, expected 1 of either}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", feature_groups = 2 : i64, batch_groups = 2 : i64} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @no_groups(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 0 groups of features and 1 of the batch}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", feature_groups = 0 : i64} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @divided(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 3 groups, expected a number that divides 4 and 6}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", feature_groups = 3 : i64} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @divided_batch(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 3 groups, expected a number that divides 2 and 6}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", batch_groups = 3 : i64} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @kernel_groups(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has 'kernel_input_groups' and groups of the batch, expected either}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", batch_groups = 2 : i64, kernel_input_groups} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @features(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has the kernel of type 'tensor<3x3x4x6xf32>', expected 2 elements in dimension 2, by the other operands and the attributes}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", feature_groups = 2 : i64} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @grouped_output(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has the kernel of type 'tensor<3x3x4x6xf32>', expected 3 elements in dimension 3}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", feature_groups = 2 : i64, kernel_input_groups} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @batch(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has the output of type 'tensor<2x6x6x6xf32>', expected 1 elements in dimension 0}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", batch_groups = 2 : i64} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @output(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has the output of type 'tensor<2x6x6x6xf32>', expected 3 elements in dimension 2}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", strides = array<i64: 1, 2>} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @window(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x6xf32>, %e: tensor<2x6x6x6xf32>) {
  // expected-error@+1 {{has the output of type 'tensor<2x6x6x6xf32>', expected 0 elements in dimension 1}}
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) outs(%e : tensor<2x6x6x6xf32>) {dim_labels = "b01f_01io->b01f", padding = array<i64: -3, -3, 0, 0>} -> tensor<2x6x6x6xf32>
  return
}

// -----

func.func @operands(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{has 1 inputs and 1 outputs, expected an input, a kernel and an output}}
  %y = library.convolution ins(%x : tensor<2x8x4xf32>) outs(%x : tensor<2x8x4xf32>) {dim_labels = "b0f_0io->b0f"} -> tensor<2x8x4xf32>
  return
}

// -----

func.func @mixed(%x: memref<2x8x4xf32>, %w: tensor<1x4x4xf32>) {
  // expected-error@+1 {{has tensors and memrefs, expected either}}
  library.convolution ins(%x, %w : memref<2x8x4xf32>, tensor<1x4x4xf32>) outs(%x : memref<2x8x4xf32>) {dim_labels = "b0f_0io->b0f"}
  return
}
