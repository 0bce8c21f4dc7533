//===- Calls.h - Entries that XLA calls -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_JAX_CALLS_H
#define BRAID_RUNTIME_JAX_CALLS_H

#include "braid-rt/Jax.h"

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace braid::rt::jax {

/// An array of XLA, row-major.
struct Buffer {
  void *data;
  const int64_t *sizes;
  int64_t rank;
  int32_t dtype; ///< braid_rt_dtype, of integers without a sign, too; or -1.
};

/// An entry of a program, which XLA calls once for each rank.
class Call {
public:
  /// The ranks are those of this process. Throws an Error if the entry has an
  /// argument of unknown size or no buffer.
  Call(braid_rt_world *world, const braid_rt_entry &entry,
       braid_jax_synchronize synchronize, int64_t timeoutNs);

  /// The call on one device, which returns when the program has ended on all
  /// ranks, or is submitted. `run` is the same for the ranks that run together.
  /// Throws an Error, also where `inputs` and `outputs` are not the arguments
  /// and results of the entry.
  void run(int32_t device, int64_t run, void *stream,
           const std::vector<Buffer> &inputs,
           const std::vector<Buffer> &outputs);

  bool hasFailed() const;
  bool usesStreams() const { return synchronize; }
  /// Later calls fail; returns when no call runs.
  void close();

private:
  /// The arguments of one rank as the entry takes them.
  struct Frame {
    std::vector<int64_t> words;
    std::vector<void *> pointers;
  };

  /// The ranks that run together.
  struct Launch {
    int64_t run;
    std::vector<std::unique_ptr<Frame>> frames; ///< By rank.
    std::vector<void *> streams;                ///< By rank.
    size_t arrived = 0, left = 0;
    bool isDone = false;
    std::string error;
  };

  /// Throws if there are no more calls; otherwise one more runs.
  void begin();
  void end();
  /// The place of the rank with this device among those of this process.
  size_t findRank(int32_t device) const;
  void runWithOthers(size_t rank, int64_t run, void *stream,
                     std::unique_ptr<Frame> frame);
  Frame makeFrame(const std::vector<Buffer> &inputs,
                  const std::vector<Buffer> &outputs) const;
  /// The launch that the rank takes part in next.
  std::list<Launch>::iterator join(int64_t run, size_t rank);
  /// Submits the program; the error's text, or nothing. It ends before later
  /// work of XLA's stream.
  std::string runAll(const Launch &launch);
  std::string describeFailure() const;

  braid_rt_world *const world;
  const braid_rt_entry &entry;
  const braid_jax_synchronize synchronize;
  const int64_t timeoutNs;
  const int32_t *numbers = nullptr; ///< Of the ranks of this process.
  size_t ranks;
  /// The descriptors of all arguments without addresses, and where each begins.
  std::vector<int64_t> words;
  std::vector<size_t> begins;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::list<Launch> launches;
  bool isRunning = false, isClosed = false;
  size_t active = 0;   ///< Calls that have begun.
  std::string failure; ///< Of the first run that failed.
};

/// The call with this key; null if there is none.
std::shared_ptr<Call> findCall(int64_t key);

} // namespace braid::rt::jax

#endif // BRAID_RUNTIME_JAX_CALLS_H
