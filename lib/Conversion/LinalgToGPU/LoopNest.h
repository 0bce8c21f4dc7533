//===- LoopNest.h - Loops over buffers with linear addresses ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_LOOPNEST_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace braid::kernels {

/// The elements of a buffer that a loop nest accesses: the address of one is
/// `base + sum(strides[d] * index of loop d)`, in elements from where the
/// offset of the buffer's type counts.
struct Access {
  mlir::Value buffer;
  mlir::Type elementType;
  int64_t base = 0;
  llvm::SmallVector<int64_t> strides;
  /// What the body calls the element.
  mlir::BlockArgument argument;

  int64_t getStride(unsigned loop) const { return strides[loop]; }
};

/// Kernels run less iterations than this.
constexpr int64_t kMostIterations = int64_t(1) << 47;

/// True if loops of `sizes` run kMostIterations or more. Dynamic sizes do not
/// count.
bool hasTooManyIterations(llvm::ArrayRef<int64_t> sizes);

/// A linalg op on buffers as loops of constant sizes. Loops of one iteration
/// are dropped.
struct LoopNest {
  mlir::Location loc;
  mlir::Block *body = nullptr;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<bool> isReduction;
  llvm::SmallVector<Access> inputs, outputs;
  /// Operands that are no buffers, and what the body calls them.
  llvm::SmallVector<std::pair<mlir::Value, mlir::BlockArgument>> scalars;
  /// Operands of which every element is one constant.
  llvm::SmallVector<std::pair<mlir::TypedAttr, mlir::BlockArgument>> constants;
  /// For each output the number that it was just filled with; null where it is
  /// what the memory holds.
  llvm::SmallVector<mlir::Value> fills;
  /// For each loop of the op its loop here, or -1 for one that is dropped.
  llvm::SmallVector<int> loopOfDimension;
  /// The body asks for indices, so that loops are neither merged nor moved.
  bool usesIndices = false;

  unsigned getNumLoops() const { return sizes.size(); }
  int64_t getNumIterations() const;
  bool hasReduction() const;
  /// Whether the body reads what output `index` holds.
  bool readsOutput(unsigned index) const {
    return !outputs[index].argument.use_empty();
  }
  llvm::SmallVector<Access *> getAccesses();
  llvm::SmallVector<const Access *> getAccesses() const;

  /// Puts the loops in the order `order`.
  void permute(llvm::ArrayRef<unsigned> order);
  /// Puts the loops in the order of the first output's memory, so that
  /// neighbouring threads write neighbouring elements, and merges them.
  void orderByMemory();
  /// Merges the loop `loop` with the one around it.
  void merge(unsigned loop);
  /// Merges neighbouring loops of one kind that all accesses step through as
  /// one.
  void collapse();
};

/// The loops of `op`, a linalg op on buffers with one block; none where sizes
/// or strides are not constant, elements have a type that kernels cannot
/// access, a map is not linear, or iterations are kMostIterations or more.
std::optional<LoopNest> getLoopNest(mlir::linalg::LinalgOp op);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_LOOPNEST_H
