// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s

// In which order the model asks, and what bodies add up to.

comm.group @world all

// CHECK-LABEL: Timeline of @attribute_overrides_everything ====
// CHECK-NEXT: arith.addf tensor<100x100xf32>, 7 ns (attribute)
// CHECK-NEXT: comm.compute "k" tensor<4xf32>, 0 ns (attribute)
// CHECK-NEXT: comm.all_reduce tensor<4xf32>, 9 ns (attribute)
// CHECK-NEXT: comm.wait tensor<4xf32>, holds the stream for 12 ns
func.func @attribute_overrides_everything(%x: tensor<100x100xf32>, %y: tensor<4xf32>) -> (tensor<100x100xf32>, tensor<4xf32>) {
  %a = arith.addf %x, %x {comm.cost_ns = 7 : i64} : tensor<100x100xf32>
  %k = comm.compute "k"(%y) {comm.cost_ns = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %k on @world {comm.cost_ns = 9 : i64} : tensor<4xf32>
  %r = comm.wait %t {comm.cost_ns = 3 : i64} : !comm.token<tensor<4xf32>>
  return %a, %r : tensor<100x100xf32>, tensor<4xf32>
}

// The cost attribute of the op comes first, then the bytes of the op.
// CHECK-LABEL: Timeline of @compute ====
// An opaque kernel reads 40,000 bytes and writes 80,000.
// CHECK-NEXT: comm.compute "opaque" tensor<100x100xf32>, tensor<100x100xf32>, 120 ns (default)
// A fused kernel keeps what is between its ops to itself: 2 * 40,000 bytes, not
// 6 * 40,000.
// CHECK-NEXT: comm.compute "fused" tensor<100x100xf32>, 80 ns (roofline)
// The operations of all its ops count: 2 * 100^3 + 10,000.
// CHECK-NEXT: comm.compute "matmul+exp" tensor<100x100xf32>, 2010 ns (roofline)
func.func @compute(%x: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %o:2 = comm.compute "opaque"(%x) : (tensor<100x100xf32>) -> (tensor<100x100xf32>, tensor<100x100xf32>)
  %f = comm.compute "fused"(%a = %o#0 : tensor<100x100xf32>) -> tensor<100x100xf32> {
    %b = math.exp %a : tensor<100x100xf32>
    %c = arith.addf %b, %b : tensor<100x100xf32>
    %d = arith.mulf %c, %c : tensor<100x100xf32>
    comm.yield %d : tensor<100x100xf32>
  }
  %m = comm.compute "matmul+exp"(%a = %f : tensor<100x100xf32>) -> tensor<100x100xf32> {
    %e = tensor.empty() : tensor<100x100xf32>
    %b = linalg.matmul ins(%a, %a : tensor<100x100xf32>, tensor<100x100xf32>)
                       outs(%e : tensor<100x100xf32>) -> tensor<100x100xf32>
    %c = math.exp %b : tensor<100x100xf32>
    comm.yield %c : tensor<100x100xf32>
  }
  return %m : tensor<100x100xf32>
}

// A loop costs its body as often as it runs: 3 times, or 8 where nobody knows.
// CHECK-LABEL: Timeline of @loops ====
// CHECK-NEXT: scf.for tensor<100x100xf32>, 240 ns (regions), 0 to 240
// CHECK-NEXT: region 0, 3 times: 80 ns each
// CHECK-NEXT: math.exp tensor<100x100xf32>, 80 ns (roofline), 0 to 80
// CHECK-NEXT: scf.for tensor<100x100xf32>, 640 ns (regions), 240 to 880
// CHECK-NEXT: region 0, 8 times: 80 ns each
// CHECK: Est. runtime (ms): 0.000880
func.func @loops(%x: tensor<100x100xf32>, %n: index) -> tensor<100x100xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c2 iter_args(%a = %x) -> tensor<100x100xf32> {
    %b = math.exp %a : tensor<100x100xf32>
    scf.yield %b : tensor<100x100xf32>
  }
  %s = scf.for %i = %c0 to %n step %c2 iter_args(%a = %r) -> tensor<100x100xf32> {
    %b = math.exp %a : tensor<100x100xf32>
    scf.yield %b : tensor<100x100xf32>
  }
  return %s : tensor<100x100xf32>
}

// Of the arms of a condition the longer one counts.
// CHECK-LABEL: Timeline of @condition ====
// CHECK-NEXT: scf.if tensor<100x100xf32>, 160 ns (regions), 0 to 160
// CHECK-NEXT: region 0, 1 time: 80 ns each
// CHECK-NEXT: math.exp
// CHECK-NEXT: region 1, 1 time: 160 ns each
// CHECK-NEXT: math.exp
// CHECK-NEXT: math.cos
// CHECK-NEXT: Est. runtime (ms): 0.000160
func.func @condition(%x: tensor<100x100xf32>, %p: i1) -> tensor<100x100xf32> {
  %r = scf.if %p -> tensor<100x100xf32> {
    %a = math.exp %x : tensor<100x100xf32>
    scf.yield %a : tensor<100x100xf32>
  } else {
    %a = math.exp %x : tensor<100x100xf32>
    %b = math.cos %a : tensor<100x100xf32>
    scf.yield %b : tensor<100x100xf32>
  }
  return %r : tensor<100x100xf32>
}

// Overlap within one iteration repeats in all iterations: 10 * max(100, 30 + 5).
// CHECK-LABEL: Timeline of @loop_with_collective ====
// CHECK-NEXT: scf.for tensor<4xf32>, 1050 ns (regions), 0 to 1050
// CHECK-NEXT: region 0, 10 times: 105 ns each
// CHECK-NEXT: 0: comm.all_reduce "ar" tensor<4xf32>, 100 ns (attribute), runs on world 0 to 100
// CHECK-NEXT: | 1: comm.compute "k" tensor<4xf32>, 30 ns (attribute), 0 to 30
// CHECK-NEXT: 2: comm.wait "ar" tensor<4xf32>, holds the stream for 70 ns, 30 to 100
// CHECK-NEXT: 3: comm.compute "l" tensor<4xf32>, 5 ns (attribute), 100 to 105
// CHECK-NEXT: Est. runtime (ms): 0.001050
// CHECK-NEXT: compute 350 ns, communication 1000 ns, exposed 700 ns
// CHECK: ar all_reduce @world 8 16 10 100 700
// CHECK-NEXT: total 1000 700
func.func @loop_with_collective(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4xf32>
    %k = comm.compute "k"(%a) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %l = comm.compute "l"(%k, %w) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %l : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A collective that is awaited in the next trip overlaps this one: each trip
// takes as long as the longer of the two. What a loop awaits in its first trip
// is awaited before it.
// CHECK-LABEL: Timeline of @prefetch_loop ====
// CHECK-NEXT: 0: comm.all_reduce
// CHECK-NEXT: 1: scf.for !comm.token<tensor<4xf32>>, 1000 ns (regions), 100 to 1100
// CHECK-NEXT: region 0, 10 times: 100 ns each
// CHECK: Est. runtime (ms): 0.001100
func.func @prefetch_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %first = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64} : tensor<4xf32>
  %last = scf.for %i = %c0 to %c10 step %c1 iter_args(%t = %first) -> !comm.token<tensor<4xf32>> {
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = comm.all_reduce sum %w on @world {comm.cost_ns = 100 : i64} : tensor<4xf32>
    %k = comm.compute "k"(%w) {comm.cost_ns = 60 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %next : !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %last : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// A call costs its callee, which is reported by itself.
// CHECK-LABEL: Timeline of @call ====
// CHECK-NEXT: func.call tensor<100x100xf32>, 160 ns (callee), 0 to 160
// CHECK-NEXT: func.call tensor<100x100xf32>, 80 ns (default), 160 to 240
// CHECK-NEXT: Est. runtime
func.func @call(%x: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %a = func.call @callee(%x) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  %b = func.call @elsewhere(%a) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  return %b : tensor<100x100xf32>
}

// CHECK-LABEL: Timeline of @callee ====
// CHECK: Est. runtime (ms): 0.000160
func.func private @callee(%x: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %a = math.exp %x : tensor<100x100xf32>
  %b = math.cos %a : tensor<100x100xf32>
  return %b : tensor<100x100xf32>
}

// A function that calls itself ends: the inner call takes no time.
// CHECK-LABEL: Timeline of @recursive ====
// CHECK-NEXT: math.exp
// CHECK-NEXT: func.call tensor<100x100xf32>, 0 ns (callee)
// CHECK-NEXT: Est. runtime (ms): 0.000080
func.func private @recursive(%x: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %a = math.exp %x : tensor<100x100xf32>
  %b = func.call @recursive(%a) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  return %b : tensor<100x100xf32>
}

// A declaration has no timeline.
// CHECK-NOT: @elsewhere
func.func private @elsewhere(tensor<100x100xf32>) -> tensor<100x100xf32>
