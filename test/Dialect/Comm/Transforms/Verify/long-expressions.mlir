// RUN: braid-opt %s --comm-verify=ranks=2 -o /dev/null

// What a number is computed from may be thousands of ops deep.

comm.group @world all

// The counter after the loop is known: both ranks take part.
func.func @long_chains(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 4000 : index
  %last = scf.while (%i = %zero) : (index) -> index {
    %goes_on = arith.cmpi ult, %i, %end : index
    scf.condition(%goes_on) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %one : index
    scf.yield %next : index
  }
  %rank = comm.rank on @world
  %all = arith.cmpi uge, %last, %rank : index
  %result = scf.if %all -> tensor<2x2xf32> {
    %t = comm.all_reduce sum %x on @world : tensor<2x2xf32>
    %r = comm.wait %t : !comm.token<tensor<2x2xf32>>
    scf.yield %r : tensor<2x2xf32>
  } else {
    scf.yield %x : tensor<2x2xf32>
  }
  return %result : tensor<2x2xf32>
}
