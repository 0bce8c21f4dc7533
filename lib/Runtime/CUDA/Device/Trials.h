//===- Trials.h - Short trials of what libraries propose --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_TRIALS_H
#define BRAID_RUNTIME_CUDA_DEVICE_TRIALS_H

#include "CUDA/Device/Gpu.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace braid::rt::cuda {

/// Stream-ordered memory.
class Scratch {
public:
  Scratch(const Driver &driver, Stream stream, int64_t bytes);
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  DevicePointer address = 0; ///< 0 if there is not enough memory.

private:
  const Driver &driver;
  Stream stream;
};

/// Measures how long the proposals of a library for an operation take. Trials
/// use a stream and memory of their own, so that they do not wait for other
/// ranks. A recording allows none, because they wait for their stream.
class Trials {
public:
  explicit Trials(const Gpu &gpu) : gpu(gpu) {}
  ~Trials();
  Trials(const Trials &) = delete;
  Trials &operator=(const Trials &) = delete;

  /// Creates the stream, unless it is there.
  void open();
  Stream stream() const { return measuring; }

  /// Fills memory with random operands of `dtype`.
  void fill(DevicePointer memory, int64_t bytes, int32_t dtype);

  /// The milliseconds of a run of each of `count` candidates; the largest
  /// number for those whose first run throws an Error. `run` puts the candidate
  /// with a number into the stream.
  std::vector<float> timeAll(size_t count,
                             const std::function<void(size_t)> &run);

  /// Of two candidates the later one wins only if it takes less than this
  /// fraction of the time of the one that the library prefers. So noise rarely
  /// changes the choice and the bits of results.
  static constexpr float wanted = 0.98F;
  /// The number of the fastest candidate; 0 without any that runs.
  static size_t findFastest(const std::vector<float> &times);

private:
  float time(size_t candidate, const std::function<void(size_t)> &run,
             int runs);

  const Gpu &gpu;
  Stream measuring = nullptr;
  Event begin = nullptr, end = nullptr;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_TRIALS_H
