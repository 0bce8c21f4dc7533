//===- GroupSteps.h - Steps in place of one collective ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_STRUCTURE_GROUPSTEPS_H
#define BRAID_LIB_ANALYSIS_STRUCTURE_GROUPSTEPS_H

#include "braid/Analysis/Structure/CommunicationSummary.h"
#include "braid/Analysis/Structure/GroupGrid.h"
#include "braid/Analysis/Tokens/RankUniformity.h"

namespace braid {

bool haveSameTypes(llvm::ArrayRef<mlir::Type> before,
                   llvm::ArrayRef<mlir::Type> after);

/// The steps in place of `whole` that `found`, a start of the result, begins;
/// empty if it begins none that `rules` allow.
llvm::ArrayRef<GroupStep> getStepsFrom(const StartSummary &whole,
                                       const StartSummary &found,
                                       const CommunicationRules &rules);

/// A collective of the input, the first of its steps in the result, and what
/// all of them are.
struct StepsOfCollective {
  const StartSummary &whole;
  const FunctionCommunication &after;
  const CommunicationEvent &first;
  llvm::ArrayRef<GroupStep> steps;
};

/// Follows the steps in the events of the result from `next` on, which then is
/// behind the start of the last one: waits for all tokens of a step, and the
/// start of the next one. Returns the first token of the last step. Calls
/// `report` and fails where something else is, with the event and what is wrong
/// with it, or with null if there is another event.
llvm::FailureOr<unsigned>
compareSteps(const StepsOfCollective &steps, size_t &next,
             RankUniformity &uniformity,
             llvm::function_ref<llvm::LogicalResult(const CommunicationEvent *,
                                                    const llvm::Twine &)>
                 report);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_STRUCTURE_GROUPSTEPS_H
