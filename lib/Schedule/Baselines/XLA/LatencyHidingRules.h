//===- LatencyHidingRules.h - Which ready node is best ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BASELINES_XLA_LATENCYHIDINGRULES_H
#define BRAID_LIB_SCHEDULE_BASELINES_XLA_LATENCYHIDINGRULES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace braid {

/// A ready node, as the rules see it. Time counts from the end of the block.
struct ReadyNode {
  unsigned node = 0;
  /// The node holds the stream until an operation has ended.
  bool isDone = false;
  bool isStart = false;
  /// Of a start: nodes are ready that may not be placed before it is.
  bool isBackedUp = false;
  /// The node needs what a wait gives.
  bool unlocksDone = false;
  /// How long the stream would stand still if the node came next.
  int64_t stallNs = 0;
  /// Nanoseconds that the node takes on the stream.
  int64_t costNs = 0;
  /// The most communication, one after the other, before the node.
  int64_t asyncDepthNs = 0;
  /// How many nodes are ready once this one is placed.
  unsigned numUnlocked = 0;
  /// Bytes that live more before the node than after, and the most during it.
  /// Only known where memory matters.
  int64_t addedBytes = 0, peakBytes = 0;
};

/// What the rules know beside the nodes themselves.
struct RuleContext {
  /// Also use the rules that XLA calls aggressive.
  bool aggressive = true;
  int64_t nowNs = 0;
  /// When the next start that is not due yet will be.
  std::optional<int64_t> nextDueNs;
  /// Bytes that live now, and the most that should; no limit where memory does
  /// not matter.
  int64_t liveBytes = 0;
  std::optional<int64_t> memoryLimit;
};

/// What a comparison says: `order` is negative if the first is better, positive
/// if the second is, and never 0 for two nodes; `reason` names the rule.
struct Verdict {
  int order;
  llvm::StringRef reason;
};

/// Compares two nodes by XLA's rules, in XLA's order: the first that tells a
/// difference decides.
Verdict compareReadyNodes(const RuleContext &context, const ReadyNode &a,
                          const ReadyNode &b);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BASELINES_XLA_LATENCYHIDINGRULES_H
