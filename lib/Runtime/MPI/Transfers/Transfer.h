//===- Transfer.h - A started operation and its data ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A transfer first checks that all members have started the same operation,
// with a small collective on a communicator of its own, or with small messages.
// The data move after the check. So an operation that a member has not started,
// or has started differently, accesses no member's memory.
//
// Between two members, messages with data start together with the check,
// because a round trip takes as long as copying some KiB. The tag of these
// messages is a hash of the operation, so they match only if both members have
// started the same operation. A transfer whose check fails, or that is
// abandoned, cancels its receives. Its sends match no receive, because the
// other member starts no operation with a failed member.
//
// The data move in phases. A phase is a list of pieces, a piece a sequence of
// steps, and a step a set of non-blocking calls that run together. Several
// pieces are in flight at a time. MPI requires that all members issue the
// collectives of a communicator in the same order. So there are two lanes, each
// with a communicator of its own. Each lane issues steps strictly in the order
// of transfers, phases, pieces and steps. `Gate` says which lanes are free for
// the next step in this order.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_TRANSFER_H
#define BRAID_RUNTIME_MPI_TRANSFERS_TRANSFER_H

#include "Engine/Engine.h"
#include "MPI/Library/Call.h"
#include "MPI/Transfers/Handshake.h"
#include "MPI/Transfers/Staging.h"

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt {

class MPICommunicator;
struct Queue;

enum Lane { FirstLane, SecondLane, laneCount };

/// The lanes on which all earlier steps have been issued.
struct Gate {
  bool isOpen[laneCount] = {true, true};
  void close() { isOpen[FirstLane] = isOpen[SecondLane] = false; }
  bool isClosed() const { return !isOpen[FirstLane] && !isOpen[SecondLane]; }
};

/// Non-blocking calls that run together, and the function to call when they are
/// complete.
struct Step {
  Lane lane;
  std::function<void(MPI_Comm comm, Requests &requests)> issue;
  std::function<void()> finish; ///< May be empty.
  bool isMessages = false;      ///< Not a collective of the library.
};

/// A sequence of steps.
struct Piece {
  std::vector<Step> steps;
  size_t next = 0;
  bool inFlight = false;
  Requests requests; ///< Of the step in flight.
  int64_t bytes = 0; ///< The most staging memory of the piece.

  bool isDone() const { return next == steps.size(); }
  /// Keeps the memory of the lists.
  void clear() {
    steps.clear();
    requests.clear();
    next = 0;
    inFlight = false;
    bytes = 0;
  }
};

/// The pieces of one operand. A piece is made when the window has room for it.
struct Part {
  int64_t pieceCount = 0;
  int64_t bytesOfPiece = 0;
  /// Empty: the only piece has one step, `only`.
  std::function<Piece(int64_t)> makePiece;
  Step only = {};
};

/// The memory of a transfer, which passes to another one when the transfer is
/// done: a small operation takes less than a microsecond, to which each
/// allocation adds some 20 ns.
struct TransferMemory {
  Room handshake;
  Requests checkRequests;
  std::vector<Part> parts; ///< Of the present phase.
  std::list<Piece> pieces; ///< From the first unfinished one on.
  std::list<Piece> spare;

  /// Adds an empty piece to `pieces`.
  Piece &addPiece();
  /// Removes the first of `pieces`.
  void dropPiece();
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
           const Operation &operation, std::unique_ptr<TransferMemory> memory);

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
  int64_t lastStepNs = 0; ///< When a step was last done, since beginNs.

  /// Starts the check. The communicator has been made.
  void postCheck();

  /// Tests the calls in flight and issues steps on open lanes. Closes the lanes
  /// on which the next transfer may not issue steps. Throws Error.
  void advance(Gate &gate);

  /// True if this world rank is a member.
  bool involves(int32_t rank) const;
  bool isUnderWay() const { return state.load() <= Moving; }
  /// The members' world ranks, this rank's too.
  std::vector<int32_t> members() const;
  /// A hash of the invocation and of everything that `agree` compares.
  uint64_t signatureHash() const;

  /// Whether calls with data have been issued that are not complete.
  bool hasIssued() const { return memory && !memory->pieces.empty(); }
  /// Takes the memory of a transfer that is done.
  std::unique_ptr<TransferMemory> takeMemory() { return std::move(memory); }
  /// Cancels the receives that were issued together with the check, and drops
  /// the plan. Returns false if data of a receive are in transit.
  bool withdraw();

  /// Adds a part to the phase that is being planned.
  void add(Part part) { memory->parts.push_back(std::move(part)); }
  /// Adds a part of one piece with one step.
  void add(Step &&step, int64_t stagingBytes = 0);
  /// Sets the function that plans the next phase when all parts are done.
  void setNextPhase(std::function<void()> plan) { nextPhase = std::move(plan); }

  Staging &staging() const;
  int64_t groupSize() const;
  int64_t member() const;

private:
  bool advanceCheck();
  void issueBesideCheck(Gate gate);
  void planData();
  bool advancePieces(Gate &gate);
  void advancePiece(Piece &piece, Gate &gate);
  bool agrees() const;
  void finish();
  /// The operands and the results of the collective in the check.
  uint64_t hash = 0;
  uint64_t own[2] = {0, 0};
  uint64_t largest[2] = {0, 0};
  Handshake handshake; ///< The messages of the check.
  std::unique_ptr<TransferMemory> memory;

  bool isPlanned = false;    ///< planData has been called.
  bool receivesLeft = false; ///< `withdraw` could not cancel all receives.
  /// Pieces that `withdraw` has dropped: calls refer to their buffers.
  std::list<Piece> withdrawn;
  size_t nextPart = 0;
  int64_t nextPiece = 0;
  int64_t stagedBytes = 0;
  std::function<void()> nextPhase;
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
  std::deque<std::shared_ptr<Transfer>> open;

  bool isMessages() const { return peer >= 0; }
};

struct MPIRequest final : EngineRequest {
  explicit MPIRequest(Operation &&operation)
      : EngineRequest(std::move(operation)) {}
  std::shared_ptr<Transfer> transfer; ///< None in a group of one.
};

/// These plan the first phase of a transfer's data. They throw Error.
void planReduction(Transfer &transfer);
void planGather(Transfer &transfer);
void planFromRoot(Transfer &transfer);
void planAllToAll(Transfer &transfer);
void planPairs(Transfer &transfer);
void planMessage(Transfer &transfer);
/// Exchanges the texts of members that disagree; then throws an Error that
/// names two of them. `explain` may add to the text.
void planDisagreement(Transfer &transfer,
                      const std::function<std::string()> &explain,
                      int64_t first, int64_t second);
/// The same for a check that has failed: the first member that differs from
/// member 0 is named.
void planDisagreement(Transfer &transfer);

/// Runs an operation in a group of one.
void runAlone(const Operation &operation);

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_TRANSFER_H
