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

/// An access of a loop nest to a buffer. The address of an element is
/// `base + sum(strides[d] * index of loop d)`, in elements from the base
/// pointer of the buffer.
struct Access {
  mlir::Value buffer;
  mlir::Type elementType;
  int64_t base = 0;
  llvm::SmallVector<int64_t> strides;
  /// The argument of the body with the element.
  mlir::BlockArgument argument;

  int64_t getStride(unsigned loop) const { return strides[loop]; }
  /// True if no two iterations of loops of `sizes` access the same element.
  bool isInjective(llvm::ArrayRef<int64_t> sizes) const;
};

/// Kernels have fewer iterations than this.
constexpr int64_t kMostIterations = int64_t(1) << 47;

/// True if loops of `sizes` run kMostIterations or more. Dynamic sizes do not
/// count.
bool hasTooManyIterations(llvm::ArrayRef<int64_t> sizes);

/// The index of a dimension of an op: `index of loop / divisor % size`.
struct DimensionIndex {
  /// -1 for a dimension of size 1, whose loop is dropped.
  int loop;
  int64_t divisor = 1;
  int64_t size = 1;
};

/// A linalg op on buffers as loops of constant sizes. Loops of one iteration
/// are dropped.
struct LoopNest {
  mlir::Location loc;
  mlir::Block *body = nullptr;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<bool> isReduction;
  llvm::SmallVector<Access> inputs, outputs;
  /// Operands that are no buffers, and their arguments of the body.
  llvm::SmallVector<std::pair<mlir::Value, mlir::BlockArgument>> scalars;
  /// Operands whose elements all equal one constant.
  llvm::SmallVector<std::pair<mlir::TypedAttr, mlir::BlockArgument>> constants;
  /// The fused fill value of each output; null if the initial value is in
  /// memory.
  llvm::SmallVector<mlir::Value> fills;
  /// The indices of the op's dimensions.
  llvm::SmallVector<DimensionIndex> dimensions;
  /// True if the body uses `linalg.index`; then `orderByMemory` leaves the
  /// loops, and `collapse` does unless it is asked to merge them.
  bool usesIndices = false;

  unsigned getNumLoops() const { return sizes.size(); }
  int64_t getNumIterations() const;
  bool hasReduction() const;
  llvm::SmallVector<Access *> getAccesses();
  llvm::SmallVector<const Access *> getAccesses() const;

  /// Permutes the loops to the order `order`.
  void permute(llvm::ArrayRef<unsigned> order);
  /// Permutes the loops to the order of the first output's memory, so that
  /// adjacent threads write adjacent elements, and merges loops.
  void orderByMemory();
  /// Merges the loop `loop` with the one around it.
  void merge(unsigned loop);
  /// Merges adjacent loops of the same kind if all accesses allow it, also
  /// those whose indices the body asks for if `mayDivide`.
  void collapse(bool mayDivide = false);
};

/// The loops of `op`, a linalg op on buffers with one block. None if a size or
/// stride, also of a buffer that the body loads from, is not constant, an
/// element type is not supported, a map is not linear, or the number of
/// iterations, or of elements up to the farthest one, is kMostIterations or
/// more.
std::optional<LoopNest> getLoopNest(mlir::linalg::LinalgOp op);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_LOOPNEST_H
