//===- Announcements.h - Fingerprints before operations ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_ANNOUNCEMENTS_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_ANNOUNCEMENTS_H

#include "Diagnosis/Status.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace braid::rt::cuda {

/// What processes tell each other of operations at the level DETAIL, before
/// they issue them: NCCL does not notice every disagreement. Starts do not wait
/// for the others, waits do, like those of the engine inproc.
class Announcements {
public:
  /// Records an operation that a rank, this or another one, is about to start.
  /// Returns the failure if another member has announced another operation.
  std::optional<Failure> add(int32_t rank, const OpenOperation &operation);

  /// Waits until all members have announced the operation, or `isOver`. Returns
  /// the members without an announcement at the end of the time.
  template <typename IsOver>
  std::vector<int32_t> await(const OpenOperation &operation, int64_t timeoutNs,
                             IsOver isOver) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, std::chrono::nanoseconds(timeoutNs), [&]() {
      return isOver() || findMissing(operation).empty();
    });
    std::vector<int32_t> missing = findMissing(operation);
    announced.erase(keyOf(operation));
    return missing;
  }

  /// True if all members announce the operation within the time, or `isOver`.
  template <typename IsOver>
  bool arriveWithin(const OpenOperation &operation, int64_t limitNs,
                    IsOver isOver) {
    std::unique_lock<std::mutex> lock(mutex);
    return changed.wait_for(lock, std::chrono::nanoseconds(limitNs), [&]() {
      return isOver() || findMissing(operation).empty();
    });
  }

  /// Wakes a waiting thread after a failure.
  void wake();

private:
  /// The match and the number of an operation.
  using Key = std::pair<uint64_t, int64_t>;

  static Key keyOf(const OpenOperation &operation) {
    return {operation.match, operation.sequence};
  }
  std::vector<int32_t> findMissing(const OpenOperation &operation) const;

  mutable std::mutex mutex;
  std::condition_variable changed;
  /// Each status has the one operation.
  std::map<Key, Statuses> announced;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_ANNOUNCEMENTS_H
