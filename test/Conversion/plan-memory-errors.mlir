// Buffers that have no place before the program runs.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics --braid-plan-memory

func.func @dynamic(%n: index) attributes {braid.entry = []} {
  // expected-error @below {{'memref.alloc' op allocates a buffer of type 'memref<?xf32>', expected a static shape: the program's memory is planned when it is compiled}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func @strided() attributes {braid.entry = []} {
  // expected-error @below {{'memref.alloc' op allocates a buffer of type 'memref<4x4xf32, strided<[8, 1]>>', expected a contiguous row-major buffer of a type that the runtime knows}}
  %a = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

// expected-error @below {{'func.func' op calls itself and allocates buffers, expected a program without recursion: its memory is planned when it is compiled}}
func.func private @again(%p: i1) {
  %a = memref.alloc() : memref<4xf32>
  scf.if %p {
    func.call @again(%p) : (i1) -> ()
  }
  return
}
func.func @main(%p: i1) attributes {braid.entry = []} {
  call @again(%p) : (i1) -> ()
  return
}

// -----

func.func @blocks(%x: memref<4xf32>, %p: i1) attributes {braid.entry = []} {
  cf.br ^loop(%x : memref<4xf32>)
^loop(%a: memref<4xf32>):
  // expected-error @below {{'memref.alloc' op is carried by a loop of blocks, expected structured control flow, to which --lift-cf-to-scf brings it}}
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  cf.cond_br %p, ^loop(%b : memref<4xf32>), ^exit
^exit:
  return
}

// -----

func.func @larger_than_any_memory() attributes {braid.entry = []} {
  // expected-error @below {{'memref.alloc' op allocates a buffer of type 'memref<4611686018427387904x4xf32>', which is larger than any memory}}
  %a = memref.alloc() : memref<4611686018427387904x4xf32>
  return
}
