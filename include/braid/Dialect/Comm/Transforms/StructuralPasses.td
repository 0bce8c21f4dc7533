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
  let summary = "Divide matrix products and the collectives that follow them";
  let description = [{
    Divides a matrix product and the all-reduce or reduce-scatter of its result
    into chunks, so that the collective of one chunk runs beside the product of
    the next. An all-reduce is divided along the rows of the operand, a
    reduce-scatter along dimension 0 along the columns. Elementwise ops between
    the product and the collective are divided with them. Each element is the
    same sum as before.

    Without `chunks` the pass predicts what 2, 4, ... `max-chunks` chunks are
    worth: a short search schedules a copy of the block, with the costs of the
    options. Collectives of one kind are divided all together, or only the last
    of them, which no later work can hide. Chunks stay if they shorten the block
    by `min-gain` percent.

    The pass divides collectives on tensors of static shape. The result of the
    product must have no other user, and the start no number in the total order
    (`comm.order`). Labels of chunks end with `.0`, `.1`, and so on.

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
  }];
  let options = !listconcat(costOptions, [
    Option<"chunks", "chunks", "int64_t", /*default=*/"0",
           "The chunks of each collective; 0 lets the pass choose">,
    Option<"maxChunks", "max-chunks", "int64_t", /*default=*/"8",
           "The most chunks that the pass chooses">,
    Option<"minGainPercent", "min-gain", "double", /*default=*/"0.5",
           "By how many percent chunks have to shorten a block">
  ]);
  let dependentDialects = ["::braid::comm::CommDialect", "::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numChunked", "chunked-collectives",
                              "Collectives that were divided">];
}

#endif // BRAID_DIALECT_COMM_TRANSFORMS_STRUCTURALPASSES_TD
