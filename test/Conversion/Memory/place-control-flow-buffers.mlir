// Loops whose condition a GPU computes leave what they carry in fixed buffers.
//
// RUN: braid-opt %s --split-input-file --braid-place-control-flow-buffers | FileCheck %s

// An allocation that only the loop needs takes what the iterations write.
// CHECK-LABEL: func.func @in_place
// CHECK:         %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    linalg.fill {{.*}} outs(%[[A]] :
// CHECK-NEXT:    %[[MORE:.*]] = memref.alloc() : memref<i1>
// CHECK-NEXT:    scf.while : () -> () {
// CHECK:           linalg.generic {{.*}} ins(%[[A]] : memref<4xf32>) outs(%[[MORE]] : memref<i1>)
// CHECK:           %[[C:.*]] = memref.load %[[MORE]][]
// CHECK-NEXT:      scf.condition(%[[C]])
// CHECK-NEXT:    } do {
// CHECK-NEXT:      linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[A]] : memref<4xf32>)
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[A]]
#first = affine_map<(d0) -> (0)>
#none = affine_map<(d0) -> ()>
func.func @in_place() -> memref<4xf32> {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  %more = memref.alloc() : memref<i1>
  %r = scf.while (%x = %a) : (memref<4xf32>) -> memref<4xf32> {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, #none], iterator_types = ["reduction"]}
        ins(%x : memref<4xf32>) outs(%more : memref<i1>) {
    ^bb0(%in: f32, %out: i1):
      %more_of_it = arith.cmpf olt, %in, %zero : f32
      linalg.yield %more_of_it : i1
    }
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %x : memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>):
    %y = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    scf.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// What others read behind the loop, or what another function owns, is copied
// first.
// CHECK-LABEL: func.func @argument
// CHECK-SAME:      (%[[X:.*]]: memref<4xf32>, %[[MORE:.*]]: memref<i1>)
// CHECK-NEXT:    %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    memref.copy %[[X]], %[[A]]
// CHECK-NEXT:    scf.while : () -> () {
// CHECK:           linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[A]] : memref<4xf32>)
func.func @argument(%a: memref<4xf32>, %more: memref<i1>) -> memref<4xf32> {
  %r = scf.while (%x = %a) : (memref<4xf32>) -> memref<4xf32> {
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %x : memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>):
    %y = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    scf.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// An op behind the write needs the old contents, so the new ones are copied at
// the end.
// CHECK-LABEL: func.func @read_later
// CHECK:         scf.while : () -> () {
// CHECK:         } do {
// CHECK-NEXT:      %[[Y:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:      linalg.exp ins(%[[A:.*]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK-NEXT:      linalg.add ins(%[[A]], %[[Y]] : memref<4xf32>, memref<4xf32>) outs(%{{.*}} : memref<4xf32>)
// CHECK-NEXT:      memref.copy %[[Y]], %[[A]]
// CHECK-NEXT:      scf.yield
func.func @read_later(%a: memref<4xf32>, %s: memref<4xf32>, %more: memref<i1>) -> memref<4xf32> {
  %r = scf.while (%x = %a) : (memref<4xf32>) -> memref<4xf32> {
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %x : memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>):
    %y = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    linalg.add ins(%x, %y : memref<4xf32>, memref<4xf32>) outs(%s : memref<4xf32>)
    scf.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// An op that reads other elements than it writes does not write in place.
// CHECK-LABEL: func.func @transposed
// CHECK:           linalg.transpose ins(%[[A:.*]] : memref<4x4xf32>) outs(%[[Y:.*]] : memref<4x4xf32>)
// CHECK-NEXT:      memref.copy %[[Y]], %[[A]]
func.func @transposed(%a: memref<4x4xf32>, %more: memref<i1>) -> memref<4x4xf32> {
  %r = scf.while (%x = %a) : (memref<4x4xf32>) -> memref<4x4xf32> {
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %x : memref<4x4xf32>
  } do {
  ^bb0(%x: memref<4x4xf32>):
    %y = memref.alloc() : memref<4x4xf32>
    linalg.transpose ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>) permutation = [1, 0]
    scf.yield %y : memref<4x4xf32>
  }
  return %r : memref<4x4xf32>
}

// -----

// Values that change places are copied to new buffers first.
// CHECK-LABEL: func.func @exchanged
// CHECK-SAME:      (%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>, %{{.*}}: memref<i1>)
// CHECK-NEXT:    %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    memref.copy %[[X]], %[[A]]
// CHECK-NEXT:    %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    memref.copy %[[Y]], %[[B]]
// CHECK:         } do {
// CHECK-NEXT:      %[[OLD_B:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:      memref.copy %[[B]], %[[OLD_B]]
// CHECK-NEXT:      %[[OLD_A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:      memref.copy %[[A]], %[[OLD_A]]
// CHECK-NEXT:      memref.copy %[[OLD_B]], %[[A]]
// CHECK-NEXT:      memref.copy %[[OLD_A]], %[[B]]
// CHECK-NEXT:      scf.yield
func.func @exchanged(%a: memref<4xf32>, %b: memref<4xf32>, %more: memref<i1>) -> (memref<4xf32>, memref<4xf32>) {
  %r:2 = scf.while (%x = %a, %y = %b) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %x, %y : memref<4xf32>, memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>, %y: memref<4xf32>):
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  return %r#0, %r#1 : memref<4xf32>, memref<4xf32>
}

// -----

// What the region of the condition allocates and passes on is allocated before
// the loop.
// CHECK-LABEL: func.func @passed_on
// CHECK:         memref.copy %{{.*}}, %[[A:.*]] :
// CHECK-NEXT:    %[[Y:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    scf.while : () -> () {
// CHECK-NEXT:      linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK:         } do {
// CHECK-NEXT:      memref.copy %[[Y]], %[[A]]
// CHECK:         return %[[Y]]
func.func @passed_on(%a: memref<4xf32>, %more: memref<i1>) -> memref<4xf32> {
  %r = scf.while (%x = %a) : (memref<4xf32>) -> memref<4xf32> {
    %y = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %y : memref<4xf32>
  } do {
  ^bb0(%y: memref<4xf32>):
    scf.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// The region of the condition passes on one allocation twice.
// CHECK-LABEL: func.func @passed_on_twice
// CHECK:         memref.copy %{{.*}}, %[[A:.*]] :
// CHECK-NEXT:    %[[Y:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    scf.while : () -> () {
// CHECK-NEXT:      linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK:         } do {
// CHECK-NEXT:      linalg.add ins(%[[Y]], %[[Y]] : memref<4xf32>, memref<4xf32>) outs(%[[A]] : memref<4xf32>)
// CHECK:         return %[[Y]], %[[Y]]
func.func @passed_on_twice(%a: memref<4xf32>, %more: memref<i1>) -> (memref<4xf32>, memref<4xf32>) {
  %r:2 = scf.while (%x = %a) : (memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
    %y = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %y, %y : memref<4xf32>, memref<4xf32>
  } do {
  ^bb0(%y: memref<4xf32>, %z: memref<4xf32>):
    %w = memref.alloc() : memref<4xf32>
    linalg.add ins(%y, %z : memref<4xf32>, memref<4xf32>) outs(%w : memref<4xf32>)
    scf.yield %w : memref<4xf32>
  }
  return %r#0, %r#1 : memref<4xf32>, memref<4xf32>
}

// -----

// An inner loop that a GPU repeats is a part of the outer one.
// CHECK-LABEL: func.func @nested
// CHECK:         scf.while : () -> () {
// CHECK:           scf.while : () -> () {
func.func @nested(%a: memref<4xf32>, %outer: memref<i1>, %inner: memref<i1>) -> memref<4xf32> {
  %r = scf.while (%x = %a) : (memref<4xf32>) -> memref<4xf32> {
    %c = memref.load %outer[] : memref<i1>
    scf.condition(%c) %x : memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>):
    %s = scf.while (%y = %x) : (memref<4xf32>) -> memref<4xf32> {
      %c = memref.load %inner[] : memref<i1>
      scf.condition(%c) %y : memref<4xf32>
    } do {
    ^bb0(%y: memref<4xf32>):
      %z = memref.alloc() : memref<4xf32>
      linalg.exp ins(%y : memref<4xf32>) outs(%z : memref<4xf32>)
      scf.yield %z : memref<4xf32>
    }
    scf.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// The host needs a number that it reads, so the GPU cannot repeat the loop.
// CHECK-LABEL: func.func @other_read
// CHECK:         scf.while (
func.func @other_read(%a: memref<4xf32>, %more: memref<i1>, %n: memref<index>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.while (%x = %a) : (memref<4xf32>) -> memref<4xf32> {
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %x : memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>):
    %count = memref.load %n[] : memref<index>
    scf.for %i = %c0 to %count step %c1 {
      linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
    }
    scf.yield %x : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// A number that the loop carries is the host's.
// CHECK-LABEL: func.func @carried_number
// CHECK:         scf.while (
func.func @carried_number(%a: memref<4xf32>, %more: memref<i1>, %n: i32) -> i32 {
  %r = scf.while (%i = %n) : (i32) -> i32 {
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %i : i32
    linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %next : i32
  }
  return %r : i32
}

// -----

// 64 MiB take longer to copy than a host needs for an iteration.
// CHECK-LABEL: func.func @large
// CHECK:         scf.while (
func.func @large(%a: memref<4096x4096xf32>, %more: memref<i1>) -> memref<4096x4096xf32> {
  %r = scf.while (%x = %a) : (memref<4096x4096xf32>) -> memref<4096x4096xf32> {
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %x : memref<4096x4096xf32>
  } do {
  ^bb0(%x: memref<4096x4096xf32>):
    %y = memref.alloc() : memref<4096x4096xf32>
    linalg.transpose ins(%x : memref<4096x4096xf32>) outs(%y : memref<4096x4096xf32>) permutation = [1, 0]
    scf.yield %y : memref<4096x4096xf32>
  }
  return %r : memref<4096x4096xf32>
}

// -----

// Cases write their results into one buffer, or copy what is not their own.
// CHECK-LABEL: func.func @choice
// CHECK-SAME:      (%[[X:.*]]: memref<4xf32>, %[[WHICH:.*]]: memref<i32>)
// CHECK-NEXT:    %[[N:.*]] = memref.load %[[WHICH]][]
// CHECK-NEXT:    %[[I:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-NEXT:    %[[R:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    scf.index_switch %[[I]]
// CHECK-NEXT:    case 0 {
// CHECK-NEXT:      linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:      memref.copy %[[X]], %[[R]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[R]]
func.func @choice(%x: memref<4xf32>, %which: memref<i32>) -> memref<4xf32> {
  %n = memref.load %which[] : memref<i32>
  %i = arith.index_cast %n : i32 to index
  %r = scf.index_switch %i -> memref<4xf32>
  case 0 {
    %y = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    scf.yield %y : memref<4xf32>
  }
  default {
    scf.yield %x : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// A choice is a part of a loop that a GPU repeats.
// CHECK-LABEL: func.func @choice_in_loop
// CHECK:         scf.while : () -> () {
// CHECK:           scf.if %{{.*}} {
// CHECK-NEXT:        linalg.exp ins(%[[A:.*]] : memref<4xf32>) outs(%[[R:.*]] : memref<4xf32>)
// CHECK-NEXT:      } else {
// CHECK-NEXT:        memref.copy %[[A]], %[[R]]
// CHECK-NEXT:      }
// CHECK-NEXT:      memref.copy %[[R]], %[[A]]
// CHECK-NEXT:      scf.yield
func.func @choice_in_loop(%a: memref<4xf32>, %more: memref<i1>, %which: memref<i1>) -> memref<4xf32> {
  %r = scf.while (%x = %a) : (memref<4xf32>) -> memref<4xf32> {
    %c = memref.load %more[] : memref<i1>
    scf.condition(%c) %x : memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>):
    %d = memref.load %which[] : memref<i1>
    %s = scf.if %d -> memref<4xf32> {
      %y = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
      scf.yield %y : memref<4xf32>
    } else {
      scf.yield %x : memref<4xf32>
    }
    scf.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// Cases of other numbers are the host's, as is a number that two ops need.
// CHECK-LABEL: func.func @host_choices
// CHECK:         scf.index_switch %{{.*}} -> memref<4xf32>
// CHECK:         scf.index_switch %{{.*}} -> memref<4xf32>
func.func @host_choices(%x: memref<4xf32>, %y: memref<4xf32>, %which: memref<i32>, %used: memref<index>)
    -> (memref<4xf32>, memref<4xf32>, index) {
  %n = memref.load %which[] : memref<i32>
  %i = arith.index_cast %n : i32 to index
  %r = scf.index_switch %i -> memref<4xf32>
  case 2 {
    scf.yield %y : memref<4xf32>
  }
  default {
    scf.yield %x : memref<4xf32>
  }
  %j = memref.load %used[] : memref<index>
  %s = scf.index_switch %j -> memref<4xf32>
  case 0 {
    scf.yield %y : memref<4xf32>
  }
  default {
    scf.yield %x : memref<4xf32>
  }
  return %r, %s, %j : memref<4xf32>, memref<4xf32>, index
}
