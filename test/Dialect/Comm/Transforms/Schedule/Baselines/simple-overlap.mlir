// RUN: braid-opt %s --comm-simple-overlap | FileCheck %s
// RUN: braid-opt %s --comm-simple-overlap=dynamic-size=1 | FileCheck %s --check-prefix=SMALL
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(comm-simple-overlap))" | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @starts_rise_and_waits_sink(
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.compute "g"
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.compute "h"
// SMALL-LABEL: func.func @starts_rise_and_waits_sink(
func.func @starts_rise_and_waits_sink(%a: tensor<4xf32>) -> tensor<4xf32> {
  %f = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %g = comm.compute "g"(%f) : (tensor<4xf32>) -> tensor<4xf32>
  %h = comm.compute "h"(%r, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// Starts keep their order, and so do waits.
// CHECK-LABEL: func.func @order_of_starts_and_of_waits(
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a1"
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a2"
// CHECK-NEXT: comm.wait {{.*}}"w1"
// CHECK-NEXT: comm.wait {{.*}}"w2"
// CHECK-NEXT: comm.compute "g"
func.func @order_of_starts_and_of_waits(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %f = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t1 = comm.all_reduce sum %f on @world {comm.label = "a1"} : tensor<4xf32>
  %t2 = comm.all_reduce sum %a on @world {comm.label = "a2"} : tensor<4xf32>
  %r1 = comm.wait %t1 {comm.label = "w1"} : !comm.token<tensor<4xf32>>
  %r2 = comm.wait %t2 {comm.label = "w2"} : !comm.token<tensor<4xf32>>
  %g = comm.compute "g"(%r2) : (tensor<4xf32>) -> tensor<4xf32>
  return %r1, %g : tensor<4xf32>, tensor<4xf32>
}

// 1,024 bytes live at once in the program: "f" takes them, and "g" frees them.
// With the collective before, its result would live beside them.
// CHECK-LABEL: func.func @memory_does_not_rise(
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.compute "g"
// CHECK-NEXT: comm.all_reduce
// SMALL-LABEL: func.func @memory_does_not_rise(
// SMALL-NEXT: comm.compute "f"
// SMALL-NEXT: comm.compute "g"
// SMALL-NEXT: comm.all_reduce
func.func @memory_does_not_rise(%a: tensor<64xf32>, %b: tensor<64xf32>) -> (f32, tensor<64xf32>) {
  %f = comm.compute "f"(%a) : (tensor<64xf32>) -> tensor<256xf32>
  %g = comm.compute "g"(%f) : (tensor<256xf32>) -> f32
  %t = comm.all_reduce sum %b on @world : tensor<64xf32>
  %r = comm.wait %t : !comm.token<tensor<64xf32>>
  return %g, %r : f32, tensor<64xf32>
}

// As many elements as `dynamic-size` says: with 1 the collective is so small
// that what it takes beside "f" is less than what "h" takes.
// CHECK-LABEL: func.func @dynamic_sizes(
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.compute "g"
// CHECK-NEXT: comm.all_reduce
// SMALL-LABEL: func.func @dynamic_sizes(
// SMALL-NEXT: comm.all_reduce
// SMALL-NEXT: comm.compute "f"
// SMALL-NEXT: comm.compute "g"
func.func @dynamic_sizes(%a: tensor<64xf32>, %b: tensor<?xf32>) -> (f32, f32, f32) {
  %f = comm.compute "f"(%a) : (tensor<64xf32>) -> tensor<256xf32>
  %g = comm.compute "g"(%f) : (tensor<256xf32>) -> f32
  %t = comm.all_reduce sum %b on @world : tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %k = comm.compute "k"(%r) : (tensor<?xf32>) -> f32
  %h = comm.compute "h"(%a) : (tensor<64xf32>) -> tensor<260xf32>
  %i = comm.compute "i"(%h) : (tensor<260xf32>) -> f32
  return %g, %i, %k : f32, f32, f32
}

// PyTorch's pass moved starts over a send, which has no result, and hung
// (issue #189454). Here sends and receives of one group keep their order, and
// unknown effects let nothing pass.
func.func private @unknown()
// CHECK-LABEL: func.func @side_effects_stop(
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: call @unknown
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: call @unknown
func.func @side_effects_stop(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %f = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  call @unknown() : () -> ()
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  call @unknown() : () -> ()
  return %f, %r : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @exchange_stays_in_one_piece(
// CHECK-NEXT: comm.send
// CHECK-NEXT: comm.recv
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.wait
func.func @exchange_stays_in_one_piece(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %f = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %s = comm.send %a on @world to 1 : tensor<4xf32>
  %t = comm.recv on @world from 1 : tensor<4xf32>
  comm.wait %s : !comm.token
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %f, %r : tensor<4xf32>, tensor<4xf32>
}
