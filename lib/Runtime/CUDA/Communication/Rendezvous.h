//===- Rendezvous.h - State of the local members of a group -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_RENDEZVOUS_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_RENDEZVOUS_H

#include "CUDA/API/NCCL.h"
#include "CUDA/Communication/Flight.h"
#include "Engine/Engine.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace braid::rt::cuda {

/// The ids of a communicator's two NCCL communicators.
struct CommunicatorIds {
  nccl::UniqueId collectives, messages;
};

/// The shared state of the members of a communicator in this process.
class Rendezvous {
public:
  explicit Rendezvous(const CommunicatorSpec &spec);

  /// Records that a member starts its collective with this number. False if
  /// another member has started a different collective with this number.
  bool meet(int64_t sequence, uint64_t fingerprint);

  /// The side of a message that has started first.
  struct Side {
    int32_t rank;
    std::shared_ptr<const Call> call;
  };

  /// Records one side of the message with this number from one rank of the
  /// world to another. Returns the other side if it has started and disagrees.
  std::optional<Side> meetMessage(int32_t from, int32_t to, int64_t sequence,
                                  const Side &side);

  const std::string name; ///< The group's.
  const uint64_t id;      ///< A hash of the key.
  const std::vector<int32_t> ranks;

  /// The engine sets them before any member runs.
  std::optional<CommunicatorIds> ids;

private:
  static constexpr size_t slotCount = 1024;

  /// Number and fingerprint of the last collective in each slot.
  std::vector<std::atomic<uint64_t>> slots;

  std::mutex mutex;
  std::map<std::pair<int32_t, int32_t>, std::map<int64_t, Side>> sides;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_RENDEZVOUS_H
