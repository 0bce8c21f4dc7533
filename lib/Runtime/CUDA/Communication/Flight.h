//===- Flight.h - Started operations ----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the rank's thread, the watchdog and the recorder of the last operations
// know of a start. A flight outlives its request, which ends with its wait: the
// host does not know then whether the data have arrived.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_FLIGHT_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_FLIGHT_H

#include "CUDA/API/Driver.h"
#include "Core/Operation.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

namespace braid::rt::cuda {

/// An operation that has been checked, without addresses: the same for every
/// start of one call site with the same shapes.
struct Call {
  Call(const Operation &operation, uint64_t fingerprint);
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  Operation operation;
  const uint64_t fingerprint; ///< Equal on members whose operations agree.

private:
  /// The site's texts: the program may be unloaded before a failure is told.
  std::string file, label;
};

/// What has to be equal on all members of a communicator that run an operation
/// together, or on both sides of a message.
uint64_t fingerprintOf(const Operation &operation);

/// The calls that a communicator has seen, so that each is checked once.
class CallCache {
public:
  explicit CallCache(int64_t groupSize) : groupSize(groupSize) {}

  /// The call of an operation; throws the Error of checkSupported when it is
  /// new.
  std::shared_ptr<const Call> find(const Operation &operation);

private:
  const int64_t groupSize;
  std::unordered_multimap<uint64_t, std::shared_ptr<const Call>> calls;
};

/// A started operation.
struct Flight {
  std::shared_ptr<const Call> call;
  int64_t sequence = 0;   ///< In its communicator or pair, from 1.
  int64_t invocation = 0; ///< Of the rank, from 1.
  int64_t group = 0;      ///< Equal for what was issued together.
  int64_t startedNs = 0;
  int64_t finishedNs = 0; ///< When it was seen to be finished; 0 before.
  int64_t number = 0;     ///< Of all starts of the rank; the recorder's.
  Event end = nullptr;
  bool issued = false;   ///< The end has been recorded.
  bool captured = false; ///< Into a graph: the event may not be queried.
  bool awaited = false;  ///< The compute stream waits for its end.
  bool released = false; ///< Its request is gone.
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_FLIGHT_H
