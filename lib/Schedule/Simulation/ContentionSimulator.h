//===- ContentionSimulator.h - Ops that share the machine -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SIMULATION_CONTENTIONSIMULATOR_H
#define BRAID_LIB_SCHEDULE_SIMULATION_CONTENTIONSIMULATOR_H

#include "PersistentKernel.h"
#include "Schedule/Model/Contention.h"
#include "braid/Schedule/Simulation/Simulator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// The rates of an op on the stream and an operation beside it, as far as they
/// are remembered. Whoever simulates the same ops again and again asks for the
/// same pairs.
class PairRates {
public:
  struct Pair {
    unsigned onStream = ~0u, onLane = ~0u;
    double streamRate = 1, laneRate = 1;
  };

  PairRates() : pairs(1 << numBits) {}
  /// Where the pair is, or else may be put.
  Pair &get(unsigned onStream, unsigned onLane) {
    constexpr uint64_t factor = 0x9E3779B97F4A7C15u;
    return pairs[((uint64_t(onStream) << 32 | onLane) * factor) >>
                 (64 - numBits)];
  }

private:
  static constexpr unsigned numBits = 13;
  std::vector<Pair> pairs;
};

/// A machine whose ops slow each other down, and what runs on it. Ops come to
/// the stream one by one. Copies go on by themselves; one takes as long as
/// there are operations in flight. They share their `times`, which the last
/// that went on has written.
class ContentionMachine {
public:
  /// `ops` name one another by their index, which need not be the order in
  /// which they come. `times` has one element for each op; exposed times are
  /// left alone. `pairs`, if given, belongs to these ops and this machine; it
  /// makes the machine faster. All of them have to outlive the machine.
  ContentionMachine(llvm::ArrayRef<SimulatedOp> ops,
                    const MachineModel &machine,
                    llvm::MutableArrayRef<SimulatedTimes> times,
                    PairRates *pairs = nullptr)
      : ops(ops), machine(&machine), times(times), pairs(pairs) {}

  /// Forgets all that has run.
  void reset();
  /// Lets the stream come to `op` and go past it. Time passes until then.
  void issue(unsigned op);
  /// Lets time pass until all operations on lanes have ended.
  void drain();
  /// Forgets all that has run, and runs `order` to its end.
  void simulate(llvm::ArrayRef<unsigned> order);
  /// How far the stream has come.
  int64_t getNowNs() const { return nowNs; }
  /// True if `start` was issued and its operation has not ended.
  bool isInFlight(unsigned start) const;
  /// How many operations are in flight.
  unsigned getNumInFlight() const;
  /// Of the operations in flight: calls `visit(start, endNs)` with when each
  /// ends if nothing slows it down from now on and those behind others in its
  /// lane take as long as `costNs` says; those of a lane in their order.
  void visitInFlight(llvm::ArrayRef<int64_t> costNs,
                     llvm::function_ref<void(unsigned, int64_t)> visit) const;
  /// True if everything is as on `other`, but for the time: what comes next
  /// takes as long on both.
  bool isShiftOf(const ContentionMachine &other) const;
  /// Appends all that what comes next depends on, beside the set of the ops
  /// that have come: two machines that append the same go on the same way.
  void appendState(std::vector<int64_t> &state) const;

private:
  /// An op that runs, and what is left of it.
  struct Progress {
    unsigned op;
    int64_t startNs;
    /// Nanoseconds of its cost that are left; only kept once it was slowed.
    double leftNs;
    bool slowed;
    /// If nothing else begins or ends before.
    int64_t endNs = 0;
  };
  enum class StreamState { Free, Held, Launching, Running };
  static constexpr unsigned none = ~0u;

  /// Takes the stream as far as it gets without time passing.
  void advanceStream();
  /// Begins the stream's op `next`.
  void beginOnStream();
  void endOnStream();
  /// Begins what has come to the head of `lane`, or lets it wait for
  /// multiprocessors. What the stream has just issued has to be launched first;
  /// what stood behind another operation was launched meanwhile.
  void beginOnLane(unsigned lane, bool isIssued);
  void run(unsigned op, int32_t lane);

  /// Of the machine whose multiprocessors are queued for:
  /// The index in `running` of the op on the stream; none if there is none.
  unsigned findOnStream() const;
  bool isPersistent(unsigned op) const {
    return isPersistentOn(ops[op].demand, *machine);
  }
  /// The multiprocessors that operations on lanes hold.
  int64_t getHeldByLanes() const;
  /// The multiprocessors on which a persistent kernel finds room that holds
  /// `held` already.
  int64_t getFreeForKernel(int64_t held) const;
  /// True if the op on the stream has what it needs to begin.
  bool hasRoomOnStream() const;
  /// True if `op`, of a lane, has what it needs to begin; on a kernel that
  /// gives way only from `readyClock` on.
  bool hasRoomOnLane(unsigned op, double readyClock) const;
  /// Lets `op`, of a lane, ask for multiprocessors once its kernel is there.
  void launch(unsigned op, unsigned lane);
  /// Lets those ask whose kernels have come.
  void askForRoom();
  /// Puts `op`, of a lane, behind all that wait.
  void waitForRoom(unsigned op, unsigned lane);
  /// Gives what is free to those that wait.
  void serveWaiting();
  /// How much of the cost of `current` has passed.
  double getClock(const Progress &current) const;
  /// When something leaves its multiprocessors that an operation waits for.
  int64_t getNextLeaveNs() const;
  /// When `current` ends at `rate`.
  int64_t getEnd(const Progress &current, double rate) const;
  /// Sets the rates of what runs.
  void findRates();
  /// Lets time pass until the next event.
  void advanceTime();

  llvm::ArrayRef<SimulatedOp> ops;
  const MachineModel *machine;
  llvm::MutableArrayRef<SimulatedTimes> times;
  PairRates *pairs;

  int64_t nowNs = 0;

  /// The op that the stream has come to, if it is not past it.
  unsigned next = none;
  StreamState state = StreamState::Free;
  /// The first of the starts that it awaits which may not have ended.
  unsigned nextAwaited = 0;
  int64_t launchedNs = 0;

  /// The starts of a lane that are issued; those before `first` have ended, and
  /// `first` runs.
  struct Lane {
    std::vector<unsigned> issued;
    size_t first = 0;

    bool isFree() const { return first == issued.size(); }
    llvm::ArrayRef<unsigned> getInFlight() const {
      return llvm::ArrayRef(issued).drop_front(first);
    }
    /// The first operation has ended. Takes constant time in the mean.
    void pop();
  };
  std::vector<Lane> lanes;

  /// What runs: the parts that the rates depend on, and beside each its
  /// progress.
  std::vector<RunningOp> running;
  std::vector<Progress> progress;
  /// Who waits for multiprocessors, in the order in which they have asked.
  struct Waiting {
    unsigned op, lane;
    int64_t sinceNs;
    /// On the clock of the op on the stream, unless that is persistent: when
    /// its wave ends.
    double readyClock;
  };
  llvm::SmallVector<Waiting, 2> waiting;
  /// Operations at the head of a lane whose kernels are not there yet, and when
  /// they ask for multiprocessors; the first to ask comes first.
  struct Launching {
    unsigned op, lane;
    int64_t asksNs;
  };
  llvm::SmallVector<Launching, 2> launching;
  /// Of the op on the stream, if it is persistent.
  PersistentKernel kernel;

  /// Rates hold until something begins or ends.
  bool ratesAreValid = false;
  std::vector<double> linkDemand;
};

/// Says when each of `ops` is issued, begins and ends if they run at the rates
/// that `shareMachine` gives them. `times` has one element for each op; exposed
/// times are left alone. Takes O(ops * (lanes in use + links)).
void simulateWithContention(llvm::ArrayRef<SimulatedOp> ops,
                            const MachineModel &machine,
                            llvm::MutableArrayRef<SimulatedTimes> times);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SIMULATION_CONTENTIONSIMULATOR_H
