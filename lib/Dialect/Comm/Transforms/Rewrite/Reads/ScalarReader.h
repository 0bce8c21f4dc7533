//===- ScalarReader.h - Compute numbers that are read from tensors --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_SCALARREADER_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_SCALARREADER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid::comm {

/// The most ops that replace a read, equal ones included.
inline constexpr uint64_t kMostOpsOfRead = 256;

/// A result of a loop whose iterations replace one row each: the one of number
/// n replaces row `first + n`, or `first - n` if `descends`.
struct RowStack {
  mlir::scf::ForOp loop;
  /// What an iteration inserts: an element, or a tensor without the dimensions
  /// `dropped` of the stack.
  mlir::Value row;
  llvm::SmallBitVector dropped;
  /// Has the rows that no iteration replaces.
  mlir::Value init;
  int64_t first, count, numRows;
  bool descends;

  bool isReplaced() const { return count == numRows; }
};

/// Computes numbers where a program reads them. A value is a scalar, or stands
/// for an element of a tensor.
class ScalarReader {
public:
  /// `assumed` are tensors without dimensions that count as scalars.
  explicit ScalarReader(mlir::RewriterBase &rewriter,
                        llvm::DenseSet<mlir::Value> assumed = {})
      : rewriter(rewriter), assumed(std::move(assumed)) {}

  /// Those of the assumed tensors that an element of `tensor` follows from
  /// where `at` reads it, with scalars; none if it does not follow from them.
  std::optional<llvm::SetVector<mlir::Value>> findAssumed(mlir::Value tensor,
                                                          mlir::Region &at);
  /// Replaces `read` if its element follows from scalars; true if so.
  bool replace(mlir::tensor::ExtractOp read);
  /// Lets `read`, of a row that an iteration has sliced from a tensor which is
  /// there, read that tensor; true if so.
  bool readThroughStack(mlir::tensor::ExtractSliceOp read);

private:
  /// Counts for a read in `at`.
  void enter(mlir::Region &at) {
    region = &at;
    met.clear();
    isTruncated = false;
  }

  /// The number of ops that compute `value` from scalars that are there; more
  /// than `kMostOpsOfRead` if it takes more, or if `value` does not follow from
  /// them.
  uint64_t countOps(mlir::Value value);
  uint64_t countAllOps(mlir::ValueRange values);
  uint64_t countOpsOfTensor(mlir::Value tensor);
  uint64_t countOpsOfElement(mlir::Value tensor);
  uint64_t countOpsOfGeneric(mlir::linalg::GenericOp op);
  uint64_t countOpsOfStack(mlir::OpResult stack);

  /// `value`, at `places` of a tensor. `countOps` gave at most
  /// `kMostOpsOfRead`. `scalars` has what stands for scalars in bodies of
  /// loops.
  mlir::Value compute(mlir::Value value, mlir::ArrayRef<mlir::Value> places,
                      mlir::IRMapping &scalars);
  mlir::Value computeScalar(mlir::Value scalar, mlir::IRMapping &scalars);
  mlir::Value computeElement(mlir::Value tensor,
                             mlir::ArrayRef<mlir::Value> places,
                             mlir::IRMapping &scalars);
  mlir::Value computeElementAnew(mlir::Value tensor,
                                 mlir::ArrayRef<mlir::Value> places,
                                 mlir::IRMapping &scalars);
  mlir::Value computeInStack(mlir::OpResult result,
                             mlir::ArrayRef<mlir::Value> places,
                             mlir::IRMapping &scalars);
  /// Lets `scalars` have the induction variable of the iteration that replaces
  /// the row at `place`. Gives whether one does; null if each row is replaced.
  mlir::Value enterIteration(const RowStack &stack, mlir::Value place,
                             mlir::IRMapping &scalars);

  /// True if ops at the read may use `value`, which something that they use is
  /// computed from.
  bool isThere(mlir::Value value) {
    return value.getParentRegion()->isAncestor(region);
  }
  const std::optional<RowStack> &findStack(mlir::OpResult result);

  /// How many ops compute a tensor, and from which of the assumed ones.
  struct Count {
    uint64_t ops;
    llvm::SetVector<mlir::Value> assumed;
  };

  mlir::RewriterBase &rewriter;
  llvm::DenseSet<mlir::Value> assumed;
  /// Those that have been met.
  llvm::SetVector<mlir::Value> met;
  /// Of the read.
  mlir::Region *region = nullptr;
  /// How many tensors are being counted, and whether these are too many.
  uint64_t depth = 0;
  bool isTruncated = false;
  std::optional<mlir::ImplicitLocOpBuilder> b;
  mlir::DenseMap<std::pair<mlir::Value, mlir::Region *>, Count> counts;
  mlir::DenseMap<mlir::Value, std::optional<RowStack>> stacks;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_SCALARREADER_H
