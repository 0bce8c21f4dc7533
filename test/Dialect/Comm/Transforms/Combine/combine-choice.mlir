// What launches are worth: small gathers take little but their latency.
// RUN: braid-opt %s --comm-combine="machine=h200x8 ranks=2" | FileCheck %s
// RUN: braid-opt %s --comm-combine="machine=h200x8 ranks=2 max-memory=1KiB" | FileCheck %s --check-prefix=NONE
// RUN: braid-opt %s --comm-combine="machine=h200x8 ranks=2 kinds=all_reduce" | FileCheck %s --check-prefix=NONE
// RUN: braid-opt %s --comm-combine="machine=h200x8 ranks=2" > %t.first
// RUN: braid-opt %s --comm-combine="machine=h200x8 ranks=2" --mlir-disable-threading | diff - %t.first
// RUN: braid-opt %s --braid-overlap="simplify=false effort=low machine=h200x8 ranks=2" | FileCheck %s --check-prefix=OVERLAP
// RUN: braid-opt %s --braid-overlap="simplify=false effort=low machine=h200x8 ranks=2 combine=false" | FileCheck %s --check-prefix=ALONE
// RUN: braid-opt %s --braid-overlap="simplify=false effort=low machine=h200x8 ranks=2 keep-order" | FileCheck %s --check-prefix=ALONE
// RUN: not braid-opt %s --comm-combine="min-gain=101" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not braid-opt %s --comm-combine="max-memory=much" 2>&1 | FileCheck %s --check-prefix=MEMORY

// GAIN: error: invalid value {{.*}} of option 'min-gain'
// MEMORY: error: invalid size 'much' in option 'max-memory'

comm.group @pair [[0, 1]]

// CHECK-LABEL: func.func @small
// CHECK-NEXT:    comm.all_gather %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} on @pair
// OVERLAP-LABEL: func.func @small
// OVERLAP:       comm.all_gather %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} on @pair
// ALONE-LABEL: func.func @small
// ALONE-COUNT-4: comm.all_gather %{{[^,]*}} on @pair
// NONE-LABEL:  func.func @small
// NONE-COUNT-4:  comm.all_gather %{{[^,]*}} on @pair
func.func @small(%a: tensor<64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>, %d: tensor<64xf32>)
    -> (tensor<128xf32>, tensor<128xf32>) {
  %t = comm.all_gather %a on @pair dim 0 : tensor<64xf32> -> tensor<128xf32>
  %r = comm.wait %t : !comm.token<tensor<128xf32>>
  %u = comm.all_gather %b on @pair dim 0 : tensor<64xf32> -> tensor<128xf32>
  %s = comm.wait %u : !comm.token<tensor<128xf32>>
  %v = comm.all_gather %c on @pair dim 0 : tensor<64xf32> -> tensor<128xf32>
  %p = comm.wait %v : !comm.token<tensor<128xf32>>
  %w = comm.all_gather %d on @pair dim 0 : tensor<64xf32> -> tensor<128xf32>
  %q = comm.wait %w : !comm.token<tensor<128xf32>>
  %x = arith.addf %r, %s : tensor<128xf32>
  %y = arith.addf %p, %q : tensor<128xf32>
  return %x, %y : tensor<128xf32>, tensor<128xf32>
}

// The second gather runs beside the matmul of the first, which would wait for
// both.
// CHECK-LABEL: func.func @hidden
// CHECK-COUNT-2: comm.all_gather %{{[^,]*}} on @pair
func.func @hidden(%a: tensor<4096x8192xbf16>, %b: tensor<4096x8192xbf16>, %x: tensor<8192x8192xbf16>)
    -> (tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) {
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %t = comm.all_gather %a on @pair dim 0 : tensor<4096x8192xbf16> -> tensor<8192x8192xbf16>
  %r = comm.wait %t : !comm.token<tensor<8192x8192xbf16>>
  %m = linalg.matmul ins(%x, %r : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                     outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %u = comm.all_gather %b on @pair dim 0 : tensor<4096x8192xbf16> -> tensor<8192x8192xbf16>
  %s = comm.wait %u : !comm.token<tensor<8192x8192xbf16>>
  %n = linalg.matmul ins(%m, %s : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                     outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  return %m, %n : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>
}
