//===- Control.h - Control messages -----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_CONTROL_H
#define BRAID_RUNTIME_MPI_CONTROL_H

#include "Base/Bytes.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace braid::rt {

/// The tags of the control communicator.
enum ControlKind {
  StatusQuestion, ///< The number of the inquiry.
  StatusAnswer,   ///< The same, and a Status.
  GivenUp,        ///< A member gives an operation up: queue, number, text.
  Failed,         ///< The sender has failed: its text.
  FailureHeard,   ///< The sender starts nothing more with the failed rank: its
                  ///< counters.
  LastOperations, ///< The last operations that the failed rank completes.
  GroupAsked,     ///< To rank 0: the key and the ranks of a group.
  GroupReady      ///< From rank 0: the members make the group now.
};

/// The state of a rank.
struct Status {
  int64_t begun = 0, ended = 0; ///< Invocations.
  int64_t exchanges = 0;
  int64_t waitCount = 0; ///< The number of the current wait.
  bool running = false;
  /// The rank waits for an operation that some member may not have started.
  bool isBlocked = false;
  uint64_t queue = 0;      ///< The operation's queue on this rank.
  uint64_t otherQueue = 0; ///< The operation's queue on the other members.
  int64_t number = 0;
  std::vector<int32_t> members;
  std::string operation;
  /// The number of operations that the rank has started, by queue.
  std::map<uint64_t, int64_t> started;
};

/// Converts a status to bytes for another process, and back.
std::string encode(const Status &status);
Status decodeStatus(const std::string &bytes);

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_CONTROL_H
