//===- MPIEngine.cpp - Ranks as processes that MPI has started --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/MPIEngine.h"
#include "Base/Error.h"
#include "Engine/EngineOptions.h"
#include "MPI/Pause.h"
#include "Operations/Messages.h"

#include <algorithm>
#include <climits>

using namespace braid::rt;

static std::unique_ptr<Engine> create(const Environment &environment) {
  return std::make_unique<MPIEngine>(environment);
}

// The name is BRAID_RT_ENGINE_SYMBOL.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" BRAID_RT_API const EngineDescriptor braid_rt_engine;
extern "C" const EngineDescriptor braid_rt_engine = {engineInterfaceVersion,
                                                     create};
// NOLINTEND(readability-identifier-naming)

static bool choosesFast(const Environment &environment) {
  checkEngineOptions(environment, {"reductions", "progress"});
  return !isFirstChoice(environment, "reductions", "ordered", "fast");
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static Capabilities getCapabilities(bool isFast) {
  Capabilities result;
  result.hostMemory = true;
  result.processes = true;
  result.orderedReductions = !isFast;
  return result;
}

/// The limit of waits for all processes outside of programs: the timeout, and
/// at least 10 s, which a busy host needs to start a process, or a rank to
/// compile the program for all.
static int64_t exchangeTimeoutNs(const Environment &environment) {
  constexpr int64_t leastNs = int64_t(10000) * 1000 * 1000;
  return std::max(leastNs, environment.config.timeoutNs);
}

/// Waits until all processes have started, before the first call that blocks.
static void meet(const Environment &environment) {
  int64_t timeoutNs = exchangeTimeoutNs(environment);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
  int64_t beginNs = environment.now();
  while (true) {
    int done = 0;
    CHECK_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done)
      return;
    int64_t waitedNs = environment.now() - beginNs;
    if (waitedNs > timeoutNs)
      throw Error(describeTimeout(timeoutNs) +
                  "not all processes that MPI has started make a world");
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(std::min<int64_t>(waitedNs / 8, 1000 * 1000)));
  }
}

/// Throws an Error if a launcher has started several ranks of which the MPI
/// library knows nothing: each rank would run a program of its own, and end
/// with success.
static void checkLaunchedRanks(const Launcher &launcher) {
  bool hasSize = launcher.isSizeSure;
  if (hasSize ? launcher.size < 2 : launcher.rank == 0)
    return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::string library(version, static_cast<size_t>(length));
  throw Error(
      launcher.name + " has started " +
      (hasSize ? std::to_string(launcher.size) + " ranks (" +
                     launcher.sizeVariable + "=" + std::to_string(launcher.size)
               : "several ranks (" + launcher.rankVariable + "=" +
                     std::to_string(launcher.rank)) +
      "), but engine mpi has found one; its MPI library (" +
      library.substr(0, library.find_first_of(",\n")) +
      ") needs its own mpirun, or srun with an interface that this library "
      "supports; a process that is meant to be alone needs an environment "
      "without these variables");
}

MPIEngine::MPIEngine(const Environment &environment)
    : environment(environment), isFast(choosesFast(environment)),
      abilities(getCapabilities(isFast)) {
  bool wantsThread = isFirstChoice(environment, "progress", "thread", "none");
  CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  if (environment.config.ranks != 0 && environment.config.ranks != size)
    throw Error("MPI has started " + std::to_string(size) +
                (size == 1 ? " process" : " processes") + ", expected " +
                std::to_string(environment.config.ranks) +
                ": start the program with mpirun -n " +
                std::to_string(environment.config.ranks));
  if (size == 1 && environment.config.ranks == 0)
    checkLaunchedRanks(library.launcher);
  local = {rank};
  meet(environment);
  MPI_Comm host = MPI_COMM_NULL;
  CHECK_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
                                MPI_INFO_NULL, &host));
  int ranksOfHost = 1;
  CHECK_MPI(MPI_Comm_size(host, &ranksOfHost));
  MPI_Comm_free(&host);
  auto cores =
      static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  sharesCores = ranksOfHost > cores;
  hasSpareCores = 2 * ranksOfHost <= cores;
  this->host = std::make_unique<HostDevice>(
      chooseThreads(environment.config.blasThreads, ranksOfHost),
      /*isAlone=*/true);
  for (MPI_Comm *comm : {&world, &control, &leaving}) {
    CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, comm));
    CHECK_MPI(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
  }
  if (wantsThread && size > 1)
    thread = std::thread([this]() { progressThread(); });
}

MPIEngine::~MPIEngine() {
  bool allLeft = false;
  try {
    allLeft = leave();
  } catch (const Error &error) {
    environment.log("rank " + std::to_string(rank) + ": " + error.what());
  }
  wakeThread(/*toStop=*/true);
  if (thread.joinable())
    thread.join();
  // The other ranks wait for this rank, which can no longer answer.
  if (!allLeft)
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  // After a failure some checks never end, so their communicators stay.
  if (hasFailed || failure || !gone.empty())
    return;
  for (auto &entry : communicators)
    entry.second->free();
  for (MPI_Comm *comm : {&leaving, &control, &world})
    MPI_Comm_free(comm);
}

Device &MPIEngine::device(int32_t) { return *host; }

//===----------------------------------------------------------------------===//
// Collective calls of all processes
//===----------------------------------------------------------------------===//

/// The ranks that have not made this call. Empty while any rank runs a program.
std::vector<int32_t> MPIEngine::findAbsent(Pause &pause) {
  ask();
  while (!allAnswered() &&
         environment.now() - inquiry.sentNs < longestAnswerNs) {
    progress();
    pause.sleep(false, environment.now() - inquiry.sentNs);
  }
  std::vector<int32_t> absent;
  for (int32_t other = 0; other < size; ++other) {
    if (other == rank)
      continue;
    auto answer = inquiry.answers.find(other);
    if (answer == inquiry.answers.end() || answer->second.exchanges < exchanges)
      absent.push_back(other);
    if (answer != inquiry.answers.end() &&
        answer->second.begun > answer->second.ended)
      return {};
  }
  return absent;
}

void MPIEngine::complete(Requests &requests, Pause &pause, const char *what) {
  int64_t timeoutNs = exchangeTimeoutNs(environment);
  int64_t beginNs = environment.now(), sinceNs = beginNs;
  while (true) {
    if (isDead)
      throw Error(std::string("the world cannot ") + what +
                  " after it has failed");
    int done = 0;
    CHECK_MPI(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                          &done, MPI_STATUSES_IGNORE));
    if (done)
      break;
    progress();
    int64_t now = environment.now();
    if (now - sinceNs > timeoutNs) {
      std::vector<int32_t> absent = findAbsent(pause);
      if (!absent.empty()) {
        if (!failure)
          failure = OwnFailure{std::string("could not ") + what, false, {}};
        throw Error(describeTimeout(timeoutNs) + listRanks(absent) +
                    (absent.size() == 1 ? " does" : " do") + " not come to " +
                    what);
      }
      sinceNs = environment.now();
    }
    pause.sleep(false, now - beginNs);
  }
  requests.clear();
}

std::vector<std::string> MPIEngine::exchange(const std::string &bytes) {
  if (size == 1)
    return {bytes};
  Pause pause(*this);
  ++exchanges;
  constexpr const char *what = "exchange data between processes";
  auto own = static_cast<int64_t>(bytes.size());
  std::vector<int64_t> sizes(static_cast<size_t>(size));
  Requests requests;
  CHECK_MPI(MPI_Iallgather(&own, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T,
                           world, addRequest(requests)));
  complete(requests, pause, what);
  std::vector<std::string> all(static_cast<size_t>(size));
  all[rank] = bytes;
  for (int32_t from = 0; from < size; ++from) {
    all[from].resize(static_cast<size_t>(sizes[from]));
    CHECK_MPI(MPI_Ibcast(all[from].data(), static_cast<int>(sizes[from]),
                         MPI_BYTE, from, world, addRequest(requests)));
  }
  complete(requests, pause, what);
  return all;
}

void MPIEngine::prepare(const std::vector<RankSpecs> &specsOfRanks) {
  if (size == 1)
    return;
  const RankSpecs &specs = specsOfRanks[0];
  // All processes have the same groups. Some communicators may exist.
  std::vector<int32_t> needed, agreed(specs.size());
  for (const CommunicatorSpec &spec : specs)
    needed.push_back(spec.size() > 1 && !findOrAdd(spec).isMade());
  Pause pause(*this);
  ++exchanges;
  constexpr const char *what = "make the communicators of a program";
  Requests requests;
  CHECK_MPI(MPI_Iallreduce(needed.data(), agreed.data(),
                           static_cast<int>(specs.size()), MPI_INT32_T, MPI_MAX,
                           world, addRequest(requests)));
  complete(requests, pause, what);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!agreed[i])
      continue;
    const CommunicatorSpec &spec = specs[i];
    // The lists of a group share no rank, so the smallest rank identifies one.
    int color = needed[i]
                    ? *std::min_element(spec.ranks.begin(), spec.ranks.end())
                    : MPI_UNDEFINED;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_MPI(
        MPI_Comm_split(world, color, static_cast<int>(spec.index), &comm));
    if (comm == MPI_COMM_NULL)
      continue;
    // A program may contain a group twice.
    if (communicators.at(spec.key)->isMade())
      MPI_Comm_free(&comm);
    else
      communicators.at(spec.key)->make(comm);
  }
}

//===----------------------------------------------------------------------===//
// The rank's own calls
//===----------------------------------------------------------------------===//

MPICommunicator &MPIEngine::findOrAdd(const CommunicatorSpec &spec) {
  Lock lock(mutex);
  std::unique_ptr<MPICommunicator> &entry = communicators[spec.key];
  if (!entry) {
    entry = std::make_unique<MPICommunicator>(*this, spec);
    if (spec.size() == 1)
      logCommunicator(spec);
  }
  return *entry;
}

Communicator &MPIEngine::communicator(int32_t, const CommunicatorSpec &spec) {
  return findOrAdd(spec);
}

void MPIEngine::logCommunicator(const CommunicatorSpec &spec) const {
  if (environment.logs(BRAID_RT_DEBUG_INFO))
    environment.log(describeCommunicator(spec));
}

void MPIEngine::beginInvocation(int32_t) {
  Lock lock(mutex);
  ++begun;
  if (hasFailed)
    failure = OwnFailure{
        "the ranks of engine mpi cannot go on after a failure", false, {}};
}

void MPIEngine::endInvocation(int32_t) {
  Lock lock(mutex);
  throwIfFailed();
  ended = begun;
}
