// RUN: braid-opt %s --braid-separate-entries --braid-prepare-entries --split-input-file | FileCheck %s

comm.group @world all

// A result of static shape becomes an argument after the others; what is allocated
// to be returned alone is computed there.
// CHECK-LABEL: func.func @allocated_result(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) attributes
// CHECK-SAME:    {braid.entry = [{direction = "in", name = "arg0", type = memref<4xf32>}, {direction = "out", name = "result0", type = memref<4xf32>}]} {
// CHECK-NEXT:    linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[OUT]] : memref<4xf32>)
// CHECK-NEXT:    return{{$}}
func.func @allocated_result(%a: memref<4xf32>) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return %r : memref<4xf32>
}

// A result that comes from elsewhere is copied at the end.
// CHECK-LABEL: func.func @returned_argument(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) attributes
// CHECK-NEXT:    memref.copy %[[A]], %[[OUT]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    return{{$}}
func.func @returned_argument(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}

// Two results are two buffers of the caller's.
// CHECK-LABEL: func.func @returned_twice(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>, %[[OUT0:.*]]: memref<4xf32>, %[[OUT1:.*]]: memref<4xf32>) attributes
// CHECK-NEXT:    linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[OUT0]] : memref<4xf32>)
// CHECK-NEXT:    memref.copy %[[OUT0]], %[[OUT1]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    return{{$}}
func.func @returned_twice(%a: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %r = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return %r, %r : memref<4xf32>, memref<4xf32>
}

// With two exits the argument cannot stand for an allocation that only one returns.
// CHECK-LABEL: func.func @two_exits(
// CHECK-SAME:    %[[C:.*]]: i1, %[[A:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) attributes
// CHECK-NEXT:    %[[R:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[ONE:.*]], ^[[TWO:.*]]
// CHECK-NEXT:  ^[[ONE]]:
// CHECK-NEXT:    memref.copy %[[R]], %[[OUT]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    return{{$}}
// CHECK-NEXT:  ^[[TWO]]:
// CHECK-NEXT:    memref.copy %[[A]], %[[OUT]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    return{{$}}
func.func @two_exits(%c: i1, %a: memref<4xf32>) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  cf.cond_br %c, ^one, ^two
^one:
  return %r : memref<4xf32>
^two:
  return %a : memref<4xf32>
}

// An allocation in a loop of blocks is another buffer in each iteration.
// CHECK-LABEL: func.func @allocated_in_a_loop(
// CHECK-SAME:    %[[C:.*]]: i1, %[[OUT:.*]]: memref<4xf32>) attributes
// CHECK-NEXT:    cf.br ^[[LOOP:.*]]
// CHECK-NEXT:  ^[[LOOP]]:
// CHECK-NEXT:    %[[R:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[LOOP]], ^[[END:.*]]
// CHECK-NEXT:  ^[[END]]:
// CHECK-NEXT:    memref.copy %[[R]], %[[OUT]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    return{{$}}
func.func @allocated_in_a_loop(%c: i1) -> memref<4xf32> {
  cf.br ^loop
^loop:
  %r = memref.alloc() : memref<4xf32>
  cf.cond_br %c, ^loop, ^end
^end:
  return %r : memref<4xf32>
}

// A result that a collective writes: the destination is the argument.
// CHECK-LABEL: func.func @in_flight(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) attributes
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[A]] into %[[OUT]] on @world
// CHECK-NEXT:    comm.wait %[[T]] reads(%[[A]] : memref<4xf32>) writes(%[[OUT]] : memref<4xf32>)
// CHECK-NEXT:    return{{$}}
func.func @in_flight(%a: memref<4xf32>) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %a into %r on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%a : memref<4xf32>) writes(%r : memref<4xf32>) : !comm.token
  return %r : memref<4xf32>
}

// A donated argument may be written. The attribute has done its work.
// CHECK-LABEL: func.func @donated(
// CHECK-SAME:    %{{.*}}: memref<4xf32>, %{{.*}}: memref<6xf32>) attributes
// CHECK-SAME:    {braid.entry = [{direction = "in", name = "arg0", type = memref<4xf32>}, {direction = "inout", name = "arg1", type = memref<6xf32>}]} {
// CHECK-NEXT:    return{{$}}
func.func @donated(%a: memref<4xf32>, %b: memref<6xf32> {comm.donated}) {
  return
}

// A result of dynamic size is returned, and the caller frees it.
// CHECK-LABEL: func.func @dynamic_results(
// CHECK-SAME:    %[[N:.*]]: index) -> (memref<?xf32>, memref<3x?xf16>) attributes
// CHECK-SAME:    {braid.entry = [{direction = "in", name = "arg0", type = index}, {direction = "out", name = "result0", result, type = memref<?xf32>}, {direction = "out", name = "result1", result, type = memref<3x?xf16>}]} {
// CHECK-NEXT:    %[[R:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK-NEXT:    %[[S:.*]] = memref.alloc(%[[N]]) : memref<3x?xf16>
// CHECK-NEXT:    return %[[R]], %[[S]] : memref<?xf32>, memref<3x?xf16>
func.func @dynamic_results(%n: index) -> (memref<?xf32>, memref<3x?xf16>) {
  %r = memref.alloc(%n) : memref<?xf32>
  %s = memref.alloc(%n) : memref<3x?xf16>
  return %r, %s : memref<?xf32>, memref<3x?xf16>
}

// Scalars are passed and returned as they are; a buffer without dimensions is no scalar.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:    %[[A:.*]]: f32, %[[I:.*]]: index, %[[C:.*]]: i1, %[[OUT:.*]]: memref<f32>) -> (i1, index) attributes
// CHECK-SAME:    {braid.entry = [{direction = "in", name = "arg0", type = f32}, {direction = "in", name = "arg1", type = index}, {direction = "in", name = "arg2", type = i1}, {direction = "out", name = "result0", result, type = i1}, {direction = "out", name = "result1", type = memref<f32>}, {direction = "out", name = "result2", result, type = index}]} {
// CHECK-NEXT:    memref.store %[[A]], %[[OUT]][] : memref<f32>
// CHECK-NEXT:    return %[[C]], %[[I]] : i1, index
func.func @scalars(%a: f32, %i: index, %c: i1) -> (i1, memref<f32>, index) {
  %r = memref.alloc() : memref<f32>
  memref.store %a, %r[] : memref<f32>
  return %c, %r, %i : i1, memref<f32>, index
}

// Static and dynamic results in turn keep their order, in the table and among what
// is written and what is returned. The caller frees what is returned, so an argument
// is copied.
// CHECK-LABEL: func.func @mixed_results(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>, %[[OUT0:.*]]: memref<4xf32>, %[[OUT2:.*]]: memref<6xf32>) -> (memref<?xf32>, f32) attributes
// CHECK-SAME:    {braid.entry = [{direction = "in", name = "arg0", type = memref<?xf32>}, {direction = "out", name = "result0", type = memref<4xf32>}, {direction = "out", name = "result1", result, type = memref<?xf32>}, {direction = "out", name = "result2", type = memref<6xf32>}, {direction = "out", name = "result3", result, type = f32}]} {
// CHECK-NEXT:    %[[Z:.*]] = arith.constant
// CHECK-NEXT:    linalg.fill ins(%[[Z]] : f32) outs(%[[OUT2]] : memref<6xf32>)
// CHECK-NEXT:    linalg.fill ins(%[[Z]] : f32) outs(%[[OUT0]] : memref<4xf32>)
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[SIZE:.*]] = memref.dim %[[A]], %[[C0]] : memref<?xf32>
// CHECK-NEXT:    %[[COPY:.*]] = memref.alloc(%[[SIZE]]) : memref<?xf32>
// CHECK-NEXT:    memref.copy %[[A]], %[[COPY]]
// CHECK-NEXT:    return %[[COPY]], %[[Z]] : memref<?xf32>, f32
func.func @mixed_results(%a: memref<?xf32>) -> (memref<4xf32>, memref<?xf32>, memref<6xf32>, f32) {
  %z = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<6xf32>
  linalg.fill ins(%z : f32) outs(%s : memref<6xf32>)
  %r = memref.alloc() : memref<4xf32>
  linalg.fill ins(%z : f32) outs(%r : memref<4xf32>)
  return %r, %a, %s, %z : memref<4xf32>, memref<?xf32>, memref<6xf32>, f32
}

// A private function is no entry point, and keeps its signature.
// CHECK-LABEL: func.func private @helper(
// CHECK-SAME:    %{{.*}}: memref<4xf32>) -> memref<4xf32> {
// CHECK-NEXT:    %[[R:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    return %[[R]] : memref<4xf32>
func.func private @helper(%a: memref<4xf32>) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  return %r : memref<4xf32>
}

// CHECK-LABEL: func.func @calls_a_private_function(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) attributes
// CHECK-NEXT:    %[[R:.*]] = call @helper(%[[A]]) : (memref<4xf32>) -> memref<4xf32>
// CHECK-NEXT:    memref.copy %[[R]], %[[OUT]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    return{{$}}
func.func @calls_a_private_function(%a: memref<4xf32>) -> memref<4xf32> {
  %r = call @helper(%a) : (memref<4xf32>) -> memref<4xf32>
  return %r : memref<4xf32>
}

// -----

// A public function that the program also calls: the entry calls the body, as the
// rest of the program does. A caller of the body lends its argument.
// CHECK-LABEL: func.func @called(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) attributes
// CHECK-SAME:    {braid.entry = [{direction = "inout", name = "arg0", type = memref<4xf32>}, {direction = "out", name = "result0", type = memref<4xf32>}]} {
// CHECK-NEXT:    %[[R:.*]] = call @called_body(%[[A]]) : (memref<4xf32>) -> memref<4xf32>
// CHECK-NEXT:    memref.copy %[[R]], %[[OUT]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    return{{$}}

// CHECK-LABEL: func.func private @called_body(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>) -> memref<4xf32> {
// CHECK-NEXT:    %[[R:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
// CHECK-NEXT:    return %[[R]] : memref<4xf32>
func.func @called(%a: memref<4xf32> {comm.donated}) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return %r : memref<4xf32>
}

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) attributes
// CHECK-NEXT:    %[[R:.*]] = call @called_body(%[[A]]) : (memref<4xf32>) -> memref<4xf32>
// CHECK-NEXT:    memref.copy %[[R]], %[[OUT]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    return{{$}}
func.func @caller(%a: memref<4xf32>) -> memref<4xf32> {
  %r = call @called(%a) : (memref<4xf32>) -> memref<4xf32>
  return %r : memref<4xf32>
}
