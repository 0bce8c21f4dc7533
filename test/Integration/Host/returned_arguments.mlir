// Results of dynamic size that are an argument, or that a program returns twice: the caller frees each.
// RUN: braid-run %s --ranks=2 --entry=argument --arg=ones@2x2 --print --compare-results | FileCheck %s --check-prefix=ARGUMENT
// RUN: braid-run %s --ranks=2 --entry=twice --arg=ones@2x2 --print --compare-results | FileCheck %s --check-prefix=TWICE
// RUN: braid-run %s --ranks=2 --entry=either --arg=1 --arg=ones@2x2 --print | FileCheck %s --check-prefix=ARGUMENT
// RUN: braid-run %s --ranks=2 --entry=either --arg=0 --arg=ones@2x2 --print | FileCheck %s --check-prefix=DOUBLED

// ARGUMENT: rank 0: result0: tensor<2x2xf32> = {{\[\[}}1, 1], [1, 1]]
func.func @argument(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  return %x : tensor<?x2xf32>
}

// TWICE:      rank 0: result0: tensor<2x2xf32> = {{\[\[}}2, 2], [2, 2]]
// TWICE-NEXT: rank 0: result1: tensor<2x2xf32> = {{\[\[}}2, 2], [2, 2]]
func.func @twice(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %y = arith.addf %x, %x : tensor<?x2xf32>
  return %y, %y : tensor<?x2xf32>, tensor<?x2xf32>
}

// DOUBLED: rank 0: result0: tensor<2x2xf32> = {{\[\[}}2, 2], [2, 2]]
func.func @either(%is_argument: i1, %x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %r = scf.if %is_argument -> tensor<?x2xf32> {
    scf.yield %x : tensor<?x2xf32>
  } else {
    %y = arith.addf %x, %x : tensor<?x2xf32>
    scf.yield %y : tensor<?x2xf32>
  }
  return %r : tensor<?x2xf32>
}
