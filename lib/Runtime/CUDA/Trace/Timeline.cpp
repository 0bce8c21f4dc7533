//===- Timeline.cpp - Times of the work of a device, for traces -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Trace/Timeline.h"
#include "Base/Environment.h"
#include "braid-rt/Host.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

Timeline::~Timeline() = default;
Timeline::Recording::~Recording() = default;

EventTimeline::~EventTimeline() {
  for (Event event : events)
    driver.eventDestroy(event);
}

void EventTimeline::begin(Event first) {
  origin = first;
  originNs = monotonicNs() - createdNs;
  used = 0;
  spans.clear();
}

size_t EventTimeline::mark(Stream stream) {
  if (used == events.size()) {
    events.push_back(nullptr);
    driver.call(driver.eventCreate, &events.back(), EVENT_TIMING);
  }
  driver.call(driver.eventRecord, events[used], stream);
  return used++;
}

int64_t EventTimeline::open(Stream stream, DeviceEvent event) {
  // Events of a recording have no time of their own.
  if (!origin)
    return -1;
  size_t begin = mark(stream);
  spans.push_back({std::move(event), begin, begin});
  return static_cast<int64_t>(spans.size()) - 1;
}

void EventTimeline::close(int64_t number, Stream stream) {
  spans[static_cast<size_t>(number)].end = mark(stream);
}

int64_t EventTimeline::timeOfMark(size_t mark) const {
  float milliseconds = 0;
  driver.call(driver.eventElapsedTime, &milliseconds, origin, events[mark]);
  return originNs +
         static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}

std::optional<Timeline::Interval> EventTimeline::timeOf(int64_t number) const {
  const Span &span = spans[static_cast<size_t>(number)];
  return Interval{timeOfMark(span.begin), timeOfMark(span.end)};
}

std::vector<DeviceEvent> EventTimeline::take() {
  std::vector<DeviceEvent> taken;
  for (Span &span : spans) {
    if (span.event.category == BRAID_RT_EVENT_COLLECTIVE)
      continue;
    span.event.beginNs = timeOfMark(span.begin);
    span.event.endNs = timeOfMark(span.end);
    taken.push_back(std::move(span.event));
  }
  spans.clear();
  return taken;
}
