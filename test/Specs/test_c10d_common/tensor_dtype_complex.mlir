// _test_tensor_dtype_complex of PyTorch's test_c10d_common.py: complex numbers
// can be gathered, and reduced where that has a meaning. c10d also gathers
// complex numbers into twice as many real ones; here both sides have one type.
//
// RUN: braid-opt %s -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed -n '1,/^\/\/ -----/p' %s > %t.mlir
// RUN: %python %S/../Inputs/expected.py --inputs complex_values 2 %t
// RUN: braid-run %t.mlir --ranks=2 --arg=%t.in.{rank}.npy --out=%t.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py complex_reductions 2 %t

comm.group @world [[0, 1]]

func.func @main(%x: tensor<2xcomplex<f32>>)
    -> (tensor<4xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) {
  %t0 = comm.all_gather %x on @world dim 0 : tensor<2xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %t1 = comm.all_reduce sum %x on @world : tensor<2xcomplex<f32>>
  %t2 = comm.all_reduce avg %x on @world : tensor<2xcomplex<f32>>
  %0 = comm.wait %t0 : !comm.token<tensor<4xcomplex<f32>>>
  %1 = comm.wait %t1 : !comm.token<tensor<2xcomplex<f32>>>
  %2 = comm.wait %t2 : !comm.token<tensor<2xcomplex<f32>>>
  return %0, %1, %2
      : tensor<4xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
}

// -----

comm.group @world [[0, 1]]

func.func @max(%x: tensor<2xcomplex<f32>>) -> !comm.token<tensor<2xcomplex<f32>>> {
  // expected-error @+1 {{has reduction 'max', which is not defined for elements of type 'complex<f32>', expected one of sum, avg, premul_sum}}
  %t = comm.all_reduce max %x on @world : tensor<2xcomplex<f32>>
  return %t : !comm.token<tensor<2xcomplex<f32>>>
}

// -----

comm.group @world [[0, 1]]

func.func @product(%x: tensor<2xcomplex<f32>>) -> !comm.token<tensor<2xcomplex<f32>>> {
  // expected-error @+1 {{has reduction 'product', which is not defined for elements of type 'complex<f32>', expected one of sum, avg, premul_sum}}
  %t = comm.all_reduce product %x on @world : tensor<2xcomplex<f32>>
  return %t : !comm.token<tensor<2xcomplex<f32>>>
}

// -----

comm.group @world [[0, 1]]

func.func @gather_into_real(%x: tensor<2xcomplex<f32>>) -> !comm.token<tensor<4xf32>> {
  // expected-error @+1 {{has source #0 with elements of type 'complex<f32>' and its value with elements of type 'f32', expected the same}}
  %t = comm.all_gather %x on @world dim 0 : tensor<2xcomplex<f32>> -> tensor<4xf32>
  return %t : !comm.token<tensor<4xf32>>
}
