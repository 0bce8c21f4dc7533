//===- Flight.h - Started operations ----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a started operation for the rank's thread, the watchdog and the
// recorder of the last operations. A flight outlives its request: the request
// ends with its wait, when the host does not know whether the data have
// arrived.
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

/// A checked operation without addresses. All starts of one call site with the
/// same shapes share it.
struct Call {
  Call(const Operation &operation, uint64_t fingerprint);
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  Operation operation;
  const uint64_t fingerprint; ///< Equal on members whose operations agree.

private:
  /// Copies of the site's texts, because the program may be unloaded before a
  /// failure is reported.
  std::string file, label;
};

/// A hash of the properties that must be equal on all members of an operation,
/// or on both sides of a message.
uint64_t fingerprintOf(const Operation &operation);

/// The cache of the calls of a communicator, so that each is checked once.
class CallCache {
public:
  explicit CallCache(int64_t groupSize) : groupSize(groupSize) {}

  /// The call of an operation. Throws the Error of checkSupported if the call
  /// is new and not supported.
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
