//===- ReorderedSums.h - Sums in another order ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass that keeps the terms of a sum of floats, but not the op that adds them
// or its resources, records so on the op (`comm.reordered_sums`): the library
// behind the op may then add in another order than in the program as written.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_STRUCTURE_REORDEREDSUMS_H
#define BRAID_ANALYSIS_STRUCTURE_REORDEREDSUMS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"

#include <string>

namespace braid {

/// Whether another order of what `op` adds up may give other bits: `op` is a
/// collective of more than two members that depends on the order of their
/// operands, or adds or multiplies floats along a dimension.
bool dependsOnOrderOfTerms(mlir::Operation *op);

/// Records that `op` is a part of an op of the program, or takes its place.
/// `reason` says so in the words of a message: `in 4 chunks`. Does nothing if
/// the order of the terms does not matter.
void recordDivision(mlir::Operation *op, const llvm::Twine &reason);

/// Records that `op` adds up sums of terms that were added up one by one, in
/// the words of `recordDivision`. Rounding differs with two members, too.
void recordReassociation(mlir::Operation *op, const llvm::Twine &reason);

/// Records that a pass has chosen the resources of `op` which the attributes
/// `resources` give it. Does nothing if the order of the terms does not matter.
void recordPlan(mlir::Operation *op,
                llvm::ArrayRef<mlir::NamedAttribute> resources);

/// Who adds.
enum class SumKind { Collective, Matmul };

/// A sum of a program that may be added in another order than in the program as
/// written.
struct ReorderedSum {
  SumKind kind;
  mlir::Location loc;
  std::string operation; ///< `all_reduce sum`, `linalg.matmul`.
  std::string divided;   ///< `in 4 chunks`; empty: the op as written.
  std::string planned;   ///< `8 CTAs`; empty: no resources of its own.
  mlir::Type element;    ///< Of the result of a matmul.
  /// Of a collective: the members of the largest list of its group, 0 for all
  /// ranks of the world.
  int64_t members = 0;
};

/// The sums of `module` that passes have recorded, equal ones once, in the
/// order of the text: in functions, loops, conditionals and bodies of kernels.
llvm::SmallVector<ReorderedSum> findReorderedSums(mlir::ModuleOp module);

} // namespace braid

#endif // BRAID_ANALYSIS_STRUCTURE_REORDEREDSUMS_H
