// A loop owns the buffers that its iterations write anew: its condition passes them on, and copies no others than those
// that may be the same buffer.
//
// RUN: braid-opt %s --comm-bufferize --canonicalize | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @renewed(
// CHECK:         scf.while (%[[A:.*]] = %{{.*}}) : (memref<64xi32>) -> memref<64xi32>
// CHECK-NOT:     memref.copy
// CHECK:         scf.condition(%{{.*}}) %[[A]] : memref<64xi32>
// CHECK:       } do {
// CHECK-NEXT:  ^bb0(%[[B:.*]]: memref<64xi32>):
// CHECK-NEXT:    %[[NEXT:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.generic {{.*}} ins(%[[B]] : memref<64xi32>) outs(%[[NEXT]] : memref<64xi32>)
// CHECK:         scf.yield %[[NEXT]]
func.func @renewed(%x: tensor<64xi32>) -> tensor<64xi32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 90 : i32
  %result = scf.while (%a = %x) : (tensor<64xi32>) -> tensor<64xi32> {
    %first = tensor.extract %a[%c0] : tensor<64xi32>
    %isBelow = arith.cmpi slt, %first, %limit : i32
    scf.condition(%isBelow) %a : tensor<64xi32>
  } do {
  ^bb0(%b: tensor<64xi32>):
    %empty = tensor.empty() : tensor<64xi32>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<64xi32>) outs(%empty : tensor<64xi32>) {
    ^bb0(%in: i32, %out: i32):
      %double = arith.addi %in, %in : i32
      linalg.yield %double : i32
    } -> tensor<64xi32>
    scf.yield %next : tensor<64xi32>
  }
  return %result : tensor<64xi32>
}

// The second buffer was the first one an iteration ago.
//
// CHECK-LABEL: func.func @shifted(
// CHECK:         scf.while (%[[A:.*]] = %{{.*}}, %[[OLD:.*]] = %{{.*}})
// CHECK:         %[[COPY:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %[[OLD]], %[[COPY]]
// CHECK-NEXT:    scf.condition(%{{.*}}) %[[A]], %[[COPY]]
func.func @shifted(%x: tensor<64xi32>, %y: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 90 : i32
  %result:2 = scf.while (%a = %x, %old = %y) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
    %first = tensor.extract %a[%c0] : tensor<64xi32>
    %isBelow = arith.cmpi slt, %first, %limit : i32
    scf.condition(%isBelow) %a, %old : tensor<64xi32>, tensor<64xi32>
  } do {
  ^bb0(%b: tensor<64xi32>, %older: tensor<64xi32>):
    %empty = tensor.empty() : tensor<64xi32>
    %next = linalg.add ins(%b, %older : tensor<64xi32>, tensor<64xi32>) outs(%empty : tensor<64xi32>) -> tensor<64xi32>
    scf.yield %next, %b : tensor<64xi32>, tensor<64xi32>
  }
  return %result#0, %result#1 : tensor<64xi32>, tensor<64xi32>
}

// The sum takes the place of the older tensor, so both buffers change their places.
//
// CHECK-LABEL: func.func @exchanged(
// CHECK:         scf.while (%[[A:.*]] = %{{.*}}, %[[OLD:.*]] = %{{.*}})
// CHECK:         memref.copy %[[A]], %[[FIRST:.*]] :
// CHECK-NEXT:    %[[SECOND:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %[[OLD]], %[[SECOND]]
// CHECK-NEXT:    scf.condition(%{{.*}}) %[[FIRST]], %[[SECOND]]
func.func @exchanged(%x: tensor<64xi32>, %y: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 90 : i32
  %result:2 = scf.while (%a = %x, %old = %y) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
    %first = tensor.extract %a[%c0] : tensor<64xi32>
    %isBelow = arith.cmpi slt, %first, %limit : i32
    scf.condition(%isBelow) %a, %old : tensor<64xi32>, tensor<64xi32>
  } do {
  ^bb0(%b: tensor<64xi32>, %older: tensor<64xi32>):
    %next = linalg.add ins(%b, %older : tensor<64xi32>, tensor<64xi32>) outs(%older : tensor<64xi32>) -> tensor<64xi32>
    scf.yield %next, %b : tensor<64xi32>, tensor<64xi32>
  }
  return %result#0, %result#1 : tensor<64xi32>, tensor<64xi32>
}

// Both become one buffer, which an op may write.
//
// CHECK-LABEL: func.func @equal(
// CHECK:         scf.while (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK:         %[[COPY:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %[[B]], %[[COPY]]
// CHECK-NEXT:    scf.condition(%{{.*}}) %[[A]], %[[COPY]]
func.func @equal(%x: tensor<64xi32>, %y: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 90 : i32
  %result:2 = scf.while (%a = %x, %b = %y) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
    %first = tensor.extract %a[%c0] : tensor<64xi32>
    %isBelow = arith.cmpi slt, %first, %limit : i32
    scf.condition(%isBelow) %a, %b : tensor<64xi32>, tensor<64xi32>
  } do {
  ^bb0(%c: tensor<64xi32>, %d: tensor<64xi32>):
    %empty = tensor.empty() : tensor<64xi32>
    %next = linalg.add ins(%c, %d : tensor<64xi32>, tensor<64xi32>) outs(%empty : tensor<64xi32>) -> tensor<64xi32>
    scf.yield %next, %next : tensor<64xi32>, tensor<64xi32>
  }
  return %result#0, %result#1 : tensor<64xi32>, tensor<64xi32>
}

// An iteration that keeps a buffer may keep it for any time.
//
// CHECK-LABEL: func.func @kept(
// CHECK:         scf.while (%[[A:.*]] = %{{.*}})
// CHECK:         %[[COPY:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %[[A]], %[[COPY]]
// CHECK-NEXT:    scf.condition(%{{.*}}) %[[COPY]]
func.func @kept(%x: tensor<64xi32>, %which: i1) -> tensor<64xi32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 90 : i32
  %result = scf.while (%a = %x) : (tensor<64xi32>) -> tensor<64xi32> {
    %first = tensor.extract %a[%c0] : tensor<64xi32>
    %isBelow = arith.cmpi slt, %first, %limit : i32
    scf.condition(%isBelow) %a : tensor<64xi32>
  } do {
  ^bb0(%b: tensor<64xi32>):
    %next = scf.if %which -> tensor<64xi32> {
      %empty = tensor.empty() : tensor<64xi32>
      %sum = linalg.add ins(%b, %b : tensor<64xi32>, tensor<64xi32>) outs(%empty : tensor<64xi32>) -> tensor<64xi32>
      scf.yield %sum : tensor<64xi32>
    } else {
      scf.yield %b : tensor<64xi32>
    }
    scf.yield %next : tensor<64xi32>
  }
  return %result : tensor<64xi32>
}

// A loop around owns what the loop begins with.
//
// CHECK-LABEL: func.func @nested(
// CHECK:         scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}})
// CHECK:           scf.while (%[[A:.*]] = %[[X]])
// CHECK-NOT:         memref.copy
// CHECK:             scf.condition(%{{.*}}) %[[A]]
func.func @nested(%x: tensor<64xi32>, %limits: tensor<5xi32>) -> tensor<64xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %result = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %x) -> tensor<64xi32> {
    %limit = tensor.extract %limits[%i] : tensor<5xi32>
    %inner = scf.while (%a = %y) : (tensor<64xi32>) -> tensor<64xi32> {
      %first = tensor.extract %a[%c0] : tensor<64xi32>
      %isBelow = arith.cmpi slt, %first, %limit : i32
      scf.condition(%isBelow) %a : tensor<64xi32>
    } do {
    ^bb0(%b: tensor<64xi32>):
      %empty = tensor.empty() : tensor<64xi32>
      %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<64xi32>) outs(%empty : tensor<64xi32>) {
      ^bb0(%in: i32, %out: i32):
        %double = arith.addi %in, %in : i32
        linalg.yield %double : i32
      } -> tensor<64xi32>
      scf.yield %next : tensor<64xi32>
    }
    scf.yield %inner : tensor<64xi32>
  }
  return %result : tensor<64xi32>
}
