//===- LoweringPasses.td - Passes around bufferization -----*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_LOWERINGPASSES_TD
#define BRAID_DIALECT_COMM_TRANSFORMS_LOWERINGPASSES_TD

include "mlir/Pass/PassBase.td"

def CommFuseElementwisePass
    : Pass<"comm-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise ops where no collective loses what hides it";
  let description = [{
    Fuses elementwise producers on tensors into their only consumer, as
    linalg-fuse-elementwise-ops does, if both depend, directly or not, on the same
    set of collectives. Other fusions would move work that can hide a collective
    behind the wait of the collective.

    A producer of few operations, such as a conversion or a broadcast, is also
    computed by consumers that depend on more collectives, and by each of
    several consumers, if a consumer then reads no more bytes than before, or
    all of them together move fewer: nobody stores or reads the result. A GPU
    computes functions such as exp in the time of its loads and stores
    (`ops-per-byte`). A function of a row is computed once for the row. If
    several ops read an expensive result, one op computes this result and one of
    theirs. If bodies read single elements of a result with `tensor.extract`, as
    a gather does, they compute these elements. An integer that the program reads
    outside of bodies, as the start of a slice, becomes ops on scalars if the
    integer follows from scalars, such as the number of an iteration, or if a loop
    stacks such integers. Other slices at places that tensors have, such as the
    position in a cache, are elementwise where a GPU (`ops-per-byte`) copies the
    result in the time in which the host reads the place: bodies read places.

    A matmul whose sums have few terms is elementwise where a GPU (`ops-per-byte`)
    reads all terms in the time in which it moves the operands and launches a
    kernel, as thousands of products of 64 x 3 and 3 x 3 elements. Libraries
    compute other matmuls. Those of TF32 that sum over the outer dimension of both
    operands, as the gradients of weights do, read a transposed copy of the
    smaller operand where the copy takes less time than the matmul gains. Those of
    8-bit floats, which a library of a GPU multiplies along adjacent elements of
    both operands alone, read transposed copies, or copies of 16 bits where it has
    no kernel for the types, or for sizes that are no multiples of 16.

    A loop in which each iteration computes a block of rows from blocks of other
    tensors, and adds to sums, has fewer iterations on larger blocks, or becomes its
    body, where what it computes fits into `most-merged-bytes` and the ops of an
    iteration take about as long as their launches. The sums keep their terms. In
    a loop without collectives that passes a state on, as a recurrent network, this
    is done with the matmuls by weights that the state does not wait for, or that do not wait for the
    state, and with gradients that the iterations add up: they become loops of their
    own in front of the loop or behind it, and stacks of at most `most-merged-bytes`
    keep what they need.

    Reductions of the same tensor that depend on the same set of collectives, but
    not on each other, become one op with all results, so the tensor is read once,
    as for the sums of a norm and of its gradients. On a GPU a large sum over more
    dimensions adds parts from such an op. A reduction that keeps places, as
    `argmax` does, becomes one that finds the extremum and one that finds its
    first place, so that threads, or vectors of rows on hosts, share both. Small
    elementwise ops become one op, too, and share a launch.

    Dimensions of one element are dropped, transposes that move only such
    dimensions become reshapes, and reshapes move behind elementwise ops.
    Elementwise ops of other dialects become `linalg.generic`. The fused op gets
    both labels (`exp+add`), the sum of the costs if both ops have one, and both
    locations. The pass leaves nothing to fuse, so later fusion cannot undo a
    schedule.

    Before:

    ```mlir
    %x = math.exp %a {comm.label = "exp"} : tensor<4xf32>
    %y = math.absf %x {comm.label = "abs"} : tensor<4xf32>   // as %x, needs no wait
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %z = arith.addf %y, %r {comm.label = "add"} : tensor<4xf32>
    ```

    After:

    ```mlir
    %y = linalg.generic ... attrs = {comm.label = "exp+abs"} ...
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %z = linalg.generic ... ins(%y, %r ...) attrs = {comm.label = "add"} ...
    ```

    Then a large tensor that only `linalg.generic` ops write and read gets the
    order of dimensions with which these ops move the fewest bytes along other
    loops than the rest of their operands, as between two transposes. Matmuls
    take the rows and columns of such tensors in either order.

    The remark `fused-producers` counts the ops that were fused into others,
    `aligned-layouts` the tensors with another order of dimensions,
    `merged-iterations` the iterations that became a part of others.
  }];
  let options = [
    Option<"opsPerByte", "ops-per-byte", "int64_t", /*default=*/"0",
           "The operations that the target computes while it moves a byte: so "
           "many of a fused op make a second computation free, and short "
           "sums of matmuls elementwise">,
    Option<"mostMergedBytes", "most-merged-bytes", "int64_t", /*default=*/"0",
           "The bytes that merged iterations of a loop over blocks of rows may "
           "compute and need at the same time; 0 merges none">
  ];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def CommAssignLanesPass : Pass<"comm-assign-lanes", "::mlir::ModuleOp"> {
  let summary = "Collect the lanes of each group";
  let description = [{
    Appends the lanes that starts name (`comm.lane`, `comm.ctas`,
    `comm.transport`) to the lanes that their groups declare. Each lane becomes a
    communicator. A start without a limit of thread blocks or a transport takes
    that of its lane.

    It is an error if one lane gets two different limits or transports.

    Before:

    ```mlir
    comm.group @world all
    %t = comm.all_reduce sum %x on @world {comm.lane = "latency", comm.ctas = 4 : i64}
        : tensor<4xf32>
    %u = comm.all_gather %y on @world dim 0 {comm.transport = "copy"}
        : tensor<4xf32> -> tensor<8xf32>
    ```

    After:

    ```mlir
    comm.group @world all {comm.lanes = [
      {ctas = 4 : i64, name = "latency"}, {name = "copy", transport = "copy"}
    ]}
    ```
  }];
}

def CommReduceBehindLoopsPass
    : Pass<"comm-reduce-behind-loops", "::mlir::func::FuncOp"> {
  let summary = "Reduce what a loop adds up once behind the loop";
  let description = [{
    Moves all-reduces with `comm.any_order` behind the `scf.for` around them where
    values that the loop carries add up their results, or parts of these at fixed
    places, and nothing else in the loop reads them. Each rank adds its own terms,
    and one all-reduce for each value sends the sum. A partitioner leaves such
    all-reduces in the gradients of recurrent networks.

    Here the pass asks for no costs: less is sent in all. `comm-pipeline-loops` does
    the same to other all-reduces where that is shorter and `numerics` allows it.

    Before:

    ```mlir
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %g) -> (tensor<4xf32>) {
      %x = tensor.extract_slice %xs[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
      %t = comm.all_reduce sum %x on @dp {comm.any_order} : tensor<4xf32>
      %w = comm.wait %t : !comm.token<tensor<4xf32>>
      %s = arith.addf %a, %w : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    %l = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zeros) -> (tensor<4xf32>) {
      %x = tensor.extract_slice %xs[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
      %s = arith.addf %a, %x : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    }
    %t = comm.all_reduce sum %l on @dp {comm.any_order} : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %r = arith.addf %g, %w : tensor<4xf32>
    ```

    The remark `moved-starts` counts the all-reduces.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def CommLegalizeForNCCLPass
    : Pass<"comm-legalize-for-nccl", "::mlir::func::FuncOp"> {
  let summary = "Rewrite collectives that NCCL does not have";
  let description = [{
    Runs on tensors before scheduling, so that the new ops can be scheduled and
    fused. Collectives that NCCL does not have become other collectives and
    compute:

    | collective | becomes |
    |---|---|
    | `all_gather` along another dimension than 0 | `all_gather` along 0, a transposition after the wait |
    | `reduce_scatter` along another dimension | a transposition, `reduce_scatter` along 0 |
    | `band`, `bor` of `i1` | `min`, `max` |
    | `band`, `bor`, `bxor` of other integers, `bxor` of `i1` | `all_gather` (`reduce_scatter`: `all_to_all`), a reduction of the parts after the wait |
    | `all_reduce`, `reduce` with these in a group of more than 16, or of a size that is not known | `min`, `max`, `sum` of bits as bytes, which are put together after the wait |
    | reductions of `i16` | the same of `i32` |
    | `avg` of integers | `sum`, a division after the wait |
    | `premul_sum` of complex numbers | a product, `sum` |

    Bits as bytes work in a group of any size: the lowest bit of a sum is that of
    `bxor`, even where the sum overflows. They are 8 times as many bytes, of which
    a ring moves each twice, so that gathering the operands of 16 members costs as
    much.

    Sizes may be dynamic. Where neither the group nor the shapes say how many
    members there are, the program asks `comm.size`.

    The tokens may travel through loops, branches and selections. It is an error
    if such a collective works on buffers, if its tokens leave the function, or if
    a wait may get the token of another collective, too, whose replacement
    differs.

    Before:

    ```mlir
    %t = comm.all_gather %x on @world dim 1 : tensor<4x2xf32> -> tensor<4x4xf32>
    %g = comm.wait %t : !comm.token<tensor<4x4xf32>>
    ```

    After:

    ```mlir
    %t = comm.all_gather %x on @world dim 0 : tensor<4x2xf32> -> tensor<8x2xf32>
    %w = comm.wait %t : !comm.token<tensor<8x2xf32>>
    %p = tensor.expand_shape %w [[0, 1], [2]] output_shape [2, 4, 2]
        : tensor<8x2xf32> into tensor<2x4x2xf32>
    %m = linalg.transpose ins(%p : tensor<2x4x2xf32>) outs(%e : tensor<4x2x2xf32>)
        permutation = [1, 0, 2]
    %g = tensor.collapse_shape %m [[0], [1, 2]] : tensor<4x2x2xf32> into tensor<4x4xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def CommInlineComputePass
    : Pass<"comm-inline-compute", "::mlir::func::FuncOp"> {
  let summary = "Inline the regions of comm.compute";
  let description = [{
    Replaces each `comm.compute` by the ops of its region, whose locations get the
    name of the kernel. Runs after scheduling. An `async` kernel runs at its start
    on the compute stream, because a host has no side stream; its values replace
    those of its waits.

    It is an error if a `comm.compute` is opaque, because it has nothing to run, or
    if another op than a wait uses the token of an `async` one.

    Before:

    ```mlir
    %y = comm.compute "exp"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %e = math.exp %a : tensor<4xf32>
      comm.yield %e : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    %y = math.exp %x : tensor<4xf32>
    ```
  }];
}

def CommBufferizePass : Pass<"comm-bufferize", "::mlir::ModuleOp"> {
  let summary = "Bufferize a program and its operations in flight";
  let description = [{
    Turns tensors into buffers with One-Shot Bufferize, across functions. A
    collective runs in place if nothing else needs the value of its operand, and
    writes a second buffer, without a copy, otherwise. Until the wait no op writes
    a buffer that the collective reads, and no op accesses a buffer that it
    writes: a later write of the value goes to a copy. The wait names the buffers
    in flight.

    A token that leaves the block of its start (returned, yielded or passed on)
    owns its source: the pass hands over a dead value, copies a live one before
    the start, and passes the buffers along with the token.

    Arguments of public functions are read-only unless they have `comm.donated`.
    The pass packs operands that are not contiguous before the start. Starts and
    waits keep their attributes and locations.

    The pass ends with the check of `comm-verify{only-buffers=true}`.

    Before:

    ```mlir
    %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %t = comm.all_reduce sum %x on @world : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    ```

    After:

    ```mlir
    %x = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
    %t = comm.all_reduce sum %x into %x on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t writes(%x : memref<4xf32>) : !comm.token
    ```
  }];
  let dependentDialects = [
    "::braid::comm::CommDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_LOWERINGPASSES_TD
