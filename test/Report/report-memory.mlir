// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s

// Peak memory: each tensor here has 4,000 bytes.

comm.group @world all

// An argument lives throughout; the all-reduce goes to a second buffer, as the
// argument may not be written: 8,000 bytes.
// CHECK-LABEL: Timeline of @argument ====
// CHECK: peak memory 8000 bytes
func.func @argument(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<1000xf32>
  %r = comm.wait %t : !comm.token<tensor<1000xf32>>
  return %r : tensor<1000xf32>
}

// An intermediate that nobody else reads is reduced in place.
// CHECK-LABEL: Timeline of @in_place ====
// CHECK: peak memory 8000 bytes
func.func @in_place(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = math.exp %x : tensor<1000xf32>
  %t = comm.all_reduce sum %y on @world : tensor<1000xf32>
  %r = comm.wait %t : !comm.token<tensor<1000xf32>>
  return %r : tensor<1000xf32>
}

// A buffer that is read again is not reused.
// CHECK-LABEL: Timeline of @shared ====
// CHECK: peak memory 16000 bytes
func.func @shared(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = math.exp %x : tensor<1000xf32>
  %t = comm.all_reduce sum %y on @world : tensor<1000xf32>
  %z = math.cos %y : tensor<1000xf32>
  %r = comm.wait %t : !comm.token<tensor<1000xf32>>
  %s = arith.addf %r, %z : tensor<1000xf32>
  return %s : tensor<1000xf32>
}

// The source of an all-gather stays until the wait, though nothing reads it in
// between: 4,000 (x) + 4,000 (y) + 32,000 (gathered) + 4,000 (z).
// CHECK-LABEL: Timeline of @source_in_flight ====
// CHECK: peak memory 44000 bytes
func.func @source_in_flight(%x: tensor<1000xf32>) -> (tensor<8000xf32>, tensor<1000xf32>) {
  %y = math.exp %x : tensor<1000xf32>
  %t = comm.all_gather %y on @world dim 0 : tensor<1000xf32> -> tensor<8000xf32>
  %z = math.cos %x : tensor<1000xf32>
  %r = comm.wait %t : !comm.token<tensor<8000xf32>>
  return %r, %z : tensor<8000xf32>, tensor<1000xf32>
}

// After the wait it is free: z takes its place.
// CHECK-LABEL: Timeline of @source_freed_by_wait ====
// CHECK: peak memory 40000 bytes
func.func @source_freed_by_wait(%x: tensor<1000xf32>) -> (tensor<8000xf32>, tensor<1000xf32>) {
  %y = math.exp %x : tensor<1000xf32>
  %t = comm.all_gather %y on @world dim 0 : tensor<1000xf32> -> tensor<8000xf32>
  %r = comm.wait %t : !comm.token<tensor<8000xf32>>
  %z = math.cos %x : tensor<1000xf32>
  return %r, %z : tensor<8000xf32>, tensor<1000xf32>
}

// Memory counts from the first write: an empty tensor takes none, and what is
// written in place of an intermediate takes no more.
// CHECK-LABEL: Timeline of @destinations ====
// CHECK: peak memory 8000 bytes
func.func @destinations(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %e = tensor.empty() : tensor<1000xf32>
  %y = linalg.exp ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  %z = linalg.exp ins(%x : tensor<1000xf32>) outs(%y : tensor<1000xf32>) -> tensor<1000xf32>
  return %z : tensor<1000xf32>
}

// A view shares what it looks at, and keeps it.
// CHECK-LABEL: Timeline of @views ====
// CHECK: peak memory 12000 bytes
func.func @views(%x: tensor<1000xf32>) -> tensor<10x100xf32> {
  %y = math.exp %x : tensor<1000xf32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [10, 100] : tensor<1000xf32> into tensor<10x100xf32>
  %z = math.cos %v : tensor<10x100xf32>
  return %z : tensor<10x100xf32>
}

// Memory live in the loop adds to memory live around it: 4,000 (x) + 4,000
// (the value of the loop) + 8,000 (b and c).
// CHECK-LABEL: Timeline of @loop ====
// CHECK: peak memory 16000 bytes
func.func @loop(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<1000xf32> {
    %b = math.exp %a : tensor<1000xf32>
    %c = math.cos %b : tensor<1000xf32>
    scf.yield %c : tensor<1000xf32>
  }
  return %r : tensor<1000xf32>
}
