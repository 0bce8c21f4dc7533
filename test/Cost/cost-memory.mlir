// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s

// An op that moves no data takes 0 ns; other ops move 1000 bytes per ns.

// CHECK-LABEL: Timeline of @tensor_views ====
// CHECK-NEXT: tensor.empty tensor<100x100xf32>, 0 ns
// CHECK-NEXT: tensor.dim index, 0 ns
// CHECK-NEXT: tensor.cast tensor<?x100xf32>, 0 ns
// CHECK-NEXT: tensor.extract_slice tensor<50x100xf32>, 0 ns
// CHECK-NEXT: tensor.collapse_shape tensor<5000xf32>, 0 ns
// CHECK-NEXT: tensor.expand_shape tensor<5x1000xf32>, 0 ns
// CHECK-NEXT: Est. runtime (ms): 0.000000
func.func @tensor_views(%x: tensor<?x100xf32>) -> (tensor<5x1000xf32>, index, tensor<?x100xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<100x100xf32>
  %n = tensor.dim %x, %c0 : tensor<?x100xf32>
  %d = tensor.cast %e : tensor<100x100xf32> to tensor<?x100xf32>
  %s = tensor.extract_slice %x[0, 0] [50, 100] [1, 1] : tensor<?x100xf32> to tensor<50x100xf32>
  %f = tensor.collapse_shape %s [[0, 1]] : tensor<50x100xf32> into tensor<5000xf32>
  %g = tensor.expand_shape %f [[0, 1]] output_shape [5, 1000] : tensor<5000xf32> into tensor<5x1000xf32>
  return %g, %n, %d : tensor<5x1000xf32>, index, tensor<?x100xf32>
}

// An insertion moves the slice, not the destination: 2 * 20,000 bytes.
// CHECK-LABEL: Timeline of @insert_slice ====
// CHECK-NEXT: tensor.insert_slice tensor<1000x1000xf32>, 40 ns (roofline)
func.func @insert_slice(%x: tensor<50x100xf32>, %y: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %r = tensor.insert_slice %x into %y[0, 0] [50, 100] [1, 1] : tensor<50x100xf32> into tensor<1000x1000xf32>
  return %r : tensor<1000x1000xf32>
}

// What an op computes from an empty tensor stands in its place at once, also in the stack that a loop carries.
// CHECK-LABEL: Timeline of @in_place ====
// CHECK: comm.compute "k" tensor<50x100xf32>
// CHECK: tensor.insert_slice tensor<100x100xf32>, 40 ns (roofline)
// CHECK: linalg.exp tensor<50x100xf32>
// CHECK: tensor.insert_slice tensor<100x100xf32>, 0 ns (roofline)
func.func @in_place(%x: tensor<50x100xf32>, %y: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %e = tensor.empty() : tensor<5000xf32>
  %place = tensor.expand_shape %e [[0, 1]] output_shape [50, 100] : tensor<5000xf32> into tensor<50x100xf32>
  %a = comm.compute "k"(%x) : (tensor<50x100xf32>) -> tensor<50x100xf32>
  %r = tensor.insert_slice %a into %y[0, 0] [50, 100] [1, 1] : tensor<50x100xf32> into tensor<100x100xf32>
  %b = linalg.exp ins(%x : tensor<50x100xf32>) outs(%place : tensor<50x100xf32>) -> tensor<50x100xf32>
  %s = tensor.insert_slice %b into %r[50, 0] [50, 100] [1, 1] : tensor<50x100xf32> into tensor<100x100xf32>
  return %s : tensor<100x100xf32>
}

// 40,000 + 40,000 bytes read and 80,000 written; 80,000 read and 80,800 written.
// CHECK-LABEL: Timeline of @concat_and_pad ====
// CHECK-NEXT: tensor.concat tensor<200x100xf32>, 160 ns (roofline)
// CHECK-NEXT: tensor.pad tensor<202x100xf32>, 161 ns (roofline)
func.func @concat_and_pad(%x: tensor<100x100xf32>, %y: tensor<100x100xf32>) -> tensor<202x100xf32> {
  %zero = arith.constant 0.0 : f32
  %c = tensor.concat dim(0) %x, %y : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<200x100xf32>
  %p = tensor.pad %c low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<200x100xf32> to tensor<202x100xf32>
  return %p : tensor<202x100xf32>
}

// A single element is 1 ns at the least.
// CHECK-LABEL: Timeline of @elements ====
// CHECK-NEXT: tensor.extract f32, 1 ns (roofline)
// CHECK-NEXT: tensor.insert tensor<1000x1000xf32>, 1 ns (roofline)
func.func @elements(%x: tensor<1000x1000xf32>, %i: index) -> tensor<1000x1000xf32> {
  %v = tensor.extract %x[%i, %i] : tensor<1000x1000xf32>
  %r = tensor.insert %v into %x[%i, %i] : tensor<1000x1000xf32>
  return %r : tensor<1000x1000xf32>
}

// 100,000 elements: two operations each, 400,000 bytes written.
// CHECK-LABEL: Timeline of @generate ====
// CHECK-NEXT: tensor.generate tensor<100000xf32>, 400 ns (roofline)
func.func @generate(%v: f32) -> tensor<100000xf32> {
  %r = tensor.generate {
  ^bb0(%i: index):
    %a = arith.mulf %v, %v : f32
    %b = math.exp %a : f32
    tensor.yield %b : f32
  } : tensor<100000xf32>
  return %r : tensor<100000xf32>
}

// Element by element on tensors: each distinct operand comes from memory once.
// CHECK-LABEL: Timeline of @elementwise ====
// CHECK-NEXT: arith.addf tensor<100x100xf32>, 120 ns (roofline)
// CHECK-NEXT: arith.mulf tensor<100x100xf32>, 80 ns (roofline)
// CHECK-NEXT: math.cos tensor<100x100xf32>, 80 ns (roofline)
// CHECK-NEXT: arith.truncf tensor<100x100xf16>, 60 ns (roofline)
func.func @elementwise(%x: tensor<100x100xf32>, %y: tensor<100x100xf32>) -> tensor<100x100xf16> {
  %a = arith.addf %x, %y : tensor<100x100xf32>
  %b = arith.mulf %a, %a : tensor<100x100xf32>
  %c = math.cos %b : tensor<100x100xf32>
  %d = arith.truncf %c : tensor<100x100xf32> to tensor<100x100xf16>
  return %d : tensor<100x100xf16>
}

// Constants are part of the program, scalars stay in registers.
// CHECK-LABEL: Timeline of @scalars ====
// CHECK-NEXT: arith.addi index, 0 ns
// CHECK-NEXT: Est. runtime (ms): 0.000000
func.func @scalars(%i: index) -> (tensor<100x100xf32>, index) {
  %w = arith.constant dense<1.0> : tensor<100x100xf32>
  %c1 = arith.constant 1 : index
  %j = arith.addi %i, %c1 : index
  return %w, %j : tensor<100x100xf32>, index
}

// CHECK-LABEL: Timeline of @buffers ====
// CHECK-NEXT: memref.alloc memref<100x100xf32>, 0 ns
// CHECK-NEXT: memref.copy, 80 ns (roofline)
// CHECK-NEXT: memref.subview memref<50x100xf32, strided<[100, 1]>>, 0 ns
// CHECK-NEXT: memref.dim index, 0 ns
// CHECK-NEXT: memref.load f32, 1 ns (roofline)
// CHECK-NEXT: memref.store, 1 ns (roofline)
// CHECK-NEXT: memref.dealloc, 0 ns
// CHECK-NEXT: Est. runtime (ms): 0.000082
// CHECK-NEXT: peak memory 80000 bytes
func.func @buffers(%x: memref<100x100xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<100x100xf32>
  memref.copy %x, %m : memref<100x100xf32> to memref<100x100xf32>
  %s = memref.subview %m[0, 0] [50, 100] [1, 1] : memref<100x100xf32> to memref<50x100xf32, strided<[100, 1]>>
  %n = memref.dim %x, %c0 : memref<100x100xf32>
  %v = memref.load %s[%n, %c0] : memref<50x100xf32, strided<[100, 1]>>
  memref.store %v, %m[%c0, %c0] : memref<100x100xf32>
  memref.dealloc %m : memref<100x100xf32>
  return
}
