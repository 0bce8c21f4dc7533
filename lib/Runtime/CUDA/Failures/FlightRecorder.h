//===- FlightRecorder.h - The last operations of a rank ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_FAILURES_FLIGHTRECORDER_H
#define BRAID_RUNTIME_CUDA_FAILURES_FLIGHTRECORDER_H

#include "CUDA/Communication/Flight.h"

#include <array>
#include <string>

namespace braid::rt::cuda {

/// The last operations that a rank has started, for reports of failures.
class FlightRecorder {
public:
  static constexpr size_t capacity = 256;

  struct Entry {
    std::shared_ptr<const Call> call;
    const std::string *lane = nullptr; ///< `tp latency`; outlives the recorder.
    int64_t number = 0;                ///< Of all starts of the rank, from 1.
    int64_t sequence = 0;
    int64_t invocation = 0;
    int64_t startedNs = 0;
    int64_t finishedNs = 0; ///< 0: was not seen to be finished.
    bool captured = false;
  };

  /// Records a start. Returns the number of the entry, for finish.
  int64_t start(const Flight &flight, const std::string &lane);
  void finish(int64_t number, int64_t nowNs);

  /// The entries as JSON, the oldest first. `error` is the message of the
  /// failure.
  std::string toJson(int32_t rank, int32_t worldSize,
                     const std::string &error) const;

  /// The last `count` as lines of text, the oldest first.
  std::string describeLast(size_t count) const;

private:
  template <typename Visit> void forEach(size_t most, Visit visit) const;

  std::array<Entry, capacity> entries;
  int64_t started = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_FAILURES_FLIGHTRECORDER_H
