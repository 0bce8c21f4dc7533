// Loops of many trips beside a given trace: a trip that runs no op is not repeated.
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal trace=%S/Inputs/host-run.json" 2>&1 | FileCheck %s

comm.group @world [[0, 1]]

func.func private @empty() {
  return
}

func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %t = comm.all_gather %x on @world dim 0 {comm.label = "gather", comm.cost_ns = 250 : i64} : tensor<4xf32> -> tensor<8xf32>
  %g = comm.wait %t : !comm.token<tensor<8xf32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1000000000000 : index
  scf.for %i = %c0 to %many step %c1 {
    func.call @empty() : () -> ()
  }
  %r = scf.for %i = %c0 to %many step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %q = scf.for %j = %c0 to %c0 step %c1 iter_args(%b = %a) -> tensor<4xf32> {
      %d = arith.addf %b, %b {comm.cost_ns = 100 : i64} : tensor<4xf32>
      scf.yield %d : tensor<4xf32>
    }
    scf.yield %q : tensor<4xf32>
  }
  return %r, %g : tensor<4xf32>, tensor<8xf32>
}

// CHECK: ==== Predicted and measured, @step, rank 1 ====
