//===- CudaEngine.cpp - Ranks on GPUs, connected by NCCL ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/CudaEngine.h"
#include "Base/Bytes.h"
#include "Base/Error.h"
#include "CUDA/API/Cudnn.h"
#include "CUDA/API/Cufft.h"
#include "CUDA/API/Cupti.h"
#include "CUDA/API/Cusolver.h"
#include "CUDA/LaunchOptions.h"
#include "Engine/EngineOptions.h"
#include "Operations/Messages.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

using namespace braid::rt;
using namespace braid::rt::cuda;

static std::unique_ptr<Engine> create(const Environment &environment) {
  return std::make_unique<CudaEngine>(environment);
}

// The name is BRAID_RT_ENGINE_SYMBOL.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" BRAID_RT_API const EngineDescriptor braid_rt_engine;
extern "C" const EngineDescriptor braid_rt_engine = {engineInterfaceVersion,
                                                     create};
// NOLINTEND(readability-identifier-naming)

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Checks the options, and the libraries that a user names, before anything is
/// loaded.
static LaneOptions readLaneOptions(const Environment &environment) {
  for (const LibrarySpec *spec :
       {&driverSpec(), &blasSpec(), &cudnn::librarySpec(),
        &cufft::librarySpec(), &cusolver::librarySpec(), &nccl::librarySpec(),
        &cupti::librarySpec()})
    checkNamedLibrary(*spec);
  LaneOptions lanes(environment);
  std::vector<std::string> known = DeviceOptions::names();
  for (const char *name : {"blocking", "device", "register-buffers", "timing"})
    known.emplace_back(name);
  for (const auto &keys : {lanes.keys(), launchOptions()})
    known.insert(known.end(), keys.begin(), keys.end());
  checkEngineOptions(environment, known);
  return lanes;
}

/// The source of the times of a trace, by the option `timing`.
static std::shared_ptr<Activities>
openActivities(const Environment &environment) {
  std::string timing = getEngineOption(environment, "timing", "auto");
  if (timing != "auto" && timing != "cupti" && timing != "events")
    throw Error("option 'timing' of engine cuda is '" + timing +
                "', expected auto, cupti or events");
  if (!environment.config.trace || timing == "events")
    return nullptr;
  try {
    return Activities::open();
  } catch (const Error &error) {
    // Nothing stands in for a library that a user has named.
    if (timing == "cupti" || isNamedLibrary(cupti::librarySpec()))
      throw;
    environment.log("the trace takes its times from events, which show no "
                    "single operations of graphs: " +
                    std::string(error.what()));
  }
  return nullptr;
}

CudaEngine::CudaEngine(const Environment &environment)
    // In this order, as the braces have it.
    : RankServices{environment, readLaneOptions(environment),
                   openActivities(environment)},
      launch(chooseLaunch(environment,
                          [](const char *name) { return std::getenv(name); })),
      tuningCache(
          findTuningCache([](const char *name) { return std::getenv(name); })) {
  int32_t asked = environment.config.ranks;
  if (launch.hasLauncher()) {
    size = launch.size;
    own = launch.rank;
    locals = {own};
    if (asked != 0 && asked != size)
      throw Error(launch.launcher + " has started " + std::to_string(size) +
                  (size == 1 ? " process" : " processes") + ", expected " +
                  std::to_string(asked));
  } else {
    size = std::max(asked, 1);
    for (int32_t rank = 0; rank < size; ++rank)
      locals.push_back(rank);
  }
  abilities.processes = launch.hasLauncher();
  abilities.transports = abilities.graphs = true;
  abilities.activities = activities != nullptr;
  abilities.target = BRAID_RT_TARGET_CUDA;
  startWorld();
}

/// The time for all processes to connect, at least 5 s.
int64_t CudaEngine::storeTimeoutNs() const {
  constexpr int64_t leastNs = int64_t(5) * 1000 * 1000 * 1000;
  return std::max(leastNs, environment.config.timeoutNs);
}

void CudaEngine::startWorld() {
  if (size > 1) {
    // Two GPUs that run kernels of two communicators in different orders
    // deadlock.
    setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1", /*overwrite=*/0);
    nccl();
  }
  chooseDevices();
  if (launch.hasLauncher() && size > 1) {
    JobKey key =
        findJobKey(launch, [](const char *name) { return std::getenv(name); });
    store = createTcpStore(launch, key, storeTimeoutNs(), *this);
  }
  watchdog = std::make_unique<Watchdog>(*this);
  storeForPosts = store.get();
  std::lock_guard<std::mutex> lock(lifeMutex);
  isAlive = true;
  // A process may have died in the meantime.
  if (store && hasFailed())
    store->interrupt(failure().textFor(-1));
}

int32_t CudaEngine::deviceOf(int32_t rank) const {
  int count = driver.deviceCount();
  auto devices = [](int32_t number) {
    return std::to_string(number) + (number == 1 ? " device" : " devices");
  };
  bool isGiven = !getEngineOption(environment, "device", "").empty();
  auto given =
      static_cast<int32_t>(getEngineNumber(environment, "device", 0, 0, 4096));
  if (!launch.hasLauncher()) {
    if (isGiven && size > 1)
      throw Error("option 'device' of engine cuda is for worlds of processes "
                  "and of one rank: ranks that are threads use devices 0 to " +
                  std::to_string(size - 1));
    if (!isGiven && size > count)
      throw Error(std::to_string(size) +
                  (size == 1 ? " rank needs " : " ranks need ") +
                  devices(size) + ", found " + std::to_string(count));
    return isGiven ? given : rank;
  }
  if (isGiven)
    return given;
  if (launch.localRank < 0)
    throw Error(launch.launcher + " does not tell which process of its host "
                                  "this one is: the option 'device' of engine "
                                  "cuda says which GPU it uses");
  // A launcher may show each process only its own GPU.
  if (count == 1 && launch.localSize != 1)
    return 0;
  if (launch.localRank >= count)
    throw Error("rank " + std::to_string(rank) + " is number " +
                std::to_string(launch.localRank) + " of its host, where " +
                devices(launch.localRank + 1) + " are needed, found " +
                std::to_string(count));
  return launch.localRank;
}

void CudaEngine::chooseDevices() {
  DeviceOptions options = DeviceOptions::read(environment);
  options.activities = activities;
  // The watchdog's message names operation and ranks, the device's does not:
  // let the watchdog time out first.
  options.timeoutNs += int64_t(5) * 1000 * 1000 * 1000;
  for (int32_t rank : locals) {
    localRanksState.push_back(std::make_unique<CudaRank>(*this, rank));
    localRanksState.back()->open(deviceOf(rank), options);
  }
}

void CudaEngine::deregisterBuffers() {
  if (!registersBuffers() || hasFailed())
    return;
  try {
    // Recorded collectives use the buffers, too.
    for (const auto &rank : localRanksState)
      rank->forgetGraphs();
    for (const auto &rank : localRanksState)
      rank->deregisterBuffers();
    if (store)
      store->exchange("");
  } catch (const std::exception &error) {
    environment.log("not all ranks have deregistered their buffers: " +
                    std::string(error.what()));
  }
}

CudaEngine::~CudaEngine() {
  deregisterBuffers();
  {
    std::lock_guard<std::mutex> lock(lifeMutex);
    isAlive = false;
  }
  watchdog.reset();
  if (hasFailed())
    stopRanks();
  // Tell the others that this process ends normally.
  post(Left, toBytes(localRanksState.front()->status()));
  store.reset();
  // A communicator waits for the end of all graphs with its operations.
  for (const auto &rank : localRanksState)
    rank->forgetGraphs();
  // Ranks that are threads leave their communicators together.
  bool groups = usesNCCL() && !hasFailed() && locals.size() > 1;
  if (groups)
    nccl().groupStart();
  for (const auto &rank : localRanksState)
    rank->releaseCommunicators();
  if (groups)
    nccl().groupEnd();
}

CudaRank &CudaEngine::find(int32_t rank) const {
  for (const auto &local : localRanksState)
    if (local->rank == rank)
      return *local;
  throw Error("rank " + std::to_string(rank) + " does not run here");
}

//===----------------------------------------------------------------------===//
// Calls of the core
//===----------------------------------------------------------------------===//

std::string CudaEngine::property(const std::string &name) const {
  // A world of one rank may do without the library.
  return name == "nccl" && usesNCCL() ? nccl::describeVersion(nccl().version)
                                      : std::string();
}

const std::vector<Replacement> &CudaEngine::replacements(int32_t rank) const {
  return find(rank).replacements;
}

Communicator &CudaEngine::communicator(int32_t rank,
                                       const CommunicatorSpec &spec) {
  return find(rank).communicator(spec);
}

std::vector<std::string> CudaEngine::exchange(const std::string &bytes) {
  if (!store && hasFailed())
    throw Error(failure().textFor(-1));
  if (!store)
    return {bytes};
  try {
    return store->exchange(bytes);
  } catch (const std::exception &error) {
    // A rank that does not come leaves communicators that only an abort ends.
    Failure failure;
    failure.text = error.what();
    fail(failure);
    throw;
  }
}

void CudaEngine::beginInvocation(int32_t rank) { find(rank).beginInvocation(); }

void CudaEngine::endInvocation(int32_t rank) { find(rank).endInvocation(); }

void CudaEngine::failInvocation(int32_t rank, const std::string &message) {
  Failure failure;
  failure.text = message;
  failure.cause = rank;
  fail(failure);
  find(rank).failInvocation();
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

Failure CudaEngine::failure() const {
  std::lock_guard<std::mutex> lock(mutex);
  return firstFailure;
}

void CudaEngine::applyFailure(const Failure &failure) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (failed)
      return;
    firstFailure = failure;
    failed.store(true, std::memory_order_release);
  }
  changed.notify_all();
  std::lock_guard<std::mutex> lock(lifeMutex);
  if (!isAlive)
    return;
  if (store)
    store->interrupt(failure.textFor(-1));
  watchdog->wake();
}

void CudaEngine::fail(const Failure &failure) {
  if (hasFailed())
    return;
  applyFailure(failure);
  post(Failed, toBytes(failure));
}

void CudaEngine::awaitFailureOfPeer(nccl::Result error) {
  if (!store)
    return;
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait_for(lock,
                   std::chrono::seconds(error == nccl::RemoteError ? 10 : 1),
                   [&]() { return hasFailed(); });
}

void CudaEngine::announce(const OpenOperation &operation) {
  RankStatus status;
  status.rank = own;
  status.open = {operation};
  post(Announced, toBytes(status));
  addAnnouncement(status);
}

/// Fails the world if another member has announced another operation.
void CudaEngine::addAnnouncement(const RankStatus &status) {
  const OpenOperation &operation = status.open.front();
  std::unique_lock<std::mutex> lock(mutex);
  Statuses &all = announced[{operation.match, operation.sequence}];
  all[status.rank] = status;
  std::optional<Failure> problem = findProblem(all);
  lock.unlock();
  changed.notify_all();
  if (problem)
    fail(*problem);
}

void CudaEngine::awaitAnnouncements(CudaRank &rank,
                                    const OpenOperation &operation) {
  // The watchdog's message says more, so let it time out first.
  constexpr int64_t moreNs = int64_t(1000) * 1000 * 1000;
  // A member may come late because its host waits for a message that this rank
  // holds back. Most members only take a while, so let a batch of messages
  // grow.
  constexpr int64_t firstWaitNs = int64_t(1000) * 1000 * 1000;
  int64_t timeoutNs = environment.config.timeoutNs;
  std::unique_lock<std::mutex> lock(mutex);
  const Statuses &all = announced[{operation.match, operation.sequence}];
  if (rank.hasDeferredMessages() &&
      !awaitMembers(lock, operation.members, all, firstWaitNs).empty()) {
    lock.unlock();
    rank.flushMessages();
    lock.lock();
  }
  std::vector<int32_t> missing =
      awaitMembers(lock, operation.members, all, timeoutNs + moreNs);
  announced.erase({operation.match, operation.sequence});
  lock.unlock();
  rank.throwIfFailed();
  if (!missing.empty())
    throw Error(describeTimeout(timeoutNs) +
                describeMissing(missing, operation.describeMatch()) + "; " +
                describeWaiting({rank.rank}, operation.text));
}

void CudaEngine::failDisagreement(const Rendezvous &rendezvous,
                                  int64_t sequence) {
  Statuses statuses;
  for (const auto &rank : localRanksState)
    statuses[rank->rank] = rank->status(std::numeric_limits<size_t>::max());
  for (const auto &entry : statuses)
    for (const OpenOperation &open : entry.second.open)
      if (open.match == rendezvous.id && open.sequence == sequence)
        for (int32_t other : open.members)
          if (std::optional<Failure> failure =
                  compareMembers(statuses, open, entry.first, other))
            return fail(*failure);
  // The other operation has ended, and nothing knows its text any more.
  fail({"number " + std::to_string(sequence) +
            " of a group is not the same collective on all of its ranks",
        {}});
}

/// How long a world that has failed waits for what it has begun on GPUs.
static constexpr std::chrono::seconds endTimeout{20};

namespace {
/// Ends the process if NCCL does not end its communicators in time: nothing
/// else ends their kernels.
class AbortDeadline {
public:
  /// `why`: what nobody else says if the threads of the ranks stand in calls
  /// of the driver until the end.
  AbortDeadline(const Environment &environment, std::string why)
      : thread([this, &environment, why = std::move(why)]() {
          std::unique_lock<std::mutex> lock(mutex);
          if (changed.wait_for(lock, endTimeout, [this]() { return hasEnded; }))
            return;
          environment.log(
              why + "; NCCL has not ended its communicators within " +
              std::to_string(endTimeout.count()) + " s: the process ends");
          std::_Exit(EXIT_FAILURE);
        }) {}
  ~AbortDeadline() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      hasEnded = true;
    }
    changed.notify_all();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool hasEnded = false;
  std::thread thread;
};
} // namespace

void CudaEngine::awaitReturned() {
  std::vector<std::pair<const Gpu *, Event>> open;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto &rank : localRanksState)
      for (Event end : rank->device->returned(isRunning))
        open.emplace_back(&rank->gpu(), end);
  }
  auto limit = std::min<std::chrono::nanoseconds>(
      endTimeout, std::chrono::nanoseconds(environment.config.timeoutNs));
  for (auto begin = std::chrono::steady_clock::now();;) {
    auto hasEnded = [this](const std::pair<const Gpu *, Event> &end) {
      end.first->makeCurrent();
      return driver.eventQuery(end.second) != ERROR_NOT_READY;
    };
    open.erase(std::remove_if(open.begin(), open.end(), hasEnded), open.end());
    if (open.empty())
      return;
    if (std::chrono::steady_clock::now() - begin > limit) {
      writeFlights();
      environment.log(failure().textFor(-1) +
                      "; results of calls that have returned are lost: the "
                      "process ends");
      std::_Exit(EXIT_FAILURE);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void CudaEngine::stopRanks() {
  std::lock_guard<std::mutex> lock(stopMutex);
  if (stopped)
    return;
  stopped = true;
  awaitReturned();
  AbortDeadline deadline(environment, failure().textFor(-1));
  for (const auto &rank : localRanksState)
    rank->noteFailure();
  writeFlights();
  if (!usesNCCL()) {
    for (const auto &rank : localRanksState)
      rank->abortCommunicators();
    return;
  }
  // One rank's abort may wait for that of another one.
  std::vector<std::thread> threads;
  for (const auto &rank : localRanksState)
    threads.emplace_back([&rank]() { rank->abortCommunicators(); });
  for (std::thread &thread : threads)
    thread.join();
}

void CudaEngine::writeFlights() {
  Failure why = failure();
  for (const auto &rank : localRanksState) {
    rank->recorder.fail(why.textFor(rank->rank));
    rank->recorder.dump(environment, rank->rank, size, "failure");
  }
}
