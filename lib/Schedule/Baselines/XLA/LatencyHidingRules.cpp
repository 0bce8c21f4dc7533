//===- LatencyHidingRules.cpp - Which ready node is best ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `ReadySetLt` of xla/service/latency_hiding_scheduler.cc: the tests that apply
// without annotations and hints, which Braid does not have, and without the
// resources of kinds that XLA:GPU does not use.
//
//===----------------------------------------------------------------------===//

#include "LatencyHidingRules.h"

#include <cstdlib>

using namespace braid;

namespace {
/// Negative if `a` is better, positive if `b` is, 0 if the rule has no opinion.
using Compare = int (*)(const RuleContext &context, const ReadyNode &a,
                        const ReadyNode &b);

struct Rule {
  llvm::StringLiteral name;
  bool isAggressive;
  Compare compare;
};
} // namespace

static int preferTrue(bool a, bool b) { return int(b) - int(a); }
static int preferLess(int64_t a, int64_t b) { return int(a > b) - int(a < b); }
static int preferMore(int64_t a, int64_t b) { return preferLess(b, a); }

/// Memory matters to all rules from half of the limit on.
static bool isMemoryHigh(const RuleContext &context) {
  return context.memoryLimit && context.liveBytes > *context.memoryLimit / 2;
}

static int decreaseMemoryOverLimit(const RuleContext &context,
                                   const ReadyNode &a, const ReadyNode &b) {
  if (!context.memoryLimit || context.liveBytes < *context.memoryLimit)
    return 0;
  return preferLess(a.addedBytes, b.addedBytes);
}

static int stayBelowLimit(const RuleContext &context, const ReadyNode &a,
                          const ReadyNode &b) {
  if (!isMemoryHigh(context))
    return 0;
  return preferTrue(a.peakBytes <= *context.memoryLimit,
                    b.peakBytes <= *context.memoryLimit);
}

static int scheduleDone(const RuleContext &, const ReadyNode &a,
                        const ReadyNode &b) {
  return preferTrue(a.isDone, b.isDone);
}

static int stallLess(const RuleContext &, const ReadyNode &a,
                     const ReadyNode &b) {
  return preferLess(a.stallNs, b.stallNs);
}

/// A start with no communication before it may as well come first in the
/// program, where an operation that takes longer than expected does no harm,
/// unless others have to wait for it.
static int delayStartAtZeroDepth(const RuleContext &, const ReadyNode &a,
                                 const ReadyNode &b) {
  auto mayCome = [](const ReadyNode &node) {
    return !node.isStart || node.asyncDepthNs != 0 || node.isBackedUp;
  };
  return preferTrue(mayCome(a), mayCome(b));
}

static int freeBackedUpResource(const RuleContext &, const ReadyNode &a,
                                const ReadyNode &b) {
  return preferTrue(a.isBackedUp, b.isBackedUp);
}

static int preferAsyncDepth(const RuleContext &, const ReadyNode &a,
                            const ReadyNode &b) {
  return preferMore(a.asyncDepthNs, b.asyncDepthNs);
}

/// Compute that ends just when the next start is due leaves no gap.
static int avoidWaste(const RuleContext &context, const ReadyNode &a,
                      const ReadyNode &b) {
  if (!context.nextDueNs || a.isStart || b.isStart)
    return 0;
  auto getWaste = [&](const ReadyNode &node) {
    return std::abs(*context.nextDueNs - context.nowNs - node.costNs);
  };
  return preferLess(getWaste(a), getWaste(b));
}

static int unlockDone(const RuleContext &, const ReadyNode &a,
                      const ReadyNode &b) {
  return preferTrue(a.unlocksDone, b.unlocksDone);
}

static int createMoreReadyNodes(const RuleContext &, const ReadyNode &a,
                                const ReadyNode &b) {
  return preferMore(a.numUnlocked, b.numUnlocked);
}

static int decreaseMemory(const RuleContext &context, const ReadyNode &a,
                          const ReadyNode &b) {
  if (!isMemoryHigh(context))
    return 0;
  return preferTrue(a.addedBytes < 0, b.addedBytes < 0);
}

static int originalOrder(const RuleContext &, const ReadyNode &a,
                         const ReadyNode &b) {
  return preferMore(a.node, b.node);
}

static constexpr Rule rules[] = {
    {"DecreaseMemoryOverLimit", false, decreaseMemoryOverLimit},
    {"MemoryPeakOverLimit", false, stayBelowLimit},
    {"ScheduleDone", false, scheduleDone},
    {"LessStall", false, stallLess},
    {"StartAtZeroDepth", true, delayStartAtZeroDepth},
    {"FreeBackedupResource", false, freeBackedUpResource},
    {"AsyncDepth", true, preferAsyncDepth},
    {"AvoidWaste", true, avoidWaste},
    {"UnlockDone", false, unlockDone},
    {"CreatesMoreReadyNodes", true, createMoreReadyNodes},
    {"DecreaseMemory", false, decreaseMemory},
    {"OriginalOrder", false, originalOrder},
};

Verdict braid::compareReadyNodes(const RuleContext &context, const ReadyNode &a,
                                 const ReadyNode &b) {
  for (const Rule &rule : rules) {
    if (rule.isAggressive && !context.aggressive)
      continue;
    if (int order = rule.compare(context, a, b))
      return {order, rule.name};
  }
  return {0, ""};
}
