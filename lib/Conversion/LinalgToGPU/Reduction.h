//===- Reduction.h - Reductions in kernels ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_REDUCTION_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_REDUCTION_H

#include "KernelBuilder.h"

namespace braid::kernels {

/// How one result of a reduction takes in an element.
struct Combiner {
  /// The op of the body that combines what the result is so far with `element`.
  mlir::Operation *op;
  mlir::Value element;
  /// Which operand of `op` is the result so far.
  unsigned accumulatorOperand;
  /// What changes nothing when combined.
  mlir::TypedAttr neutral;
  /// What threads combine in: the type of the result, or f32 for smaller
  /// floats, and what the result is rounded to at the end.
  mlir::Type type, elementType;

  mlir::Value getNeutral(mlir::ImplicitLocOpBuilder &b, int64_t lanes) const;
  mlir::Value combine(mlir::ImplicitLocOpBuilder &b, mlir::Value accumulator,
                      mlir::Value value) const;
  /// An element or result of the program as what threads combine, and back.
  mlir::Value widen(mlir::ImplicitLocOpBuilder &b, mlir::Value value) const;
  mlir::Value narrow(mlir::ImplicitLocOpBuilder &b, mlir::Value value) const;
  /// The elements of a vector combined, from the first to the last.
  mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b,
                           mlir::Value vector) const;
  /// What `group` threads of a warp have, each `distance` behind the last one,
  /// combined, for each of them; both are powers of two.
  mlir::Value combineThreads(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                             int64_t group, int64_t distance = 1) const;
};

/// The combiners of all results of `nest`, if they may be applied in any order.
std::optional<llvm::SmallVector<Combiner>> matchCombiners(const LoopNest &nest);

/// Copies all of `nest`'s body but the combiners and returns the elements that
/// they take in, as vectors of `lanes` of the type to combine in.
llvm::SmallVector<mlir::Value>
emitElements(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest,
             llvm::ArrayRef<Combiner> combiners, mlir::IRMapping &mapping,
             int64_t lanes, llvm::ArrayRef<mlir::Value> indices);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_REDUCTION_H
