// test_debug_level of PyTorch's test_c10d_common.py: OFF, INFO and DETAIL in any
// case, OFF without the variable; anything else is an error.
//
// RUN: braid-compile %s --passes=none -o %t.so
// RUN: env -u BRAID_DEBUG braid-run %t.so --ranks=2 2>&1 | count 0
// RUN: env BRAID_DEBUG= braid-run %t.so --ranks=2 2>&1 | count 0
// RUN: env BRAID_DEBUG=OFF braid-run %t.so --ranks=2 2>&1 | count 0
// RUN: env BRAID_DEBUG=off braid-run %t.so --ranks=2 2>&1 | count 0
// RUN: env BRAID_DEBUG=oFf braid-run %t.so --ranks=2 2>&1 | count 0
// RUN: env BRAID_DEBUG=INFO braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: env BRAID_DEBUG=info braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: env BRAID_DEBUG=INfO braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: env BRAID_DEBUG=DETAIL braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=DETAIL
// RUN: env BRAID_DEBUG=detail braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=DETAIL
// RUN: env BRAID_DEBUG=DeTaIl braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=DETAIL
// RUN: not env BRAID_DEBUG=foo braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not env BRAID_DEBUG=0 braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not env BRAID_DEBUG=1 braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not env BRAID_DEBUG=-1 braid-run %t.so --ranks=2 2>&1 | FileCheck %s --check-prefix=ERROR
//
// INFO: {{^}}[braid] world of 2 ranks, engine inproc, timeout 30000 ms{{$}}
// INFO-NEXT: {{^}}[braid] communicator of group @world with 2 ranks, the first is 0{{$}}
// INFO-NOT: {{.}}
//
// DETAIL: {{^}}[braid] world of 2 ranks, engine inproc, timeout 30000 ms{{$}}
// DETAIL-DAG: {{^}}[braid] communicator of group @world with 2 ranks, the first is 0{{$}}
// DETAIL-DAG: rank 0: starts all_reduce sum tensor<2xf32> on @world, number 1
// DETAIL-DAG: rank 1: starts all_reduce sum tensor<2xf32> on @world, number 1
// DETAIL-DAG: rank 0: has all_reduce sum tensor<2xf32> on @world, number 1
// DETAIL-DAG: rank 1: has all_reduce sum tensor<2xf32> on @world, number 1
//
// ERROR: The value of BRAID_DEBUG must be OFF, INFO, or DETAIL

comm.group @world all

func.func @main() {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %t = comm.all_reduce sum %x on @world : tensor<2xf32>
  %y = comm.wait %t : !comm.token<tensor<2xf32>>
  return
}
