// A case of the newest test_compute_comm_reordering.py with a collective in place:
// the collective stays behind the readers of the buffer that it overwrites, unless
// the readers have a copy.
//
// RUN: braid-opt %s --comm-list-schedule=sink | FileCheck %s --check-prefix=SINK
// RUN: braid-opt %s --comm-list-schedule=raise | FileCheck %s --check-prefix=RAISE
// RUN: braid-opt %s --comm-list-schedule=sink --comm-list-schedule=raise | FileCheck %s --check-prefix=BOTH
// RUN: braid-opt %s --comm-list-schedule="raise sink reorder" | FileCheck %s --check-prefix=BOTH

comm.group @world all

// test_sink_waits: all_reduce_, mm, wait, mm
// SINK-LABEL: func.func @sink_waits(
// SINK-NEXT: comm.all_reduce
// SINK-NEXT: linalg.matmul {label = "b"}
// SINK-NEXT: comm.wait
// SINK-NEXT: linalg.matmul {label = "out"}
func.func @sink_waits(%a: memref<4x4xf32>, %x: memref<4x4xf32>, %b: memref<4x4xf32>, %out: memref<4x4xf32>) {
  %t = comm.all_reduce sum %x into %x on @world : memref<4x4xf32>, memref<4x4xf32>
  comm.wait %t writes(%x : memref<4x4xf32>) : !comm.token
  linalg.matmul {label = "b"} ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  linalg.matmul {label = "out"} ins(%x, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%out : memref<4x4xf32>)
  return
}

// test_raise_comms: mm, relu, all_reduce_, mm, wait, mm
// RAISE-LABEL: func.func @raise_comms(
// RAISE-NEXT: linalg.matmul {label = "b"}
// RAISE-NEXT: linalg.abs {label = "c"}
// RAISE-NEXT: comm.all_reduce
// RAISE-NEXT: linalg.matmul {label = "d"}
// RAISE-NEXT: comm.wait
// RAISE-NEXT: linalg.matmul {label = "out"}
func.func @raise_comms(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32>, %d: memref<4x4xf32>, %out: memref<4x4xf32>) {
  linalg.matmul {label = "b"} ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  linalg.abs {label = "c"} ins(%b : memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  linalg.matmul {label = "d"} ins(%c, %c : memref<4x4xf32>, memref<4x4xf32>) outs(%d : memref<4x4xf32>)
  %t = comm.all_reduce sum %b into %b on @world : memref<4x4xf32>, memref<4x4xf32>
  comm.wait %t writes(%b : memref<4x4xf32>) : !comm.token
  linalg.matmul {label = "out"} ins(%d, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%out : memref<4x4xf32>)
  return
}

// test_sink_waits_raise_comms: mm, clone, all_reduce_, relu, mm, relu, mm, wait, mm
// BOTH-LABEL: func.func @sink_waits_raise_comms(
// BOTH-NEXT: linalg.matmul {label = "b"}
// BOTH-NEXT: linalg.copy {label = "clone"}
// BOTH-NEXT: comm.all_reduce
// BOTH-NEXT: linalg.abs {label = "c"}
// BOTH-NEXT: linalg.matmul {label = "d"}
// BOTH-NEXT: linalg.abs {label = "f"}
// BOTH-NEXT: linalg.matmul {label = "g"}
// BOTH-NEXT: comm.wait
// BOTH-NEXT: linalg.matmul {label = "out"}
func.func @sink_waits_raise_comms(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32>, %d: memref<4x4xf32>, %e: memref<4x4xf32>, %f: memref<4x4xf32>, %g: memref<4x4xf32>, %out: memref<4x4xf32>) {
  linalg.matmul {label = "b"} ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  linalg.abs {label = "c"} ins(%b : memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  linalg.matmul {label = "d"} ins(%c, %c : memref<4x4xf32>, memref<4x4xf32>) outs(%d : memref<4x4xf32>)
  linalg.copy {label = "clone"} ins(%b : memref<4x4xf32>) outs(%e : memref<4x4xf32>)
  %t = comm.all_reduce sum %e into %e on @world : memref<4x4xf32>, memref<4x4xf32>
  comm.wait %t writes(%e : memref<4x4xf32>) : !comm.token
  linalg.abs {label = "f"} ins(%d : memref<4x4xf32>) outs(%f : memref<4x4xf32>)
  linalg.matmul {label = "g"} ins(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%g : memref<4x4xf32>)
  linalg.matmul {label = "out"} ins(%e, %g : memref<4x4xf32>, memref<4x4xf32>) outs(%out : memref<4x4xf32>)
  return
}

// The same without the copy: the exact order of test_sink_waits_raise_comms of
// test_aten_comm_compute_reordering.py.
// BOTH-LABEL: func.func @without_copy(
// BOTH-NEXT: linalg.matmul {label = "mm"}
// BOTH-NEXT: linalg.abs {label = "relu"}
// BOTH-NEXT: comm.all_reduce
// BOTH-NEXT: linalg.matmul {label = "mm_1"}
// BOTH-NEXT: linalg.abs {label = "relu_1"}
// BOTH-NEXT: linalg.matmul {label = "mm_2"}
// BOTH-NEXT: comm.wait
// BOTH-NEXT: linalg.matmul {label = "mm_3"}
func.func @without_copy(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32>, %d: memref<4x4xf32>, %f: memref<4x4xf32>, %g: memref<4x4xf32>, %out: memref<4x4xf32>) {
  linalg.matmul {label = "mm"} ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  linalg.abs {label = "relu"} ins(%b : memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  linalg.matmul {label = "mm_1"} ins(%c, %c : memref<4x4xf32>, memref<4x4xf32>) outs(%d : memref<4x4xf32>)
  %t = comm.all_reduce sum %b into %b on @world : memref<4x4xf32>, memref<4x4xf32>
  comm.wait %t writes(%b : memref<4x4xf32>) : !comm.token
  linalg.abs {label = "relu_1"} ins(%d : memref<4x4xf32>) outs(%f : memref<4x4xf32>)
  linalg.matmul {label = "mm_2"} ins(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%g : memref<4x4xf32>)
  linalg.matmul {label = "mm_3"} ins(%b, %g : memref<4x4xf32>, memref<4x4xf32>) outs(%out : memref<4x4xf32>)
  return
}
