//===- NCCLCommunicator.h - A member of an NCCL communicator ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_NCCLCOMMUNICATOR_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_NCCLCOMMUNICATOR_H

#include "CUDA/API/NCCL.h"
#include "CUDA/Communication/Flight.h"
#include "CUDA/Communication/LaneAgreement.h"
#include "CUDA/Communication/Rendezvous.h"
#include "Engine/Engine.h"

#include <atomic>
#include <deque>
#include <map>
#include <thread>

namespace braid::rt::cuda {

class CudaRank;
class NCCLCommunicator;

/// An NCCL communicator with its stream.
struct Lane {
  std::string label; ///< `tp latency`, ` p2p` after it for messages.
  nccl::Comm comm = nullptr;
  Stream stream = nullptr;
  Event follow = nullptr; ///< Makes the stream follow the compute stream.
  size_t known = 0;       ///< The number of the rank's allocations it has seen.
  // By allocation.
  std::map<DevicePointer, nccl::Window> windows;
  std::map<DevicePointer, void *> registrations;

  // Guarded by the rank's mutex.
  std::deque<Flight> flights; ///< Finished ones at the front.
  size_t finished = 0;        ///< The number of finished flights.
  int64_t progressNs = 0;     ///< When the last one was seen to finish.
};

class CudaRequest final : public EngineRequest {
public:
  CudaRequest(Operation operation, CudaRank &rank)
      : EngineRequest(std::move(operation)), rank(rank) {}
  ~CudaRequest() override;

  CudaRank &rank;
  Flight *flight = nullptr;
  int64_t span = -1; ///< The span in the timeline; -1: not traced.
};

/// One rank as member of one list of a group and one of its lanes. Collectives
/// and messages have different lanes, because ranks may start them in different
/// orders.
class NCCLCommunicator final : public Communicator {
public:
  NCCLCommunicator(CudaRank &rank, CommunicatorSpec spec,
                   std::shared_ptr<Rendezvous> rendezvous);
  ~NCCLCommunicator() override;

  std::unique_ptr<EngineRequest> start(Operation &&operation) override;
  void wait(EngineRequest &request) override;
  void hostWait(EngineRequest &request) override;
  void measure(EngineRequest &request) override;
  int64_t sequenceNumber() const override { return started; }

  //===--- For the rank and the engine ------------------------------------===//

  /// Issues the messages that have been started since the last wait for one.
  void flush();
  /// Drops these messages, after a failure of the rank.
  void drop() { deferred.clear(); }

  /// Remembers what the member has started, and returns to that.
  void noteStarts() {
    notedStarts = started;
    notedCounts = counts;
    hadExchanged = hasExchanged;
  }
  void restoreStarts() {
    started = notedStarts;
    counts = notedCounts;
    hasExchanged = hadExchanged;
  }

  /// Creates the streams and events. Does not communicate.
  void open();
  /// True if the lanes can be used.
  bool isMade() const { return made; }
  /// Creates the NCCL communicator of one lane, within an NCCL group. False if
  /// NCCL refuses the lane's configuration: the next call requests less.
  bool request(Lane &lane, const nccl::UniqueId &id);
  /// The same outside of groups; requests less until NCCL accepts.
  void requestAccepted(Lane &lane, const nccl::UniqueId &id);
  /// Waits until NCCL has initialized the communicators.
  void complete();
  /// True if operands must be in windows.
  bool wantsWindows() const;
  /// Registers the first window, in which NCCL says whether it supports them;
  /// within an NCCL group. Does nothing in a lane without windows.
  nccl::Result registerFirstWindow();
  /// Waits for this window after the group, which has returned `result`.
  void completeFirstWindow(nccl::Result result);
  /// What NCCL gives this member.
  LaneOutcome outcome() const { return {used, isStale, refusal}; }
  /// Adopts what all members may use. Frees the communicators if the members
  /// need others.
  void adopt(const LaneAgreement &agreement);
  /// Tells the rank if the lane uses less than its program plans.
  void reportReplacement();

  /// Deregisters an allocation that is about to be freed.
  void forgetMemory(DevicePointer memory);
  /// Ends all registrations, but not the windows.
  void deregisterBuffers();

  /// Frees the NCCL communicators. Their operations must have ended.
  void release();
  /// Stops and frees the NCCL communicators, each in a thread that is appended
  /// to `threads`: a communicator cannot end while its kernels wait for the
  /// kernels of another communicator.
  void abort(std::vector<std::thread> &threads);

  template <typename Visit> void forEachLane(Visit visit) {
    visit(collectives);
    visit(messages);
  }
  template <typename Visit> void forEachLane(Visit visit) const {
    visit(collectives);
    visit(messages);
  }
  /// The number of messages to and from each member, by its index and whether
  /// the message is sent. Guarded by the rank's mutex.
  const std::map<std::pair<int64_t, bool>, int64_t> &messageCounts() const {
    return counts;
  }

  CudaRank &rank;
  const std::shared_ptr<Rendezvous> rendezvous;
  Lane collectives, messages;

private:
  // NCCLCommunicator.cpp
  void ensureMade();
  bool hasWindows() const;
  size_t wordBytes() const;
  void release(Lane &lane, bool abort);
  void refuse(const char *function, nccl::Result result);
  Flight &begin(Lane &lane, std::shared_ptr<const Call> call, int64_t sequence);
  void follow(Lane &lane);
  void finish(Lane &lane, Flight &flight);
  std::unique_ptr<EngineRequest> startMessage(Operation operation);
  void meet(const Flight &flight);
  void announce(const Flight &flight);
  void meetMessage(const Flight &flight);

  // Issue.cpp
  void issue(const Operation &operation);
  void issueAlone(const Operation &operation);
  void issueOperand(const Operation &operation, const Operand &operand,
                    const char *source, nccl::ReductionOp op);
  void issueReduction(const Operation &operation, const Operand &operand,
                      const char *source, nccl::ReductionOp op);
  void issueSplits(const Operation &operation, const Operand &operand,
                   const char *source);
  void issueAsMessages(const Operation &operation, const Operand &operand,
                       const char *source);
  void issuePairs(const Operation &operation, const Operand &operand,
                  const char *source);
  void issueMessage(const Operation &operation);
  void issueBarrier();
  void copyBefore(const Operation &operation);
  void fillAfter(const Operation &operation);
  void copy(char *destination, const char *source, int64_t bytes);
  std::vector<const char *> stage(const Operation &operation);
  void unstage(const Operation &operation,
               const std::vector<const char *> &sources);
  void stageArguments(const Operation &operation,
                      std::vector<const char *> &sources);
  void registerMemory(Lane &lane);
  bool gathersInWindows(const Operation &operation) const;
  bool mustNotRegister(const Operation &operation);
  void reduceInPlace(const Operation &operation,
                     std::vector<const char *> &sources);
  void settle(Lane &lane, nccl::Result result, const char *function) const;
  /// Calls a function of NCCL and settles its result.
  template <typename Function, typename... Arguments>
  void run(Lane &lane, const Function &function, Arguments... arguments) const {
    settle(lane, function(arguments...), function.name);
  }
  nccl::Result poll(Lane &lane, nccl::Result result,
                    const char *function) const;
  bool isTargetOf(const Operation &operation) const;

  CallCache calls;
  std::atomic<bool> made{false};
  std::atomic<int64_t> started{0}; ///< Collectives.
  int64_t flushes = 0;
  std::map<std::pair<int64_t, bool>, int64_t> counts;
  int64_t notedStarts = 0;
  std::map<std::pair<int64_t, bool>, int64_t> notedCounts;
  std::vector<CudaRequest *> deferred;
  /// NCCL may have registered memory for an exchange; the same of all members.
  bool hasExchanged = false, hadExchanged = false;
  static constexpr int64_t kStagingAlignment = 256;
  /// The word of barriers. Behind it, at a multiple of `kStagingAlignment`, is
  /// the staging memory of the lane. NCCL has both as one window.
  DevicePointer barrierWord = 0;

  LaneSpec used; ///< What remains of `spec.lane` after NCCL's refusals.
  /// The communicators were created for more than `used`.
  bool isStale = false;
  std::string refusal;     ///< NCCL's, to this member.
  std::string allRefusals; ///< To any member.
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_NCCLCOMMUNICATOR_H
