//===- FunctionComparison.cpp - Communication of one function -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionComparison.h"

#include "Division.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

static void dropBlocks(std::vector<CommunicationEvent> &events) {
  while (!events.empty() &&
         events.back().kind == CommunicationEvent::Kind::block)
    events.pop_back();
}

/// The events of `function` without the starts of `erased`, their waits, the
/// calls of functions that do not communicate any more, and regions without
/// anything else. `communicates` tells of a function of the result.
static std::vector<CommunicationEvent>
dropErasedEvents(const FunctionCommunication &function,
                 const llvm::DenseSet<Operation *> &erased,
                 llvm::function_ref<bool(StringAttr)> communicates) {
  std::vector<CommunicationEvent> kept;
  std::vector<bool> isErased(function.numTokens, false);
  for (const CommunicationEvent &event : function.events) {
    if (event.kind == CommunicationEvent::Kind::start &&
        erased.contains(event.op)) {
      for (unsigned index = 0; index != event.numGiven; ++index)
        isErased[event.firstGiven + index] = true;
      continue;
    }
    if (event.kind == CommunicationEvent::Kind::wait &&
        function.getAwaited(event) != ~0u &&
        isErased[function.getAwaited(event)])
      continue;
    if (event.kind == CommunicationEvent::Kind::call && event.numTaken == 0 &&
        event.numGiven == 0 && event.callee && !communicates(event.callee))
      continue;
    if (event.kind == CommunicationEvent::Kind::close ||
        event.kind == CommunicationEvent::Kind::block)
      dropBlocks(kept);
    if (event.kind == CommunicationEvent::Kind::close && !kept.empty() &&
        kept.back().kind == CommunicationEvent::Kind::open)
      kept.pop_back();
    else
      kept.push_back(event);
  }
  // The end of a function closes its last blocks.
  dropBlocks(kept);
  return kept;
}

std::string FunctionComparison::describe(const FunctionCommunication &function,
                                         const Event &event) const {
  std::string text = ("'" + event.name.getStringRef() + "'").str();
  llvm::raw_string_ostream stream(text);
  switch (event.kind) {
  case EventKind::start: {
    const StartSummary &start = function.starts[event.number];
    if (start.reduction)
      stream << " " << comm::stringifyReductionKind(*start.reduction);
    if (!start.sources.empty())
      stream << " of " << start.sources.front();
    if (start.group)
      stream << " on " << start.group;
    break;
  }
  case EventKind::wait:
    break;
  case EventKind::call:
    if (event.callee)
      stream << " of @" << event.callee.getValue();
    else
      stream << " with tokens";
    break;
  case EventKind::carry:
    stream << " with tokens";
    break;
  case EventKind::open:
    stream << " with region #" << event.number;
    break;
  case EventKind::close:
  case EventKind::block:
    return "the end of a block of " + text;
  }
  return text;
}

LogicalResult FunctionComparison::report(const Event &found,
                                         const Twine &problem) {
  return emitError(found.location)
         << "'" << found.name << "' op " << problem << " after " << pass;
}

/// Emits an error where the next events differ.
LogicalResult FunctionComparison::reportDifference() {
  const Event *expected = getBefore(), *found = getAfter();
  InFlightDiagnostic diagnostic =
      emitError(found ? found->location : after.location)
      << pass << " has changed the communication of @" << before.name.getValue()
      << ": found "
      << (found ? describe(after, *found) : "the end of the function")
      << ", expected "
      << (expected ? describe(before, *expected) : "the end of the function");
  if (expected)
    diagnostic.attachNote(expected->location)
        << "what the pass has to keep was here";
  return diagnostic;
}

/// True if `found` takes the tokens that stand for those that `event` takes.
bool FunctionComparison::takesSame(const Event &event,
                                   const Event &found) const {
  return llvm::equal(before.getTaken(event), after.getTaken(found),
                     [&](unsigned a, unsigned b) {
                       if (a == ~0u || b == ~0u)
                         return a == b;
                       return fates[a].state == TokenFate::State::kept &&
                              fates[a].tokens.front() == b;
                     });
}

/// The tokens of the result from `firstToken` on stand for what `event` gives.
void FunctionComparison::keepGiven(const Event &event, unsigned firstToken) {
  for (unsigned index = 0; index != event.numGiven; ++index)
    fates[event.firstGiven + index] = {TokenFate::State::kept,
                                       {firstToken + index}};
}

/// True if `found`, a start of the result, stands for `start` as a whole.
bool FunctionComparison::keepsStart(const StartSummary &start,
                                    const Event &found) const {
  if (found.kind != EventKind::start)
    return false;
  const StartSummary &other = after.starts[found.number];
  return start.group == other.group && start.lane == other.lane &&
         rules.mayReplace(start, other);
}

LogicalResult FunctionComparison::compareStart() {
  const Event &event = *getBefore();
  const StartSummary &start = before.starts[event.number];
  if (const Event *found = getAfter()) {
    if (rules.mayCombine && found->kind == EventKind::start &&
        found->numGiven > event.numGiven)
      return compareCombined();
    if (keepsStart(start, *found) && event.numGiven == found->numGiven &&
        takesSame(event, *found)) {
      keepGiven(event, found->firstGiven);
      keptStarts.push_back({&start, &after.starts[found->number]});
      ++next;
      ++nextAfter;
      return success();
    }
    if (found->kind == EventKind::start) {
      const StartSummary &other = after.starts[found->number];
      ArrayRef<GroupStep> steps = getStepsFrom(start, other, rules);
      if (!steps.empty() && event.numGiven == found->numGiven) {
        for (unsigned index = 0; index != event.numGiven; ++index)
          fates[event.firstGiven + index] = {
              TokenFate::State::stepped, {}, 0, &event, found, steps};
        ++next;
        ++nextAfter;
        return success();
      }
      if (rules.mayDivide)
        if (std::optional<int64_t> dim =
                getDividedDim(start, other, rules.mayKeepParts))
          return compareParts(start, *dim);
    }
  }
  if (!rules.mayErase || !rules.mayErase(start) || rules.erased)
    return reportDifference();
  for (unsigned index = 0; index != event.numGiven; ++index)
    fates[event.firstGiven + index].state = TokenFate::State::erased;
  ++next;
  return success();
}

LogicalResult FunctionComparison::compareWait() {
  const Event &event = *getBefore();
  unsigned token = before.getAwaited(event);
  switch (token == ~0u ? TokenFate::State::kept : fates[token].state) {
  case TokenFate::State::kept:
    return compareOther();
  case TokenFate::State::erased:
    ++next;
    return success();
  case TokenFate::State::stepped:
    return compareStepWaits(fates[token]);
  case TokenFate::State::divided:
    return comparePartWaits(fates[token]);
  case TokenFate::State::unknown:
    return reportDifference();
  }
  llvm_unreachable("unknown fate of a token");
}

/// Compares events of which nothing may change.
LogicalResult FunctionComparison::compareOther() {
  const Event *event = getBefore(), *found = getAfter();
  if (!found || event->kind != found->kind || event->name != found->name ||
      event->callee != found->callee || event->numGiven != found->numGiven ||
      (event->kind == EventKind::open && event->number != found->number) ||
      !takesSame(*event, *found))
    return reportDifference();
  keepGiven(*event, found->firstGiven);
  ++next;
  ++nextAfter;
  return success();
}

/// Drops what the pass says that it has erased from the events of the input.
LogicalResult FunctionComparison::dropErased(
    llvm::function_ref<bool(StringAttr)> communicates) {
  if (!rules.erased || rules.erased->empty())
    return success();
  for (const Event &event : before.events)
    if (event.kind == EventKind::start && rules.erased->contains(event.op) &&
        !rules.mayErase(before.starts[event.number]))
      return report(event, "is erased");
  kept = dropErasedEvents(before, *rules.erased, communicates);
  events = kept;
  return success();
}

LogicalResult
FunctionComparison::compare(llvm::function_ref<bool(StringAttr)> communicates) {
  if (failed(dropErased(communicates)))
    return failure();
  if (before.numArguments != after.numArguments)
    return emitError(after.location)
           << pass << " has changed the token arguments of @"
           << before.name.getValue() << ": found " << after.numArguments
           << ", expected " << before.numArguments;
  for (unsigned token = 0; token != before.numArguments; ++token)
    fates[token] = {TokenFate::State::kept, {token}};
  while (getBefore() || getAfter()) {
    const Event *event = getBefore(), *found = getAfter();
    LogicalResult result = success();
    if (rules.mayAdd && found && !comesFromBefore(*found))
      result = addEvent();
    else if (!event)
      result = reportDifference();
    else if (event->kind == EventKind::start)
      result = compareStart();
    else if (event->kind == EventKind::wait)
      result = compareWait();
    else
      result = compareOther();
    if (failed(result))
      return failure();
  }
  return compareOperands();
}

/// Checks that the starts take the data that they took.
LogicalResult FunctionComparison::compareOperands() {
  auto getToken = [&](unsigned token) -> std::optional<unsigned> {
    const TokenFate &fate = fates[token];
    if (fate.state != TokenFate::State::kept)
      return std::nullopt;
    return fate.tokens.front();
  };
  bool hasSameTokens = before.numTokens == after.numTokens;
  for (unsigned token = 0; token != before.numTokens && hasSameTokens; ++token)
    hasSameTokens = getToken(token) == token;
  std::optional<ChangedOperand> changed = findChangedOperand(
      keptStarts, getToken, hasSameTokens, before.numInputs == after.numInputs);
  return changed ? reportChangedOperand(*changed, pass) : success();
}

/// True if `found`, the next event of the result, may be the next event of the
/// input and not one that the pass has added.
bool FunctionComparison::comesFromBefore(const Event &found) const {
  const Event *event = getBefore();
  if (numAddedRegions != 0)
    return false;
  switch (found.kind) {
  case EventKind::start:
    return event && event->kind == EventKind::start &&
           event->location == found.location &&
           keepsStart(before.starts[event->number], found);
  case EventKind::wait:
    return after.getAwaited(found) == ~0u || !isAdded[after.getAwaited(found)];
  case EventKind::open:
    return event && event->kind == EventKind::open &&
           event->name == found.name && event->location == found.location;
  default:
    return true;
  }
}

/// Passes over an event that the pass has added.
LogicalResult FunctionComparison::addEvent() {
  const Event &found = *getAfter();
  ++nextAfter;
  switch (found.kind) {
  case EventKind::start:
    for (Value token : found.op->getResults()) {
      if (!isa<comm::TokenType>(token.getType()))
        continue;
      if (!token.hasOneUse() || !isa<comm::WaitOp>(*token.user_begin()) ||
          token.user_begin()->getBlock() != found.op->getBlock())
        return report(found, "is new and has not one wait in its block");
    }
    for (unsigned index = 0; index != found.numGiven; ++index)
      isAdded[found.firstGiven + index] = true;
    return success();
  case EventKind::wait:
    if (after.getAwaited(found) != ~0u && isAdded[after.getAwaited(found)])
      return success();
    return report(found, "is in a new region and awaits an operation from "
                         "outside");
  case EventKind::open:
    ++numAddedRegions;
    return success();
  case EventKind::close:
    --numAddedRegions;
    return success();
  case EventKind::block:
    return success();
  case EventKind::call:
  case EventKind::carry:
    return report(found, "is in a new region and communicates");
  }
  return success();
}
