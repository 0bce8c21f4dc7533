//===- Report.cpp - The measurements of a session ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

using namespace braid::run;

static double medianMs(std::vector<int64_t> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  double ns =
      values.size() % 2
          ? static_cast<double>(values[middle])
          : static_cast<double>(values[middle - 1] + values[middle]) / 2;
  return ns / 1e6;
}

double Timing::median(int64_t Measurement::*figure) const {
  std::vector<int64_t> values;
  for (const Measurement &run : runs)
    values.push_back(run.*figure);
  return medianMs(std::move(values));
}

double Timing::stepMs() const {
  std::vector<int64_t> values;
  for (const Measurement &run : runs)
    values.push_back(run.stepNs());
  return medianMs(std::move(values));
}

int64_t Timing::peakBytes() const {
  int64_t most = 0;
  for (const Measurement &run : runs)
    most = std::max(most, run.peakBytes);
  return most;
}

int64_t Timing::waitNs() const {
  int64_t sum = 0;
  for (const Measurement &run : runs)
    sum += run.waitNs;
  return sum;
}

bool Timing::hasDevice() const {
  return !runs.empty() && runs.front().deviceNs > 0;
}

static std::string format(const char *pattern, ...)
    __attribute__((format(printf, 1, 2)));
static std::string format(const char *pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof(text), pattern, arguments);
  va_end(arguments);
  return text;
}

static std::string describeTiming(const Timing &timing) {
  auto count = static_cast<double>(timing.runs.size());
  std::string text =
      format("%.3f ms (median of %zu)", timing.stepMs(), timing.runs.size());
  if (timing.hasDevice())
    return text + format(" on the device, %.3f ms with start and end; the host "
                         "needs %.3f ms to issue a step\n",
                         timing.median(&Measurement::elapsedNs),
                         timing.median(&Measurement::hostNs));
  return text + format(", of which at most %.3f ms waiting on average; peak "
                       "memory of a rank %lld bytes\n",
                       toMs(timing.waitNs()) / count,
                       static_cast<long long>(timing.peakBytes()));
}

static std::string describeBound(const Subject &subject) {
  double compute = *subject.computeAloneMs, step = subject.timing.stepMs();
  if (!subject.communicationAloneMs)
    return format("  bound: compute alone %.3f ms, %.2f of the step; "
                  "communication cannot be measured alone here\n",
                  compute, compute / step);
  double communication = *subject.communicationAloneMs;
  double bound = std::max(compute, communication);
  return format("  bound: compute alone %.3f ms, communication alone %.3f ms; "
                "the step takes %.3f of the greater one\n",
                compute, communication, step / bound);
}

size_t braid::run::worstRank(const Recording &recording) {
  size_t worst = 0;
  int64_t most = -1;
  for (size_t rank = 0; rank < recording.ranks.size(); ++rank) {
    int64_t exposedNs =
        measureOverlap(recording.ranks[rank], recording.isHostMemory).exposedNs;
    if (exposedNs > most) {
      most = exposedNs;
      worst = rank;
    }
  }
  return worst;
}

static std::string describeOverlap(const Recording &recording) {
  size_t rank = worstRank(recording);
  Overlap overlap =
      measureOverlap(recording.ranks[rank], recording.isHostMemory);
  if (!recording.isHostMemory &&
      overlap.computeNs + overlap.communicationNs == 0)
    return "  overlap: nothing was recorded on the device; a graph's ops are "
           "not told apart\n";
  std::string text =
      format("  overlap: rank %zu: compute %.3f ms, communication %.3f ms, "
             "exposed %.3f ms: hidden %.1f %% of the time with communication\n",
             rank, toMs(overlap.computeNs), toMs(overlap.communicationNs),
             toMs(overlap.exposedNs), 100 * overlap.hiddenFraction());
  for (const auto &[kind, traffic] : measureTraffic(recording))
    if (traffic.bytes)
      text += format(
          "  %s: %lld of %lld bytes together, %.3f ms in flight, bus "
          "bandwidth %.2f GB/s\n",
          braid_rt_kind_name(kind), static_cast<long long>(traffic.count),
          static_cast<long long>(traffic.bytes), toMs(traffic.ns),
          traffic.busBandwidth());
  return text;
}

std::string braid::run::describeSubject(const std::string &what,
                                        const Subject &subject) {
  std::string text;
  // A single run is mostly warm-up, so print no times.
  if (subject.timing.runs.size() > 1)
    text += what + ": " + describeTiming(subject.timing);
  if (subject.computeAloneMs)
    text += describeBound(subject);
  if (subject.recording)
    text += describeOverlap(*subject.recording);
  return text;
}
