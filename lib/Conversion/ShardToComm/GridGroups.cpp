//===- GridGroups.cpp - Groups of ranks along the axes of grids -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GridGroups.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid;
using namespace braid::spmd;
using mlir::shard::GridOp;

/// The most devices of a grid. It bounds the size of the lists of ranks.
static constexpr int64_t kMaxDevices = 1 << 20;

GridGroups::GridGroups(ModuleOp module, int64_t ranks) : ranks(ranks) {
  module.walk([&](comm::GroupOp group) {
    if (ArrayAttr lists = group.getRanksAttr())
      symbols.try_emplace({group->getParentOp(), lists},
                          FlatSymbolRefAttr::get(group.getSymNameAttr()));
  });
}

/// The number of devices of a grid; none if it is 0 or more than kMaxDevices.
static std::optional<int64_t> countDevices(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size <= 0 || size > kMaxDevices / count)
      return std::nullopt;
    count *= size;
  }
  return count;
}

FailureOr<ArrayRef<int64_t>> GridGroups::getShape(Operation *op,
                                                  FlatSymbolRefAttr symbol) {
  GridOp grid = mlir::shard::getGrid(op, symbol, symbolTables);
  auto emit = [&]() {
    InFlightDiagnostic diagnostic = op->emitOpError();
    diagnostic.attachNote(grid.getLoc()) << "the grid is here";
    return diagnostic;
  };
  ArrayRef<int64_t> shape = grid.getShape();
  if (ShapedType::isDynamicShape(shape))
    return emit() << "is on grid " << symbol
                  << " of a dynamic shape, expected static sizes, as the "
                     "groups of ranks are constants";
  std::optional<int64_t> devices = countDevices(shape);
  if (!devices)
    return emit() << "is on grid " << symbol << " with "
                  << (llvm::is_contained(shape, 0) ? "no device"
                                                   : "too many devices")
                  << ", expected 1 to " << kMaxDevices;
  if (ranks == 0) {
    ranks = *devices;
    first = grid;
  }
  if (*devices != ranks) {
    InFlightDiagnostic diagnostic = emit() << "is on grid " << symbol << " of "
                                           << *devices << " devices, expected "
                                           << ranks << ", one for each rank";
    if (first)
      diagnostic.attachNote(first.getLoc())
          << "another grid gives the number of ranks";
    return diagnostic;
  }
  return shape;
}

/// Adds to `members` the linear indices of the devices that differ from device
/// `first` along `axes` only, in the row-major order of these axes.
static void listMembers(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                        ArrayRef<int16_t> axes, int64_t first,
                        SmallVectorImpl<int64_t> &members) {
  if (axes.empty()) {
    members.push_back(first);
    return;
  }
  int16_t axis = axes.front();
  for (int64_t index = 0; index < shape[axis]; ++index)
    listMembers(shape, strides, axes.drop_front(),
                first + index * strides[axis], members);
}

FlatSymbolRefAttr GridGroups::getSymbol(GridOp grid, ArrayRef<int16_t> axes) {
  ArrayRef<int64_t> shape = grid.getShape();
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  SmallVector<int16_t> others;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  SmallVector<int64_t> firsts;
  listMembers(shape, strides, others, 0, firsts);

  OpBuilder builder(grid);
  builder.setInsertionPointAfter(grid);
  SmallVector<Attribute> lists;
  for (int64_t first : firsts) {
    SmallVector<int64_t> members;
    listMembers(shape, strides, axes, first, members);
    lists.push_back(builder.getDenseI64ArrayAttr(members));
  }
  ArrayAttr ranks = builder.getArrayAttr(lists);
  FlatSymbolRefAttr &symbol = symbols[{grid->getParentOp(), ranks}];
  if (!symbol) {
    std::string name = grid.getSymName().str();
    name += axes.size() == 1 ? "_axis" : "_axes";
    for (int16_t axis : axes)
      name += "_" + std::to_string(axis);
    auto group = comm::GroupOp::create(builder, grid.getLoc(), name, ranks,
                                       /*sym_visibility=*/nullptr);
    symbolTables.getSymbolTable(grid->getParentOp()).insert(group);
    symbol = FlatSymbolRefAttr::get(group.getSymNameAttr());
  }
  return symbol;
}

FailureOr<SmallVector<int64_t>> GridGroups::getSizes(Operation *op,
                                                     FlatSymbolRefAttr symbol,
                                                     ArrayRef<int16_t> axes) {
  FailureOr<ArrayRef<int64_t>> shape = getShape(op, symbol);
  if (failed(shape))
    return failure();
  SmallVector<int64_t> sizes;
  for (auto [position, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= static_cast<int64_t>(shape->size()))
      return op->emitOpError()
             << "names axis " << axis << " of grid " << symbol
             << ", expected one from 0 to " << shape->size() - 1;
    if (llvm::is_contained(axes.take_front(position), axis))
      return op->emitOpError() << "names axis " << axis << " of grid " << symbol
                               << " twice, expected every axis at most once";
    sizes.push_back((*shape)[axis]);
  }
  return sizes;
}

FailureOr<AxisGroup> GridGroups::getGroup(Operation *op,
                                          FlatSymbolRefAttr symbol,
                                          ArrayRef<int16_t> axes) {
  FailureOr<SmallVector<int64_t>> sizes = getSizes(op, symbol, axes);
  if (failed(sizes))
    return failure();
  AxisGroup group;
  group.sizes = *sizes;
  for (int64_t size : group.sizes)
    group.size *= size;
  if (group.size > 1)
    group.symbol =
        getSymbol(mlir::shard::getGrid(op, symbol, symbolTables), axes);
  return group;
}

FailureOr<AxisGroup> GridGroups::getWorld(Operation *op,
                                          FlatSymbolRefAttr symbol) {
  FailureOr<ArrayRef<int64_t>> shape = getShape(op, symbol);
  if (failed(shape))
    return failure();
  return getGroup(op, symbol,
                  llvm::to_vector(llvm::seq<int16_t>(0, shape->size())));
}
