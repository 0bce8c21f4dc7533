// RUN: braid-opt %s --comm-report="hardware=h200x8 world-size=2" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --comm-report="hardware=h200x8 world-size=2 profile=none" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: braid-opt %s --comm-report="hardware=h200x8 world-size=2 collective-model=nccl" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NCCL

// What H200s were measured to do is shipped, and every figure says so.

module {
  comm.group @world all

  // 33,554,432 bytes: 0.138 ms by NCCL's rings, 0.165 ms by symmetric kernels of 8
  // blocks. 2 * 4096^3 operations at 720 Tops are 190,887 ns, in 4 waves for 3.88
  // of tiles; on 124 of 132 multiprocessors (132 / 124)^0.65 of that.
  // CHECK-LABEL: Timeline of @measured ====
  // CHECK-NEXT: comm.all_reduce "plain" tensor<4096x4096xbf16>, 138113 ns (measured on 8x NVIDIA H200, shipped)
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: comm.all_reduce "symmetric" tensor<4096x4096xbf16>, 164696 ns (measured on 8x NVIDIA H200, shipped)
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: tensor.empty
  // CHECK-NEXT: linalg.matmul "all" tensor<4096x4096xbf16>, 196853 ns (roofline, rates measured on 8x NVIDIA H200, shipped)
  // CHECK-NEXT: linalg.matmul "most" tensor<4096x4096xbf16>, 205017 ns (roofline, rates measured on 8x NVIDIA H200, shipped)

  // NONE: comm.all_reduce "plain" tensor<4096x4096xbf16>, {{[0-9]+}} ns (collective-model nccl)
  // NONE: linalg.matmul "all" tensor<4096x4096xbf16>, 143252 ns (roofline)
  // NCCL: comm.all_reduce "plain" tensor<4096x4096xbf16>, {{[0-9]+}} ns (collective-model nccl)
  // NCCL: linalg.matmul "all" tensor<4096x4096xbf16>, 196853 ns (roofline, rates
  func.func @measured(%x: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
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
    return %m, %n : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
  }

  // The product is launched before the first all-reduce asks for its
  // multiprocessors. Its 2112 tiles fill 16 waves, so that both wait for their
  // end.
  // CHECK-LABEL: Why exposed, @queued ====
  // CHECK: first {{.*}}it waits for multiprocessors that "product" holds
  func.func @queued(%x: tensor<1024x1024xbf16>, %y: tensor<8448x8192xbf16>, %w: tensor<8192x8192xbf16>)
      -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<8448x8192xbf16>) {
    %t = comm.all_reduce sum %x on @world {comm.label = "first"} : tensor<1024x1024xbf16>
    %u = comm.all_reduce sum %x on @world {comm.label = "second"} : tensor<1024x1024xbf16>
    %e = tensor.empty() : tensor<8448x8192xbf16>
    %m = linalg.matmul {comm.label = "product"} ins(%y, %w : tensor<8448x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<8448x8192xbf16>) -> tensor<8448x8192xbf16>
    %r = comm.wait %t : !comm.token<tensor<1024x1024xbf16>>
    %s = comm.wait %u : !comm.token<tensor<1024x1024xbf16>>
    return %r, %s, %m : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<8448x8192xbf16>
  }
}
