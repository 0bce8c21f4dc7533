// RUN: braid-opt %s --comm-bufferize | FileCheck %s

comm.group @world all
comm.group @pair [[0, 1]]

// A dead intermediate: the collective takes its buffer.

// CHECK-LABEL: func @in_place_on_dead_value
// CHECK-SAME:    (%[[A:.*]]: memref<4xf32>) -> memref<4xf32>
// CHECK-NEXT:    %[[X:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[X]] : memref<4xf32>)
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[X]] into %[[X]] on @world : memref<4xf32>, memref<4xf32>
// CHECK-NEXT:    comm.wait %[[T]] writes(%[[X]] : memref<4xf32>) : !comm.token
// CHECK-NEXT:    return %[[X]]
func.func @in_place_on_dead_value(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// A value that is read after the start: a second buffer, no copy.

// CHECK-LABEL: func @second_buffer_for_shared_value
// CHECK-NEXT:    %[[X:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.exp {{.*}} outs(%[[X]]
// CHECK-NEXT:    %[[R:.*]] = memref.alloc()
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[X]] into %[[R]] on @world
// CHECK-NEXT:    %[[V:.*]] = memref.load %[[X]]
// CHECK-NEXT:    comm.wait %[[T]] reads(%[[X]] : memref<4xf32>) writes(%[[R]] : memref<4xf32>)
// CHECK-NEXT:    return %[[R]], %[[V]]
func.func @second_buffer_for_shared_value(%a: tensor<4xf32>, %i: index) -> (tensor<4xf32>, f32) {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %v = tensor.extract %x[%i] : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r, %v : tensor<4xf32>, f32
}

// A write between start and wait goes to a copy.

// CHECK-LABEL: func @copy_for_write_in_flight
// CHECK-SAME:    %[[F:[a-z0-9]+]]: f32
// CHECK-DAG:     %[[X:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-DAG:     linalg.fill ins(%[[F]] : f32) outs(%[[X]] : memref<4xf32>)
// CHECK:         %[[T:.*]] = comm.all_gather %[[X]] into %[[G:.*]] on @pair dim 0
// CHECK-NEXT:    %[[Y:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %[[X]], %[[Y]]
// CHECK-NEXT:    memref.store %{{.*}}, %[[Y]]
// CHECK-NEXT:    comm.wait %[[T]] reads(%[[X]] : memref<4xf32>) writes(%[[G]] : memref<8xf32>)
func.func @copy_for_write_in_flight(%f: f32, %i: index) -> (tensor<8xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_gather %x on @pair dim 0 : tensor<4xf32> -> tensor<8xf32>
  %y = tensor.insert %f into %x[%i] : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  return %r, %y : tensor<8xf32>, tensor<4xf32>
}

// After the wait the source may be written in place.

// CHECK-LABEL: func @no_copy_for_write_after_wait
// CHECK-NOT:     memref.copy
// CHECK:         comm.wait
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    return
func.func @no_copy_for_write_after_wait(%f: f32, %i: index) -> (tensor<8xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_gather %x on @pair dim 0 : tensor<4xf32> -> tensor<8xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  %y = tensor.insert %f into %x[%i] : tensor<4xf32>
  return %r, %y : tensor<8xf32>, tensor<4xf32>
}

// An argument is the caller's: it is not written, and not copied either.

// CHECK-LABEL: func @argument_is_read_only
// CHECK-SAME:    (%[[A:.*]]: memref<4xf32>)
// CHECK-NEXT:    %[[R:.*]] = memref.alloc()
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[A]] into %[[R]] on @world
// CHECK-NEXT:    comm.wait %[[T]] reads(%[[A]] : memref<4xf32>) writes(%[[R]] : memref<4xf32>)
// CHECK-NEXT:    return %[[R]]
func.func @argument_is_read_only(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func @donated_argument_is_taken
// CHECK-SAME:    (%[[A:.*]]: memref<4xf32> {comm.donated})
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[A]] into %[[A]] on @world
// CHECK-NEXT:    comm.wait %[[T]] writes(%[[A]] : memref<4xf32>)
// CHECK-NEXT:    return %[[A]]
func.func @donated_argument_is_taken(%a: tensor<4xf32> {comm.donated}) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// Attributes and locations stay.

// CHECK-LABEL: func @attributes
// CHECK:         comm.all_reduce sum {{.*}} on @world {comm.cost_ns = 7 : i64, comm.label = "ar", comm.order = 0 : i64} :
// CHECK-NEXT:    comm.wait {{.*}} {comm.label = "w"} : !comm.token
func.func @attributes(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 7 : i64, comm.label = "ar", comm.order = 0 : i64} : tensor<4xf32>
  %r = comm.wait %t {comm.label = "w"} : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// Dynamic sizes come from the start's operands.

// CHECK-LABEL: func @dynamic_sizes
// CHECK-SAME:    (%[[A:.*]]: memref<?x4xf32>)
// CHECK:         %[[DIM:.*]] = memref.dim %[[A]]
// CHECK-NEXT:    %[[SIZE:.*]] = comm.size on @world
// CHECK-NEXT:    %[[ALL:.*]] = arith.muli %[[DIM]], %[[SIZE]]
// CHECK-NEXT:    %[[R:.*]] = memref.alloc(%[[ALL]]) {{.*}} : memref<?x4xf32>
// CHECK-NEXT:    comm.all_gather %[[A]] into %[[R]] on @world dim 0
func.func @dynamic_sizes(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %t = comm.all_gather %a on @world dim 0 : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = comm.wait %t : !comm.token<tensor<?x4xf32>>
  return %r : tensor<?x4xf32>
}

// A slice that is not contiguous is packed before the start.

// CHECK-LABEL: func @packs_strided_source
// CHECK:         %[[VIEW:.*]] = memref.subview
// CHECK:         memref.copy %[[VIEW]], %[[PACKED:.*]] : memref<8x4xf32, strided<[8, 1]>> to memref<8x4xf32>
// CHECK-NEXT:    %[[T:.*]] = comm.all_to_all %[[PACKED]] into %[[R:.*]] on @world
// CHECK-NEXT:    comm.wait %[[T]] reads(%[[PACKED]] : memref<8x4xf32>) writes(%[[R]] : memref<8x4xf32>)
func.func @packs_strided_source(%a: tensor<8x8xf32>) -> tensor<8x4xf32> {
  %x = tensor.extract_slice %a[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %t = comm.all_to_all %x on @world : tensor<8x4xf32>
  %r = comm.wait %t : !comm.token<tensor<8x4xf32>>
  return %r : tensor<8x4xf32>
}

// CHECK-LABEL: func @point_to_point
// CHECK-SAME:    (%[[A:.*]]: memref<8xf32>, %[[N:.*]]: index)
// CHECK-NEXT:    %[[S:.*]] = comm.send %[[A]] on @world to 1 : memref<8xf32>
// CHECK-NEXT:    %[[R:.*]] = memref.alloc(%[[N]])
// CHECK-NEXT:    %[[U:.*]] = comm.recv into %[[R]] on @world from 1 : memref<?xf32>
// CHECK-NEXT:    %[[B:.*]] = comm.barrier on @world
// CHECK-NEXT:    comm.wait %[[B]] : !comm.token
// CHECK-NEXT:    comm.wait %[[S]] reads(%[[A]] : memref<8xf32>) : !comm.token
// CHECK-NEXT:    comm.wait %[[U]] writes(%[[R]] : memref<?xf32>) : !comm.token
func.func @point_to_point(%a: tensor<8xf32>, %n: index) -> tensor<?xf32> {
  %t = comm.send %a on @world to 1 : tensor<8xf32>
  %u = comm.recv on @world from 1 (%n) : tensor<?xf32>
  %b = comm.barrier on @world
  comm.wait %b : !comm.token
  comm.wait %t : !comm.token
  %r = comm.wait %u : !comm.token<tensor<?xf32>>
  return %r : tensor<?xf32>
}

// Each operand of a coalesced launch is in place or not on its own; every wait
// names its own buffers.

// CHECK-LABEL: func @coalesced
// CHECK-SAME:    (%[[A:.*]]: memref<4xf32>)
// CHECK:         linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[X:.*]] : memref<4xf32>)
// CHECK:         %[[T:.*]]:2 = comm.all_reduce sum %[[X]], %[[A]] into %[[X]], %[[S:.*]] on @world
// CHECK-NEXT:    comm.wait %[[T]]#0 writes(%[[X]] : memref<4xf32>)
// CHECK-NEXT:    comm.wait %[[T]]#1 reads(%[[A]] : memref<4xf32>) writes(%[[S]] : memref<4xf32>)
func.func @coalesced(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t:2 = comm.all_reduce sum %x, %a on @world : tensor<4xf32>, tensor<4xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// Destination style: a gather into a part of a bucket, without a copy.

// CHECK-LABEL: func @into_bucket
// CHECK:         %[[PART:.*]] = memref.subview %[[BUCKET:.*]][8] [8] [1]
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %{{.*}} into %[[PART]] on @pair dim 0
// CHECK-NEXT:    comm.wait %[[T]]
// CHECK-NOT:     alloc
func.func @into_bucket(%a: tensor<4xf32>, %bucket: tensor<16xf32> {comm.donated}) -> tensor<16xf32> {
  %part = tensor.extract_slice %bucket[8] [8] [1] : tensor<16xf32> to tensor<8xf32>
  %t = comm.all_gather %a into %part on @pair dim 0 : tensor<4xf32>, tensor<8xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  %b = tensor.insert_slice %r into %bucket[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %b : tensor<16xf32>
}

// CHECK-LABEL: func @scalar_and_empty
// CHECK:         comm.all_reduce sum %{{.*}} into %{{.*}} on @world : memref<f32>, memref<f32>
// CHECK:         comm.all_reduce sum %{{.*}} into %{{.*}} on @world : memref<0x4xf32>, memref<0x4xf32>
func.func @scalar_and_empty(%a: tensor<f32>, %b: tensor<0x4xf32>) -> (tensor<f32>, tensor<0x4xf32>) {
  %t = comm.all_reduce sum %a on @world : tensor<f32>
  %u = comm.all_reduce sum %b on @world : tensor<0x4xf32>
  %r = comm.wait %t : !comm.token<tensor<f32>>
  %s = comm.wait %u : !comm.token<tensor<0x4xf32>>
  return %r, %s : tensor<f32>, tensor<0x4xf32>
}

// PyTorch's coalesced gather: the buffer of %x is free for others after the
// first wait only.

// CHECK-LABEL: func @all_gather_coalesced
// CHECK:         %[[T:.*]]:2 = comm.all_gather %[[X:.*]], %[[A:.*]] into %[[G:.*]], %[[H:.*]] on @pair dim 0
// CHECK:         linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[Y:.*]] : memref<4xf32>)
// CHECK-NEXT:    comm.wait %[[T]]#0 reads(%[[X]] : memref<4xf32>) writes(%[[G]] : memref<8xf32>)
// CHECK-NEXT:    linalg.fill ins(%{{.*}} : f32) outs(%[[X]] : memref<4xf32>)
// CHECK-NEXT:    comm.wait %[[T]]#1 reads(%[[A]] : memref<4xf32>) writes(%[[H]] : memref<8xf32>)
func.func @all_gather_coalesced(%a: tensor<4xf32>, %f: f32)
    -> (tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t:2 = comm.all_gather %x, %a on @pair dim 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>, tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<8xf32>>
  %z = linalg.fill ins(%f : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %s = comm.wait %t#1 : !comm.token<tensor<8xf32>>
  return %r, %z, %y, %s : tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @reduce_scatter_coalesced
// CHECK:         %[[T:.*]]:2 = comm.reduce_scatter sum %[[X:.*]], %[[A:.*]] into %[[G:.*]], %[[H:.*]] on @pair dim 0
// CHECK-NEXT:    comm.wait %[[T]]#0 reads(%[[X]] : memref<4xf32>) writes(%[[G]] : memref<2xf32>)
// CHECK-NEXT:    linalg.fill ins(%{{.*}} : f32) outs(%[[X]] : memref<4xf32>)
// CHECK-NEXT:    comm.wait %[[T]]#1 reads(%[[A]] : memref<4xf32>) writes(%[[H]] : memref<2xf32>)
func.func @reduce_scatter_coalesced(%a: tensor<4xf32>, %f: f32) -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t:2 = comm.reduce_scatter sum %x, %a on @pair dim 0 : tensor<4xf32>, tensor<4xf32> -> tensor<2xf32>, tensor<2xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<2xf32>>
  %z = linalg.fill ins(%f : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %s = comm.wait %t#1 : !comm.token<tensor<2xf32>>
  return %r, %z, %s : tensor<2xf32>, tensor<4xf32>, tensor<2xf32>
}

// Chunks are computed in their place of the result.
// CHECK-LABEL: func.func @chunks_of_a_result
// CHECK:         %[[R:.*]] = memref.alloc() {{.*}} : memref<4x3xf32>
// CHECK-NEXT:    %[[R0:.*]] = memref.subview %[[R]][0, 0] [2, 3] [1, 1]
// CHECK-NEXT:    linalg.exp ins(%{{.*}}) outs(%[[R0]] :
// CHECK-NEXT:    %[[T0:.*]] = comm.all_reduce sum %[[R0]] into %[[R0]] on @world
// CHECK-NEXT:    %[[R1:.*]] = memref.subview %[[R]][2, 0] [2, 3] [1, 1]
// CHECK-NEXT:    linalg.exp ins(%{{.*}}) outs(%[[R1]] :
// CHECK-NEXT:    %[[T1:.*]] = comm.all_reduce sum %[[R1]] into %[[R1]] on @world
// CHECK-NEXT:    comm.wait %[[T0]] writes(%[[R0]] :
// CHECK-NEXT:    comm.wait %[[T1]] writes(%[[R1]] :
// CHECK-NEXT:    return %[[R]]
func.func @chunks_of_a_result(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %e0 = tensor.empty() : tensor<2x3xf32>
  %x0 = linalg.exp ins(%a : tensor<2x3xf32>) outs(%e0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t0 = comm.all_reduce sum %x0 on @world : tensor<2x3xf32>
  %e1 = tensor.empty() : tensor<2x3xf32>
  %x1 = linalg.exp ins(%b : tensor<2x3xf32>) outs(%e1 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t1 = comm.all_reduce sum %x1 on @world : tensor<2x3xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %w0 = comm.wait %t0 : !comm.token<tensor<2x3xf32>>
  %r0 = tensor.insert_slice %w0 into %e[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x3xf32>
  %w1 = comm.wait %t1 : !comm.token<tensor<2x3xf32>>
  %r1 = tensor.insert_slice %w1 into %r0[2, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x3xf32>
  return %r1 : tensor<4x3xf32>
}

// The first chunk would overwrite what is read before its copy.
// CHECK-LABEL: func.func @chunk_of_a_buffer_in_use
// CHECK:         memref.copy
// CHECK:         return
func.func @chunk_of_a_buffer_in_use(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %e = tensor.empty() : tensor<4x3xf32>
  %x = linalg.exp ins(%b : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %e0 = tensor.empty() : tensor<2x3xf32>
  %x0 = linalg.exp ins(%a : tensor<2x3xf32>) outs(%e0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t0 = comm.all_reduce sum %x0 on @world : tensor<2x3xf32>
  %f = tensor.empty() : tensor<4x3xf32>
  %y = linalg.log ins(%x : tensor<4x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %w0 = comm.wait %t0 : !comm.token<tensor<2x3xf32>>
  %r0 = tensor.insert_slice %w0 into %x[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x3xf32>
  return %r0, %y : tensor<4x3xf32>, tensor<4x3xf32>
}

// What is written to a slice of an empty tensor and inserted there is written
// in its place, although both use the tensor: nothing is copied.
// CHECK-LABEL: func.func @slices_written_in_their_place
// CHECK:         %[[R:.*]] = memref.alloc() {{.*}}: memref<4x6xf32>
// CHECK:         %[[S0:.*]] = memref.subview %[[R]][0, 0] [4, 3] [1, 1]
// CHECK-NEXT:    linalg.fill ins(%{{.*}}) outs(%[[S0]] :
// CHECK-NEXT:    linalg.matmul {{.*}}outs(%[[S0]] :
// CHECK-NOT:     memref.copy
// CHECK:         %[[S1:.*]] = memref.subview %[[R]][0, 3] [4, 3] [1, 1]
// CHECK-NEXT:    linalg.matmul {{.*}}outs(%[[S1]] :
// CHECK-NOT:     memref.copy
// CHECK:         return %[[R]]
func.func @slices_written_in_their_place(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) -> tensor<4x6xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %s0 = tensor.extract_slice %e[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %z0 = linalg.fill ins(%c0 : f32) outs(%s0 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %m0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x3xf32>) outs(%z0 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %r0 = tensor.insert_slice %m0 into %e[0, 0] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<4x6xf32>
  %s1 = tensor.extract_slice %r0[0, 3] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %m1 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x3xf32>) outs(%s1 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %r1 = tensor.insert_slice %m1 into %r0[0, 3] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<4x6xf32>
  return %r1 : tensor<4x6xf32>
}

// What is inserted elsewhere is copied.
// CHECK-LABEL: func.func @slices_written_for_another_place
// CHECK:         memref.copy
// CHECK:         return
func.func @slices_written_for_another_place(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %s = tensor.extract_slice %e[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x3xf32>) outs(%s : tensor<4x3xf32>) -> tensor<4x3xf32>
  %r = tensor.insert_slice %m into %e[0, 3] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// One side is filled; what is padded is computed in its place.
// CHECK-LABEL: func.func @padded_in_place(
// CHECK:         %[[ALL:.*]] = memref.alloc() {{.*}} : memref<4x8x16xf32>
// CHECK:         %[[INNER:.*]] = memref.subview %[[ALL]][0, 1, 0] [4, 7, 16] [1, 1, 1]
// CHECK:         linalg.{{.*}} outs(%[[INNER]] :
// CHECK:         %[[SIDE:.*]] = memref.subview %[[ALL]][0, 0, 0] [4, 1, 16] [1, 1, 1]
// CHECK:         linalg.fill {{.*}} outs(%[[SIDE]] :
// CHECK-NOT:     memref.copy
// CHECK:         return %[[ALL]]
func.func @padded_in_place(%x: tensor<4x7x16xf32>) -> tensor<4x8x16xf32> {
  %c = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<4x7x16xf32>
  %y = linalg.exp ins(%x : tensor<4x7x16xf32>) outs(%empty : tensor<4x7x16xf32>) -> tensor<4x7x16xf32>
  %z = tensor.pad %y low[0, 1, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f32
  } : tensor<4x7x16xf32> to tensor<4x8x16xf32>
  return %z : tensor<4x8x16xf32>
}

// A large one on several sides, too. A side has the corners that it shares with
// those of later dimensions.
// CHECK-LABEL: func.func @padded_sides_in_place(
// CHECK:         %[[ALL:.*]] = memref.alloc() {{.*}} : memref<64x34x35x64xf32>
// CHECK:         %[[INNER:.*]] = memref.subview %[[ALL]][0, 1, 1, 0] [64, 32, 32, 64] [1, 1, 1, 1]
// CHECK:         linalg.exp {{.*}} outs(%[[INNER]] :
// CHECK:         %[[TOP:.*]] = memref.subview %[[ALL]][0, 0, 0, 0] [64, 1, 35, 64] [1, 1, 1, 1]
// CHECK:         linalg.fill {{.*}} outs(%[[TOP]] :
// CHECK:         %[[BOTTOM:.*]] = memref.subview %[[ALL]][0, 33, 0, 0] [64, 1, 35, 64] [1, 1, 1, 1]
// CHECK:         linalg.fill {{.*}} outs(%[[BOTTOM]] :
// CHECK:         %[[LEFT:.*]] = memref.subview %[[ALL]][0, 1, 0, 0] [64, 32, 1, 64] [1, 1, 1, 1]
// CHECK:         linalg.fill {{.*}} outs(%[[LEFT]] :
// CHECK:         %[[RIGHT:.*]] = memref.subview %[[ALL]][0, 1, 33, 0] [64, 32, 2, 64] [1, 1, 1, 1]
// CHECK:         linalg.fill {{.*}} outs(%[[RIGHT]] :
// CHECK-NOT:     memref.copy
// CHECK:         return %[[ALL]]
func.func @padded_sides_in_place(%x: tensor<64x32x32x64xf32>) -> tensor<64x34x35x64xf32> {
  %c = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x32x32x64xf32>
  %y = linalg.exp ins(%x : tensor<64x32x32x64xf32>) outs(%empty : tensor<64x32x32x64xf32>) -> tensor<64x32x32x64xf32>
  %z = tensor.pad %y low[0, 1, 1, 0] high[0, 1, 2, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %c : f32
  } : tensor<64x32x32x64xf32> to tensor<64x34x35x64xf32>
  return %z : tensor<64x34x35x64xf32>
}

// A matmul wants rows that stand one after the other, and two sides of little
// are filled with the whole.
// CHECK-LABEL: func.func @padded_behind(
// CHECK:         linalg.matmul
// CHECK:         memref.copy
// CHECK:         memref.copy
func.func @padded_behind(%x: tensor<4x6xf32>, %w: tensor<6x7xf32>, %o: tensor<4x7xf32>, %v: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x10xf32>) {
  %c = arith.constant 2.0 : f32
  %y = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x7xf32>) outs(%o : tensor<4x7xf32>) -> tensor<4x7xf32>
  %z = tensor.pad %y low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x7xf32> to tensor<4x8xf32>
  %both = tensor.pad %v low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x8xf32> to tensor<4x10xf32>
  return %z, %both : tensor<4x8xf32>, tensor<4x10xf32>
}
