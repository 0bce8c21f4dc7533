//===- Activities.h - Activity records from CUPTI ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_TRACE_ACTIVITIES_H
#define BRAID_RUNTIME_CUDA_TRACE_ACTIVITIES_H

#include "CUDA/API/Cupti.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace braid::rt::cuda {

/// The activity records of this process, for all devices together. A region is
/// the work that a thread gives to the driver between `begin` and `end`. Each
/// record belongs to the region that has launched the work, or that has
/// recorded its node in a graph.
class Activities {
public:
  /// Enables records until the last user releases the result. Throws an Error
  /// if CUPTI is missing, has an unknown version, or is used by another tool.
  static std::shared_ptr<Activities> open();

  /// A kernel, a copy or a fill.
  struct Activity {
    uint64_t region = 0; ///< 0: unknown.
    uint64_t node = 0;   ///< The node of a graph; 0: not part of a graph.
    uint32_t correlation = 0, stream = 0;
    int64_t beginNs = 0, endNs = 0; ///< By the host's monotonic clock.
  };

  /// Begins a region of the calling thread. Returns its number, which is at
  /// least 1 and unique in the process.
  uint64_t begin();
  /// Ends the region that the calling thread has begun last.
  void end();

  /// The numbers of a context and of a stream in records.
  uint32_t contextId(ContextHandle context) const;
  uint32_t streamId(ContextHandle context, Stream stream) const;

  /// The activities of a context that have ended and were not taken before.
  /// Records arrive late, so records of an idle device may still be missing.
  std::vector<Activity> take(uint32_t context);

  /// Drops the launches of these regions, in ascending order. Graphs that they
  /// have recorded stay known.
  void forget(const std::vector<uint64_t> &regions);

private:
  Activities();
  void enable();
  void disable();
  /// The offset from CUPTI's clock to the monotonic clock.
  int64_t clockOffsetNs() const;
  void add(const cupti::Activity &record);
  template <typename Record> void addWork(const Record &record);
  void addNode(const cupti::GraphData &data, bool isClone);

  static void request(uint8_t **buffer, size_t *size, size_t *records);
  static void complete(ContextHandle, uint32_t stream, uint8_t *buffer,
                       size_t size, size_t validSize);
  static void notice(void *data, cupti::CallbackDomain domain,
                     uint32_t callback, const void *callbackData);

  const cupti::Cupti cupti;
  std::mutex mutex;
  uint64_t regions = 0;
  std::unordered_map<uint32_t, std::vector<Activity>> byContext;
  std::unordered_map<uint32_t, uint64_t> regionOfCall; ///< By correlation.
  std::unordered_map<uint64_t, uint64_t> regionOfNode;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_TRACE_ACTIVITIES_H
