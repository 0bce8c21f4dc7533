//===- ActivityTimeline.h - Times of CUPTI's activities ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_TRACE_ACTIVITYTIMELINE_H
#define BRAID_RUNTIME_CUDA_TRACE_ACTIVITYTIMELINE_H

#include "CUDA/Trace/Activities.h"
#include "CUDA/Trace/Timeline.h"

#include <map>
#include <unordered_map>

namespace braid::rt::cuda {

/// Times from activity records: a span lasts from the beginning of its first
/// kernel, copy or fill to the end of the last one. Spans in graphs have times,
/// too.
class ActivityTimeline final : public Timeline {
public:
  ActivityTimeline(Activities &activities, ContextHandle context,
                   int64_t createdNs)
      : activities(activities), context(context), createdNs(createdNs) {}

  void begin(Event first) override;
  int64_t open(Stream stream, DeviceEvent event) override;
  void close(int64_t number, Stream stream) override;
  void abandon() override { activities.end(); }
  void collect() override;
  std::optional<Interval> timeOf(int64_t number) const override;
  std::vector<DeviceEvent> take() override;
  int64_t recordedNumber(int64_t number) const override;
  std::shared_ptr<const Recording> keep() const override;
  void replay(const Recording &recording) override;

private:
  struct Span {
    DeviceEvent event;
    uint64_t region = 0;
    uint32_t stream = 0;
    bool isRecorded = false; ///< A graph runs it.
    int64_t beginNs = 0;     ///< By the host's monotonic clock; 0: unknown.
    int64_t endNs = 0;
  };
  struct Recorded final : Recording {
    std::vector<Span> spans;
  };

  uint32_t streamId(Stream stream);
  void add(const Activities::Activity &activity);
  bool isComplete() const;
  void assignInOrder();

  Activities &activities;
  ContextHandle context;
  const int64_t createdNs;
  std::map<Stream, uint32_t> streams; ///< The numbers in records.
  std::vector<Span> spans;            ///< Of the invocation.
  std::unordered_map<uint64_t, size_t> spanOfRegion;
  /// Of the invocation, without a region.
  std::vector<Activities::Activity> unknown;
  int64_t beganNs = 0;
  bool isRecording = false, isReplay = false;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_TRACE_ACTIVITYTIMELINE_H
