//===- PairTimes.cpp - Compute and collectives side by side ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairTimes.h"

#include "llvm/ADT/STLExtras.h"

#include <vector>

using namespace braid::calibrate;

/// The mean time of the spans that lie within a window, with the gaps between
/// them; 0 if there are none.
static double meanOf(llvm::ArrayRef<TracedSpan> spans, int64_t fromNs,
                     int64_t toNs) {
  int64_t firstNs = 0, lastNs = 0, count = 0;
  for (const TracedSpan &span : spans) {
    if (span.beginNs < fromNs || span.endNs > toNs)
      continue;
    if (count++ == 0)
      firstNs = span.beginNs;
    lastNs = span.endNs;
  }
  return count ? static_cast<double>(lastNs - firstNs) /
                     static_cast<double>(count)
               : 0.0;
}

PairTimes braid::calibrate::readPairTimes(llvm::ArrayRef<TracedSpan> spans,
                                          int64_t aloneNs) {
  std::vector<TracedSpan> compute, collectives;
  for (const TracedSpan &span : spans)
    (span.isCollective ? collectives : compute).push_back(span);
  auto byBegin = [](const TracedSpan &a, const TracedSpan &b) {
    return a.beginNs < b.beginNs;
  };
  llvm::sort(compute, byBegin);
  llvm::sort(collectives, byBegin);
  PairTimes times;
  if (collectives.size() < 2)
    return times;
  int64_t beginNs = collectives.front().beginNs;
  int64_t togetherNs = collectives.front().endNs;
  int64_t endNs = collectives.back().endNs;
  times.collectiveNs = static_cast<double>(endNs - togetherNs) /
                       static_cast<double>(collectives.size() - 1);
  times.computeNs = meanOf(compute, togetherNs, endNs);
  double beforeNs = meanOf(compute, beginNs - aloneNs, beginNs),
         behindNs = meanOf(compute, endNs, endNs + aloneNs);
  // Without any behind, the collectives had nothing beside them at the end.
  if (beforeNs > 0 && behindNs > 0)
    times.computeAloneNs = (beforeNs + behindNs) / 2;
  return times;
}
