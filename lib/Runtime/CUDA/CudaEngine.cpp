//===- CudaEngine.cpp - Ranks on GPUs, connected by NCCL ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/CudaEngine.h"
#include "Core/Bytes.h"
#include "Core/EngineRegistry.h"
#include "Core/Error.h"
#include "Core/Messages.h"

#include <algorithm>
#include <cstdio>
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

/// Checks the options before anything is loaded.
static LaneOptions readLaneOptions(const Environment &environment) {
  LaneOptions lanes(environment);
  std::vector<std::string> known = DeviceOptions::names();
  for (const char *name : {"blocking", "device", "register-buffers", "timing"})
    known.emplace_back(name);
  for (const std::string &key : lanes.keys())
    known.push_back(key);
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
    if (timing == "cupti")
      throw;
    environment.log("the trace takes its times from events, which show no "
                    "single operations of graphs: " +
                    std::string(error.what()));
  }
  return nullptr;
}

CudaEngine::CudaEngine(const Environment &environment)
    : environment(environment), laneOptions(readLaneOptions(environment)),
      activities(openActivities(environment)),
      launch(findLaunch([](const char *name) { return std::getenv(name); })),
      blocking(isFirstChoice(environment, "blocking", "1", "0")),
      registering(!isFirstChoice(environment, "register-buffers", "0", "1")) {
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
  } else {
    store = createLocalStore();
  }
  watchdog = std::make_unique<Watchdog>(*this);
  storeForPosts = store.get();
  std::lock_guard<std::mutex> lock(lifeMutex);
  isAlive = true;
  // A process may have died in the meantime.
  if (hasFailed())
    store->interrupt(failure().textFor(-1));
}

const nccl::NCCL &CudaEngine::nccl() const {
  std::call_once(ncclFlag,
                 [&]() { ncclLibrary = std::make_unique<nccl::NCCL>(); });
  return *ncclLibrary;
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
  if (!registering || hasFailed())
    return;
  try {
    // Recorded collectives use the buffers, too.
    for (const auto &rank : localRanksState)
      rank->forgetGraphs();
    for (const auto &rank : localRanksState)
      rank->deregisterBuffers();
    if (launch.hasLauncher() && size > 1)
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
  post(Left, encode(localRanksState.front()->status()));
  store.reset();
  // A communicator waits for the end of all graphs with its operations.
  for (const auto &rank : localRanksState)
    rank->forgetGraphs();
  // Ranks that are threads leave their communicators together.
  bool groups = ncclLibrary && !hasFailed() && locals.size() > 1;
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
  return name == "nccl" && ncclLibrary
             ? nccl::describeVersion(ncclLibrary->version)
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
  announcements.wake();
  std::lock_guard<std::mutex> lock(lifeMutex);
  if (!isAlive)
    return;
  store->interrupt(failure.textFor(-1));
  watchdog->wake();
}

void CudaEngine::fail(const Failure &failure) {
  if (hasFailed())
    return;
  applyFailure(failure);
  post(Failed, failure.encode());
}

void CudaEngine::awaitFailureOfPeer() {
  if (!launch.hasLauncher() || size == 1)
    return;
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait_for(lock, std::chrono::seconds(1),
                   [&]() { return hasFailed(); });
}

void CudaEngine::announce(const OpenOperation &operation) {
  RankStatus status;
  status.rank = own;
  status.open = {operation};
  post(Announced, encode(status));
  if (std::optional<Failure> failure = announcements.add(own, operation))
    fail(*failure);
}

void CudaEngine::awaitAnnouncements(CudaRank &rank,
                                    const OpenOperation &operation) {
  // The watchdog's message says more, so let it time out first.
  constexpr int64_t moreNs = int64_t(1000) * 1000 * 1000;
  // A member may come late because its host waits for a message that this rank
  // holds back. Most members only take a while, so let a batch of messages
  // grow.
  constexpr int64_t patienceNs = int64_t(1000) * 1000 * 1000;
  int64_t timeoutNs = environment.config.timeoutNs;
  auto isOver = [this]() { return hasFailed(); };
  if (rank.hasDeferredMessages() &&
      !announcements.arriveWithin(operation, patienceNs, isOver))
    rank.flushMessages();
  std::vector<int32_t> missing =
      announcements.await(operation, timeoutNs + moreNs, isOver);
  rank.throwIfFailed();
  if (!missing.empty())
    throw Error(describeTimeout(timeoutNs) +
                describeMissing(missing, operation.describeMeeting()) + "; " +
                describeWaiting({rank.rank}, operation.text));
}

void CudaEngine::failDisagreement(const Rendezvous &rendezvous,
                                  int64_t sequence) {
  Statuses statuses;
  for (const auto &rank : localRanksState)
    statuses[rank->rank] = rank->status(std::numeric_limits<size_t>::max());
  for (const auto &entry : statuses)
    for (const OpenOperation &open : entry.second.open)
      if (open.meeting == rendezvous.id && open.sequence == sequence)
        for (int32_t other : open.members)
          if (std::optional<Failure> failure =
                  compareMembers(statuses, open, entry.first, other))
            return fail(*failure);
  // The other operation has ended, and nothing knows its text any more.
  fail({"number " + std::to_string(sequence) +
            " of a group is not the same collective on all of its ranks",
        {}});
}

namespace {
/// Ends the process if NCCL does not end its communicators in time: nothing
/// else ends their kernels.
class AbortDeadline {
public:
  explicit AbortDeadline(const Environment &environment)
      : thread([this, &environment]() {
          std::unique_lock<std::mutex> lock(mutex);
          if (changed.wait_for(lock, patience, [this]() { return hasEnded; }))
            return;
          environment.log("NCCL has not ended its communicators within " +
                          std::to_string(patience.count()) +
                          " s after the failure: the process ends");
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
  static constexpr std::chrono::seconds patience{20};
  std::mutex mutex;
  std::condition_variable changed;
  bool hasEnded = false;
  std::thread thread;
};
} // namespace

void CudaEngine::stopRanks() {
  std::lock_guard<std::mutex> lock(stopMutex);
  if (stopped)
    return;
  stopped = true;
  AbortDeadline deadline(environment);
  for (const auto &rank : localRanksState)
    rank->noteFailure();
  writeFlights();
  if (!ncclLibrary) {
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

//===----------------------------------------------------------------------===//
// Other processes
//===----------------------------------------------------------------------===//

void CudaEngine::post(PostKind kind, const std::string &body) {
  if (Store *open = launch.hasLauncher() ? storeForPosts.load() : nullptr)
    open->post(Writer().put<int32_t>(kind).put(body).bytes);
}

void CudaEngine::lost(int32_t process) {
  Failure failure;
  failure.text = "its process has ended, or its connection to the others";
  failure.cause = process;
  applyFailure(failure);
}

void CudaEngine::received(int32_t process, const std::string &bytes) {
  try {
    take(process, bytes);
  } catch (const std::exception &error) {
    Failure failure;
    failure.text = error.what();
    failure.cause = process;
    fail(failure);
  }
}

/// Throws an Error unless a rank says its own status, of ranks that there are.
RankStatus CudaEngine::takeStatus(int32_t process,
                                  const std::string &bytes) const {
  RankStatus status = decodeRankStatus(bytes);
  if (status.rank != process)
    throw Error("it tells the status of rank " + std::to_string(status.rank));
  for (const OpenOperation &operation : status.open)
    for (int32_t member : operation.members)
      if (member < 0 || member >= size)
        throw Error("its operation names rank " + std::to_string(member) +
                    " of " + std::to_string(size));
  return status;
}

/// The store says which process has sent the bytes, a rank of this world. A
/// rank speaks for itself alone.
void CudaEngine::take(int32_t process, const std::string &bytes) {
  Reader reader(bytes);
  auto kind = reader.get<int32_t>();
  std::string body = reader.getText();
  reader.expectEnd();
  Reader content(body);
  switch (kind) {
  case Failed:
    return applyFailure(Failure::decode(body));
  case StatusQuestion: {
    auto number = content.get<int64_t>();
    CudaRank &rank = find(own);
    rank.look(environment.now());
    return post(StatusAnswer,
                Writer().put(number).put(encode(rank.status())).bytes);
  }
  case StatusAnswer: {
    auto number = content.get<int64_t>();
    RankStatus status = takeStatus(process, content.getText());
    std::lock_guard<std::mutex> lock(mutex);
    if (number == inquiry)
      answers[process] = std::move(status);
    return changed.notify_all();
  }
  case Announced: {
    RankStatus status = takeStatus(process, body);
    if (status.open.size() != 1)
      throw Error("it announces " + std::to_string(status.open.size()) +
                  " operations at once");
    if (std::optional<Failure> failure =
            announcements.add(process, status.open.front()))
      fail(*failure);
    return;
  }
  case Left: {
    RankStatus status = takeStatus(process, body);
    std::lock_guard<std::mutex> lock(mutex);
    departed[process] = std::move(status);
    return changed.notify_all();
  }
  case Ready: {
    std::lock_guard<std::mutex> lock(mutex);
    waiting[content.getText()].insert(process);
    return changed.notify_all();
  }
  case Ids: {
    std::string key = content.getText();
    std::lock_guard<std::mutex> lock(mutex);
    unannouncedIds[{key, process}] = content.get<CommunicatorIds>();
    return changed.notify_all();
  }
  case Outcome: {
    std::string key = content.getText();
    LaneOutcome outcome = LaneOutcome::read(content);
    std::lock_guard<std::mutex> lock(mutex);
    unannouncedLanes[key].add(process, outcome);
    return changed.notify_all();
  }
  case ChoiceProposed: {
    auto algorithm = content.get<int32_t>();
    if (own == 0)
      settleChoice(content.getText(), algorithm);
    return;
  }
  case ChoiceMade: {
    auto algorithm = content.get<int32_t>();
    std::string product = content.getText();
    // Rank 0 chooses for all.
    if (process != 0)
      throw Error("it chooses the algorithm of a product for all ranks");
    std::lock_guard<std::mutex> lock(mutex);
    algorithms.emplace(product, algorithm);
    return changed.notify_all();
  }
  default:
    throw Error("it has sent a message of the unknown kind " +
                std::to_string(kind));
  }
}

Statuses CudaEngine::askAll() {
  constexpr auto patience = std::chrono::milliseconds(500);
  Statuses statuses;
  for (const auto &rank : localRanksState)
    statuses[rank->rank] = rank->status();
  if (!launch.hasLauncher() || size == 1)
    return statuses;
  std::unique_lock<std::mutex> lock(mutex);
  int64_t number = ++inquiry * size + own;
  inquiry = number;
  answers.clear();
  lock.unlock();
  post(StatusQuestion, Writer().put(number).bytes);
  lock.lock();
  changed.wait_for(lock, patience, [&]() {
    return failed ||
           answers.size() + departed.size() + 1 >= static_cast<size_t>(size);
  });
  statuses.insert(answers.begin(), answers.end());
  statuses.insert(departed.begin(), departed.end());
  return statuses;
}

//===----------------------------------------------------------------------===//
// Common algorithms of all ranks
//===----------------------------------------------------------------------===//

/// The first call for a product wins; called on rank 0 where ranks are
/// processes.
int32_t CudaEngine::settleChoice(const std::string &product,
                                 int32_t algorithm) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    algorithm = algorithms.emplace(product, algorithm).first->second;
  }
  post(ChoiceMade, Writer().put(algorithm).put(product).bytes);
  return algorithm;
}

std::optional<int32_t>
CudaEngine::findChoice(const std::string &product) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = algorithms.find(product);
  return found == algorithms.end() ? std::nullopt
                                   : std::optional<int32_t>(found->second);
}

int32_t CudaEngine::chooseAlgorithm(CudaRank &rank, const std::string &product,
                                    const std::function<int32_t()> &measure) {
  if (std::optional<int32_t> chosen = findChoice(product))
    return *chosen;
  int32_t algorithm = measure();
  if (locals.size() > 1 || own == 0)
    return settleChoice(product, algorithm);
  // Rank 0's store thread answers, so rank 0's own thread need not.
  post(ChoiceProposed, Writer().put(algorithm).put(product).bytes);
  std::unique_lock<std::mutex> lock(mutex);
  auto deadline = std::chrono::steady_clock::now() +
                  std::chrono::nanoseconds(environment.config.timeoutNs);
  changed.wait_until(lock, deadline, [&]() {
    return failed || algorithms.count(product) != 0;
  });
  auto found = algorithms.find(product);
  if (found != algorithms.end())
    return found->second;
  lock.unlock();
  rank.throwIfFailed();
  throw Error(describeTimeout(environment.config.timeoutNs) +
              "rank 0 does not say which algorithm to use for " + product);
}
