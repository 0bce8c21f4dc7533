// RUN: braid-opt %s --comm-report="machine=h200x8 ranks=2" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --comm-report="machine=h200x8 ranks=2 profile=none" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: braid-opt %s --comm-report="machine=h200x8 ranks=2 collective-model=nccl" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NCCL
// RUN: braid-opt %s --comm-report="machine=h100x8 ranks=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=H100
// RUN: braid-opt %s --comm-report="machine=h100x8 ranks=2 ranks-per-node=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=H100
// RUN: braid-opt %s --comm-report="machine=h100x8 ranks=2 ranks-per-node=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=APART
// RUN: braid-opt %s --comm-report="machine=h100x8 ranks=8" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EIGHT

// What H100s and H200s were measured to do is shipped, and every figure says so.

module {
  comm.group @world all

  // 33,554,432 bytes: 0.137 ms by NCCL's rings, 0.162 ms by symmetric kernels of 8
  // blocks. The matmul takes 0.194 ms, and 0.206 ms on 124 multiprocessors. One of
  // eight times the rows has no measurement nearby: 2 * 32768 * 4096^2 operations
  // at 720.3 Tops are 1,526,463 ns, in 32 waves for 31.03 of tiles.
  // CHECK-LABEL: Timeline of @measured ====
  // CHECK-NEXT: comm.all_reduce "plain" tensor<4096x4096xbf16>, 137442 ns (measured on 2x and 4x and 8x NVIDIA H200, shipped)
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: comm.all_reduce "symmetric" tensor<4096x4096xbf16>, 161633 ns (measured on 2x and 4x and 8x NVIDIA H200, shipped)
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: tensor.empty
  // CHECK-NEXT: linalg.matmul "all" tensor<4096x4096xbf16>, 194455 ns (measured on 2x and 4x and 8x NVIDIA H200, shipped)
  // CHECK-NEXT: linalg.matmul "most" tensor<4096x4096xbf16>, 205683 ns (measured on 2x and 4x and 8x NVIDIA H200, shipped)
  // CHECK: linalg.matmul "near" tensor<6144x4096xbf16>, {{[0-9]+}} ns (similar matmuls, measured on 2x and 4x and 8x NVIDIA H200, shipped)
  // CHECK: linalg.matmul "far" tensor<32768x4096xbf16>, 1537271 ns (roofline, rates measured on 2x and 4x and 8x NVIDIA H200, shipped)

  // NONE: comm.all_reduce "plain" tensor<4096x4096xbf16>, {{[0-9]+}} ns (collective-model nccl)
  // NONE: linalg.matmul "all" tensor<4096x4096xbf16>, 143252 ns (roofline)
  // NCCL: comm.all_reduce "plain" tensor<4096x4096xbf16>, {{[0-9]+}} ns (collective-model nccl)
  // NCCL: linalg.matmul "all" tensor<4096x4096xbf16>, 194455 ns (measured on

  // Two H100s; groups of eight have no curve.
  // H100: comm.all_reduce "plain" tensor<4096x4096xbf16>, 140214 ns (measured on 2x NVIDIA H100 80GB HBM3, shipped)
  // H100: comm.all_reduce "symmetric" tensor<4096x4096xbf16>, 164035 ns (measured on 2x NVIDIA H100 80GB HBM3, shipped)
  // H100: linalg.matmul "all" tensor<4096x4096xbf16>, 192425 ns (measured on 2x NVIDIA H100 80GB HBM3, shipped)
  // H100: linalg.matmul "most" tensor<4096x4096xbf16>, 201718 ns (measured on 2x NVIDIA H100 80GB HBM3, shipped)
  // The same two as the only ones of a node, and on two nodes.
  // APART: comm.all_reduce "plain" tensor<4096x4096xbf16>, {{[0-9]+}} ns (collective-model nccl)
  // APART: linalg.matmul "all" tensor<4096x4096xbf16>, 192425 ns (measured on 2x NVIDIA H100 80GB HBM3, shipped)
  // EIGHT: comm.all_reduce "plain" tensor<4096x4096xbf16>, {{[0-9]+}} ns (collective-model nccl)
  // EIGHT: linalg.matmul "all" tensor<4096x4096xbf16>, 192425 ns (measured on 2x NVIDIA H100 80GB HBM3, shipped)
  func.func @measured(%x: tensor<4096x4096xbf16>, %y: tensor<6144x4096xbf16>, %z: tensor<32768x4096xbf16>)
      -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<6144x4096xbf16>, tensor<32768x4096xbf16>) {
    %t = comm.all_reduce sum %x on @world {comm.label = "plain"} : tensor<4096x4096xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    %u = comm.all_reduce sum %r on @world {comm.label = "symmetric", comm.ctas = 8 : i64, comm.transport = "symmetric"} : tensor<4096x4096xbf16>
    %s = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
    %e = tensor.empty() : tensor<4096x4096xbf16>
    %m = linalg.matmul {comm.label = "all"} ins(%s, %x : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                       outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %n = linalg.matmul {comm.label = "most", comm.multiprocessors = 124 : i64}
      ins(%s, %x : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
      outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %f = tensor.empty() : tensor<6144x4096xbf16>
    %o = linalg.matmul {comm.label = "near"} ins(%y, %x : tensor<6144x4096xbf16>, tensor<4096x4096xbf16>)
                       outs(%f : tensor<6144x4096xbf16>) -> tensor<6144x4096xbf16>
    %g = tensor.empty() : tensor<32768x4096xbf16>
    %p = linalg.matmul {comm.label = "far"} ins(%z, %x : tensor<32768x4096xbf16>, tensor<4096x4096xbf16>)
                       outs(%g : tensor<32768x4096xbf16>) -> tensor<32768x4096xbf16>
    return %m, %n, %o, %p : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<6144x4096xbf16>, tensor<32768x4096xbf16>
  }

  // The matmul is launched before the first all-reduce asks for its
  // multiprocessors. Its 2112 tiles fill 16 waves, so that both wait for their
  // end.
  // CHECK-LABEL: Why exposed, @queued ====
  // CHECK: first {{.*}}it waits for multiprocessors that "product" holds
  func.func @queued(%y: tensor<8448x8192xbf16>, %w: tensor<8192x8192xbf16>)
      -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<8448x8192xbf16>) {
    // The host is ahead from here on.
    %e = tensor.empty() : tensor<8448x8192xbf16>
    %l = linalg.matmul ins(%y, %w : tensor<8448x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<8448x8192xbf16>) -> tensor<8448x8192xbf16>
    %z = tensor.extract_slice %l[0, 0] [1024, 1024] [1, 1] : tensor<8448x8192xbf16> to tensor<1024x1024xbf16>
    %t = comm.all_reduce sum %z on @world {comm.label = "first"} : tensor<1024x1024xbf16>
    %u = comm.all_reduce sum %z on @world {comm.label = "second"} : tensor<1024x1024xbf16>
    %m = linalg.matmul {comm.label = "product"} ins(%y, %w : tensor<8448x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%l : tensor<8448x8192xbf16>) -> tensor<8448x8192xbf16>
    %r = comm.wait %t : !comm.token<tensor<1024x1024xbf16>>
    %s = comm.wait %u : !comm.token<tensor<1024x1024xbf16>>
    return %r, %s, %m : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<8448x8192xbf16>
  }
}
