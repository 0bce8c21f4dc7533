//===- NCCLElements.h - Elements that NCCL reduces --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_NCCLELEMENTS_H
#define BRAID_DIALECT_COMM_TRANSFORMS_NCCLELEMENTS_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace braid::comm {

/// How NCCL computes a reduction of elements that it does not reduce as the
/// dialect says: in elements of another type, and with another reduction.
class NCCLElements {
public:
  /// How `reduction` of `element` is computed; nothing if NCCL has it. If
  /// `exact` is false, NCCL's own reduction of floats is taken, which drops
  /// NaNs and saturates 8-bit floats.
  static std::optional<NCCLElements>
  get(mlir::Type element, ReductionKind reduction, bool exact = true);

  /// The reduction of the converted elements.
  ReductionKind getReduction() const { return newReduction; }
  /// The type of the converted elements.
  mlir::Type getType() const { return newType; }
  /// Whether `restore` divides by the number of members.
  bool isAverage() const { return step == Step::Average; }
  /// Whether `restore` undoes `convert`, so that a member keeps its operand.
  bool keepsOperands() const {
    return step != Step::Average && step != Step::Scale;
  }

  /// Whether `convert` does anything.
  bool changesOperands() const {
    return step == Step::Scale || type != newType;
  }
  /// Converts one element before the start; `scale` is that of premul_sum.
  mlir::Value convert(mlir::ImplicitLocOpBuilder &b, mlir::Value element,
                      mlir::Value scale) const;
  /// The scale of the converted elements; null if they have none.
  mlir::Value convertScale(mlir::ImplicitLocOpBuilder &b,
                           mlir::Value scale) const;
  /// Converts one element after the wait; `size`, of the converted type, is the
  /// number of members where `isAverage`.
  mlir::Value restore(mlir::ImplicitLocOpBuilder &b, mlir::Value element,
                      mlir::Value size) const;

private:
  enum class Step {
    ExtendInteger, ///< Integers in wider ones.
    Average,       ///< The same, and a division.
    ExtendFloat,   ///< Floats in wider ones.
    OrderedBits,   ///< Integers that are ordered like the floats.
    Scale          ///< The product with the scale.
  };
  NCCLElements(Step step, mlir::Type type, mlir::Type newType,
               ReductionKind newReduction)
      : step(step), type(type), newType(newType), newReduction(newReduction) {}

  mlir::Value toOrderedBits(mlir::ImplicitLocOpBuilder &b,
                            mlir::Value element) const;
  mlir::Value fromOrderedBits(mlir::ImplicitLocOpBuilder &b,
                              mlir::Value element) const;
  llvm::APInt getBitsOfNaN() const;

  Step step;
  mlir::Type type, newType;
  ReductionKind newReduction;
};

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_TRANSFORMS_NCCLELEMENTS_H
