// With gathers by copy engines as fast as on no H200 the two parts are shorter
// than the whole; with those that were measured they are not.
// RUN: sed '/"kind": "all_gather", "ranks": 2, "transport": "copy"/{n;s/"points".*\]\]/"points": [[262144, 5000], [268435456, 20000]]/}' \
// RUN:   %braid_src_root/lib/Cost/Profile/Shipped/h200x8.json > %t.json
// RUN: braid-opt %s --comm-split-all-reduce="machine=h200x8 profile=%t.json" | FileCheck %s --check-prefix=FAST
// RUN: braid-opt %s --comm-split-all-reduce="machine=h200x8" | FileCheck %s --check-prefix=MEASURED
// RUN: braid-opt %s --braid-overlap="effort=low split-all-reduce=true machine=h200x8 profile=%t.json" \
// RUN:   | FileCheck %s --check-prefix=OVERLAP

comm.group @pair [[0, 1]]

// FAST-LABEL: func.func @gradient
// FAST:         %[[S:.*]] = comm.reduce_scatter max
// FAST:         comm.wait %[[S]]
// FAST-NEXT:    comm.all_gather {{.*}}comm.transport = "copy"
// MEASURED-LABEL: func.func @gradient
// MEASURED:         comm.all_reduce max
// MEASURED-NOT:     comm.reduce_scatter
// MEASURED:         return
// The plan limits the first part.
// OVERLAP-LABEL: func.func @gradient
// OVERLAP:         comm.reduce_scatter max {{.*}}comm.ctas = {{[0-9]+}} : i64
// OVERLAP:         comm.all_gather {{.*}}comm.transport = "copy"
func.func @gradient(%g: tensor<32768x8192xbf16>, %x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>)
    -> (tensor<32768x8192xbf16>, tensor<4096x4096xbf16>) {
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %t = comm.all_reduce max %g on @pair : tensor<32768x8192xbf16>
  %a = linalg.matmul ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                     outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %b = linalg.matmul ins(%a, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                     outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<32768x8192xbf16>>
  return %r, %b : tensor<32768x8192xbf16>, tensor<4096x4096xbf16>
}
