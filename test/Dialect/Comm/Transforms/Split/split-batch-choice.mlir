// What parts of a batch are worth.
// RUN: braid-opt %s --comm-split-batch="machine=h200x8 ranks=2" --remarks-filter=comm-split-batch 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: braid-opt %s --comm-split-batch=all | FileCheck %s --check-prefix=ALL
// RUN: braid-opt %s --comm-split-batch="machine=h200x8 ranks=2 min-gain=90%" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %s --comm-split-batch="machine=h200x8 ranks=2 max-memory=100MiB" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=2 split-batch=true" | FileCheck %s --check-prefix=OVERLAP
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=2" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=2" --comm-report="machine=h200x8 ranks=2 format=json" -o /dev/null 2> %t.whole
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=2 split-batch=true" --comm-report="machine=h200x8 ranks=2 format=json" \
// RUN:   -o /dev/null 2> %t.halves
// RUN: %python -c "import json, sys; a, b = (json.load(open(f))['functions'][0]['makespan_ns'] for f in sys.argv[1:]); sys.exit(a > 0.95 * b)" \
// RUN:   %t.halves %t.whole

comm.group @tp [[0, 1]]

// Matmuls of other parts hide the all-reduces: quarters are better than halves, or two
// fifths behind three.
// REMARK:        batch | Category:comm-split-batch | Function=layers | Arguments=0:0, Parts="2048,2048,2048,2048", Size=8192
// REMARK:        split-collectives | Category:comm-split-batch | Function=layers | Count=2
// CHECK-LABEL:   func.func @layers
// CHECK-COUNT-8:   comm.all_reduce {{.*}} : tensor<2048x4096xbf16>
// WHOLE-LABEL:   func.func @layers
// WHOLE-COUNT-2:   comm.all_reduce {{.*}} : tensor<8192x4096xbf16>
// OVERLAP-LABEL: func.func @layers
// OVERLAP:         %[[T0:.*]] = comm.all_reduce {{.*}} : tensor<2048x4096xbf16>
// OVERLAP:         linalg.matmul {{.*}} -> tensor<2048x8192xbf16>
// OVERLAP:         %[[R0:.*]] = comm.wait %[[T0]]
// OVERLAP:         linalg.matmul {{.*}}%[[R0]], {{.*}} -> tensor<2048x8192xbf16>
func.func @layers(%x: tensor<8192x4096xbf16>, %w0: tensor<4096x8192xbf16>, %v0: tensor<8192x4096xbf16>,
                  %w1: tensor<4096x8192xbf16>, %v1: tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %d = tensor.empty() : tensor<8192x4096xbf16>
  %g = linalg.fill ins(%zero : bf16) outs(%d : tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
  %h0 = linalg.matmul ins(%x, %w0 : tensor<8192x4096xbf16>, tensor<4096x8192xbf16>) outs(%f : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %p0 = linalg.matmul ins(%h0, %v0 : tensor<8192x8192xbf16>, tensor<8192x4096xbf16>) outs(%g : tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
  %t0 = comm.all_reduce sum %p0 on @tp : tensor<8192x4096xbf16>
  %r0 = comm.wait %t0 : !comm.token<tensor<8192x4096xbf16>>
  %h1 = linalg.matmul ins(%r0, %w1 : tensor<8192x4096xbf16>, tensor<4096x8192xbf16>) outs(%f : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %p1 = linalg.matmul ins(%h1, %v1 : tensor<8192x8192xbf16>, tensor<8192x4096xbf16>) outs(%g : tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
  %t1 = comm.all_reduce sum %p1 on @tp : tensor<8192x4096xbf16>
  %r1 = comm.wait %t1 : !comm.token<tensor<8192x4096xbf16>>
  return %r1 : tensor<8192x4096xbf16>
}

// Nothing is exposed: the matmul beside the all-reduce takes longer.
// CHECK-LABEL: func.func @hidden
// CHECK:         comm.all_reduce {{.*}} : tensor<8192x4096xbf16>
// CHECK-NOT:     comm.all_reduce
// WHOLE-LABEL: func.func @hidden
func.func @hidden(%x: tensor<8192x4096xbf16>, %y: tensor<8192x8192xbf16>) -> (tensor<8192x4096xbf16>, tensor<8192x8192xbf16>) {
  %t = comm.all_reduce sum %x on @tp : tensor<8192x4096xbf16>
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %m = linalg.matmul ins(%y, %y : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) outs(%f : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %n = linalg.matmul ins(%m, %y : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) outs(%f : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %r = comm.wait %t : !comm.token<tensor<8192x4096xbf16>>
  return %r, %n : tensor<8192x4096xbf16>, tensor<8192x8192xbf16>
}

// Parts of the small all-reduce take its latency twice: the large one has parts alone, although both
// could have them.
// REMARK:      split-collectives | Category:comm-split-batch | Function=one | Count=1
// CHECK-LABEL: func.func @one
// CHECK:         comm.all_reduce max {{.*}} : tensor<8192xbf16>
// CHECK-COUNT-2: comm.all_reduce sum {{.*}} : tensor<4096x4096xbf16>
// ALL-LABEL:   func.func @one
// ALL-COUNT-2:   comm.all_reduce max {{.*}} : tensor<4096xbf16>
// ALL-COUNT-2:   comm.all_reduce sum {{.*}} : tensor<4096x4096xbf16>
func.func @one(%x: tensor<8192x4096xbf16>, %s: tensor<8192xbf16>, %w0: tensor<4096x8192xbf16>, %v0: tensor<8192x4096xbf16>,
                 %w1: tensor<4096x8192xbf16>) -> tensor<8192x8192xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %d = tensor.empty() : tensor<8192x4096xbf16>
  %g = linalg.fill ins(%zero : bf16) outs(%d : tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
  %q = math.absf %s : tensor<8192xbf16>
  %u = comm.all_reduce max %q on @tp : tensor<8192xbf16>
  %m = comm.wait %u : !comm.token<tensor<8192xbf16>>
  %h0 = linalg.matmul ins(%x, %w0 : tensor<8192x4096xbf16>, tensor<4096x8192xbf16>) outs(%f : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %p0 = linalg.matmul ins(%h0, %v0 : tensor<8192x8192xbf16>, tensor<8192x4096xbf16>) outs(%g : tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
  %t0 = comm.all_reduce sum %p0 on @tp : tensor<8192x4096xbf16>
  %r0 = comm.wait %t0 : !comm.token<tensor<8192x4096xbf16>>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r0, %m : tensor<8192x4096xbf16>, tensor<8192xbf16>) outs(%d : tensor<8192x4096xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %y = arith.divf %a, %b : bf16
    linalg.yield %y : bf16
  } -> tensor<8192x4096xbf16>
  %h1 = linalg.matmul ins(%n, %w1 : tensor<8192x4096xbf16>, tensor<4096x8192xbf16>) outs(%f : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  return %h1 : tensor<8192x8192xbf16>
}
