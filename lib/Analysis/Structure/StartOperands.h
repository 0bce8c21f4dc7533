//===- StartOperands.h - Where starts take their data from ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_STRUCTURE_STARTOPERANDS_H
#define BRAID_LIB_ANALYSIS_STRUCTURE_STARTOPERANDS_H

#include "braid/Analysis/Structure/CommunicationSummary.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace braid {

/// The origin of `value`. `tokens` are the numbers of the tokens so far.
OperandOrigin
getOperandOrigin(mlir::Value value,
                 const llvm::DenseMap<mlir::Value, unsigned> &tokens);

/// A start of the input and the one of the result that stands for it.
struct KeptStart {
  const StartSummary *before, *after;
};

/// A start that takes other data than before.
struct ChangedOperand {
  const StartSummary *start;
  std::string problem;
  /// The start that took these data before, if any.
  const StartSummary *other;
};

/// Finds a start among `starts` that is known to take other data than before.
/// `getToken` gives the token of the result that stands for one of the input,
/// if one does. `hasSameTokens`: each token stands for that of its number.
/// `hasSameArguments`: so do the arguments of the function.
std::optional<ChangedOperand> findChangedOperand(
    llvm::ArrayRef<KeptStart> starts,
    llvm::function_ref<std::optional<unsigned>(unsigned)> getToken,
    bool hasSameTokens, bool hasSameArguments);

/// Emits an error that names `pass`, and fails.
llvm::LogicalResult reportChangedOperand(const ChangedOperand &changed,
                                         llvm::StringRef pass);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_STRUCTURE_STARTOPERANDS_H
