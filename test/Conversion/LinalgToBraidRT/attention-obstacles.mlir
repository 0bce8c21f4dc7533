// What cuDNN does not support becomes separate ops, with one warning for each reason in a function.
//
// RUN: braid-opt %s --braid-decompose-attention=target=cuda -split-input-file -verify-diagnostics
// RUN: braid-opt %s --braid-decompose-attention="target=cuda chip=sm_100" -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM100
// RUN: braid-opt %s --braid-decompose-attention="target=cuda chip=sm_75" -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM75

// SM100: does not support heads of 256 and 256 elements, expected multiples of 8 up to 128 on sm_100
// SM100: does not support gradients on sm_100, whose bits may differ from run to run, expected sm_80 to sm_90
// SM75: does not support sm_75, expected sm_80 or newer

func.func @supported(%q: tensor<1x2x64x256xbf16>, %k: tensor<1x2x64x256xbf16>, %l: tensor<1x2x64xf32>) {
  %r:2 = library.attention ins(%q, %k, %k : tensor<1x2x64x256xbf16>, tensor<1x2x64x256xbf16>, tensor<1x2x64x256xbf16>) outs(%q, %l : tensor<1x2x64x256xbf16>, tensor<1x2x64xf32>) {causal, window = 32 : i64, scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x256xbf16>, tensor<1x2x64xf32>
  return
}

// -----

func.func @supported_backward(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x64x64xbf16>, %l: tensor<1x2x64xf32>, %b: tensor<1x1x64x64xbf16>) {
  %r:4 = library.attention_backward ins(%q, %k, %k, %q, %l, %q, %b : tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>, tensor<1x2x64x64xbf16>, tensor<1x1x64x64xbf16>) outs(%q, %k, %k, %b : tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x1x64x64xbf16>) {causal, scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x1x64x64xbf16>
  return
}

// -----

func.func @f32(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x64x64xf32>, %l: tensor<1x2x64xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support elements of type f32, expected bf16 or f16}}
  %r:2 = library.attention ins(%q, %k, %k : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) outs(%q, %l : tensor<1x2x64x64xf32>, tensor<1x2x64xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xf32>, tensor<1x2x64xf32>
  return
}

// -----

func.func @deep(%q: tensor<1x2x64x264xbf16>, %k: tensor<1x2x64x264xbf16>, %l: tensor<1x2x64xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support heads of 264 and 264 elements, expected multiples of 8 up to 256 on sm_90}}
  %r:2 = library.attention ins(%q, %k, %k : tensor<1x2x64x264xbf16>, tensor<1x2x64x264xbf16>, tensor<1x2x64x264xbf16>) outs(%q, %l : tensor<1x2x64x264xbf16>, tensor<1x2x64xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x264xbf16>, tensor<1x2x64xf32>
  return
}

// -----

func.func @odd(%q: tensor<1x2x64x12xbf16>, %k: tensor<1x2x64x12xbf16>, %l: tensor<1x2x64xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support heads of 12 and 12 elements, expected multiples of 8 up to 256 on sm_90}}
  %r:2 = library.attention ins(%q, %k, %k : tensor<1x2x64x12xbf16>, tensor<1x2x64x12xbf16>, tensor<1x2x64x12xbf16>) outs(%q, %l : tensor<1x2x64x12xbf16>, tensor<1x2x64xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x12xbf16>, tensor<1x2x64xf32>
  return
}

// -----

func.func @empty(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x0x64xbf16>, %l: tensor<1x2x64xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support operands without elements}}
  %r:2 = library.attention ins(%q, %k, %k : tensor<1x2x64x64xbf16>, tensor<1x2x0x64xbf16>, tensor<1x2x0x64xbf16>) outs(%q, %l : tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>
  return
}

// -----

func.func @window(%q: tensor<1x2x128x64xbf16>, %k: tensor<1x2x64x64xbf16>, %l: tensor<1x2x128xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support a window over 128 queries and 64 keys, expected no more queries than keys}}
  %r:2 = library.attention ins(%q, %k, %k : tensor<1x2x128x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>) outs(%q, %l : tensor<1x2x128x64xbf16>, tensor<1x2x128xf32>) {causal, window = 4 : i64, scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x128x64xbf16>, tensor<1x2x128xf32>
  return
}

// -----

func.func @one_query(%q: tensor<1x2x1x64xbf16>, %k: tensor<1x2x64x64xbf16>, %l: tensor<1x2x1xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support a causal mask of one query}}
  %r:2 = library.attention ins(%q, %k, %k : tensor<1x2x1x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>) outs(%q, %l : tensor<1x2x1x64xbf16>, tensor<1x2x1xf32>) {causal, scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x1x64xbf16>, tensor<1x2x1xf32>
  return
}

// -----

func.func @gradients_of_one_query(%q: tensor<1x2x1x64xbf16>, %k: tensor<1x2x64x64xbf16>, %l: tensor<1x2x1xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support gradients of one query}}
  %r:3 = library.attention_backward ins(%q, %k, %k, %q, %l, %q : tensor<1x2x1x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x1x64xbf16>, tensor<1x2x1xf32>, tensor<1x2x1x64xbf16>) outs(%q, %k, %k : tensor<1x2x1x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x1x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>
  return
}

// -----

func.func @bias_type(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x64x64xbf16>, %l: tensor<1x2x64xf32>, %b: tensor<1x2x64x64xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support a bias with elements of type f32, expected bf16}}
  %r:2 = library.attention ins(%q, %k, %k, %b : tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xf32>) outs(%q, %l : tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>
  return
}

// -----

func.func @shared_bias(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x64x64xbf16>, %l: tensor<1x2x64xf32>, %b: tensor<1x1x1x64xbf16>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support a bias that all queries share}}
  %r:2 = library.attention ins(%q, %k, %k, %b : tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x1x1x64xbf16>) outs(%q, %l : tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>
  return
}

// -----

func.func @bias_and_window(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x64x64xbf16>, %l: tensor<1x2x64xf32>, %b: tensor<1x2x64x64xbf16>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support a bias and a window, expected at most one of them}}
  %r:2 = library.attention ins(%q, %k, %k, %b : tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64x64xbf16>) outs(%q, %l : tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>) {causal, window = 4 : i64, scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>
  return
}

// -----

func.func @bias_gradient(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x72x64xbf16>, %l: tensor<1x2x64xf32>, %b: tensor<1x2x64x72xbf16>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support the gradient of a bias of 64x72, expected multiples of 64}}
  %r:4 = library.attention_backward ins(%q, %k, %k, %q, %l, %q, %b : tensor<1x2x64x64xbf16>, tensor<1x2x72x64xbf16>, tensor<1x2x72x64xbf16>, tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>, tensor<1x2x64x64xbf16>, tensor<1x2x64x72xbf16>) outs(%q, %k, %k, %b : tensor<1x2x64x64xbf16>, tensor<1x2x72x64xbf16>, tensor<1x2x72x64xbf16>, tensor<1x2x64x72xbf16>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xbf16>, tensor<1x2x72x64xbf16>, tensor<1x2x72x64xbf16>, tensor<1x2x64x72xbf16>
  return
}

// -----

func.func @twice(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x64x64xf32>, %l: tensor<1x2x64xf32>) {
  // expected-warning@+1 {{becomes matmuls, sums and elementwise ops: cuDNN's attention does not support elements of type f32, expected bf16 or f16}}
  %r:2 = library.attention ins(%q, %k, %k : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) outs(%q, %l : tensor<1x2x64x64xf32>, tensor<1x2x64xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xf32>, tensor<1x2x64xf32>
  %s:2 = library.attention ins(%q, %k, %k : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) outs(%q, %l : tensor<1x2x64x64xf32>, tensor<1x2x64xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x64x64xf32>, tensor<1x2x64xf32>
  return
}
