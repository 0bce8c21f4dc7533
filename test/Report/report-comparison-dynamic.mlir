// A collective whose size only the run knows, beside a given trace.
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal trace=%S/Inputs/host-run.json" 2>&1 | FileCheck %s --implicit-check-not="not compared"

comm.group @other [[0, 1]]

func.func @step(%x: tensor<?xbf16>) -> tensor<?xbf16> {
  %t = comm.all_gather %x on @other dim 0 {comm.label = "gather", comm.cost_ns = 250 : i64} : tensor<?xbf16> -> tensor<?xbf16>
  %g = comm.wait %t : !comm.token<tensor<?xbf16>>
  return %g : tensor<?xbf16>
}

// CHECK: ==== Predicted and measured, @step, rank 1 ====
// CHECK: off ns  predicted ns   measured ns  op
// CHECK:  250  {{.*}}  gather
