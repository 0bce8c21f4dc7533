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
    Option<"minGain", "min-gain", "std::string", /*default=*/"\"auto\"",
           "The fraction by which chunks have to shorten a block, such as 0.01; auto is 0.005">,
    Option<"planResources", "plan-resources", "bool", /*default=*/"true",
           "Plan resources in predictions, on machines that were measured">
  ]);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_STRUCTURALPASSES_TD
