//===- StructuralPasses.td - Passes that divide ops --------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_STRUCTURALPASSES_TD
#define BRAID_DIALECT_COMM_TRANSFORMS_STRUCTURALPASSES_TD

include "braid/Dialect/Comm/Transforms/CostOptions.td"
include "mlir/Pass/PassBase.td"

def CommPipelineMatmulPass : Pass<"comm-pipeline-matmul", "::mlir::ModuleOp"> {
  let summary = "Divide matmuls and the collectives around them";
  let description = [{
    Divides a matmul and the all-reduce or reduce-scatter of its result
    into chunks, so that the collective of one chunk runs beside the matmul of
    the next. An all-reduce is divided along the rows of the operand, a
    reduce-scatter along dimension 0 along the columns. Elementwise ops between
    the matmul and the collective are divided with them, where each chunk needs
    only its rows or columns of what the ops read. Each element is the sum of the
    same products as before; a library may add those of a smaller matmul in
    another order.

    An all-gather whose result only a matmul reads is divided with the matmul:
    along the rows of each member where the matmul has them in its result, and
    along the columns of a weight whose rows are summed over. A chunk of gathered
    rows has rows of each member; those of its matmul are put in their places.
    Columns of a weight are copied before they are gathered.

    Without `chunks` the pass predicts what 4, 2 and 8 chunks are worth. Short
    searches plan the order of a copy of the block together with its resources,
    as `comm-plan-resources{orders=search}` does, with the costs of the options.
    On machines with nothing to plan, and with `plan-resources=false`, a short
    search plans the order alone. For each kind of collective, the one that no
    other work can hide is divided first, which is the first gather or the last
    collective of results, then all of the kind. Chunks stay if they shorten the
    whole block by the fraction `min-gain`. A block of n ops gets 1,000 / n
    predictions, at least 2.

    A start with `comm.chunks` gets this number of chunks; 1 keeps it whole. It is
    an error if it cannot be divided like that, or if chunks of another start are
    to divide the same matmul.

    The pass divides collectives on tensors of static shape with elements. The
    matmul is in the block of the collective. The result of the matmul must
    have no other user, and the start no number in the total order
    (`comm.order`). In a block that ranks may reach differently nothing is
    divided, because a collective may match another one of the module. Labels of
    chunks end with `.0`, `.1`, and so on.

    Before:

    ```mlir
    %c = linalg.matmul ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>)
                       outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
    %t = comm.all_reduce sum %c on @tp : tensor<512x32xf32>
    %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
    ```

    After, with `chunks=2`:

    ```mlir
    %a0 = tensor.extract_slice %a[0, 0] [256, 64] [1, 1] : ...
    %c0 = linalg.matmul ins(%a0, %b ...) outs(%z0 ...) -> tensor<256x32xf32>
    %t0 = comm.all_reduce sum %c0 on @tp : tensor<256x32xf32>
    %a1 = tensor.extract_slice %a[256, 0] [256, 64] [1, 1] : ...
    %c1 = linalg.matmul ins(%a1, %b ...) outs(%z1 ...) -> tensor<256x32xf32>
    %t1 = comm.all_reduce sum %c1 on @tp : tensor<256x32xf32>
    %r0 = comm.wait %t0 : !comm.token<tensor<256x32xf32>>
    %s0 = tensor.insert_slice %r0 into %e[0, 0] [256, 32] [1, 1] : ...
    %r1 = comm.wait %t1 : !comm.token<tensor<256x32xf32>>
    %r = tensor.insert_slice %r1 into %s0[256, 0] [256, 32] [1, 1] : ...
    ```

    The remark `chunked-collectives` counts the collectives that were divided.
  }];
  let options = !listconcat(costOptions, [
    Option<"chunks", "chunks", "int64_t", /*default=*/"0",
           "The chunks of each collective; 0 lets the pass choose">,
    MinGain<"chunks have to shorten a block">, planResources
  ]);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CommOwnPartFirstPass : Pass<"comm-own-part-first", "::mlir::ModuleOp"> {
  let summary = "Compute with a rank's own part of a gather before the others are there";
  let description = [{
    An all-gather joins rows of all members, of which a rank has its own from the
    beginning. What computes each row of its results from the same row of a
    gathered value can begin with these rows, beside the gather. The pass divides
    such ops by member: matmuls, elementwise ops and other linalg ops with a
    parallel loop along the rows. The rank's own rows come from the operand of the
    gather, those of the others from the gathered value. The order of collectives
    stays, and no collective changes. What other ops read is put together again:
    in place where a linalg op computes the rows into a new tensor, else by copies.

    Each element is computed as before; a library may add the terms of a smaller
    matmul in another order.

    The pass predicts what that is worth, as `comm-pipeline-matmul` does, for the
    ops behind at most two matmuls in a row, and for those behind one. For each
    kind of gather it tries the one that other work can hide least first, then all
    of the kind. It keeps what shortens the whole block by the fraction `min-gain`
    with a peak within `max-memory`. With `matmuls` the pass divides the ops behind
    every gather, up to so many matmuls in a row.

    A gather is of one tensor of static shape, has one wait in its block, no cost,
    lane, limit on thread blocks, transport, chunks or number in the total order, at
    most 16 members, and a matmul that reads it.

    Before:

    ```mlir
    %t = comm.all_gather %x on @tp dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
    %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
    %h = linalg.matmul ins(%g, %w ...) outs(%e ...) -> tensor<8x16xf32>
    ```

    After, in a group of two, where `%own` and `%other` are the first rows of this
    rank and of the other one:

    ```mlir
    %t = comm.all_gather %x on @tp dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
    %e0 = tensor.extract_slice %e[%own, 0] [4, 16] [1, 1] : ...
    %h0 = linalg.matmul ins(%x, %w ...) outs(%e0 ...) -> tensor<4x16xf32>
    %i0 = tensor.insert_slice %h0 into %e[%own, 0] [4, 16] [1, 1] : ...
    %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
    %g1 = tensor.extract_slice %g[%other, 0] [4, 8] [1, 1] : ...
    %e1 = tensor.extract_slice %i0[%other, 0] [4, 16] [1, 1] : ...
    %h1 = linalg.matmul ins(%g1, %w ...) outs(%e1 ...) -> tensor<4x16xf32>
    %h = tensor.insert_slice %h1 into %i0[%other, 0] [4, 16] [1, 1] : ...
    ```

    The remark `own-parts-first` counts the gathers.
  }];
  let options = !listconcat(costOptions, [
    Option<"matmuls", "matmuls", "int64_t", /*default=*/"0",
           "Divide what is behind at most so many matmuls; 0 lets the pass choose">,
    MinGain<"a block has to become shorter">, planResources, maxMemory
  ]);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CommSimplifyPass : Pass<"comm-simplify", "::mlir::ModuleOp"> {
  let summary = "Transfer less where the result is the same";
  let description = [{
    Rewrites collectives on tensors together with what computes their operands and
    uses their values:

    | before | after | numerics |
    |---|---|---|
    | `f(all_gather x)`, `f` elementwise to a narrower type | `all_gather f(x)` | exact |
    | `f(all_gather a, all_gather b)`, `f` elementwise, nothing else uses the gathers | `all_gather f(a, b)` | exact |
    | a transposed gather along another dimension than the first | a gather of transposed operands along the first | exact |
    | `all_gather (widen x)` | `widen(all_gather x)`, if that pays | exact |
    | a collective that an earlier one of the block is equal to | the value of the earlier one, if that lives so long anyway, or if that pays | exact |
    | the own part of an `all_gather x` | `x` | exact |
    | a collective whose value nothing uses | nothing | exact |
    | the own part along dimension 0 of an `all_reduce x` | `reduce_scatter x` | same terms |
    | `all_gather (reduce_scatter x)` | `all_reduce x`, if that pays | same terms |
    | `all_reduce a + all_reduce b`, and reduce-scatters | `all_reduce (a + b)` | of integers exact, else reassociated |

    What is true of `all_gather` in the first four rows is true of all collectives
    that only move data. Elementwise ops are linalg ops with parallel loops alone
    and ops on whole tensors, without effects. What else they read is the same for
    all members: constants, what `all_reduce`, `all_gather` or `broadcast` give in
    the same group, and what is computed from these. A conversion with which the
    bodies of all users begin is enough, too. Sums of narrow values that the
    program widens first stay wide.

    By default `numerics=exact` the bits of all results stay. With `same-terms` a
    library may add the terms of a sum in another order, with `reassociate` terms
    may be added before they are sent. Ops with such sums are marked
    (`comm.reordered_sums`), as compiled programs record.

    What has to pay is predicted, as `comm-combine` does: short searches plan the
    order of a copy of the block together with its resources. A rewrite may stay if
    it shortens the block by the fraction `min-gain`, or if the block becomes no
    longer, takes no more memory, and the collectives themselves take less time by a
    fiftieth. With `max-memory` the peak stays within this limit. Without it a value
    that lives longer does not raise the peak of the best order: that order may hold
    both of two equal values anyway. All rewrites of a kind are tried together, then one by one, in at most
    1,000 / n predictions for a block of n ops.

    A start and its one wait are in one block, which all ranks reach together. A
    start with a cost, a lane, a limit on thread blocks, a transport, chunks or a
    number in the total order, on buffers or with destinations stays.

    Before:

    ```mlir
    %t = comm.all_gather %w on @dp dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
    %g = comm.wait %t : !comm.token<tensor<8x8xf32>>
    %b = arith.truncf %g : tensor<8x8xf32> to tensor<8x8xbf16>
    ```

    After:

    ```mlir
    %n = arith.truncf %w : tensor<4x8xf32> to tensor<4x8xbf16>
    %t = comm.all_gather %n on @dp dim 0 : tensor<4x8xbf16> -> tensor<8x8xbf16>
    %b = comm.wait %t : !comm.token<tensor<8x8xbf16>>
    ```

    The remarks `moved-elementwise`, `merged-collectives`, `erased-collectives` and
    `joined-gathers` count the collectives that were rewritten so, and the remark
    `own-parts` the parts.
  }];
  let options = !listconcat([
    numerics, MinGain<"what has to pay shortens a block">,
    planResources, maxMemory
  ], costOptions);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CommMergeBatchPass : Pass<"comm-merge-batch", "::mlir::ModuleOp"> {
  let summary = "Merge parts of a batch that do not pay";
  let description = [{
    The reverse of `comm-split-batch`: where a program does the same to two parts of a
    batch, such as two micro-batches with collectives of their own, one op does it to
    both parts. Two starts of one block that are alike, of which neither needs the
    other, show such parts. From them the pass follows the axes of ops, by the same
    maps as `comm-split-batch`, back to what the parts are computed from and on to what
    is computed from them. Ops that differ in more than their labels, or of which one
    operand that both parts would share differs, stay as they are; so do reductions
    over the batch, so that no sum changes. Parts have one size. Those of more parts are
    merged two by two.

    Parts that are slices of one tensor, one behind the other, become the slice of both;
    others are inserted into one tensor. Where an op needs a part, it gets a slice. Two
    insertions of the parts into one tensor become one.

    Parts are merged where the prediction of the block, as with `comm-pipeline-matmul`,
    becomes shorter by the fraction `min-gain`, also by longer searches. The number of
    predictions is that of `comm-combine`. With `max-memory` the peak stays within
    this limit. In a block that ranks may reach differently nothing is merged.

    Before:

    ```mlir
    %x0 = tensor.extract_slice %x[0, 0] [256, 64] [1, 1] : ...
    %x1 = tensor.extract_slice %x[256, 0] [256, 64] [1, 1] : ...
    %t0 = comm.all_reduce sum %x0 on @tp : tensor<256x64xf32>
    %r0 = comm.wait %t0 : !comm.token<tensor<256x64xf32>>
    %y0 = linalg.matmul ins(%r0, %w ...) outs(%e0 ...) -> tensor<256x32xf32>
    %t1 = comm.all_reduce sum %x1 on @tp : tensor<256x64xf32>
    %r1 = comm.wait %t1 : !comm.token<tensor<256x64xf32>>
    %y1 = linalg.matmul ins(%r1, %w ...) outs(%e1 ...) -> tensor<256x32xf32>
    ```

    After, with `all`:

    ```mlir
    %t = comm.all_reduce sum %x on @tp : tensor<512x64xf32>
    %r = comm.wait %t : !comm.token<tensor<512x64xf32>>
    %y = linalg.matmul ins(%r, %w ...) outs(%e ...) -> tensor<512x32xf32>
    %y0 = tensor.extract_slice %y[0, 0] [256, 32] [1, 1] : ...
    %y1 = tensor.extract_slice %y[256, 0] [256, 32] [1, 1] : ...
    ```

    The remark `merged-parts` names a start of the first part, and `merged-collectives`
    counts those that became one with another.
  }];
  let options = !listconcat([
    Option<"all", "all", "bool", /*default=*/"false", "Merge whatever that is worth">,
    MinGain<"a whole has to shorten a block">, planResources, maxMemory
  ], costOptions);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CommSplitBatchPass : Pass<"comm-split-batch", "::mlir::ModuleOp"> {
  let summary = "Split a block into parts of a batch";
  let description = [{
    Splits the ops of a block that work on a batch into ops on parts of it, so that
    the collectives of one part run beside the matmuls of another one. The batch is a
    dimension of arguments of the block, of a static size. From there it is followed
    through the block:

    | op | carries the batch if |
    |---|---|
    | of linalg | it is the dimension of one loop, by the indexing maps |
    | elementwise, on whole tensors | always |
    | reshape, slice, insertion, concatenation, padding | the dimension stays whole |
    | collective of one operand, wait | members neither join nor split it |
    | `library.attention`, its gradients | it is the batch or the heads |
    | `library.convolution` | it is the batch, or the features of the output |

    Values without the batch, such as weights, are shared. Where an op needs a part
    of such a value, it gets a slice. A reduction over the batch, such as the matmul
    of a weight's gradient, begins in each part with the result of the part before,
    so that the last one gives the whole sum, of which there is one collective.

    Any other op stays whole: a sort, a call, attention along its sequence. For these
    ops, and for results of the block, the parts are inserted into one tensor; what
    such an op gives can be split again. The remark `whole-op` names the op and the
    reason.

    By default `numerics=exact` ops that sum floats over the batch stay whole, too.
    With `same-terms` they are split. Marks (`comm.reordered_sums`) name the sums that
    a library may add in another order, as with `comm-pipeline-matmul`.

    Without `batch` the pass follows the dimensions of collectives back to arguments of
    the block and to what cannot be split, and splits from there all that it can; also
    what a single collective leads to. It predicts what halves are worth of the batches
    that split the longest collectives, as `comm-pipeline-matmul` does, in at most
    4,000 / n predictions for a block of n ops, and then, of the best two, what three
    and four parts are worth and uneven ones, of three and two fifths. It splits the
    block in the best way if longer searches, too, find the block shorter by the
    fraction `min-gain`. With `max-memory` the peak stays within this limit. In a block
    that ranks may reach differently nothing is split.

    Parts are equal if `parts` is given, or as `percentages` says. Those of at least
    128 elements are multiples of 128, but for the last one. Labels of parts end with
    `.0`, `.1`, and so on.

    Before:

    ```mlir
    %h = linalg.matmul ins(%x, %w : tensor<512x64xf32>, tensor<64x32xf32>)
                       outs(%e : tensor<512x32xf32>) -> tensor<512x32xf32>
    %t = comm.all_reduce sum %h on @tp : tensor<512x32xf32>
    %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
    %y = linalg.matmul ins(%r, %v : tensor<512x32xf32>, tensor<32x64xf32>)
                       outs(%f : tensor<512x64xf32>) -> tensor<512x64xf32>
    return %y : tensor<512x64xf32>
    ```

    After, with `batch=0:0 all`:

    ```mlir
    %x0 = tensor.extract_slice %x[0, 0] [256, 64] [1, 1] : ...
    %h0 = linalg.matmul ins(%x0, %w ...) outs(%e0 ...) -> tensor<256x32xf32>
    %x1 = tensor.extract_slice %x[256, 0] [256, 64] [1, 1] : ...
    %h1 = linalg.matmul ins(%x1, %w ...) outs(%e1 ...) -> tensor<256x32xf32>
    %t0 = comm.all_reduce sum %h0 on @tp : tensor<256x32xf32>
    %t1 = comm.all_reduce sum %h1 on @tp : tensor<256x32xf32>
    %r0 = comm.wait %t0 : !comm.token<tensor<256x32xf32>>
    %r1 = comm.wait %t1 : !comm.token<tensor<256x32xf32>>
    %y0 = linalg.matmul ins(%r0, %v ...) outs(%f0 ...) -> tensor<256x64xf32>
    %y1 = linalg.matmul ins(%r1, %v ...) outs(%f1 ...) -> tensor<256x64xf32>
    %s0 = tensor.insert_slice %y0 into %e[0, 0] [256, 64] [1, 1] : ...
    %s1 = tensor.insert_slice %y1 into %s0[256, 0] [256, 64] [1, 1] : ...
    return %s1 : tensor<512x64xf32>
    ```

    `comm-schedule` then brings the parts into the best order. The remark `batch` says
    which arguments have the batch and how it is cut, `whole-block` why a block stays as it is, and
    `split-collectives` counts the collectives that were split.
  }];
  let options = !listconcat([
    ListOption<"batchArguments", "batch", "std::string",
               "Arguments of functions and their dimensions with the batch, such as "
               "0:0,2:1; none lets the pass choose">,
    Option<"numParts", "parts", "int64_t", /*default=*/"0",
           "The number of parts; 0 lets the pass choose, halves with all">,
    ListOption<"percentages", "percentages", "int64_t",
               "The parts in percent of the batch, such as 40,60; none are equal parts">,
    Option<"all", "all", "bool", /*default=*/"false",
           "Split whatever that is worth: what splits the longest collectives">,
    numerics, MinGain<"parts have to shorten a block">,
    planResources, maxMemory
  ], costOptions);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CommSplitHierarchyPass : Pass<"comm-split-hierarchy", "::mlir::ModuleOp"> {
  let summary = "Run collectives over several nodes in steps within and across nodes";
  let description = [{
    A collective in a group whose members are on several nodes, several on each,
    runs in steps, if that pays: in groups of the members of a node (`_inside`), and
    in groups of one member of each node (`_across`):

    | before | after | numerics |
    |---|---|---|
    | `all_gather` | `all_gather` across, `all_gather` inside | exact |
    | `reduce_scatter` | `reduce_scatter` inside, `reduce_scatter` across | of integers, `min` and `max` exact, else reassociated |
    | `all_reduce` | `reduce_scatter` inside, `all_reduce` across, `all_gather` inside | the same |
    | `broadcast` | `scatter` inside, `broadcast` across, `all_gather` inside | exact |

    The port of a rank carries what it carried; steps of a ring become fewer, and
    links within nodes run beside the network. Parts of a gather come in the order
    of the steps: a transposition behind it, or in front of a reduce-scatter,
    restores the order, and the prediction has its time. Groups of the program with
    the same lists are used; new ones have the name of the group and the suffix.

    The ranks of a node come from the machine or `ranks-per-node`. Each list of the
    group has as many members on each of its nodes, node by node. A group `all` has
    `ranks` members, and the program then runs on this number of ranks only. Parts
    are along dimension 0, tensors have static shapes, and members of a node share
    the rows of what they reduce or scatter evenly. A launch of several operands becomes launches
    of as many; all its waits are in its block. A start with a cost, a lane, a limit on
    thread blocks, a transport, chunks, a factor or a number in the total order stays, as does
    one where ranks may take different paths.

    What pays is predicted, as `comm-split-all-reduce` does: collectives of one kind
    are split one alone or all together where the block becomes shorter by the
    fraction `min-gain`. Within a node nothing is split.

    Before, with two ranks on a node:

    ```mlir
    comm.group @dp [[0, 1, 2, 3]]
    %t = comm.all_reduce max %g on @dp : tensor<8xf32>
    %r = comm.wait %t : !comm.token<tensor<8xf32>>
    ```

    After:

    ```mlir
    comm.group @dp_inside [[0, 1], [2, 3]]
    comm.group @dp_across [[0, 2], [1, 3]]
    %t0 = comm.reduce_scatter max %g on @dp_inside dim 0 : tensor<8xf32> -> tensor<4xf32>
    %r0 = comm.wait %t0 : !comm.token<tensor<4xf32>>
    %t1 = comm.all_reduce max %r0 on @dp_across : tensor<4xf32>
    %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
    %t2 = comm.all_gather %r1 on @dp_inside dim 0 : tensor<4xf32> -> tensor<8xf32>
    %r = comm.wait %t2 : !comm.token<tensor<8xf32>>
    ```

    The remark `split-collectives` counts the collectives that were split.
  }];
  let options = !listconcat([
    Option<"all", "all", "bool", /*default=*/"false", "Split all that can be split">,
    numerics, MinGain<"a split has to shorten a block">
  ], costOptions);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_STRUCTURALPASSES_TD
