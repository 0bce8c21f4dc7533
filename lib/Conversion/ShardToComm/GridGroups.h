//===- GridGroups.h - Groups of ranks along the axes of grids ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_SHARDTOCOMM_GRIDGROUPS_H
#define BRAID_LIB_CONVERSION_SHARDTOCOMM_GRIDGROUPS_H

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace braid::spmd {

/// The devices that communicate in an op: those that differ only in the
/// indices along some axes of a grid.
struct AxisGroup {
  /// The `comm.group`; null for a group of one device, which needs none.
  mlir::FlatSymbolRefAttr symbol;
  /// The sizes of the axes, in the order in which the op names them.
  llvm::SmallVector<int64_t> sizes;
  /// The number of devices.
  int64_t size = 1;
};

/// Turns grids into groups of ranks. A device is the rank that equals its
/// linear index in the grid.
class GridGroups {
public:
  /// Groups that `module` already has serve again. If `ranks` is not 0, every
  /// grid has this number of devices.
  GridGroups(mlir::ModuleOp module, int64_t ranks);

  /// The sizes of the axes of the grid that `op` names; failure after an error
  /// if the grid has dynamic sizes, or not one device for each rank.
  mlir::FailureOr<llvm::ArrayRef<int64_t>>
  getShape(mlir::Operation *op, mlir::FlatSymbolRefAttr grid);

  /// The sizes of `axes`; failure after an error if one is not of the grid, or
  /// named twice.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  getSizes(mlir::Operation *op, mlir::FlatSymbolRefAttr grid,
           llvm::ArrayRef<int16_t> axes);

  /// The group along `axes`, whose members are in the row-major order of the
  /// axes as listed. Creates the `comm.group` behind the grid.
  mlir::FailureOr<AxisGroup> getGroup(mlir::Operation *op,
                                      mlir::FlatSymbolRefAttr grid,
                                      llvm::ArrayRef<int16_t> axes);

  /// The group of all devices, by their linear indices.
  mlir::FailureOr<AxisGroup> getWorld(mlir::Operation *op,
                                      mlir::FlatSymbolRefAttr grid);

private:
  mlir::FlatSymbolRefAttr getSymbol(mlir::shard::GridOp grid,
                                    llvm::ArrayRef<int16_t> axes);

  int64_t ranks;
  /// The grid that gave the number of ranks; null if the user gave it.
  mlir::shard::GridOp first;
  mlir::SymbolTableCollection symbolTables;
  /// By the op with the symbol table and the lists of ranks.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Attribute>,
                 mlir::FlatSymbolRefAttr>
      symbols;
};

} // namespace braid::spmd

#endif // BRAID_LIB_CONVERSION_SHARDTOCOMM_GRIDGROUPS_H
