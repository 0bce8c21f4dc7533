//===- InProcessEngine.h - Ranks as threads of one process ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks meet in slots: a slot is one collective of one communicator, or one
// message. The last member makes the slot ready. Then progress threads and
// waiting ranks move the data; the last member moves small data itself. One
// mutex guards the matching; no thread moves data while it holds the mutex.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_INPROCESS_INPROCESSENGINE_H
#define BRAID_RUNTIME_INPROCESS_INPROCESSENGINE_H

#include "Base/Error.h"
#include "Diagnosis/Status.h"
#include "Engine/Engine.h"
#include "InProcess/Plan.h"
#include "Operations/Call.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>

namespace braid::rt {

class InProcessGroup;
struct Slot;

/// The request of a member of a slot.
struct InProcessRequest final : EngineRequest {
  explicit InProcessRequest(Operation started)
      : EngineRequest(std::move(started)),
        fingerprint(fingerprintOf(operation)) {}
  const uint64_t fingerprint; ///< Equal on members whose operations agree.
  std::shared_ptr<Slot> slot;
  /// The position among the rank's open requests.
  std::list<InProcessRequest *>::iterator openPosition;
};

/// The meeting point of one collective or message.
struct Slot {
  /// Pending: a member is missing. Ready: all members have started. Working:
  /// the plan is built and threads may take its units. Done and Failed are
  /// final.
  enum State { Pending, Ready, Working, Done, Failed };

  std::atomic<int> state{Pending};
  InProcessGroup *group = nullptr;
  int64_t invocation = 0;
  int64_t sequence = 0;
  int64_t number = 0; ///< Of a collective within its invocation.
  bool isMessage = false;

  /// The indices of the members that meet here: all, or sender and receiver.
  std::vector<int64_t> members;
  /// The request of each member, nullptr until the member starts. Valid until
  /// Done.
  std::vector<InProcessRequest *> requests;
  size_t arrived = 0;

  // Valid from Working on: `nextUnit` assigns units to threads.
  Plan plan;
  std::atomic<int64_t> nextUnit{0};
  std::atomic<int64_t> unitsDone{0};
  int64_t beginNs = 0; ///< When all members had started and the lane was free.
  int64_t endNs = 0;   ///< Valid when Done.
  /// With a link: the earliest end, 0 without.
  int64_t deadlineNs = 0;

  // Valid if Failed.
  std::string error;
  bool secondary = false;

  std::list<std::shared_ptr<Slot>>::iterator pendingPosition;
  int32_t worldRank(size_t position) const;
  /// The operation of a member that has started.
  OpenOperation describe(size_t position) const;
  /// True if the members that have started run the same operation.
  bool agrees() const;
};

/// The shared state of the members of one communicator.
class InProcessGroup {
public:
  explicit InProcessGroup(const CommunicatorSpec &spec)
      : name(spec.name), ranks(spec.ranks), sequence(ranks.size(), 0),
        invocationSequence(ranks.size(), {0, 0}), sendFreeNs(ranks.size(), 0),
        receiveFreeNs(ranks.size(), 0) {}

  int64_t size() const { return static_cast<int64_t>(ranks.size()); }

  void reset();

  const std::string name;           ///< The group's name.
  const std::vector<int32_t> ranks; ///< World ranks, in the group's order.

  /// The number of collectives that each member has started, in total and in
  /// the present invocation.
  std::vector<int64_t> sequence;
  std::vector<std::pair<int64_t, int64_t>> invocationSequence;

  /// Collectives that a member has started, by invocation and number within it.
  /// Failed ones stay for late members.
  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<Slot>> slots;

  /// Messages without their other side, in order, by invocation, sender and
  /// receiver.
  using Pair = std::pair<int64_t, std::pair<int64_t, int64_t>>;
  std::map<Pair, std::deque<std::shared_ptr<Slot>>> sends, receives;

  // Times at which the lanes of the rehearsed link are free again.
  int64_t laneFreeNs = 0;
  std::vector<int64_t> sendFreeNs, receiveFreeNs;
};

class InProcessEngine final : public Engine {
public:
  explicit InProcessEngine(const Environment &environment);
  ~InProcessEngine() override;

  const Capabilities &capabilities() const override { return abilities; }
  int32_t worldSize() const override {
    return static_cast<int32_t>(ranks.size());
  }
  const std::vector<int32_t> &localRanks() const override { return allRanks; }
  Device &device(int32_t rank) override { return *devices[rank]; }
  Communicator &communicator(int32_t rank,
                             const CommunicatorSpec &spec) override;
  std::vector<std::string> exchange(const std::string &bytes) override {
    return {bytes};
  }
  void beginInvocation(int32_t rank) override;
  void endInvocation(int32_t rank) override;
  void failInvocation(int32_t rank, const std::string &message) override;
  void reset() override;

  // Calls of the members of communicators.
  std::unique_ptr<EngineRequest> start(int32_t rank, InProcessGroup &group,
                                       int64_t member, Operation operation);
  void wait(int32_t rank, InProcessRequest &request);
  int64_t sequenceNumber(const InProcessGroup &group, int64_t member) const;

private:
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  /// The state of a rank, guarded by the mutex.
  struct RankState {
    std::condition_variable changed;
    int64_t begun = 0;         ///< Invocations that the rank has begun.
    int64_t ended = 0;         ///< Invocations that the rank has ended.
    bool failed = false;       ///< Its last invocation failed.
    std::string failure;       ///< The reason of the failure.
    Slot *blockedOn = nullptr; ///< The slot for which the thread sleeps.
    /// The first slot of the rank's that failed, and its site there.
    std::shared_ptr<Slot> failedSlot;
    braid_rt_site failedSite = {};
    // Only the rank's own thread accesses these:
    /// Started and not awaited.
    std::list<InProcessRequest *> open;
    /// The time to poll for a result before sleeping, and the number of waits
    /// since the last poll of full length.
    int64_t spinNs = 0;
    int waitsSinceFullSpin = 0;
  };

  // Matching; the mutex is held.
  std::shared_ptr<Slot> joinCollective(InProcessGroup &group, int64_t member,
                                       int64_t invocation);
  std::shared_ptr<Slot> joinMessage(InProcessGroup &group, int64_t member,
                                    int64_t invocation,
                                    const Operation &operation);
  void makePending(const std::shared_ptr<Slot> &slot);
  void failIfMemberIsGone(const std::shared_ptr<Slot> &slot);
  void becomeReady(const std::shared_ptr<Slot> &slot);
  void scheduleOnLink(Slot &slot);

  // Failing; the mutex is held.
  void failSlot(const std::shared_ptr<Slot> &slot, const std::string &error,
                bool secondary);
  void failPendingOf(int32_t rank, bool alsoArrived);
  std::string whyGone(const Slot &slot, int32_t rank) const;
  void throwIfFailed(int32_t rank);
  /// The ranks that have not started the operation that a rank waits for.
  std::vector<int32_t> findMissing(int32_t rank) const;
  /// Fails deadlocked ranks after `newest` has begun to wait.
  void failIfDeadlocked(int32_t newest);
  /// The operation that a rank waits for, if any.
  std::vector<OpenOperation> findAwaited(int32_t rank) const;
  /// The members of a slot, each with its operation there, or else with the one
  /// that it waits for.
  Statuses statuses(const Slot &slot) const;
  std::string describeTimedOut(const Slot &slot) const;

  // Moving data; the mutex is not held.
  void publish(const std::shared_ptr<Slot> &slot);
  void work(const std::shared_ptr<Slot> &slot);
  void finish(Slot &slot);
  void progress();

  /// A slot with free units, or nullptr; the mutex is held.
  std::shared_ptr<Slot> takeWork();
  void block(int32_t rank, const std::shared_ptr<Slot> &slot, Lock &lock,
             Clock::time_point deadline);
  void sleepUntil(int64_t deadlineNs);
  bool spin(RankState &state, const std::shared_ptr<Slot> &slot);

  const Environment &environment;
  const Capabilities abilities;
  const int64_t linkLatencyNs;
  const double linkBandwidth; ///< Bytes per second, 0: unlimited.
  const bool hasLink;
  const int64_t fullSpinNs;
  mutable std::mutex mutex;
  std::map<std::string, std::unique_ptr<InProcessGroup>> groups;
  /// The communicators of each rank, by key; guarded by the mutex.
  std::vector<std::map<std::string, std::unique_ptr<Communicator>>> members;
  std::vector<int32_t> allRanks;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<RankState> ranks;
  std::list<std::shared_ptr<Slot>> pending; ///< In the order of creation.
  std::deque<std::shared_ptr<Slot>> ready;  ///< With free units.
  std::condition_variable workAdded;
  std::vector<std::thread> progressThreads;
  bool stopping = false;
};

/// The engine of ranks that are threads of this process.
std::unique_ptr<Engine> createInProcessEngine(const Environment &environment);

} // namespace braid::rt

#endif // BRAID_RUNTIME_INPROCESS_INPROCESSENGINE_H
