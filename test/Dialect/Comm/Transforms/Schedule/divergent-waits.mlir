// RUN: braid-opt %s --comm-reorder-compute-for-overlap=waits-as-filler | FileCheck %s --check-prefix=FILLER
// RUN: braid-opt %s --comm-schedule="machine=ideal max-in-flight=1" 2>&1 | FileCheck %s --check-prefix=LIMIT

// Where ranks may take different paths, a wait stays after the starts that it
// stood after: another rank may start them before it comes to its own wait.
// latency-hiding-schedule.mlir has the same for comm-latency-hiding-schedule.
// No other pass moves a wait up.

comm.group @g all

// A gap behind the first all-reduce is free for the wait, but a start stood
// before it.

// FILLER-LABEL: func.func @waits_are_no_filler_before_a_start
func.func @waits_are_no_filler_before_a_start(%x: tensor<4xf32>) {
  // FILLER: scf.if
  // FILLER-NEXT: comm.all_reduce {{.*}}"a"
  // FILLER-NEXT: comm.all_reduce {{.*}}"b"
  // FILLER-NEXT: comm.all_reduce {{.*}}"c"
  // FILLER-NEXT: comm.wait %all_reduce :
  // FILLER-NEXT: comm.wait %all_reduce_0 :
  // FILLER-NEXT: comm.wait %all_reduce_1 :
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %a = comm.all_reduce sum %x on @g {comm.cost_ns = 50 : i64, comm.label = "a"} : tensor<4xf32>
    %b = comm.all_reduce sum %x on @g {comm.cost_ns = 5 : i64, comm.label = "b"} : tensor<4xf32>
    %c = comm.all_reduce sum %x on @g {comm.cost_ns = 5 : i64, comm.label = "c"} : tensor<4xf32>
    %u = comm.wait %a : !comm.token<tensor<4xf32>>
    %v = comm.wait %b : !comm.token<tensor<4xf32>>
    %w = comm.wait %c : !comm.token<tensor<4xf32>>
  }
  return
}

// In one text the same block fills the gap.

// FILLER-LABEL: func.func @waits_are_filler_in_one_text
func.func @waits_are_filler_in_one_text(%x: tensor<4xf32>) {
  // FILLER-NEXT: comm.all_reduce {{.*}}"a"
  // FILLER-NEXT: comm.all_reduce {{.*}}"b"
  // FILLER-NEXT: comm.wait %all_reduce :
  // FILLER-NEXT: comm.all_reduce {{.*}}"c"
  %a = comm.all_reduce sum %x on @g {comm.cost_ns = 50 : i64, comm.label = "a"} : tensor<4xf32>
  %b = comm.all_reduce sum %x on @g {comm.cost_ns = 5 : i64, comm.label = "b"} : tensor<4xf32>
  %c = comm.all_reduce sum %x on @g {comm.cost_ns = 5 : i64, comm.label = "c"} : tensor<4xf32>
  %u = comm.wait %a : !comm.token<tensor<4xf32>>
  %v = comm.wait %b : !comm.token<tensor<4xf32>>
  %w = comm.wait %c : !comm.token<tensor<4xf32>>
  return
}

// A limit does not move the wait up: the block exceeds it, with a warning.

// LIMIT: warning: no order of this block was found that keeps max-in-flight = 1
// LIMIT-LABEL: func.func @a_limit_moves_no_wait_before_a_start
func.func @a_limit_moves_no_wait_before_a_start(%x: tensor<4xf32>) {
  // LIMIT: scf.if
  // LIMIT-NEXT: comm.all_reduce {{.*}}"a"
  // LIMIT-NEXT: comm.all_reduce {{.*}}"b"
  // LIMIT-NEXT: comm.compute "c"
  // LIMIT-NEXT: comm.wait
  // LIMIT-NEXT: comm.wait
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %a = comm.all_reduce sum %x on @g {comm.cost_ns = 1 : i64, comm.label = "a"} : tensor<4xf32>
    %b = comm.all_reduce sum %x on @g {comm.cost_ns = 200 : i64, comm.label = "b"} : tensor<4xf32>
    %c = comm.compute "c"(%x) {comm.cost_ns = 20 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %v = comm.wait %b : !comm.token<tensor<4xf32>>
    %u = comm.wait %a : !comm.token<tensor<4xf32>>
  }
  return
}
