//===- Status.h - The status of ranks ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_DIAGNOSIS_STATUS_H
#define BRAID_RUNTIME_DIAGNOSIS_STATUS_H

#include "Diagnosis/Failure.h"
#include "Operations/Messages.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace braid::rt {

/// An operation that a rank has started and that has not ended.
struct OpenOperation {
  /// Identifies the operation on all members: a communicator, or a sender and a
  /// receiver of a communicator. `ownQueue` counts the sides of messages.
  uint64_t match = 0;
  uint64_t ownQueue = 0, otherQueue = 0;
  uint64_t lane = 0; ///< Operations of a lane end in their order.
  std::string group; ///< The group's name.
  bool isMessage = false;
  /// True if the rank's thread waits for this operation.
  bool awaited = false;
  std::vector<int32_t> members; ///< World ranks; sender and receiver.
  int64_t sequence = 0;
  int64_t invocation = 0;
  int64_t issue = 0; ///< Equal for messages that were issued together.
  uint64_t fingerprint = 0;
  std::string text;                    ///< Of describeOperation.
  std::vector<int64_t> sent, expected; ///< Splits, by member.

  Match describeMatch() const { return {group, isMessage, sequence}; }

  template <typename Self> static auto fields(Self &self) {
    return std::tie(self.match, self.ownQueue, self.otherQueue, self.lane,
                    self.group, self.isMessage, self.awaited, self.members,
                    self.sequence, self.invocation, self.issue,
                    self.fingerprint, self.text, self.sent, self.expected);
  }
};

/// The status of a rank.
struct RankStatus {
  int32_t rank = 0;
  int64_t begun = 0, ended = 0; ///< Invocations.
  int64_t exchanges = 0;        ///< Calls of all ranks outside of invocations.
  bool failed = false;
  /// The number of the thread's present wait for its device; 0 if it does not
  /// wait.
  int64_t wait = 0;
  std::map<uint64_t, int64_t> started; ///< By queue.
  std::vector<OpenOperation> open;     ///< By lane, in their order.

  template <typename Self> static auto fields(Self &self) {
    return std::tie(self.rank, self.begun, self.ended, self.exchanges,
                    self.failed, self.wait, self.started, self.open);
  }
};

/// The known status of each rank.
using Statuses = std::map<int32_t, RankStatus>;

/// The reason why an operation can never end: members run different operations,
/// or a member has ended its program without starting it. Empty if all
/// operations may still end.
BRAID_RT_API std::optional<Failure> findProblem(const Statuses &statuses);

/// The same for one operation of a rank and one other member.
BRAID_RT_API std::optional<Failure>
compareMembers(const Statuses &statuses, const OpenOperation &operation,
               int32_t rank, int32_t member);

/// Maps each waiting rank to the ranks that have not started its operation.
using WaitingRanks = std::map<int32_t, std::vector<int32_t>>;

/// The deadlocked ranks in ascending order: each needs another one of them, so
/// none of them can continue.
BRAID_RT_API std::vector<int32_t> findDeadlocked(WaitingRanks waiting);

/// Ranks that wait for each other forever, independent of other ranks.
struct Deadlock {
  std::map<int32_t, int64_t> waits; ///< The numbers of the ranks' waits.
  Failure failure;
};

/// The deadlock with the most ranks. Statuses of different times may show a
/// deadlock that never existed. A deadlock is certain if a second round, which
/// begins after the end of the first one, finds the same waits.
BRAID_RT_API std::optional<Deadlock> findDeadlock(const Statuses &statuses,
                                                  int32_t worldSize);

/// Describes an operation that has not ended in time.
BRAID_RT_API Failure describeTimedOut(const Statuses &statuses,
                                      const OpenOperation &late,
                                      int64_t timeoutNs);

} // namespace braid::rt

#endif // BRAID_RUNTIME_DIAGNOSIS_STATUS_H
