//===- Messages.h - Texts about operations and ranks ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All engines report a failure with the same message. Operations are texts
// (describeOperation), because an engine with several processes has only the
// texts of the operations of other ranks.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_OPERATIONS_MESSAGES_H
#define BRAID_RUNTIME_OPERATIONS_MESSAGES_H

#include "Operations/Communicator.h"
#include "Operations/Operation.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace braid::rt {

/// A collective of a group, by its number from 1, or a message between two
/// members.
struct Match {
  std::string group;
  bool isMessage = false;
  int64_t sequence = 0;
};

/// `all_reduce sum tensor<4xf32> at prog.mlir:12:8 (ar0)`.
BRAID_RT_API std::string describeOperation(const Operation &operation);

/// The same for a signal handler: allocates nothing.
void printOperation(TextSink &text, const Operation &operation);

/// `tp latency`: the group and the lane, and ` p2p` after them for messages.
BRAID_RT_API std::string describeLane(const CommunicatorSpec &spec,
                                      const Operation &operation);

/// `communicator of group @tp, lane latency with 4 ranks, the first is 0`.
BRAID_RT_API std::string describeCommunicator(const CommunicatorSpec &spec);

/// `rank 3` or `ranks 1, 2 and 5`.
BRAID_RT_API std::string listRanks(const std::vector<int32_t> &ranks);

/// `ranks 0 and 2 wait for all_reduce ...`.
BRAID_RT_API std::string describeWaiting(const std::vector<int32_t> &ranks,
                                         const std::string &operation);

/// `rank 1 has not started collective number 3 of group @tp`.
BRAID_RT_API std::string describeMissing(const std::vector<int32_t> &ranks,
                                         const Match &match);

/// `rank 1 has ended its program without starting collective number 3 of group
/// @tp`.
BRAID_RT_API std::string describeDeparted(int32_t rank, const Match &match);

/// `the ranks of group @tp disagree in collective number 3: rank 0 runs ...,
/// rank 1 runs ...`.
BRAID_RT_API std::string
describeDisagreement(const Match &match, int32_t firstRank,
                     const std::string &firstOperation, int32_t secondRank,
                     const std::string &secondOperation);

/// `; rank 0 sends 3 rows to rank 1, which expects 2`, after a disagreement.
BRAID_RT_API std::string describeSplitDisagreement(int32_t sender, int64_t sent,
                                                   int32_t receiver,
                                                   int64_t expected);

/// `timed out after 50 ms: `.
BRAID_RT_API std::string describeTimeout(int64_t timeoutNs);

/// `every rank waits for another one: rank 0 for ..., rank 1 for ...`, or
/// `ranks 0 and 1 wait for each other: ...` if other ranks do not wait.
/// `operations` has the awaited operations of the ranks.
BRAID_RT_API std::string
describeDeadlock(const std::map<int32_t, std::string> &operations,
                 int32_t worldSize);

} // namespace braid::rt

#endif // BRAID_RUNTIME_OPERATIONS_MESSAGES_H
