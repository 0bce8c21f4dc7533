//===- Figures.cpp - Measurements from recorded events ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing/Figures.h"
#include "braid-rt/Link.h"

#include <algorithm>

using namespace braid::run;

Intervals braid::run::merged(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  Intervals result;
  for (const auto &[begin, end] : intervals) {
    if (begin >= end)
      continue;
    if (!result.empty() && begin <= result.back().second)
      result.back().second = std::max(result.back().second, end);
    else
      result.emplace_back(begin, end);
  }
  return result;
}

Intervals braid::run::without(const Intervals &a, const Intervals &b) {
  Intervals result;
  size_t k = 0;
  for (auto [begin, end] : a) {
    while (k < b.size() && b[k].second <= begin)
      ++k;
    for (size_t next = k; next < b.size() && b[next].first < end; ++next) {
      if (begin < b[next].first)
        result.emplace_back(begin, b[next].first);
      begin = std::max(begin, b[next].second);
    }
    if (begin < end)
      result.emplace_back(begin, end);
  }
  return result;
}

int64_t braid::run::length(const Intervals &intervals) {
  int64_t sum = 0;
  for (const auto &[begin, end] : intervals)
    sum += end - begin;
  return sum;
}

/// The merged times of events of a category.
static Intervals timesOf(const std::vector<Event> &events, int32_t category) {
  Intervals times;
  for (const Event &event : events)
    if (event.category == category)
      times.emplace_back(event.beginNs, event.endNs);
  return merged(std::move(times));
}

Intervals braid::run::computeTimes(const std::vector<Event> &events,
                                   bool isHostMemory) {
  if (!isHostMemory)
    return timesOf(events, BRAID_RT_EVENT_KERNEL);
  Intervals calls = timesOf(events, BRAID_RT_EVENT_START);
  for (const auto &wait : timesOf(events, BRAID_RT_EVENT_WAIT))
    calls.push_back(wait);
  return without(timesOf(events, BRAID_RT_EVENT_INVOCATION),
                 merged(std::move(calls)));
}

Intervals braid::run::communicationTimes(const std::vector<Event> &events) {
  return timesOf(events, BRAID_RT_EVENT_COLLECTIVE);
}

double Overlap::hiddenFraction() const {
  if (communicationNs == 0)
    return 1;
  return static_cast<double>(communicationNs - exposedNs) /
         static_cast<double>(communicationNs);
}

Overlap braid::run::measureOverlap(const std::vector<Event> &events,
                                   bool isHostMemory) {
  Intervals compute = computeTimes(events, isHostMemory);
  Intervals communication = communicationTimes(events);
  return {length(compute), length(communication),
          length(without(communication, compute))};
}

double braid::run::busFactor(int32_t kind, int64_t groupSize) {
  return braid_rt_link_bytes(kind, groupSize, /*bytes=*/1);
}

std::map<int32_t, Traffic>
braid::run::measureTraffic(const Recording &recording) {
  std::map<int32_t, Traffic> result;
  for (const std::vector<Event> &events : recording.ranks) {
    std::map<int32_t, Traffic> own;
    for (const Event &event : events) {
      if (event.category != BRAID_RT_EVENT_COLLECTIVE)
        continue;
      Traffic &traffic = own[event.kind];
      ++traffic.count;
      traffic.bytes += event.bytes;
      traffic.ns += event.endNs - event.beginNs;
      traffic.busBytes +=
          static_cast<double>(event.bytes) *
          busFactor(event.kind, static_cast<int64_t>(event.ranks.size()));
    }
    for (const auto &[kind, traffic] : own)
      if (traffic.ns >= result[kind].ns)
        result[kind] = traffic;
  }
  return result;
}
