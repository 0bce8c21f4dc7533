//===- FunctionComparison.h - Communication of one function -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_STRUCTURE_FUNCTIONCOMPARISON_H
#define BRAID_LIB_ANALYSIS_STRUCTURE_FUNCTIONCOMPARISON_H

#include "StartOperands.h"

#include "braid/Analysis/Structure/CommunicationSummary.h"
#include "braid/Analysis/Tokens/RankUniformity.h"

#include "braid/Analysis/Structure/GroupGrid.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>
#include <string>
#include <vector>

namespace braid {

/// What has become of a token of the input.
struct TokenFate {
  enum class State { unknown, kept, divided, stepped, erased };
  State state = State::unknown;
  /// The token of the result, or those of the parts.
  llvm::SmallVector<unsigned, 1> tokens;
  /// Of an operation that was divided: along which dimension.
  int64_t dim = 0;
  /// Of an operation that was divided or became steps: its start.
  const CommunicationEvent *start = nullptr;
  /// Of one that became steps: the start of the first step, and all steps.
  const CommunicationEvent *firstStep = nullptr;
  llvm::ArrayRef<GroupStep> steps;
};

/// Compares the communication of one function before and after a pass.
class FunctionComparison {
public:
  FunctionComparison(const FunctionCommunication &before,
                     const FunctionCommunication &after,
                     const CommunicationRules &rules,
                     RankUniformity &uniformity, llvm::StringRef pass)
      : before(before), after(after), rules(rules), uniformity(uniformity),
        pass(pass), events(before.events), fates(before.numTokens),
        isAdded(after.numTokens, false) {}

  /// `communicates`: whether a function of the result does.
  llvm::LogicalResult
  compare(llvm::function_ref<bool(mlir::StringAttr)> communicates);

private:
  using Event = CommunicationEvent;
  using EventKind = CommunicationEvent::Kind;

  const Event *getBefore() const {
    return next < events.size() ? &events[next] : nullptr;
  }
  const Event *getAfter() const {
    return nextAfter < after.events.size() ? &after.events[nextAfter] : nullptr;
  }
  llvm::LogicalResult
  dropErased(llvm::function_ref<bool(mlir::StringAttr)> communicates);
  llvm::LogicalResult reportDifference();
  llvm::LogicalResult report(const Event &found, const llvm::Twine &problem);
  std::string describe(const FunctionCommunication &function,
                       const Event &event) const;

  llvm::LogicalResult compareStart();
  llvm::LogicalResult compareWait();
  llvm::LogicalResult compareOther();
  llvm::LogicalResult compareOperands();
  bool keepsStart(const StartSummary &start, const Event &found) const;
  bool takesSame(const Event &event, const Event &found) const;
  void keepGiven(const Event &event, unsigned firstToken);

  // ReplacedStarts.cpp.
  llvm::LogicalResult compareParts(const StartSummary &whole, int64_t dim);
  llvm::LogicalResult comparePartWaits(const TokenFate &fate);
  llvm::LogicalResult compareCombined();
  llvm::LogicalResult compareStepWaits(const TokenFate &fate);

  bool comesFromBefore(const Event &found) const;
  llvm::LogicalResult addEvent();

  const FunctionCommunication &before, &after;
  const CommunicationRules &rules;
  RankUniformity &uniformity;
  llvm::StringRef pass;
  /// The events of `before` that are not said to be erased; `kept` has them if
  /// there are others.
  llvm::ArrayRef<Event> events;
  std::vector<Event> kept;
  size_t next = 0, nextAfter = 0;
  std::vector<TokenFate> fates;
  std::vector<KeptStart> keptStarts;
  /// The parts of combined starts that `keptStarts` names.
  std::deque<StartSummary> combinedParts;
  /// The tokens of starts that the pass has added.
  std::vector<bool> isAdded;
  /// The regions around the next event of the result that the pass has added.
  unsigned numAddedRegions = 0;
};

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

#endif // BRAID_LIB_ANALYSIS_STRUCTURE_FUNCTIONCOMPARISON_H
