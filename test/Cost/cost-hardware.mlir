// RUN: braid-opt %s --comm-report="profile=none" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=ALL,H100
// RUN: braid-opt %s --comm-report="machine=a100x8" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=ALL,A100
// RUN: braid-opt %s --comm-report="machine=v100x8" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=ALL,V100

// Each element type has a peak of its own, of dense matrices: 2 * 4096^3
// operations over 989.4, 1978.9 and 67 Tops (H100), 312 (twice) and 19.5 (A100),
// 15.7, 125 and 15.7 (V100, which has no bf16). The 512 tiles of 128 x 256, or in
// f32 the 1024 of 128 x 128, take whole waves of 132 (H100), 108 (A100) and 80
// multiprocessors (V100): 4 for 3.88, 8 for 7.76, and so on.

// H100: comm-report: machine h100x8, collective model nccl, 8 ranks
// A100: comm-report: machine a100x8, collective model nccl, 8 ranks
// V100: comm-report: machine v100x8, collective model nccl, 8 ranks

// ALL-LABEL: Timeline of @bf16 ====
// H100: linalg.matmul tensor<4096x4096xf32>, 143252 ns (roofline)
// A100: linalg.matmul tensor<4096x4096xf32>, 464600 ns (roofline)
// V100: linalg.matmul tensor<4096x4096xf32>, 9232812 ns (roofline)
func.func @bf16(%a: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %a : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                     outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// ALL-LABEL: Timeline of @f8 ====
// H100: linalg.matmul tensor<4096x4096xf32>, 71623 ns (roofline)
// A100: linalg.matmul tensor<4096x4096xf32>, 464600 ns (roofline)
// V100: linalg.matmul tensor<4096x4096xf32>, 1159641 ns (roofline)
func.func @f8(%a: tensor<4096x4096xf8E4M3FN>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %a : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>)
                     outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// ALL-LABEL: Timeline of @f32 ====
// H100: linalg.matmul tensor<4096x4096xf32>, 2115432 ns (roofline)
// A100: linalg.matmul tensor<4096x4096xf32>, 7433597 ns (roofline)
// V100: linalg.matmul tensor<4096x4096xf32>, 8890856 ns (roofline)
func.func @f32(%a: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %a : tensor<4096x4096xf32>, tensor<4096x4096xf32>)
                     outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Pointwise work is bound by memory: 2 * 64 MiB over 3350, 2039 and 900 GB/s.
// ALL-LABEL: Timeline of @pointwise ====
// H100: linalg.exp tensor<4096x4096xf32>, 40065 ns (roofline)
// A100: linalg.exp tensor<4096x4096xf32>, 65825 ns (roofline)
// V100: linalg.exp tensor<4096x4096xf32>, 149131 ns (roofline)
func.func @pointwise(%a: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %r = linalg.exp ins(%a : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
