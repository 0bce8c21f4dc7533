// RUN: braid-opt %s --braid-prepare-entries --split-input-file --verify-diagnostics

// expected-error@+1 {{the module has no public function, expected an entry point such as 'func.func @main'}}
module {
  func.func private @f() {
    return
  }
}

// -----

// expected-error@+1 {{has no body, expected a definition: a program for the host has to be whole}}
func.func private @external(memref<4xf32>)
func.func @main() {
  return
}

// -----

// expected-error@+1 {{has argument #0 of type '!comm.token', which an entry point cannot pass; await the operation inside, or make the function private}}
func.func @main(%t: !comm.token) {
  comm.wait %t : !comm.token
  return
}

// -----

// expected-error@+1 {{has argument #0 of type 'i7', which an entry point cannot pass}}
func.func @main(%a: i7) -> i7 {
  return %a : i7
}
