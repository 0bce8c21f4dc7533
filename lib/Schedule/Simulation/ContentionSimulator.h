//===- ContentionSimulator.h - Ops that share the machine -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SIMULATION_CONTENTIONSIMULATOR_H
#define BRAID_LIB_SCHEDULE_SIMULATION_CONTENTIONSIMULATOR_H

#include "Schedule/Model/Contention.h"
#include "Schedule/Model/PersistentKernel.h"
#include "braid/Schedule/Simulation/Simulator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// The rates of an op on the stream and an operation beside it, in a cache:
/// simulations of the same ops need the same pairs again and again.
class PairRates {
public:
  struct Pair {
    unsigned onStream = ~0u, onLane = ~0u;
    double streamRate = 1, laneRate = 1;
  };

  PairRates() : pairs(1 << numBits) {}
  /// The entry of the pair, or the entry to overwrite with it.
  Pair &get(unsigned onStream, unsigned onLane) {
    constexpr uint64_t factor = 0x9E3779B97F4A7C15u;
    return pairs[((uint64_t(onStream) << 32 | onLane) * factor) >>
                 (64 - numBits)];
  }

private:
  static constexpr unsigned numBits = 13;
  std::vector<Pair> pairs;
};

/// The state of a machine whose ops slow each other down. Ops are issued on the
/// stream one by one. Copies of a machine are independent; a copy takes time
/// linear in the operations in flight. Copies share their `times`, which the
/// copy that was advanced last has written.
class ContentionMachine {
public:
  /// `ops` name one another by their index, which need not be the order in
  /// which they are issued. `times` has one element for each op; exposed times
  /// are left alone. `pairs`, if given, belongs to these ops and this machine;
  /// it makes the machine faster. All arguments have to outlive the machine.
  ContentionMachine(llvm::ArrayRef<SimulatedOp> ops,
                    const MachineModel &machine,
                    llvm::MutableArrayRef<SimulatedTimes> times,
                    PairRates *pairs = nullptr)
      : ops(ops), machine(&machine), times(times), pairs(pairs),
        allIssuedNs(getMostOfHost()) {}

  /// Returns to the initial state.
  void reset();
  /// Advances the simulation until `op` has been issued on its stream.
  void issue(unsigned op);
  /// Advances the simulation until all operations on lanes have ended.
  void drain();
  /// Resets the machine and simulates `order` to its end.
  void simulate(llvm::ArrayRef<unsigned> order);
  /// The time of the stream.
  int64_t getNowNs() const { return nowNs; }
  /// True if `start` was issued and its operation has not ended.
  bool isInFlight(unsigned start) const;
  /// The number of operations in flight.
  unsigned getNumInFlight() const;
  /// Calls `visit(start, endNs)` for each operation in flight, those of a lane
  /// in their order. `endNs` is the end if nothing slows the operation down
  /// from now on and queued operations take `costNs`.
  void visitInFlight(llvm::ArrayRef<int64_t> costNs,
                     llvm::function_ref<void(unsigned, int64_t)> visit) const;
  /// True if the states differ only by a shift of time, so that all further ops
  /// take as long on both.
  bool isShiftOf(const ContentionMachine &other) const;
  /// Appends the state that further ops depend on, without the set of issued
  /// ops and the present time: machines that append the same values continue
  /// alike.
  void appendState(std::vector<int64_t> &state) const;

private:
  /// A running op and its remaining work.
  struct Progress {
    unsigned op;
    int64_t startNs;
    /// Remaining nanoseconds of its cost; set once the op has been slowed down.
    double leftNs;
    bool slowed;
    /// The end if no other op begins or ends before.
    int64_t endNs = 0;
  };
  enum class StreamState { Free, Held, Launching, Running };
  /// Advances the host to the moment at which it has issued `next`.
  void advanceHost();
  int64_t getMostOfHost() const;
  static constexpr unsigned none = ~0u;

  /// Advances the stream as far as possible at the present time.
  void advanceStream();
  /// Begins the stream's op `next`.
  void beginOnStream();
  void endOnStream();
  /// Begins the operation at the head of `lane`, or queues it for
  /// multiprocessors. An operation that the stream has just issued (`isIssued`)
  /// has to be launched first; one that was queued behind another has been
  /// launched meanwhile.
  void beginOnLane(unsigned lane, bool isIssued);
  void run(unsigned op, int32_t lane);

  /// For machines where ops queue for multiprocessors: The index in `running`
  /// of the op on the stream; none if there is none.
  unsigned findOnStream() const;
  bool isPersistent(unsigned op) const {
    return isPersistentOn(ops[op].demand, *machine);
  }
  /// The multiprocessors that operations on lanes hold.
  int64_t getHeldByLanes() const;
  /// The multiprocessors that a persistent kernel that holds `held` could hold
  /// in all.
  int64_t getFreeForKernel(int64_t held) const;
  /// True if the op on the stream has the multiprocessors to begin.
  bool hasRoomOnStream() const;
  /// True if `op`, of a lane, has the multiprocessors to begin; beside a kernel
  /// that frees them at the end of a wave, from `readyClock` on.
  bool hasRoomOnLane(unsigned op, double readyClock) const;
  /// Schedules the request of `op`, of a lane, for the time at which its kernel
  /// has been launched.
  void launch(unsigned op, unsigned lane);
  /// Queues the thread blocks of all kernels that have been launched by now.
  void askForRoom();
  /// Appends `op`, of a lane, to the queue for multiprocessors.
  void waitForRoom(unsigned op, unsigned lane);
  /// Assigns free multiprocessors to queued thread blocks.
  void serveWaiting();
  /// The part of the cost of `current` that has been done.
  double getClock(const Progress &current) const;
  /// The next time at which a running op frees multiprocessors for the queue.
  int64_t getNextLeaveNs() const;
  /// The end of `current` at `rate`.
  int64_t getEnd(const Progress &current, double rate) const;
  /// Computes the rates of all running ops.
  void findRates();
  /// Advances the time to the next event.
  void advanceTime();

  llvm::ArrayRef<SimulatedOp> ops;
  const MachineModel *machine;
  llvm::MutableArrayRef<SimulatedTimes> times;
  PairRates *pairs;

  int64_t nowNs = 0;
  /// When the host has issued all ops up to `next`, and how many ops of the
  /// stream it has launched since the last start or wait.
  int64_t hostNs = 0;
  unsigned numLaunched = 0;
  /// By then the host has issued all ops, whatever their order.
  int64_t allIssuedNs = 0;

  /// The op at the head of the stream that has not been issued; else `none`.
  unsigned next = none;
  StreamState state = StreamState::Free;
  /// The first awaited start of `next` that may not have ended.
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

  /// The running ops: what their rates depend on, and the progress of each.
  std::vector<RunningOp> running;
  std::vector<Progress> progress;
  /// The queue for multiprocessors, in the order of the requests.
  struct Waiting {
    unsigned op, lane;
    int64_t sinceNs;
    /// The end of the wave on the clock of the op on the stream, unless that op
    /// is persistent.
    double readyClock;
  };
  llvm::SmallVector<Waiting, 2> waiting;
  /// Operations at the head of a lane whose kernels are being launched, by the
  /// time of their request for multiprocessors.
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

/// Computes when each of `ops` is issued, begins and ends at the rates of
/// `shareMachine`. `times` has one element for each op; exposed times are left
/// alone. Takes O(ops * (lanes in use + links)).
void simulateWithContention(llvm::ArrayRef<SimulatedOp> ops,
                            const MachineModel &machine,
                            llvm::MutableArrayRef<SimulatedTimes> times);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SIMULATION_CONTENTIONSIMULATOR_H
