//===- ShardPasses.td - From the shard dialect -------------*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_SHARDPASSES_TD
#define BRAID_CONVERSION_SHARDPASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertShardToCommPass : Pass<"convert-shard-to-comm", "::mlir::ModuleOp"> {
  let summary = "Convert the shard dialect to the comm dialect";
  let description = [{
    Converts a program that `sharding-propagation` and `shard-partition` of MLIR
    have partitioned. A device of a grid is the rank that equals its linear index.
    Each set of grid axes becomes a `comm.group`, and each collective becomes a
    start with its wait right behind, which the scheduling passes then move apart.
    `docs/reference/shard.md` lists what becomes of each op.

    Before:

    ```mlir
    shard.grid @grid(shape = 2x2)

    func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %r = shard.all_reduce %x on @grid grid_axes = [1] : tensor<4x4xf32> -> tensor<4x4xf32>
      return %r : tensor<4x4xf32>
    }
    ```

    After:

    ```mlir
    comm.group @grid_axis_1 [[0, 1], [2, 3]]

    func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %t = comm.all_reduce sum %x on @grid_axis_1 : tensor<4x4xf32>
      %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
      return %r : tensor<4x4xf32>
    }
    ```

    Errors: a grid with a dynamic size, grids of different numbers of devices, a
    reduction `generic`, a receive without a source, elements that no conversion
    widens, halos larger than the data between them, and a program that is not
    partitioned.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", /*default=*/"0",
           "The number of ranks that run the program; every grid has as many "
           "devices (0: the number is that of the grids)">
  ];
  let dependentDialects = [
    "::braid::comm::CommDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // BRAID_CONVERSION_SHARDPASSES_TD
