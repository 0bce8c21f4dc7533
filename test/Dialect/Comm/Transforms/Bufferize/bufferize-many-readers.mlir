// RUN: braid-opt %s --comm-bufferize | FileCheck %s --implicit-check-not=bufferization. --implicit-check-not=memref.global
//
// Many readers of a tensor that nobody may write: they get names of their own
// during bufferization, of which nothing is left after it.

// CHECK:         memref.global "private" constant @[[$CONSTANT:.*]] : memref<4xf32> = dense<

comm.group @world all

// All read the argument itself, before and after the op that would overwrite it;
// that one writes a buffer of its own, and what is in flight keeps its source.
// CHECK-LABEL: func @argument(
// CHECK-SAME:    %[[W:[^:]*]]: memref<4xf32>
// CHECK:         %[[X:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.exp ins(%[[W]] : memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    %[[Y:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.exp ins(%[[W]] : memref<4xf32>) outs(%[[Y]] :
// CHECK-NEXT:    %[[R:.*]] = memref.alloc()
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[W]] into %[[R]] on @world
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    comm.wait %[[T]] reads(%[[W]] : memref<4xf32>) writes(%[[R]] : memref<4xf32>)
// CHECK-NEXT:    return %[[X]], %[[Y]], %[[R]]
func.func @argument(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x0 = linalg.exp ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %x1 = linalg.add ins(%x0, %w : tensor<4xf32>, tensor<4xf32>) outs(%x0 : tensor<4xf32>) -> tensor<4xf32>
  %x2 = linalg.add ins(%x1, %w : tensor<4xf32>, tensor<4xf32>) outs(%x1 : tensor<4xf32>) -> tensor<4xf32>
  %x3 = linalg.add ins(%x2, %w : tensor<4xf32>, tensor<4xf32>) outs(%x2 : tensor<4xf32>) -> tensor<4xf32>
  %x4 = linalg.add ins(%x3, %w : tensor<4xf32>, tensor<4xf32>) outs(%x3 : tensor<4xf32>) -> tensor<4xf32>
  %x5 = linalg.add ins(%x4, %w : tensor<4xf32>, tensor<4xf32>) outs(%x4 : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.exp ins(%w : tensor<4xf32>) outs(%w : tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %w on @world : tensor<4xf32>
  %x6 = linalg.add ins(%x5, %w : tensor<4xf32>, tensor<4xf32>) outs(%x5 : tensor<4xf32>) -> tensor<4xf32>
  %x7 = linalg.add ins(%x6, %w : tensor<4xf32>, tensor<4xf32>) outs(%x6 : tensor<4xf32>) -> tensor<4xf32>
  %x8 = linalg.add ins(%x7, %w : tensor<4xf32>, tensor<4xf32>) outs(%x7 : tensor<4xf32>) -> tensor<4xf32>
  %x9 = linalg.add ins(%x8, %w : tensor<4xf32>, tensor<4xf32>) outs(%x8 : tensor<4xf32>) -> tensor<4xf32>
  %x10 = linalg.add ins(%x9, %w : tensor<4xf32>, tensor<4xf32>) outs(%x9 : tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %x10, %y, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A donated argument may be written: all uses count.
// CHECK-LABEL: func @donated(
// CHECK-SAME:    %[[W:[^:]*]]: memref<4xf32>
// CHECK:         linalg.exp ins(%[[W]] : memref<4xf32>) outs(%[[X:.*]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.add ins(%[[X]], %[[W]] : memref<4xf32>, memref<4xf32>) outs(%[[X]] :
// CHECK-NEXT:    linalg.exp ins(%[[W]] : memref<4xf32>) outs(%[[W]] :
// CHECK-NEXT:    return %[[X]], %[[W]]
func.func @donated(%w: tensor<4xf32> {comm.donated}) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x0 = linalg.exp ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %x1 = linalg.add ins(%x0, %w : tensor<4xf32>, tensor<4xf32>) outs(%x0 : tensor<4xf32>) -> tensor<4xf32>
  %x2 = linalg.add ins(%x1, %w : tensor<4xf32>, tensor<4xf32>) outs(%x1 : tensor<4xf32>) -> tensor<4xf32>
  %x3 = linalg.add ins(%x2, %w : tensor<4xf32>, tensor<4xf32>) outs(%x2 : tensor<4xf32>) -> tensor<4xf32>
  %x4 = linalg.add ins(%x3, %w : tensor<4xf32>, tensor<4xf32>) outs(%x3 : tensor<4xf32>) -> tensor<4xf32>
  %x5 = linalg.add ins(%x4, %w : tensor<4xf32>, tensor<4xf32>) outs(%x4 : tensor<4xf32>) -> tensor<4xf32>
  %x6 = linalg.add ins(%x5, %w : tensor<4xf32>, tensor<4xf32>) outs(%x5 : tensor<4xf32>) -> tensor<4xf32>
  %x7 = linalg.add ins(%x6, %w : tensor<4xf32>, tensor<4xf32>) outs(%x6 : tensor<4xf32>) -> tensor<4xf32>
  %x8 = linalg.add ins(%x7, %w : tensor<4xf32>, tensor<4xf32>) outs(%x7 : tensor<4xf32>) -> tensor<4xf32>
  %x9 = linalg.add ins(%x8, %w : tensor<4xf32>, tensor<4xf32>) outs(%x8 : tensor<4xf32>) -> tensor<4xf32>
  %x10 = linalg.add ins(%x9, %w : tensor<4xf32>, tensor<4xf32>) outs(%x9 : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.exp ins(%w : tensor<4xf32>) outs(%w : tensor<4xf32>) -> tensor<4xf32>
  return %x10, %y : tensor<4xf32>, tensor<4xf32>
}

// Slices of it are as read-only as the argument: one that is overwritten is
// copied, and the others stay views.
// CHECK-LABEL: func @slices(
// CHECK-SAME:    %[[W:[^:]*]]: memref<40xf32>
// CHECK:         %[[S:.*]] = memref.subview %[[W]][0] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1]>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][4] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 4>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][8] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 8>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][12] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 12>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][16] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 16>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][20] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 20>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][24] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 24>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][28] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 28>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][32] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 32>>) outs(%[[X]] :
// CHECK:         %[[S:.*]] = memref.subview %[[W]][36] [4] [1]
// CHECK:         linalg.add ins(%[[X:.*]], %[[S]] : memref<4xf32>, memref<4xf32, strided<[1], offset: 36>>) outs(%[[X]] :
// CHECK:         %[[LAST:.*]] = memref.subview %[[W]][36] [4] [1]
// CHECK:         %[[COPY:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT:    memref.copy %[[LAST]], %[[COPY]]
// CHECK-NEXT:    linalg.exp ins(%[[COPY]] : memref<4xf32>) outs(%[[COPY]] :
func.func @slices(%w: tensor<40xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s0 = tensor.extract_slice %w[0] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x1 = linalg.add ins(%x0, %s0 : tensor<4xf32>, tensor<4xf32>) outs(%x0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = tensor.extract_slice %w[4] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x2 = linalg.add ins(%x1, %s1 : tensor<4xf32>, tensor<4xf32>) outs(%x1 : tensor<4xf32>) -> tensor<4xf32>
  %s2 = tensor.extract_slice %w[8] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x3 = linalg.add ins(%x2, %s2 : tensor<4xf32>, tensor<4xf32>) outs(%x2 : tensor<4xf32>) -> tensor<4xf32>
  %s3 = tensor.extract_slice %w[12] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x4 = linalg.add ins(%x3, %s3 : tensor<4xf32>, tensor<4xf32>) outs(%x3 : tensor<4xf32>) -> tensor<4xf32>
  %s4 = tensor.extract_slice %w[16] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x5 = linalg.add ins(%x4, %s4 : tensor<4xf32>, tensor<4xf32>) outs(%x4 : tensor<4xf32>) -> tensor<4xf32>
  %s5 = tensor.extract_slice %w[20] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x6 = linalg.add ins(%x5, %s5 : tensor<4xf32>, tensor<4xf32>) outs(%x5 : tensor<4xf32>) -> tensor<4xf32>
  %s6 = tensor.extract_slice %w[24] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x7 = linalg.add ins(%x6, %s6 : tensor<4xf32>, tensor<4xf32>) outs(%x6 : tensor<4xf32>) -> tensor<4xf32>
  %s7 = tensor.extract_slice %w[28] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x8 = linalg.add ins(%x7, %s7 : tensor<4xf32>, tensor<4xf32>) outs(%x7 : tensor<4xf32>) -> tensor<4xf32>
  %s8 = tensor.extract_slice %w[32] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x9 = linalg.add ins(%x8, %s8 : tensor<4xf32>, tensor<4xf32>) outs(%x8 : tensor<4xf32>) -> tensor<4xf32>
  %s9 = tensor.extract_slice %w[36] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %x10 = linalg.add ins(%x9, %s9 : tensor<4xf32>, tensor<4xf32>) outs(%x9 : tensor<4xf32>) -> tensor<4xf32>
  %last = tensor.extract_slice %w[36] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %y = linalg.exp ins(%last : tensor<4xf32>) outs(%last : tensor<4xf32>) -> tensor<4xf32>
  return %x10, %y : tensor<4xf32>, tensor<4xf32>
}

// One global for all equal constants.
// CHECK-LABEL: func @constant(
// CHECK-COUNT-3: memref.get_global @[[$CONSTANT]] :
// CHECK-COUNT-10: linalg.add
// CHECK:         return
func.func @constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %x0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %x1 = linalg.add ins(%x0, %c : tensor<4xf32>, tensor<4xf32>) outs(%x0 : tensor<4xf32>) -> tensor<4xf32>
  %x2 = linalg.add ins(%x1, %c : tensor<4xf32>, tensor<4xf32>) outs(%x1 : tensor<4xf32>) -> tensor<4xf32>
  %x3 = linalg.add ins(%x2, %c : tensor<4xf32>, tensor<4xf32>) outs(%x2 : tensor<4xf32>) -> tensor<4xf32>
  %x4 = linalg.add ins(%x3, %c : tensor<4xf32>, tensor<4xf32>) outs(%x3 : tensor<4xf32>) -> tensor<4xf32>
  %x5 = linalg.add ins(%x4, %c : tensor<4xf32>, tensor<4xf32>) outs(%x4 : tensor<4xf32>) -> tensor<4xf32>
  %x6 = linalg.add ins(%x5, %c : tensor<4xf32>, tensor<4xf32>) outs(%x5 : tensor<4xf32>) -> tensor<4xf32>
  %x7 = linalg.add ins(%x6, %c : tensor<4xf32>, tensor<4xf32>) outs(%x6 : tensor<4xf32>) -> tensor<4xf32>
  %x8 = linalg.add ins(%x7, %c : tensor<4xf32>, tensor<4xf32>) outs(%x7 : tensor<4xf32>) -> tensor<4xf32>
  %x9 = linalg.add ins(%x8, %c : tensor<4xf32>, tensor<4xf32>) outs(%x8 : tensor<4xf32>) -> tensor<4xf32>
  %x10 = linalg.add ins(%x9, %c : tensor<4xf32>, tensor<4xf32>) outs(%x9 : tensor<4xf32>) -> tensor<4xf32>
  return %x10 : tensor<4xf32>
}
