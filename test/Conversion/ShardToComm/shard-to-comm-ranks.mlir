// The option `ranks` gives the number of devices of every grid.
//
// RUN: braid-opt %s --convert-shard-to-comm=ranks=6 | FileCheck %s
// RUN: not braid-opt %s --convert-shard-to-comm=ranks=4 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: not braid-opt %s --convert-shard-to-comm=ranks=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// FOUR: [[#@LINE+14]]:8: error: 'shard.process_linear_index' op is on grid @grid of 6 devices, expected 4, one for each rank
// NEGATIVE: error: invalid number -1 in option 'ranks', expected a number of at least 1, or 0 for the number of devices of the grids

// Groups that the program has serve again.
// CHECK: module {
// CHECK-NEXT: comm.group @all_six {{\[\[}}0, 1, 2, 3, 4, 5]]
// CHECK-NEXT: func.func @process_linear_index
comm.group @all_six [[0, 1, 2, 3, 4, 5]]
shard.grid @grid(shape = 2x3)

// Each device is the rank of its linear index.
// CHECK: %[[RANK:.*]] = comm.rank on @all_six
// CHECK-NEXT: return %[[RANK]] : index
func.func @process_linear_index() -> index {
  %i = shard.process_linear_index on @grid : index
  return %i : index
}
