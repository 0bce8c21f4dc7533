//===- Timeline.h - Times of the work of a device, for traces ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_TRACE_TIMELINE_H
#define BRAID_RUNTIME_CUDA_TRACE_TIMELINE_H

#include "CUDA/API/Driver.h"
#include "Engine/Device.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace braid::rt::cuda {

/// The times of the work of an invocation on the streams of a device, for
/// traces. A span is the work that the rank gives to one stream between `open`
/// and `close`. The rank's thread calls all functions.
class Timeline {
public:
  struct Interval {
    int64_t beginNs, endNs; ///< Since the world was created.
  };
  /// The spans that a graph has recorded.
  class Recording {
  public:
    virtual ~Recording();
  };

  Timeline() = default;
  virtual ~Timeline();
  Timeline(const Timeline &) = delete;
  Timeline &operator=(const Timeline &) = delete;

  /// Begins an invocation. `first` is an event that was just recorded on an
  /// idle stream, which relates the clocks of host and device. Null while a
  /// graph is recorded.
  virtual void begin(Event first) = 0;

  /// Begins a span and returns its number; -1 if the span gets no times. `take`
  /// leaves out spans with the category of collectives.
  virtual int64_t open(Stream stream, DeviceEvent event) = 0;
  /// Ends the last open span.
  virtual void close(int64_t number, Stream stream) = 0;
  /// The same for a span that failed.
  virtual void abandon() {}

  /// The device has finished the work of the invocation.
  virtual void collect() {}

  /// The times of a span, after `collect`; nothing if they are unknown.
  virtual std::optional<Interval> timeOf(int64_t number) const = 0;

  /// The spans of the invocation with known times, without collectives unless a
  /// graph was replayed.
  virtual std::vector<DeviceEvent> take() = 0;

  /// The number of a collective's event when a graph replays the span; 0 if
  /// spans of graphs get no times.
  virtual int64_t recordedNumber(int64_t number) const {
    (void)number;
    return 0;
  }
  /// The spans of an invocation that was recorded; null for none.
  virtual std::shared_ptr<const Recording> keep() const { return nullptr; }
  /// The invocation replays a recording.
  virtual void replay(const Recording &recording) { (void)recording; }
};

/// Times from events before and after each span. Those in a graph have no
/// times.
class EventTimeline final : public Timeline {
public:
  /// `createdNs`: the time zero of traces, by the host's monotonic clock.
  EventTimeline(const Driver &driver, int64_t createdNs)
      : driver(driver), createdNs(createdNs) {}
  ~EventTimeline() override;

  void begin(Event first) override;
  int64_t open(Stream stream, DeviceEvent event) override;
  void close(int64_t number, Stream stream) override;
  std::optional<Interval> timeOf(int64_t number) const override;
  std::vector<DeviceEvent> take() override;

private:
  struct Span {
    DeviceEvent event;
    size_t begin = 0, end = 0; ///< Of `events`.
  };
  size_t mark(Stream stream);
  int64_t timeOfMark(size_t mark) const;

  const Driver &driver;
  const int64_t createdNs;
  Event origin = nullptr;
  int64_t originNs = 0;
  std::vector<Event> events; ///< Kept from one invocation to the next.
  size_t used = 0;
  std::vector<Span> spans;
};

/// A span that ends with its scope.
class TimelineSpan {
public:
  /// `timeline` is null without a trace.
  TimelineSpan(Timeline *timeline, Stream stream, DeviceEvent event)
      : timeline(timeline), stream(stream),
        opened(timeline ? timeline->open(stream, std::move(event)) : -1) {}
  ~TimelineSpan() {
    if (opened >= 0 && !isClosed)
      timeline->abandon();
  }
  TimelineSpan(const TimelineSpan &) = delete;
  TimelineSpan &operator=(const TimelineSpan &) = delete;

  void close() {
    isClosed = true;
    if (opened >= 0)
      timeline->close(opened, stream);
  }
  int64_t number() const { return opened; }
  int64_t recordedNumber() const {
    return opened >= 0 ? timeline->recordedNumber(opened) : 0;
  }

private:
  Timeline *const timeline;
  Stream stream;
  const int64_t opened;
  bool isClosed = false;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_TRACE_TIMELINE_H
