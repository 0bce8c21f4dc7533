//===- LaneLaunch.cpp - When the first of a lane begins -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneLaunch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace braid::calibrate;

llvm::Expected<std::vector<double>>
braid::calibrate::readLaneLaunches(llvm::ArrayRef<TracedSpan> spans,
                                   int64_t leads, int64_t rounds) {
  std::vector<TracedSpan> matmuls, collectives;
  for (const TracedSpan &span : spans)
    (span.isCollective ? collectives : matmuls).push_back(span);
  auto found = [](const std::vector<TracedSpan> &list) {
    return static_cast<int64_t>(list.size());
  };
  if (found(matmuls) != leads + rounds || found(collectives) != rounds)
    return llvm::createStringError(
        "the trace has " + llvm::Twine(found(matmuls)) + " matmuls and " +
        llvm::Twine(found(collectives)) + " collectives, expected " +
        llvm::Twine(leads + rounds) + " and " + llvm::Twine(rounds));
  auto byBegin = [](const TracedSpan &a, const TracedSpan &b) {
    return a.beginNs < b.beginNs;
  };
  llvm::sort(matmuls, byBegin);
  llvm::sort(collectives, byBegin);
  std::vector<double> launches;
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t beforeNs = matmuls[size_t(leads + round - 1)].endNs;
    if (round > 0)
      beforeNs = std::max(beforeNs, collectives[size_t(round - 1)].endNs);
    int64_t ns = collectives[size_t(round)].beginNs - beforeNs;
    if (ns < 0)
      return llvm::createStringError("a collective begins " + llvm::Twine(-ns) +
                                     " ns before the end of what it is started "
                                     "behind");
    launches.push_back(static_cast<double>(ns));
  }
  return launches;
}
