// Bytecode has the version of the dialect, and its types have a number there in
// place of text.
// RUN: braid-opt %s --emit-bytecode -o %t.mlirbc
// RUN: not grep -a 'comm.token' %t.mlirbc
// RUN: braid-opt %t.mlirbc | FileCheck %s

// Inputs/version-1.mlirbc is what the first version with a number has written.
// Its attribute comm.hardware is comm.machine from version 2 on.
// RUN: grep -aq 'comm.hardware' %S/Inputs/version-1.mlirbc
// RUN: braid-opt %S/Inputs/version-1.mlirbc 2>&1 | FileCheck %s --implicit-check-not=hardware
// RUN: braid-opt %S/Inputs/version-2.mlirbc | FileCheck %s

// A newer version is refused. The file is version-2.mlirbc with another number.
// RUN: not braid-opt %S/Inputs/version-3.mlirbc 2>&1 | FileCheck %s --check-prefix=NEWER
// NEWER: error: found version 3 of the dialect 'comm', expected at most 2: a newer Braid has written this bytecode

// CHECK:       module attributes {comm.machine = "h100x8"}
// CHECK:       comm.group @world all
// CHECK-NEXT:  comm.group @pairs {{\[\[}}0, 1], [2, 3]]
// CHECK-LABEL: func.func @pass
// CHECK-SAME:    !comm.token<tensor<4xf32>>, %{{.*}}: !comm.token)
// CHECK-LABEL: func.func @step
// CHECK:         comm.all_reduce sum %{{.*}} on @pairs {comm.label = "sum", comm.lane = "fast"} : tensor<4xf32>
// CHECK:         comm.barrier on @world
module attributes {comm.machine = "h100x8"} {
  comm.group @world all
  comm.group @pairs [[0, 1], [2, 3]]
  func.func @pass(%t: !comm.token<tensor<4xf32>>, %u: !comm.token) -> tensor<4xf32> {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    comm.wait %u : !comm.token
    return %r : tensor<4xf32>
  }
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    %t = comm.all_reduce sum %x on @pairs {comm.label = "sum", comm.lane = "fast"} : tensor<4xf32>
    %b = comm.barrier on @world
    %r = call @pass(%t, %b) : (!comm.token<tensor<4xf32>>, !comm.token) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
