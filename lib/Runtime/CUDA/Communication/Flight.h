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
#include "Operations/Call.h"

#include <cstdint>
#include <memory>

namespace braid::rt::cuda {

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
