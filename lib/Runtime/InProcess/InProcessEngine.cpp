//===- InProcessEngine.cpp - Ranks that are threads of one process --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InProcess/InProcessEngine.h"
#include "Engine/EngineOptions.h"
#include "Host/HostDevice.h"
#include "braid-rt/Link.h"

#include <algorithm>
#include <limits>
#include <new>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

using namespace braid::rt;

namespace {
/// Launches below this size are done by the last rank at once.
constexpr int64_t inlineBytes = 32 * 1024;
/// The longest time that a rank polls for its result before it sleeps: about
/// the cost of sleeping and waking up.
constexpr int64_t spinTimeNs = 20 * 1000;
} // namespace

static unsigned coreCount() {
  return std::max(1U, std::thread::hardware_concurrency());
}

static void pauseCore() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

namespace {
/// A member of a communicator. Forwards all calls to the engine.
class InProcessCommunicator final : public Communicator {
public:
  InProcessCommunicator(InProcessEngine &engine, int32_t rank,
                        InProcessGroup &group, CommunicatorSpec spec)
      : Communicator(std::move(spec)), engine(engine), rank(rank),
        group(group) {}

  std::unique_ptr<EngineRequest> start(Operation &&operation) override {
    return engine.start(rank, group, spec.index, std::move(operation));
  }
  void wait(EngineRequest &request) override {
    engine.wait(rank, static_cast<InProcessRequest &>(request));
  }
  int64_t sequenceNumber() const override {
    return engine.sequenceNumber(group, spec.index);
  }

private:
  InProcessEngine &engine;
  const int32_t rank;
  InProcessGroup &group;
};
} // namespace

static Capabilities getCapabilities() {
  Capabilities result;
  result.linkRehearsal = result.recovery = result.hostMemory = true;
  result.orderedReductions = true;
  return result;
}

std::unique_ptr<Engine>
braid::rt::createInProcessEngine(const Environment &environment) {
  int32_t ranks = environment.config.ranks;
  if (ranks < 1 || ranks > 4096)
    throw Error("the number of ranks must be between 1 and 4096, found " +
                std::to_string(ranks));
  checkEngineOptions(environment,
                     {"progress-threads", "link-latency", "link-bandwidth"});
  return std::make_unique<InProcessEngine>(environment);
}

InProcessEngine::InProcessEngine(const Environment &environment)
    : environment(environment), abilities(getCapabilities()),
      linkLatencyNs(static_cast<int64_t>(
          getEngineNumber(environment, "link-latency", 0, 0, 1e15))),
      linkBandwidth(getEngineNumber(environment, "link-bandwidth", 0, 0, 1e18)),
      hasLink(linkLatencyNs > 0 || linkBandwidth > 0),
      // With more ranks than cores the awaited rank needs the core.
      fullSpinNs(static_cast<unsigned>(environment.config.ranks) <= coreCount()
                     ? spinTimeNs
                     : 0),
      ranks(static_cast<size_t>(environment.config.ranks)) {
  auto count = static_cast<unsigned>(
      getEngineNumber(environment, "progress-threads", 0, 0, 4096));
  int32_t threads = chooseThreads(environment.config.blasThreads, worldSize());
  members.resize(ranks.size());
  for (int32_t rank = 0; rank < worldSize(); ++rank) {
    allRanks.push_back(rank);
    devices.push_back(std::make_unique<HostDevice>(threads, worldSize() == 1));
  }
  if (worldSize() == 1)
    return;
  if (count == 0)
    count = std::max(1U, coreCount() / 4);
  for (unsigned i = 0; i < count; ++i)
    progressThreads.emplace_back([this]() { progress(); });
}

InProcessEngine::~InProcessEngine() {
  {
    Lock lock(mutex);
    stopping = true;
  }
  workAdded.notify_all();
  for (std::thread &thread : progressThreads)
    thread.join();
}

Communicator &InProcessEngine::communicator(int32_t rank,
                                            const CommunicatorSpec &spec) {
  Lock lock(mutex);
  std::unique_ptr<Communicator> &member = members[rank][spec.key];
  if (member)
    return *member;
  std::unique_ptr<InProcessGroup> &group = groups[spec.key];
  if (!group) {
    group = std::make_unique<InProcessGroup>(spec);
    if (environment.logs(BRAID_RT_DEBUG_INFO))
      environment.log(describeCommunicator(spec));
  }
  member = std::make_unique<InProcessCommunicator>(*this, rank, *group, spec);
  return *member;
}

int64_t InProcessEngine::sequenceNumber(const InProcessGroup &group,
                                        int64_t member) const {
  Lock lock(mutex);
  return group.sequence[member];
}

void InProcessGroup::reset() {
  std::fill(sequence.begin(), sequence.end(), 0);
  std::fill(invocationSequence.begin(), invocationSequence.end(),
            std::pair<int64_t, int64_t>{0, 0});
  slots.clear();
  sends.clear();
  receives.clear();
}

void InProcessEngine::reset() {
  Lock lock(mutex);
  pending.clear();
  for (auto &entry : groups)
    entry.second->reset();
  for (RankState &state : ranks) {
    state.begun = state.ended = 0;
    state.failed = false;
    state.failedSlot.reset();
  }
}

void InProcessEngine::beginInvocation(int32_t rank) {
  Lock lock(mutex);
  ++ranks[rank].begun;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

void InProcessEngine::makePending(const std::shared_ptr<Slot> &slot) {
  slot->requests.resize(slot->members.size(), nullptr);
  pending.push_back(slot);
  slot->pendingPosition = std::prev(pending.end());
}

std::shared_ptr<Slot> InProcessEngine::joinCollective(InProcessGroup &group,
                                                      int64_t member,
                                                      int64_t invocation) {
  std::pair<int64_t, int64_t> &number = group.invocationSequence[member];
  if (number.first != invocation)
    number = {invocation, 0};
  ++number.second;
  ++group.sequence[member];
  std::shared_ptr<Slot> &slot = group.slots[number];
  if (!slot) {
    slot = std::make_shared<Slot>();
    slot->group = &group;
    slot->invocation = invocation;
    slot->number = number.second;
    slot->sequence = group.sequence[member];
    for (int64_t i = 0; i < group.size(); ++i)
      slot->members.push_back(i);
    makePending(slot);
  }
  return slot;
}

std::shared_ptr<Slot> InProcessEngine::joinMessage(InProcessGroup &group,
                                                   int64_t member,
                                                   int64_t invocation,
                                                   const Operation &operation) {
  bool sends = operation.kind == BRAID_RT_SEND;
  int64_t sender = sends ? member : operation.peer;
  int64_t receiver = sends ? operation.peer : member;
  InProcessGroup::Pair key = {invocation, {sender, receiver}};
  auto &others = sends ? group.receives : group.sends;
  auto it = others.find(key);
  if (it != others.end()) {
    std::shared_ptr<Slot> slot = it->second.front();
    it->second.pop_front();
    if (it->second.empty())
      others.erase(it);
    return slot;
  }
  auto slot = std::make_shared<Slot>();
  slot->group = &group;
  slot->invocation = invocation;
  slot->isMessage = true;
  slot->members = {sender, receiver};
  (sends ? group.sends : group.receives)[key].push_back(slot);
  makePending(slot);
  return slot;
}

/// A link may be so slow that its work never ends.
static int64_t addNs(int64_t beginNs, double durationNs) {
  constexpr int64_t never = std::numeric_limits<int64_t>::max();
  bool ends = durationNs < static_cast<double>(never - beginNs);
  return ends ? beginNs + static_cast<int64_t>(durationNs) : never;
}

void InProcessEngine::scheduleOnLink(Slot &slot) {
  InProcessGroup &group = *slot.group;
  int64_t now = environment.now();
  slot.beginNs = now;
  if (!hasLink)
    return;
  int64_t bytes = 0;
  for (const InProcessRequest *request : slot.requests)
    bytes = std::max(bytes, request->operation.linkBytes());
  double time =
      braid_rt_link_time_ns(slot.requests[0]->operation.kind, group.size(),
                            static_cast<double>(bytes),
                            static_cast<double>(linkLatencyNs), linkBandwidth);
  if (slot.isMessage) {
    int64_t &sendFree = group.sendFreeNs[slot.members[0]];
    int64_t &receiveFree = group.receiveFreeNs[slot.members[1]];
    slot.beginNs = std::max({now, sendFree, receiveFree});
    slot.deadlineNs = sendFree = receiveFree = addNs(slot.beginNs, time);
    return;
  }
  slot.beginNs = std::max(now, group.laneFreeNs);
  slot.deadlineNs = group.laneFreeNs = addNs(slot.beginNs, time);
}

void InProcessEngine::becomeReady(const std::shared_ptr<Slot> &slot) {
  pending.erase(slot->pendingPosition);
  if (!slot->isMessage) {
    // Every member has reached this number.
    slot->group->slots.erase({slot->invocation, slot->number});
  }
  scheduleOnLink(*slot);
  slot->state.store(Slot::Ready, std::memory_order_release);
}

std::unique_ptr<EngineRequest> InProcessEngine::start(int32_t rank,
                                                      InProcessGroup &group,
                                                      int64_t member,
                                                      Operation operation) {
  auto request = std::make_unique<InProcessRequest>(std::move(operation));
  std::shared_ptr<Slot> slot;
  bool complete = false;
  {
    Lock lock(mutex);
    throwIfFailed(rank);
    RankState &state = ranks[rank];
    if (request->operation.isPointToPoint())
      slot = joinMessage(group, member, state.begun, request->operation);
    else
      slot = joinCollective(group, member, state.begun);
    if (slot->state.load() == Slot::Failed) {
      state.failedSlot = slot;
      state.failedSite = request->operation.site;
      throwIfFailed(rank);
    }
    auto position = static_cast<size_t>(
        std::find(slot->members.begin(), slot->members.end(), member) -
        slot->members.begin());
    slot->requests[position] = request.get();
    ++slot->arrived;
    request->slot = slot;
    request->sequence = slot->sequence;
    complete = slot->arrived == slot->members.size();
    if (!slot->agrees())
      failSlot(slot, findProblem(statuses(*slot)).value().text,
               /*secondary=*/false);
    else if (complete)
      becomeReady(slot);
    else
      failIfMemberIsGone(slot);
    throwIfFailed(rank);
    request->openPosition = state.open.insert(state.open.end(), request.get());
  }
  if (complete)
    publish(slot);
  return request;
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

void InProcessEngine::publish(const std::shared_ptr<Slot> &slot) {
  std::vector<const Operation *> operations;
  for (const InProcessRequest *request : slot->requests)
    operations.push_back(&request->operation);
  try {
    slot->plan = Plan(operations);
  } catch (const std::bad_alloc &) {
    Lock lock(mutex);
    failSlot(slot, "out of memory for " + operations[0]->signature(),
             /*secondary=*/false);
    return;
  }
  int64_t units = slot->plan.unitCount();
  if (units <= 1 || slot->plan.bytes() <= inlineBytes) {
    for (int64_t unit = 0; unit < units; ++unit)
      slot->plan.run(unit);
    finish(*slot);
    return;
  }
  Lock lock(mutex);
  slot->state.store(Slot::Working, std::memory_order_release);
  ready.push_back(slot);
  // Wake sleeping ranks, which then help.
  int64_t woken = 0;
  for (RankState &state : ranks)
    if (state.blockedOn && woken < units) {
      state.changed.notify_one();
      ++woken;
    }
  if (!woken)
    workAdded.notify_one();
}

void InProcessEngine::work(const std::shared_ptr<Slot> &slot) {
  int64_t units = slot->plan.unitCount();
  int64_t unit;
  while ((unit = slot->nextUnit.fetch_add(1, std::memory_order_relaxed)) <
         units) {
    slot->plan.run(unit);
    if (slot->unitsDone.fetch_add(1, std::memory_order_acq_rel) + 1 == units)
      finish(*slot);
  }
}

void InProcessEngine::finish(Slot &slot) {
  Lock lock(mutex);
  slot.endNs = std::max(environment.now(), slot.deadlineNs);
  // After this store the members may destroy their operations.
  slot.state.store(Slot::Done, std::memory_order_release);
  for (int64_t member : slot.members) {
    RankState &state = ranks[slot.group->ranks[member]];
    if (state.blockedOn == &slot)
      state.changed.notify_one();
  }
}

std::shared_ptr<Slot> InProcessEngine::takeWork() {
  while (!ready.empty()) {
    const std::shared_ptr<Slot> &slot = ready.front();
    if (slot->nextUnit.load(std::memory_order_relaxed) < slot->plan.unitCount())
      return slot;
    ready.pop_front();
  }
  return nullptr;
}

void InProcessEngine::progress() {
  Lock lock(mutex);
  while (true) {
    std::shared_ptr<Slot> slot;
    workAdded.wait(lock, [&]() {
      slot = takeWork();
      return stopping || slot;
    });
    if (stopping)
      return;
    // Another thread can help if there is more than one unit of work.
    workAdded.notify_one();
    lock.unlock();
    work(slot);
    slot.reset();
    lock.lock();
  }
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

bool InProcessEngine::spin(RankState &state,
                           const std::shared_ptr<Slot> &slot) {
  // Polling helps only if the other rank runs at the same time. If other
  // programs keep the cores busy, the other rank may wait for this core. Then
  // the wait polls for shorter and shorter times, and sometimes for the full
  // time to detect a change.
  if (++state.waitsSinceFullSpin >= 16)
    state.spinNs = fullSpinNs;
  if (state.spinNs == fullSpinNs)
    state.waitsSinceFullSpin = 0;
  int64_t end = fullSpinNs ? environment.now() + state.spinNs : 0;
  while (true) {
    int current = slot->state.load(std::memory_order_acquire);
    if (current == Slot::Done) {
      state.spinNs = fullSpinNs;
      return true;
    }
    if (current == Slot::Failed)
      return false;
    if (current == Slot::Working &&
        slot->nextUnit.load(std::memory_order_relaxed) <
            slot->plan.unitCount()) {
      work(slot);
      continue;
    }
    if (environment.now() >= end) {
      state.spinNs = std::max(fullSpinNs / 16, state.spinNs / 4);
      return false;
    }
    pauseCore();
  }
}

void InProcessEngine::block(int32_t rank, const std::shared_ptr<Slot> &slot,
                            Lock &lock, Clock::time_point deadline) {
  RankState &state = ranks[rank];
  state.blockedOn = slot.get();
  if (slot->state.load() == Slot::Pending)
    failIfDeadlocked(rank);
  if (slot->state.load() == Slot::Pending) {
    bool timedOut =
        state.changed.wait_until(lock, deadline) == std::cv_status::timeout;
    if (timedOut && slot->state.load() == Slot::Pending)
      failSlot(slot, describeTimedOut(*slot), /*secondary=*/false);
  } else if (slot->state.load() < Slot::Done) {
    state.changed.wait(lock);
  }
  state.blockedOn = nullptr;
}

void InProcessEngine::sleepUntil(int64_t deadlineNs) {
  if (environment.now() >= deadlineNs)
    return;
#if defined(__linux__)
  // By default the kernel may wake a thread 50 us late to save power.
  static thread_local bool isFine = false;
  if (!isFine) {
    prctl(PR_SET_TIMERSLACK, 1UL);
    isFine = true;
  }
#endif
  std::this_thread::sleep_until(Clock::time_point(
      std::chrono::nanoseconds(environment.createdNs + deadlineNs)));
}

void InProcessEngine::wait(int32_t rank, InProcessRequest &request) {
  const std::shared_ptr<Slot> &slot = request.slot;
  if (!spin(ranks[rank], slot)) {
    Clock::time_point deadline =
        Clock::now() + std::chrono::nanoseconds(environment.config.timeoutNs);
    Lock lock(mutex);
    while (slot->state.load() != Slot::Done) {
      throwIfFailed(rank);
      if (std::shared_ptr<Slot> other = takeWork()) {
        lock.unlock();
        work(other);
        lock.lock();
        continue;
      }
      block(rank, slot, lock, deadline);
    }
  }
  if (slot->deadlineNs)
    sleepUntil(slot->deadlineNs);
  request.beginNs = slot->beginNs;
  request.endNs = slot->endNs;
  ranks[rank].open.erase(request.openPosition);
}
