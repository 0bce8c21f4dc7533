//===- Legalizer.h - Replaces one start that NCCL lacks ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_LEGALIZER_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_LEGALIZER_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>
#include <optional>

namespace braid::comm {

/// True for the reductions of bits.
bool isBitwise(std::optional<ReductionKind> reduction);

/// The compute on a value after its wait; null if there is none.
using Finish =
    std::function<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value)>;

/// A start that stands for another one.
struct Replacement {
  mlir::Operation *start = nullptr;
  llvm::SmallVector<Finish> finishes; ///< One for each token.
  /// True if a finish uses the operands of the replaced start.
  bool usesOperands = false;
};

/// Replaces one start that NCCL does not support.
class Legalizer {
public:
  explicit Legalizer(CollectiveOpInterface op)
      : op(op), start(mlir::cast<AsyncStartOpInterface>(op.getOperation())),
        b(op.getLoc(), op), reduction(op.getReductionKind()) {}

  /// True if NCCL supports the start.
  bool isLegal();
  /// Creates the new start and its operands before the old start, which keeps
  /// its users. Fails after an error.
  mlir::FailureOr<Replacement> replace();

private:
  mlir::LogicalResult check();
  void prepare(mlir::Value &source, Finish &finish);
  void prepareElements(mlir::Value &source, Finish &finish);
  void gatherBits(mlir::Value &source, Finish &finish);
  void reduceUnpackedBits(mlir::Value &source, Finish &finish);
  mlir::Operation *createStart(llvm::ArrayRef<mlir::Value> sources,
                               llvm::ArrayRef<mlir::Type> results);
  mlir::FailureOr<mlir::RankedTensorType>
  getResultType(mlir::Value source, mlir::RankedTensorType original);
  std::optional<int64_t> getConstantGroupSize();
  std::optional<int64_t> getRootThatReduces();

  CollectiveOpInterface op;
  AsyncStartOpInterface start;
  mlir::ImplicitLocOpBuilder b;
  std::optional<ReductionKind> reduction;
  bool usesOperands = false;
  /// The kind and reduction of the start that replaces the op.
  CollectiveKind newKind;
  std::optional<ReductionKind> newReduction;
  mlir::Value newScale;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_LEGALIZER_H
