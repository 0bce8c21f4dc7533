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

/// An entry of a program, which XLA calls once for each rank.
class Call {
public:
  /// Throws an Error if the entry has an argument of unknown size or no buffer.
  Call(braid_rt_world *world, const braid_rt_entry &entry,
       braid_jax_synchronize synchronize, int64_t timeoutNs);

  /// The call of one rank, which returns when the program has ended on all
  /// ranks. `run` is the same for the ranks that run together. `inputs` and
  /// `outputs` have the addresses of the arguments and results. Throws an
  /// Error.
  void run(int32_t rank, int64_t run, void *stream,
           const std::vector<void *> &inputs,
           const std::vector<void *> &outputs);

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
    void *stream = nullptr;                     ///< Of the rank that came last.
    size_t arrived = 0, left = 0;
    bool isDone = false;
    std::string error;
  };

  /// Throws if there are no more calls; otherwise one more runs.
  void begin();
  void end();
  void runWithOthers(int32_t rank, int64_t run, void *stream,
                     std::unique_ptr<Frame> frame);
  /// Waits until XLA's kernels have written the arguments, and have read what
  /// was in the memory of the results.
  void await(int32_t rank, void *stream) const;
  Frame makeFrame(const std::vector<void *> &inputs,
                  const std::vector<void *> &outputs) const;
  /// The launch that the rank takes part in next.
  std::list<Launch>::iterator join(int64_t run, int32_t rank);
  /// Submits the program; the error's text, or nothing. It ends before later
  /// work of XLA's stream.
  std::string runAll(const Launch &launch);
  std::string describeFailure() const;

  braid_rt_world *const world;
  const braid_rt_entry &entry;
  const braid_jax_synchronize synchronize;
  const int64_t timeoutNs;
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
