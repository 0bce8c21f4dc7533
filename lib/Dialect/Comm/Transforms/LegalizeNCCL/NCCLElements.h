//===- NCCLElements.h - Elements that NCCL reduces --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_NCCLELEMENTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_NCCLELEMENTS_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace braid::comm {

/// A replacement for a reduction that NCCL does not compute as the dialect
/// defines: elements of another type and another reduction.
class NCCLElements {
public:
  /// The replacement of `reduction` on `element`; none if NCCL supports the
  /// reduction. If `exact` is false, floats keep the reduction of NCCL, which
  /// drops NaNs and saturates 8-bit floats.
  static std::optional<NCCLElements>
  get(mlir::Type element, ReductionKind reduction, bool exact = true);

  /// The reduction of the converted elements.
  ReductionKind getReduction() const { return newReduction; }
  /// The type of the converted elements.
  mlir::Type getType() const { return newType; }
  /// True if `restore` divides by the number of members.
  bool isAverage() const { return step == Step::Average; }
  /// True if `restore` undoes `convert`, so that a member keeps its operand.
  bool keepsOperands() const {
    return step != Step::Average && step != Step::Scale;
  }

  /// True if `convert` changes elements.
  bool changesOperands() const {
    return step == Step::Scale || type != newType;
  }
  /// Converts one element before the start; `scale` is the scale of premul_sum.
  mlir::Value convert(mlir::ImplicitLocOpBuilder &b, mlir::Value element,
                      mlir::Value scale) const;
  /// The scale of the converted elements; null if they have none.
  mlir::Value convertScale(mlir::ImplicitLocOpBuilder &b,
                           mlir::Value scale) const;
  /// Converts one element after the wait. If `isAverage`, `size` is the number
  /// of members, in the converted type.
  mlir::Value restore(mlir::ImplicitLocOpBuilder &b, mlir::Value element,
                      mlir::Value size) const;

private:
  enum class Step {
    ExtendInteger, ///< Converts integers to wider integers.
    Average,       ///< Also divides by the number of members.
    ExtendFloat,   ///< Converts floats to wider floats.
    OrderedBits,   ///< Converts floats to integers of the same order.
    Scale          ///< The product with the scale.
  };
  NCCLElements(Step step, mlir::Type type, mlir::Type newType,
               ReductionKind newReduction)
      : step(step), type(type), newType(newType), newReduction(newReduction) {}

  mlir::Value toOrderedBits(mlir::ImplicitLocOpBuilder &b,
                            mlir::Value element) const;
  mlir::Value fromOrderedBits(mlir::ImplicitLocOpBuilder &b,
                              mlir::Value element) const;
  mlir::Value getConstant(mlir::ImplicitLocOpBuilder &b,
                          const llvm::APInt &value) const;
  mlir::Value flipNegative(mlir::ImplicitLocOpBuilder &b,
                           mlir::Value bits) const;
  llvm::APInt getOrderedNaN() const;

  Step step;
  mlir::Type type, newType;
  ReductionKind newReduction;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_NCCLELEMENTS_H
