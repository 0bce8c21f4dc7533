// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --comm-report="machine=ideal profile=%t/profile.json" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %t/program.mlir --comm-report="machine=ideal profile=%t/profile.json format=json" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=JSON
// RUN: braid-opt %t/program.mlir --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WITHOUT

// Measured times come before estimates, op by op, and the report says of each
// figure where it comes from.

// CHECK-LABEL: Timeline of @matmuls ====
// CHECK: linalg.matmul tensor<1024x1024xbf16>, 3000 ns (profile signature)
// CHECK: linalg.matmul tensor<2048x1024xbf16>, 4243 ns (profile interpolated)
// CHECK: linalg.matmul tensor<8192x1024xbf16>, 8485 ns (profile extrapolated)
// CHECK: linalg.matmul tensor<32768x1024xbf16>, 68719477 ns (roofline)
// CHECK: linalg.exp "activation" tensor<1024x1024xbf16>, 77 ns (profile label)
// CHECK: linalg.matmul tensor<1024x1024xbf16>, 5 ns (attribute)

// WITHOUT-LABEL: Timeline of @matmuls ====
// WITHOUT: linalg.matmul tensor<1024x1024xbf16>, 2147484 ns (roofline)

// JSON: "cost_source": "profile signature"
// JSON-NEXT: "op": "linalg.matmul"
// JSON-NEXT: "type": "tensor<1024x1024xbf16>"
// JSON-NEXT: "bytes": 2097152
// JSON-NEXT: "cost_ns": 3000
// JSON-NEXT: "signature": "linalg.matmul(1024x1024xbf16, 1024x1024xbf16) -> (1024x1024xbf16)"

// CHECK-LABEL: Timeline of @collectives ====
// CHECK: comm.all_reduce tensor<512xf32>, 900 ns (profile signature)
// CHECK: comm.wait tensor<512xf32>, holds the stream
// CHECK: comm.all_reduce "gradients" tensor<512xf32>, 42 ns (profile label)
// CHECK: comm.wait "gradients" tensor<512xf32>, holds the stream for 42 ns
// CHECK: comm.all_reduce tensor<512xf32>, {{.*}} ns (collective-model link)
// CHECK: comm.barrier, 10 ns (profile signature)

//--- profile.json
{"version": 1,
 "machine": "ideal",
 "entries": [
  {"signature": "linalg.matmul(1024x1024xbf16, 1024x1024xbf16) -> (1024x1024xbf16)", "ns": [3100, 3000, 2000]},
  {"signature": "linalg.matmul(4096x1024xbf16, 1024x1024xbf16) -> (4096x1024xbf16)", "ns": 6000},
  {"label": "activation", "ns": 77},
  {"label": "gradients", "ns": 42},
  {"signature": "comm.all_reduce sum f32, 8 ranks, 2048 bytes", "ns": 900},
  {"signature": "comm.barrier, 8 ranks", "ns": 10}
]}

//--- program.mlir
comm.group @world all
comm.group @pairs [[0, 1], [2, 3]]

func.func @matmuls(%a: tensor<1024x1024xbf16>, %b: tensor<2048x1024xbf16>,
                   %c: tensor<8192x1024xbf16>, %d: tensor<32768x1024xbf16>) {
  %e = tensor.empty() : tensor<1024x1024xbf16>
  %0 = linalg.matmul ins(%a, %a : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>)
                     outs(%e : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %f = tensor.empty() : tensor<2048x1024xbf16>
  %1 = linalg.matmul ins(%b, %a : tensor<2048x1024xbf16>, tensor<1024x1024xbf16>)
                     outs(%f : tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16>
  %g = tensor.empty() : tensor<8192x1024xbf16>
  %2 = linalg.matmul ins(%c, %a : tensor<8192x1024xbf16>, tensor<1024x1024xbf16>)
                     outs(%g : tensor<8192x1024xbf16>) -> tensor<8192x1024xbf16>
  %h = tensor.empty() : tensor<32768x1024xbf16>
  %3 = linalg.matmul ins(%d, %a : tensor<32768x1024xbf16>, tensor<1024x1024xbf16>)
                     outs(%h : tensor<32768x1024xbf16>) -> tensor<32768x1024xbf16>
  %4 = linalg.exp {comm.label = "activation"} ins(%0 : tensor<1024x1024xbf16>)
                     outs(%e : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %5 = linalg.matmul {comm.cost_ns = 5 : i64} ins(%a, %a : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>)
                     outs(%e : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return
}

func.func @collectives(%x: tensor<512xf32>) {
  %t = comm.all_reduce sum %x on @world : tensor<512xf32>
  %r = comm.wait %t : !comm.token<tensor<512xf32>>
  %u = comm.all_reduce sum %x on @world {comm.label = "gradients"} : tensor<512xf32>
  %s = comm.wait %u {comm.label = "gradients"} : !comm.token<tensor<512xf32>>
  // Other ranks, another signature.
  %v = comm.all_reduce sum %x on @pairs : tensor<512xf32>
  %w = comm.wait %v : !comm.token<tensor<512xf32>>
  %b = comm.barrier on @world
  comm.wait %b : !comm.token
  return
}
