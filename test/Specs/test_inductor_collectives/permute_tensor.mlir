// test_permute_tensor of PyTorch's test_inductor_collectives.py: rank 0 holds
// [0, 1], rank 1 [2, 3]; afterwards each holds what the other one had.
//
// RUN: %python %S/../Inputs/expected.py --inputs permute_tensor 2 %t
// RUN: braid-run %s --ranks=2 --arg=%t.in.{rank}.npy --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py permute_tensor 2 %t

comm.group @world all

// PyTorch's [1, 0] says to whom rank 0 and rank 1 send.
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %token = comm.permute %x on @world pairs [[0, 1], [1, 0]] : tensor<2xf32>
  %y = comm.wait %token : !comm.token<tensor<2xf32>>
  return %y : tensor<2xf32>
}
