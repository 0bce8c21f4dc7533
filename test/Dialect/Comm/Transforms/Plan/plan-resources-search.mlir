// RUN: braid-opt %s --comm-plan-resources="orders=search machine=h200x8 ranks=2" | FileCheck %s
// RUN: braid-opt %s --comm-plan-resources="machine=h200x8 ranks=2" | FileCheck %s --check-prefix=PROGRAM
// RUN: braid-opt %s --comm-plan-resources="orders=search keep-order=true machine=h200x8 ranks=2" \
// RUN:   | FileCheck %s --check-prefix=KEPT
// RUN: braid-opt %s --comm-plan-resources="orders=search machine=h200x8 ranks=2" -o /dev/null \
// RUN:   --remarks-filter=comm-plan-resources 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not braid-opt %s --comm-plan-resources="orders=best" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: for the --orders option: Cannot find option named 'best'

// REMARK: remark: [Passed] planned-block | Category:comm-plan-resources | Function=gradients | LowerBoundNs={{[0-9]+}}, MakespanBeforeNs={{[0-9]+}}, MakespanNs={{[0-9]+}}

module {
  comm.group @world all

  // As written, the collectives have nothing beside them, and there is nothing to
  // plan. Behind their starts there is, and matmuls leave room.
  // CHECK-LABEL: func.func @gradients(
  // CHECK:         comm.all_reduce {{.*}}comm.label = "g0"{{.*}}comm.transport = "symmetric"
  // CHECK:         linalg.matmul {comm.label = "m1", comm.multiprocessors = {{[0-9]+}} : i64, comm.reordered_sums
  // CHECK:         comm.all_reduce {{.*}}comm.label = "g1"{{.*}}comm.transport = "symmetric"
  // CHECK:         linalg.matmul {comm.label = "m2"
  // CHECK:         comm.wait
  // CHECK:         comm.wait
  // PROGRAM-LABEL: func.func @gradients(
  // PROGRAM-NOT:     comm.multiprocessors
  // PROGRAM-NOT:     symmetric
  // PROGRAM:         return
  func.func @gradients(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>)
      -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
    %e = tensor.empty() : tensor<4096x4096xbf16>
    %a = linalg.matmul {comm.label = "m0"} ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                       outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %t = comm.all_reduce sum %a on @world {comm.label = "g0"} : tensor<4096x4096xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    %b = linalg.matmul {comm.label = "m1"} ins(%a, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                       outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %u = comm.all_reduce sum %b on @world {comm.label = "g1"} : tensor<4096x4096xbf16>
    %s = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
    %c = linalg.matmul {comm.label = "m2"} ins(%b, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                       outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    return %r, %s, %c : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
  }

  // The starts keep their order: the second has no operand to wait for.
  // KEPT-LABEL: func.func @two(
  // KEPT:         comm.all_reduce {{.*}}comm.label = "late"
  // KEPT:         comm.all_reduce {{.*}}comm.label = "early"
  func.func @two(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>)
      -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
    %e = tensor.empty() : tensor<4096x4096xbf16>
    %a = linalg.matmul ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                       outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %t = comm.all_reduce sum %a on @world {comm.label = "late"} : tensor<4096x4096xbf16>
    %u = comm.all_reduce sum %x on @world {comm.label = "early"} : tensor<4096x4096xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    %s = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
    return %r, %s : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
  }

  // Ranks that take different ways meet with different ops of the text, which
  // have to agree on how they move their data.
  // CHECK-LABEL: func.func @divergent(
  // CHECK-NOT:     comm.transport
  // CHECK:         return
  func.func @divergent(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>)
      -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
    %rank = comm.rank on @world
    %zero = arith.constant 0 : index
    %e = tensor.empty() : tensor<4096x4096xbf16>
    %first = arith.cmpi eq, %rank, %zero : index
    %r:2 = scf.if %first -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
      %t = comm.all_reduce sum %x on @world : tensor<4096x4096xbf16>
      %u = comm.all_reduce sum %x on @world : tensor<4096x4096xbf16>
      %m = linalg.matmul ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                         outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
      %a = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
      %b = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
      scf.yield %a, %m : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
    } else {
      %t = comm.all_reduce sum %x on @world : tensor<4096x4096xbf16>
      %u = comm.all_reduce sum %x on @world : tensor<4096x4096xbf16>
      %a = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
      %b = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
      scf.yield %a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
    }
    return %r#0, %r#1 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
  }
}
