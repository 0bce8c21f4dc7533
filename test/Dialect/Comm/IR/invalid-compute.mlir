// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @token_operand(%t: !comm.token<tensor<4xf32>>) {
  // expected-error@+1 {{'comm.compute' op has operand #0 of type '!comm.token<tensor<4xf32>>', expected a value; await the token before}}
  comm.compute "f"(%t) : (!comm.token<tensor<4xf32>>) -> ()
  return
}

// -----

func.func @token_result() {
  // expected-error@+1 {{'comm.compute' op has result #0 of type '!comm.token', expected a value, or 'async'}}
  %0 = comm.compute "f"() : () -> !comm.token
  return
}

// -----

func.func @async_without_token() {
  // expected-error@+1 {{'comm.compute' op has token #0 of type 'f32', expected !comm.token}}
  %0 = "comm.compute"() <{kernel = "f", async}> ({}) : () -> f32
  return
}

// -----

func.func @async_without_result() {
  // expected-error@+1 {{'comm.compute' op is async and has 0 results, 0 of them without a value, expected one token for each value, or one token without a value}}
  "comm.compute"() <{kernel = "f", async}> ({}) : () -> ()
  return
}

// -----

func.func @async_with_two_kinds_of_tokens() {
  // expected-error@+1 {{'comm.compute' op is async and has 2 results, 1 of them without a value, expected one token for each value, or one token without a value}}
  %0:2 = "comm.compute"() <{kernel = "f", async}> ({}) : () -> (!comm.token<tensor<4xf32>>, !comm.token)
  return
}

// -----

func.func @async_value_of_buffer(%a: memref<4xf32>) {
  // expected-error@+1 {{'comm.compute' op is async and has memref operands and a token of 'tensor<4xf32>', expected !comm.token as it works on buffers}}
  %0 = comm.compute async "f"(%a) : (memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @async_tensor_and_buffer(%a: memref<4xf32>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.compute' op is async and has memref operands and operand #1 of type 'tensor<4xf32>', expected ranked memrefs and scalars}}
  %0 = comm.compute async "f"(%a, %x) : (memref<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @async_unranked_buffer(%a: memref<*xf32>) {
  // expected-error@+1 {{'comm.compute' op is async and has memref operands and operand #0 of type 'memref<*xf32>', expected ranked memrefs and scalars}}
  %0 = comm.compute async "f"(%a) : (memref<*xf32>) -> ()
  return
}

// -----

func.func @async_scalar_value() {
  // expected-error@+1 {{found value type 'f32' of an async op, expected a ranked tensor}}
  %0 = comm.compute async "f"() : () -> f32
  return
}

// -----

func.func @no_kernel() {
  // expected-error@+1 {{'comm.compute' op requires attribute 'kernel'}}
  "comm.compute"() ({}) : () -> ()
  return
}

// -----

func.func @kernel_is_no_string() {
  // expected-error@+1 {{invalid kind of attribute specified}}
  comm.compute 1 : i64() : () -> ()
  return
}

// -----

func.func @no_region() {
  // expected-error@+1 {{'comm.compute' op requires one region}}
  "comm.compute"() <{kernel = "f"}> : () -> ()
  return
}

// -----

func.func @two_blocks() {
  // expected-error@+1 {{'comm.compute' op expects region #0 to have 0 or 1 blocks}}
  "comm.compute"() <{kernel = "f"}> ({
    cf.br ^next
  ^next:
    comm.yield
  }) : () -> ()
  return
}

// -----

func.func @region_without_yield() {
  // expected-error@+1 {{'comm.compute' op expects a non-empty block}}
  comm.compute "f"() -> () {
  ^entry:
  }
  return
}

// -----

func.func @empty_region() {
  // expected-error@+1 {{found an empty region, expected a block that ends with comm.yield}}
  comm.compute "f"() -> () {
  }
  return
}

// -----

func.func @other_terminator() {
  // expected-error@+1 {{'comm.compute' op has a region that ends with 'llvm.unreachable', expected comm.yield}}
  comm.compute "f"() -> () {
    llvm.unreachable
  }
  return
}

// -----

func.func @arguments_of_other_types(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.compute' op has region arguments of types ('f32'), expected those of its operands ('tensor<4xf32>')}}
  "comm.compute"(%x) <{kernel = "f"}> ({
  ^entry(%a: f32):
    comm.yield
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @yield_of_other_type(%x: tensor<4xf32>) {
  comm.compute "f"(%a = %x : tensor<4xf32>) -> tensor<5xf32> {
    // expected-error@+1 {{'comm.yield' op gives values of types ('tensor<4xf32>'), expected ('tensor<5xf32>')}}
    comm.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @yield_of_nothing(%x: tensor<4xf32>) {
  %t = comm.compute async "f"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{'comm.yield' op gives values of types (), expected ('tensor<4xf32>')}}
    comm.yield
  }
  return
}

// -----

func.func @yield_elsewhere() {
  // expected-error@+1 {{'comm.yield' op expects parent op 'comm.compute'}}
  comm.yield
}

// -----

func.func @value_from_outside(%x: tensor<4xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  comm.compute "f"() -> tensor<4xf32> {
    // expected-error@+1 {{'comm.yield' op using value defined outside the region}}
    comm.yield %x : tensor<4xf32>
  }
  return
}
