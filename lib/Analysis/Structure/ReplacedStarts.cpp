//===- ReplacedStarts.cpp - Starts in place of others ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Division.h"
#include "FunctionComparison.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

/// Compares the starts of the parts into which `whole` may have been divided.
LogicalResult FunctionComparison::compareParts(const StartSummary &whole,
                                               int64_t dim) {
  const Event &event = *getBefore();
  TokenFate fate = {TokenFate::State::divided, {}, dim, &event};
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

/// Compares the waits for the parts of an operation that was divided.
LogicalResult FunctionComparison::comparePartWaits(const TokenFate &fate) {
  SmallVector<comm::WaitOp> waits;
  for (unsigned part : fate.tokens) {
    const Event *found = getAfter();
    if (!found || found->kind != EventKind::wait ||
        after.getAwaited(*found) != part)
      return reportDifference();
    waits.push_back(cast<comm::WaitOp>(found->op));
    ++nextAfter;
  }
  auto isGathered = [](comm::WaitOp wait) {
    return isa<comm::AllGatherOp>(*wait.getStart()) && wait.getValue() &&
           wait.getValue().hasOneUse() &&
           !isa<tensor::InsertSliceOp>(*wait.getValue().user_begin());
  };
  const StartSummary &whole = before.starts[fate.start->number];
  std::string gap = llvm::all_of(waits, isGathered)
                        ? findGapOfOperands(waits, whole.sources[0], fate.dim)
                        : findGap(waits, whole.values[0], fate.dim);
  ++next;
  if (rules.mayKeepParts || gap.empty())
    return success();
  return report(after.events[nextAfter - 1],
                "awaits parts of a value that was one before; they give " +
                    gap);
}

/// The part of the combined `launch` that replaces `like`: as many sources and
/// values as `like` has, from `firstSource` and `firstValue` on. Nothing if
/// `launch` has fewer.
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

/// Compares successive starts with the one start into which a pass may have
/// combined them.
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
    keepGiven(*event, found.firstGiven + numGiven);
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

/// Compares a collective with the steps into which a pass has split it, and the
/// wait for the last step.
LogicalResult FunctionComparison::compareStepWaits(const TokenFate &fate) {
  const Event &event = *fate.start;
  FailureOr<unsigned> last = compareSteps(
      {before.starts[event.number], after, *fate.firstStep, fate.steps},
      nextAfter, uniformity, [&](const Event *found, const Twine &problem) {
        return found ? report(*found, problem) : reportDifference();
      });
  if (failed(last))
    return failure();
  keepGiven(event, *last);
  return compareOther();
}
