// RUN: braid-opt %s --comm-verify="ranks=2" --comm-interpret="ranks=2 rounds=4" --split-input-file --verify-diagnostics

// Bounds and steps of loops that are as large as their type allows. The
// verification and the interpreter count iterations alike.

// Three iterations, though the distance is no signed number.
comm.group @g all
func.func @main(%x: tensor<4xf32>) {
  %lower = arith.constant -9223372036854775808 : index
  %upper = arith.constant 9223372036854775807 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    scf.for %i = %lower to %upper step %upper {
      %t = comm.all_reduce sum %x on @g : tensor<4xf32>
      %r = comm.wait %t : !comm.token<tensor<4xf32>>
    }
  } else {
    scf.for %i = %zero to %three step %one {
      %t = comm.all_reduce sum %x on @g : tensor<4xf32>
      %r = comm.wait %t : !comm.token<tensor<4xf32>>
    }
  }
  return
}

// -----

// From 1 to 255 by 254.
comm.group @g all
func.func @main(%x: tensor<4xf32>) {
  %one = arith.constant 1 : i8
  %upper = arith.constant -1 : i8
  %step = arith.constant -2 : i8
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    scf.for unsigned %i = %one to %upper step %step : i8 {
      %t = comm.all_reduce sum %x on @g : tensor<4xf32>
      %r = comm.wait %t : !comm.token<tensor<4xf32>>
    }
  } else {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// The verification skips iterations in the middle; the interpreter ends after a
// number of ops.
comm.group @g all
// expected-error@+1 {{'func.func' op runs for too many steps}}
func.func @main(%x: tensor<4xf32>) {
  %lower = arith.constant -9223372036854775808 : index
  %upper = arith.constant 9223372036854775807 : index
  %one = arith.constant 1 : index
  scf.for %i = %lower to %upper step %one {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}
