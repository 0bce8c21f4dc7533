// RUN: braid-opt %s --comm-own-part-first="machine=h200x8 ranks=2" | FileCheck %s
// RUN: braid-opt %s --comm-own-part-first="machine=h200x8 ranks=2" --remarks-filter-passed=.* -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: own-parts-first | Category:comm-own-part-first | Function=long_matmul | Count=1
// REMARK: own-parts-first | Category:comm-own-part-first | Function=hidden_gather | Count=0

comm.group @world [[0, 1]]

// The matmul with the rank's own rows hides the gather.
// CHECK-LABEL: func.func @long_matmul
// CHECK-COUNT-2: linalg.matmul
func.func @long_matmul(%x: tensor<2048x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %t = comm.all_gather %x on @world dim 0 : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %g = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  %h = linalg.matmul ins(%g, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %h : tensor<4096x4096xbf16>
}

// Other work hides the gather already.
// CHECK-LABEL: func.func @hidden_gather
// CHECK:         comm.all_gather
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @hidden_gather(%lead: tensor<2048x4096xbf16>, %w: tensor<4096x4096xbf16>, %v: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
  // The host is ahead from here on.
  %part = tensor.empty() : tensor<2048x4096xbf16>
  %x = linalg.matmul ins(%lead, %w : tensor<2048x4096xbf16>, tensor<4096x4096xbf16>) outs(%part : tensor<2048x4096xbf16>) -> tensor<2048x4096xbf16>
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %t = comm.all_gather %x on @world dim 0 : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %k = linalg.matmul ins(%v, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %g = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  %h = linalg.matmul ins(%g, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %h, %k : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
}
