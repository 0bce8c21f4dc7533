// Control flow that goes by what a device computes: the device decides by itself.
//
// RUN: braid-opt %s --convert-device-control-flow-to-braid-rt --allow-unregistered-dialect | FileCheck %s

// CHECK: module attributes {{{.*}}braid_rt.host_reads = 5
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @step(%a: memref<4xf32>) kernel { gpu.return }
  }

  // CHECK-LABEL: func.func @loop
  // CHECK-SAME:      (%[[A:.*]]: memref<4xf32>, %[[MORE:.*]]: memref<i1>)
  // CHECK:         scf.while : () -> () {
  // CHECK:           memref.extract_aligned_pointer_as_index %[[MORE]]
  // CHECK:           %[[ADDRESS:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i1
  // CHECK-NEXT:      %[[LOOP:.*]] = llvm.mlir.constant(0 : i64) : i64
  // CHECK-NEXT:      %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
  // CHECK-NEXT:      %[[R:.*]] = llvm.call @braid_rt_repeat(%[[ADDRESS]], %[[LOOP]], %[[SITE]]) : (!llvm.ptr, i64, !llvm.ptr) -> i32
  // CHECK-NEXT:      %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT:      %[[C:.*]] = arith.cmpi ne, %[[R]], %[[ZERO]] : i32
  // CHECK-NEXT:      scf.condition(%[[C]])
  // CHECK-NEXT:    } do {
  // CHECK-NEXT:      gpu.launch_func @kernels::@step
  func.func @loop(%a: memref<4xf32>, %more: memref<i1>) {
    %c1 = arith.constant 1 : index
    scf.while : () -> () {
      %c = memref.load %more[] : memref<i1>
      scf.condition(%c)
    } do {
      gpu.launch_func @kernels::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
      scf.yield
    }
    return
  }

  // CHECK-LABEL: func.func @nested
  // CHECK:         %[[OUTER:.*]] = llvm.mlir.constant(2 : i64) : i64
  // CHECK:         llvm.call @braid_rt_repeat(%{{.*}}, %[[OUTER]], %{{.*}})
  // CHECK:         %[[INNER:.*]] = llvm.mlir.constant(1 : i64) : i64
  // CHECK:         llvm.call @braid_rt_repeat(%{{.*}}, %[[INNER]], %{{.*}})
  func.func @nested(%a: memref<4xf32>, %more: memref<2xi1>) {
    %c1 = arith.constant 1 : index
    %outer = memref.subview %more[0] [1] [1] : memref<2xi1> to memref<i1, strided<[]>>
    %inner = memref.subview %more[1] [1] [1] : memref<2xi1> to memref<i1, strided<[], offset: 1>>
    scf.while : () -> () {
      %c = memref.load %outer[] : memref<i1, strided<[]>>
      scf.condition(%c)
    } do {
      scf.while : () -> () {
        %c = memref.load %inner[] : memref<i1, strided<[], offset: 1>>
        scf.condition(%c)
      } do {
        gpu.launch_func @kernels::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
        scf.yield
      }
      scf.yield
    }
    return
  }

  // CHECK-LABEL: func.func @choice
  // CHECK-SAME:      (%[[A:.*]]: memref<4xf32>, %[[WHICH:.*]]: memref<i32>)
  // CHECK:         %[[ADDRESS:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  // CHECK-NEXT:    %[[BYTES:.*]] = llvm.mlir.constant(4 : i32) : i32
  // CHECK-NEXT:    %[[COUNT:.*]] = llvm.mlir.constant(2 : i32) : i32
  // CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
  // CHECK-NEXT:    %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT:    %[[R0:.*]] = llvm.call @braid_rt_choose(%[[ADDRESS]], %[[BYTES]], %[[ZERO]], %[[COUNT]], %[[SITE]])
  // CHECK:         %[[RUNS:.*]] = arith.cmpi ne, %[[R0]], %{{.*}} : i32
  // CHECK-NEXT:    scf.if %[[RUNS]] {
  // CHECK-NEXT:      gpu.launch_func @kernels::@step
  // CHECK-NEXT:    }
  // CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
  // CHECK-NEXT:    %[[R1:.*]] = llvm.call @braid_rt_choose(%[[ADDRESS]], %[[BYTES]], %[[ONE]], %[[COUNT]], %[[SITE]])
  // CHECK:         scf.if
  // CHECK-NEXT:    }
  // CHECK-NEXT:    %[[TWO:.*]] = llvm.mlir.constant(2 : i32) : i32
  // CHECK-NEXT:    llvm.call @braid_rt_choose(%[[ADDRESS]], %[[BYTES]], %[[TWO]], %[[COUNT]], %[[SITE]])
  // CHECK-NEXT:    return
  func.func @choice(%a: memref<4xf32>, %which: memref<i32>) {
    %c1 = arith.constant 1 : index
    %n = memref.load %which[] : memref<i32>
    %i = arith.index_cast %n : i32 to index
    scf.index_switch %i
    case 0 {
      gpu.launch_func @kernels::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
      scf.yield
    }
    default {
    }
    return
  }

  // The region for true is the last case, since all numbers but 0 are true.
  // CHECK-LABEL: func.func @if
  // CHECK:         llvm.mlir.constant(1 : i32)
  // CHECK:         llvm.call @braid_rt_choose
  // CHECK:         scf.if
  // CHECK-NEXT:    }
  // CHECK:         llvm.call @braid_rt_choose
  // CHECK:         scf.if
  // CHECK-NEXT:      gpu.launch_func @kernels::@step
  // CHECK-NEXT:    }
  func.func @if(%a: memref<4xf32>, %which: memref<i1>) {
    %c1 = arith.constant 1 : index
    %c = memref.load %which[] : memref<i1>
    scf.if %c {
      gpu.launch_func @kernels::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
    }
    return
  }

  // CHECK-LABEL: func.func @carries
  // CHECK-NOT:     braid_rt_repeat
  func.func @carries(%a: memref<4xf32>, %b: memref<4xf32>, %more: memref<i1>) {
    %c1 = arith.constant 1 : index
    %r:2 = scf.while (%x = %a, %y = %b) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
      %c = memref.load %more[] : memref<i1>
      scf.condition(%c) %x, %y : memref<4xf32>, memref<4xf32>
    } do {
    ^bb0(%x: memref<4xf32>, %y: memref<4xf32>):
      gpu.launch_func @kernels::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
      scf.yield %y, %x : memref<4xf32>, memref<4xf32>
    }
    return
  }

  // CHECK-LABEL: func.func @reads
  // CHECK-NOT:     braid_rt_repeat
  func.func @reads(%a: memref<4xf32>, %more: memref<i1>, %n: memref<index>) {
    %c1 = arith.constant 1 : index
    scf.while : () -> () {
      %c = memref.load %more[] : memref<i1>
      scf.condition(%c)
    } do {
      %blocks = memref.load %n[] : memref<index>
      gpu.launch_func @kernels::@step blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
      scf.yield
    }
    return
  }

  // CHECK-LABEL: func.func @calls
  // CHECK-NOT:     braid_rt_repeat
  func.func @calls(%more: memref<i1>) {
    scf.while : () -> () {
      %c = memref.load %more[] : memref<i1>
      scf.condition(%c)
    } do {
      "test.anything"() : () -> ()
      scf.yield
    }
    return
  }
}
