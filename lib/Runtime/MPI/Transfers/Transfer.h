//===- Transfer.h - The data of an operation --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transfer first checks that all members have started the same operation, on
// a communicator of its own. The data move after the check, with the calls of
// the MPI library for the operation. So an operation that a member has not
// started, or has started differently, accesses no member's memory.
//
// MPI requires that all members issue the collectives of a communicator in the
// same order, so the data of a queue's transfers move one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_TRANSFER_H
#define BRAID_RUNTIME_MPI_TRANSFERS_TRANSFER_H

#include "Diagnosis/Status.h"
#include "Engine/Engine.h"
#include "MPI/Library/Call.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt {

class MPICommunicator;
struct Queue;

/// Memory that grows as needed. Operations reuse it, because fresh pages cost
/// more than a copy.
class Room {
public:
  /// At least `bytes` bytes, with any content. Throws std::bad_alloc.
  char *reserve(int64_t bytes) {
    if (bytes > size) {
      memory.reset(); // Before `size`, which a failure must not exceed.
      size = 0;
      memory.reset(new char[static_cast<size_t>(bytes)]);
      size = bytes;
    }
    return memory.get();
  }

private:
  std::unique_ptr<char[]> memory;
  int64_t size = 0;
};

/// Non-blocking calls that run together, and the function to call when they are
/// complete. Both throw Error.
struct Step {
  std::function<void(MPI_Comm comm, Requests &requests)> issue;
  std::function<void()> finish; ///< May be empty.
};

class Transfer {
public:
  enum State {
    Checking, ///< A member may not have started the operation.
    Moving,   ///< All members have started the operation. The data move.
    Done,
    Refused, ///< The members disagree, and all of them know it.
    Broken   ///< A call or an allocation has failed here.
  };

  Transfer(MPICommunicator &communicator, Queue &queue,
           const Operation &operation)
      : communicator(communicator), queue(queue), operation(operation) {}

  std::atomic<int> state{Checking};
  MPICommunicator &communicator;
  Queue &queue;
  /// The request's. Valid until the transfer is Done or abandoned.
  const Operation &operation;
  int64_t number = 0;     ///< In the queue, from 1.
  int64_t invocation = 0; ///< The number of the invocation that started it.
  int64_t startedNs = 0;  ///< When the rank has started the operation.
  int64_t beginNs = 0;    ///< When the check has ended.
  int64_t endNs = 0;

  /// Starts the check. The communicator has been made.
  void postCheck();

  /// Tests the calls in flight. Once the check has ended, and if `mayMove`,
  /// issues the steps of the data. Throws Error.
  void advance(bool mayMove);

  /// True if this world rank is a member.
  bool involves(int32_t rank) const;
  bool isUnderWay() const { return state.load() <= Moving; }
  /// The members' world ranks, this rank's too.
  std::vector<int32_t> members() const;
  /// For investigations of this and of other ranks.
  OpenOperation describe() const;
  int64_t groupSize() const;
  int64_t member() const;

  /// Whether calls with data have been issued that are not complete.
  bool hasIssued() const { return state.load() != Checking && isInFlight; }
  void add(Step step) { steps.push_back(std::move(step)); }
  /// When data of the queue moved last, since `beginNs`.
  int64_t lastMoveNs() const;

private:
  bool advanceCheck();
  void planData();

  /// A hash of the invocation and of everything that `agree` compares, and its
  /// complement.
  uint64_t own[2] = {0, 0};
  uint64_t others[2] = {0, 0}; ///< The largest of all members.
  std::vector<Step> steps;
  size_t nextStep = 0;
  bool isInFlight = false;
  Requests requests; ///< Of the check, or of the next step.
};

/// Transfers that are checked and issued in order: the collectives of a
/// communicator, or the messages of one direction between two members.
struct Queue {
  uint64_t id = 0;      ///< Identifies this member's counter.
  uint64_t otherId = 0; ///< Identifies the other members' counters.
  int64_t peer = -1;    ///< The other member of a send or recv, else -1.
  bool sends = false;   ///< This member sends the messages.
  int64_t started = 0;  ///< The number of the last one started.
  int64_t last = 0;     ///< The number of the last one to complete on failure.
  int64_t lastStepNs = 0; ///< When a step was last complete.
  std::deque<std::shared_ptr<Transfer>> open;
  /// For data between the network and operands of the one that moves them.
  Room room;

  bool isMessages() const { return peer >= 0; }
};

struct MPIRequest final : EngineRequest {
  explicit MPIRequest(Operation &&operation)
      : EngineRequest(std::move(operation)) {}
  std::shared_ptr<Transfer> transfer; ///< None in a group of one.
};

/// These add the steps of a transfer's data.
void planReduction(Transfer &transfer);
void planGather(Transfer &transfer);
void planFromRoot(Transfer &transfer);
void planAllToAll(Transfer &transfer);
void planPairs(Transfer &transfer);
void planMessage(Transfer &transfer);

/// Exchanges the operations of members that disagree; then throws an Error that
/// names two of them.
void planDisagreement(Transfer &transfer);

/// Runs an operation in a group of one.
void runAlone(const Operation &operation);

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_TRANSFER_H
