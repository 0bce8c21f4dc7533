//===- ActivityTimeline.cpp - Times of CUPTI's activities -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Trace/ActivityTimeline.h"
#include "Base/Environment.h"
#include "braid-rt/Host.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;

uint32_t ActivityTimeline::streamId(Stream stream) {
  auto [found, isNew] = streams.emplace(stream, 0);
  if (isNew)
    found->second = activities.streamId(context, stream);
  return found->second;
}

void ActivityTimeline::begin(Event first) {
  beganNs = monotonicNs();
  isRecording = first == nullptr;
  isReplay = false;
  spans.clear();
  spanOfRegion.clear();
  unknown.clear();
}

int64_t ActivityTimeline::open(Stream stream, DeviceEvent event) {
  Span span;
  span.event = std::move(event);
  span.stream = streamId(stream);
  span.isRecorded = isRecording;
  span.region = activities.begin();
  spanOfRegion[span.region] = spans.size();
  spans.push_back(std::move(span));
  return static_cast<int64_t>(spans.size()) - 1;
}

void ActivityTimeline::close(int64_t, Stream) { activities.end(); }

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

void ActivityTimeline::add(const Activities::Activity &activity) {
  // A record of an earlier invocation.
  if (activity.endNs < beganNs)
    return;
  auto found = spanOfRegion.find(activity.region);
  if (found == spanOfRegion.end()) {
    if (!activity.node)
      unknown.push_back(activity);
    return;
  }
  Span &span = spans[found->second];
  // A trial runs in a span, but on a stream of its own.
  if (!activity.node && activity.stream != span.stream)
    return;
  span.beginNs = span.beginNs ? std::min(span.beginNs, activity.beginNs)
                              : activity.beginNs;
  span.endNs = std::max(span.endNs, activity.endNs);
}

bool ActivityTimeline::isComplete() const {
  return std::all_of(spans.begin(), spans.end(),
                     [](const Span &span) { return span.beginNs != 0; });
}

void ActivityTimeline::collect() {
  constexpr int64_t maxIdleNs = int64_t(50) * 1000 * 1000;
  uint32_t id = activities.contextId(context);
  // A record that shares its buffer with work of another rank arrives after the
  // end of this work. Some spans have no work at all.
  for (int64_t newsNs = monotonicNs(); monotonicNs() - newsNs < maxIdleNs;) {
    std::vector<Activities::Activity> taken = activities.take(id);
    for (const Activities::Activity &activity : taken)
      add(activity);
    if (isComplete())
      break;
    if (!taken.empty())
      newsNs = monotonicNs();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  assignInOrder();
  std::vector<uint64_t> ended;
  for (const Span &span : spans)
    if (!span.isRecorded)
      ended.push_back(span.region);
  activities.forget(ended);
}

/// Assigns records without a region to spans. NCCL may launch work from a
/// thread of its own. A stream runs its work in order, so these records belong
/// to the spans without records in order, if their numbers are equal.
void ActivityTimeline::assignInOrder() {
  std::map<uint32_t, std::vector<Span *>> open;
  for (Span &span : spans)
    if (!span.beginNs && !span.isRecorded)
      open[span.stream].push_back(&span);
  for (auto &[stream, waiting] : open) {
    std::vector<Activities::Activity> own;
    for (const Activities::Activity &activity : unknown)
      if (activity.stream == stream)
        own.push_back(activity);
    if (own.size() != waiting.size())
      continue;
    std::sort(own.begin(), own.end(), [](const auto &a, const auto &b) {
      return a.beginNs < b.beginNs;
    });
    for (size_t i = 0; i < own.size(); ++i) {
      waiting[i]->beginNs = own[i].beginNs;
      waiting[i]->endNs = own[i].endNs;
    }
  }
}

std::optional<Timeline::Interval>
ActivityTimeline::timeOf(int64_t number) const {
  const Span &span = spans[static_cast<size_t>(number)];
  if (!span.beginNs)
    return std::nullopt;
  return Interval{span.beginNs - createdNs, span.endNs - createdNs};
}

std::vector<DeviceEvent> ActivityTimeline::take() {
  std::vector<DeviceEvent> taken;
  for (Span &span : spans) {
    if (!span.beginNs ||
        (!isReplay && span.event.category == BRAID_RT_EVENT_COLLECTIVE))
      continue;
    span.event.beginNs = span.beginNs - createdNs;
    span.event.endNs = span.endNs - createdNs;
    if (span.event.category == BRAID_RT_EVENT_COLLECTIVE)
      span.event.recorded = static_cast<int64_t>(span.region);
    taken.push_back(span.event);
  }
  std::sort(taken.begin(), taken.end(),
            [](const DeviceEvent &a, const DeviceEvent &b) {
              return a.endNs < b.endNs;
            });
  return taken;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

int64_t ActivityTimeline::recordedNumber(int64_t number) const {
  const Span &span = spans[static_cast<size_t>(number)];
  return span.isRecorded ? static_cast<int64_t>(span.region) : 0;
}

std::shared_ptr<const Timeline::Recording> ActivityTimeline::keep() const {
  auto recorded = std::make_shared<Recorded>();
  recorded->spans = spans;
  return recorded;
}

void ActivityTimeline::replay(const Recording &recording) {
  isReplay = true;
  spans = static_cast<const Recorded &>(recording).spans;
  for (size_t i = 0; i < spans.size(); ++i)
    spanOfRegion[spans[i].region] = i;
}
