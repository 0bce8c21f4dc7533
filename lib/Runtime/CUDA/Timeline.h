//===- Timeline.h - When a device reaches points of its streams -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_TIMELINE_H
#define BRAID_RUNTIME_CUDA_TIMELINE_H

#include "CUDA/API/Driver.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace braid::rt::cuda {

/// When the streams of a device reach points of an invocation, from events; for
/// traces. The rank's thread calls all functions.
class Timeline {
public:
  /// `createdNs`: the time zero of traces, by the host's monotonic clock.
  Timeline(const Driver &driver, int64_t createdNs)
      : driver(driver), createdNs(createdNs) {}
  ~Timeline();
  Timeline(const Timeline &) = delete;
  Timeline &operator=(const Timeline &) = delete;

  /// Begins an invocation, with the host at the point that `first` marks: an
  /// event that has just been recorded on an idle stream.
  void begin(Event first);

  /// Marks the point that a stream has come to, and returns its number.
  int64_t mark(Stream stream);

  /// When it was reached, since the world was created; once it was.
  int64_t timeOf(int64_t number) const;

private:
  const Driver &driver;
  const int64_t createdNs;
  Event origin = nullptr;
  int64_t originNs = 0;
  std::vector<Event> events; ///< Kept from one invocation to the next.
  size_t used = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_TIMELINE_H
