//===- CommunicationValidation.cpp - What a pass did to communication -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Division.h"
#include "ErasedEvents.h"
#include "GroupSteps.h"
#include "NewAccesses.h"
#include "StartOperands.h"

#include "Analysis/Verification/CollectiveSequence.h"

#include "braid/Analysis/Structure/CommunicationSummary.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <deque>

using namespace braid;
using namespace mlir;
using Event = CommunicationEvent;
using EventKind = CommunicationEvent::Kind;

static bool haveSameTypes(ArrayRef<Type> before, ArrayRef<Type> after) {
  return llvm::equal(before, after, [](Type a, Type b) {
    return haveSameData(a, b, /*onlyCount=*/false);
  });
}

bool braid::isSameStart(const StartSummary &before, const StartSummary &after) {
  return before.name == after.name && before.reduction == after.reduction &&
         before.splitDim == after.splitDim &&
         before.arguments == after.arguments &&
         haveSameTypes(before.sources, after.sources) &&
         haveSameTypes(before.values, after.values);
}

namespace {

/// What has become of a token of the input.
struct TokenFate {
  enum class State { unknown, kept, divided, split, stepped, erased };
  State state = State::unknown;
  /// The token of the result, the tokens of the parts, or that of the
  /// reduce-scatter of an all-reduce that was split.
  SmallVector<unsigned, 1> tokens;
  /// Of an operation that was divided: along which dimension, and what it gave
  /// and took.
  int64_t dim = 0;
  Type whole, source;
  /// Of an operation that became steps: its start, and that of the first step.
  std::pair<const Event *, const Event *> steps = {};
};

/// Compares the communication of one function before and after a pass.
class FunctionComparison {
public:
  FunctionComparison(const FunctionCommunication &before,
                     const FunctionCommunication &after,
                     const CommunicationRules &rules,
                     RankUniformity &uniformity, StringRef pass)
      : before(before), after(after), rules(rules), uniformity(uniformity),
        pass(pass), events(before.events), fates(before.numTokens),
        isAdded(after.numTokens, false) {}

  /// `communicates`: whether a function of the result does.
  LogicalResult compare(llvm::function_ref<bool(StringAttr)> communicates);

private:
  const Event *getBefore() const {
    return next < events.size() ? &events[next] : nullptr;
  }
  const Event *getAfter() const {
    return nextAfter < after.events.size() ? &after.events[nextAfter] : nullptr;
  }
  LogicalResult dropErased(llvm::function_ref<bool(StringAttr)> communicates);
  LogicalResult reportDifference();
  LogicalResult report(const Event &found, const Twine &problem);
  std::string describe(const FunctionCommunication &function,
                       const Event &event) const;

  LogicalResult compareStart();
  LogicalResult compareWait();
  LogicalResult compareOther();
  LogicalResult compareParts(const StartSummary &whole, int64_t dim);
  LogicalResult compareCombined();
  bool splits(const StartSummary &start, const Event &found) const;
  LogicalResult compareSplitWait(unsigned token);
  bool beginsSteps(const StartSummary &start, const Event &found) const;
  LogicalResult compareStepWaits(unsigned token);
  bool keepsStart(const StartSummary &start, const Event &found) const;
  bool takesSame(const Event &event, const Event &found) const;
  void keepGiven(const Event &event, const Event &found);
  bool comesFromBefore(const Event &found) const;
  LogicalResult addEvent();

  LogicalResult compareOperands();

  const FunctionCommunication &before, &after;
  const CommunicationRules &rules;
  RankUniformity &uniformity;
  StringRef pass;
  /// The events of `before` that are not said to be erased; `kept` has them if
  /// there are others.
  ArrayRef<Event> events;
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

} // namespace

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

void FunctionComparison::keepGiven(const Event &event, const Event &found) {
  for (unsigned index = 0; index != event.numGiven; ++index)
    fates[event.firstGiven + index] = {
        TokenFate::State::kept, {found.firstGiven + index}, 0, {}, {}};
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

/// Compares the starts of the parts into which `whole` may have been divided.
LogicalResult FunctionComparison::compareParts(const StartSummary &whole,
                                               int64_t dim) {
  const Event &event = *getBefore();
  TokenFate fate = {
      TokenFate::State::divided, {}, dim, whole.values[0], whole.sources[0]};
  int64_t missing = getTransferredSize(whole, dim);
  size_t first = nextAfter;
  while (missing > 0) {
    const Event *found = getAfter();
    if (!found || found->kind != EventKind::start)
      break;
    const StartSummary &part = after.starts[found->number];
    if (getDividedDim(whole, part, rules.mayKeepParts) != dim)
      break;
    missing -= getTransferredSize(part, dim);
    fate.tokens.push_back(found->firstGiven);
    ++nextAfter;
  }
  if (missing != 0)
    return report(after.events[first],
                  "transfers parts of " + describe(before, event) + " that " +
                      (missing > 0 ? "leave out " + Twine(missing)
                                   : "have " + Twine(-missing) + " too many") +
                      " of its elements along dimension " + Twine(dim));
  fates[event.firstGiven] = std::move(fate);
  ++next;
  return success();
}

/// The part of `launch` that has its operands from `firstSource` on and its
/// values from `firstValue` on, as many as `like` has; nothing if `launch` has
/// fewer.
static std::optional<StartSummary> getPart(const StartSummary &launch,
                                           const StartSummary &like,
                                           size_t firstSource,
                                           size_t firstValue) {
  size_t numSources = like.sources.size(), numValues = like.values.size();
  if (firstSource + numSources > launch.sources.size() ||
      firstValue + numValues > launch.values.size())
    return std::nullopt;
  auto slice = [](auto &list, size_t first, size_t count) {
    list.erase(list.begin() + first + count, list.end());
    list.erase(list.begin(), list.begin() + first);
  };
  StartSummary part = launch;
  slice(part.sources, firstSource, numSources);
  slice(part.values, firstValue, numValues);
  // The origins of the sources, and after them those of what is written.
  auto written = part.origins;
  slice(part.origins, firstSource, numSources);
  if (like.origins.size() > numSources) {
    slice(written, launch.sources.size() + firstValue, numValues);
    part.origins.append(written);
  }
  return part;
}

/// Compares starts that follow each other with the one start that they may have
/// become.
LogicalResult FunctionComparison::compareCombined() {
  const Event &found = *getAfter();
  const StartSummary &launch = after.starts[found.number];
  if (!uniformity.areReachedTogether(*found.op->getBlock()))
    return report(found, "is combined where ranks may take different paths");
  size_t firstSource = 0, firstValue = 0;
  unsigned numGiven = 0;
  while (numGiven != found.numGiven) {
    const Event *event = getBefore();
    if (!event || event->kind != EventKind::start)
      return reportDifference();
    const StartSummary &start = before.starts[event->number];
    std::optional<StartSummary> part =
        getPart(launch, start, firstSource, firstValue);
    if (!part || numGiven + event->numGiven > found.numGiven ||
        start.group != part->group || start.lane != part->lane ||
        !rules.mayReplace(start, *part))
      return reportDifference();
    firstSource += start.sources.size();
    firstValue += start.values.size();
    for (unsigned index = 0; index != event->numGiven; ++index)
      fates[event->firstGiven + index] = {TokenFate::State::kept,
                                          {found.firstGiven + numGiven + index},
                                          0,
                                          {},
                                          {}};
    numGiven += event->numGiven;
    combinedParts.push_back(std::move(*part));
    keptStarts.push_back({&start, &combinedParts.back()});
    ++next;
  }
  if (firstSource != launch.sources.size())
    return report(found, "takes operands that no start took");
  ++nextAfter;
  return success();
}

/// True if `found` is the reduce-scatter of the all-reduce `start`.
bool FunctionComparison::splits(const StartSummary &start,
                                const Event &found) const {
  if (!rules.maySplitAllReduces || found.kind != EventKind::start ||
      start.kind != comm::CollectiveKind::all_reduce)
    return false;
  const StartSummary &scatter = after.starts[found.number];
  return scatter.kind == comm::CollectiveKind::reduce_scatter &&
         start.group == scatter.group && start.lane == scatter.lane &&
         start.reduction == scatter.reduction &&
         haveSameTypes(start.sources, scatter.sources);
}

/// Compares the wait of `token`, of an all-reduce that was split, with the wait
/// of the reduce-scatter, the all-gather of what that gives, and its wait.
LogicalResult FunctionComparison::compareSplitWait(unsigned token) {
  const TokenFate &fate = fates[token];
  const Event *scattered = getAfter();
  if (!scattered || scattered->kind != EventKind::wait ||
      after.getAwaited(*scattered) != fate.tokens.front())
    return reportDifference();
  ++nextAfter;
  const Event *gather = getAfter();
  if (!gather || gather->kind != EventKind::start)
    return reportDifference();
  const StartSummary &start = after.starts[gather->number];
  auto op = cast<comm::AsyncStartOpInterface>(gather->op);
  auto wait = cast<comm::WaitOp>(scattered->op);
  auto scatter = cast<comm::CollectiveOpInterface>(*wait.getStart());
  if (start.kind != comm::CollectiveKind::all_gather ||
      start.group != scatter.getGroupAttr() ||
      start.splitDim != scatter.getSplitDim() ||
      op.getSources()[0] != wait.getValue() ||
      !haveSameTypes({fate.whole}, start.values))
    return report(*gather, "does not gather what an all-reduce before gave");
  if (!uniformity.areReachedTogether(*gather->op->getBlock()))
    return report(*gather, "is new where ranks may take different paths");
  ++nextAfter;
  const Event *gathered = getAfter();
  if (!gathered || gathered->kind != EventKind::wait ||
      after.getAwaited(*gathered) != gather->firstGiven)
    return reportDifference();
  ++nextAfter;
  ++next;
  return success();
}

/// True if `found` is the first step of `start` in its group.
bool FunctionComparison::beginsSteps(const StartSummary &start,
                                     const Event &found) const {
  if (!rules.maySplitGroups || found.kind != EventKind::start || !start.kind)
    return false;
  ArrayRef<GroupStep> steps = getGroupSteps(*start.kind);
  const StartSummary &first = after.starts[found.number];
  return !steps.empty() && first.group != start.group &&
         isStepOf(steps.front(), start, first) &&
         haveSameTypes(start.sources, first.sources);
}

/// Compares the steps that `token`, of a collective that became steps, waits
/// for, and then the wait.
LogicalResult FunctionComparison::compareStepWaits(unsigned token) {
  auto [event, first] = fates[token].steps;
  FailureOr<unsigned> last = compareSteps(
      {before.starts[event->number], after, *first}, nextAfter, uniformity,
      [&](const Event *found, const Twine &problem) {
        return found ? report(*found, problem) : reportDifference();
      });
  if (failed(last))
    return failure();
  for (unsigned index = 0; index != event->numGiven; ++index)
    fates[event->firstGiven + index] = {
        TokenFate::State::kept, {*last + index}, 0, {}, {}};
  return compareOther();
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
      keepGiven(event, *found);
      keptStarts.push_back({&start, &after.starts[found->number]});
      ++next;
      ++nextAfter;
      return success();
    }
    if (splits(start, *found)) {
      fates[event.firstGiven] = {TokenFate::State::split,
                                 {found->firstGiven},
                                 0,
                                 start.values[0],
                                 start.sources[0]};
      ++next;
      ++nextAfter;
      return success();
    }
    if (beginsSteps(start, *found) && event.numGiven == found->numGiven) {
      for (unsigned index = 0; index != event.numGiven; ++index)
        fates[event.firstGiven + index] = {
            TokenFate::State::stepped, {}, 0, {}, {}, {&event, found}};
      ++next;
      ++nextAfter;
      return success();
    }
    if (rules.mayDivide && found->kind == EventKind::start)
      if (std::optional<int64_t> dim = getDividedDim(
              start, after.starts[found->number], rules.mayKeepParts))
        return compareParts(start, *dim);
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
  if (token == ~0u || fates[token].state == TokenFate::State::kept)
    return compareOther();
  if (fates[token].state == TokenFate::State::erased) {
    ++next;
    return success();
  }
  if (fates[token].state == TokenFate::State::split)
    return compareSplitWait(token);
  if (fates[token].state == TokenFate::State::stepped)
    return compareStepWaits(token);
  if (fates[token].state != TokenFate::State::divided)
    return reportDifference();
  SmallVector<comm::WaitOp> waits;
  for (unsigned part : fates[token].tokens) {
    const Event *found = getAfter();
    if (!found || found->kind != EventKind::wait ||
        after.getAwaited(*found) != part)
      return reportDifference();
    waits.push_back(cast<comm::WaitOp>(found->op));
    ++nextAfter;
  }
  const TokenFate &fate = fates[token];
  auto isGathered = [](comm::WaitOp wait) {
    return isa<comm::AllGatherOp>(*wait.getStart()) && wait.getValue() &&
           wait.getValue().hasOneUse() &&
           !isa<tensor::InsertSliceOp>(*wait.getValue().user_begin());
  };
  std::string gap = llvm::all_of(waits, isGathered)
                        ? findGapOfOperands(waits, fate.source, fate.dim)
                        : findGap(waits, fate.whole, fate.dim);
  ++next;
  if (rules.mayKeepParts || gap.empty())
    return success();
  return report(after.events[nextAfter - 1],
                "awaits parts of a value that was one before; they give " +
                    gap);
}

/// Compares events of which nothing may change.
LogicalResult FunctionComparison::compareOther() {
  const Event *event = getBefore(), *found = getAfter();
  if (!found || event->kind != found->kind || event->name != found->name ||
      event->callee != found->callee || event->numGiven != found->numGiven ||
      (event->kind == EventKind::open && event->number != found->number) ||
      !takesSame(*event, *found))
    return reportDifference();
  keepGiven(*event, *found);
  ++next;
  ++nextAfter;
  return success();
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
    fates[token] = {TokenFate::State::kept, {token}, 0, {}, {}};
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

/// `function` without communication.
static FunctionCommunication getSilent(const FunctionCommunication &function) {
  FunctionCommunication silent = {function.name, function.location, nullptr};
  silent.numTokens = silent.numArguments = function.numArguments;
  return silent;
}

LogicalResult braid::validateCommunication(const CommunicationSummary &before,
                                           const CommunicationSummary &after,
                                           Operation *root,
                                           const CommunicationRules &rules,
                                           StringRef pass) {
  RankUniformity uniformity(root);
  // Nested modules may have functions of one name.
  llvm::MapVector<StringAttr, SmallVector<const FunctionCommunication *, 1>>
      functions;
  for (const FunctionCommunication &function :
       llvm::reverse(after.getFunctions()))
    functions[function.name].push_back(&function);
  llvm::DenseSet<StringAttr> communicating;
  for (const FunctionCommunication &function : after.getFunctions())
    communicating.insert(function.name);
  auto compare = [&](const FunctionCommunication &from,
                     const FunctionCommunication &to) {
    return FunctionComparison(from, to, rules, uniformity, pass)
        .compare(
            [&](StringAttr callee) { return communicating.contains(callee); });
  };
  for (const FunctionCommunication &function : before.getFunctions()) {
    auto &found = functions[function.name];
    FunctionCommunication none = getSilent(function);
    if (failed(compare(function, found.empty() ? none : *found.pop_back_val())))
      return failure();
  }
  for (auto &[name, others] : functions)
    for (const FunctionCommunication *function : others)
      if (failed(compare(getSilent(*function), *function)))
        return failure();
  return validateAccesses(before, after, root, pass);
}
