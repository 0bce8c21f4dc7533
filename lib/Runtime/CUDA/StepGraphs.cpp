//===- StepGraphs.cpp - Invocations that run as graphs --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "CUDA/CudaEngine.h"
#include "Operations/Messages.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// True if a user looks for single operations, of which graphs tell nothing.
static bool showsOperations(const Environment &environment) {
  const char *blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  return environment.logs(BRAID_RT_DEBUG_DETAIL) ||
         (blocking && *blocking && std::strcmp(blocking, "0") != 0);
}

/// True if the ranks of this process may run as graphs that nobody asks for.
bool CudaEngine::wantsGraphs() const {
  // NCCL's threads do not see the recording of this one.
  return localRanksState.front()->gpu().options.graphs == GraphUse::Auto &&
         blocksInNCCL() && !showsOperations(environment);
}

/// Has processes of one host share memory for their votes, if all want graphs.
void CudaEngine::openVotes() {
  if (!store || hasOpenedVotes)
    return;
  hasOpenedVotes = true;
  std::unique_ptr<RunVotes> opened;
  if (own == 0 && wantsGraphs())
    opened = RunVotes::create(size);
  std::string name = exchange(opened ? opened->name() : "").front();
  if (own != 0 && !name.empty() && wantsGraphs())
    opened = RunVotes::open(name, own, size);
  std::vector<std::string> all = exchange(opened ? "open" : "");
  if (opened)
    opened->hide();
  if (std::count(all.begin(), all.end(), "open") == size)
    votes = std::move(opened);
}

/// The arguments of all ranks, as numbers where these are processes; empty if
/// not all of them may record this invocation.
Graphs::Key
CudaEngine::describeArguments(const braid_rt_entry &entry, void ***args,
                              const std::vector<CudaDevice *> &devices) {
  Graphs::Key key;
  bool mayRecord = std::all_of(
      devices.begin(), devices.end(),
      [&](const CudaDevice *device) { return device->mayRecord(entry); });
  if (!votes) {
    key.push_back(0); // No rank may have an argument.
    for (size_t i = 0; mayRecord && i < devices.size(); ++i)
      Graphs::describe(entry, args[i], key);
    return mayRecord ? key : Graphs::Key();
  }
  CudaDevice &device = *devices.front();
  std::optional<size_t> place = device.findRecordable(entry);
  auto known = communicates.find(&entry);
  if (!place || *place >= RunVotes::mostEntries ||
      known == communicates.end() || !known->second)
    return {};
  uint32_t arguments =
      mayRecord ? argumentNumbers.find(entry, args[0], device) : 0;
  key = votes->vote(*place, arguments, [this]() { return hasFailed(); });
  return std::count(key.begin(), key.end(), uint64_t(0)) ? Graphs::Key() : key;
}

void CudaEngine::beginRun(const braid_rt_entry &entry, void ***args) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isRunning = true;
    for (const auto &rank : localRanksState)
      rank->device->keepReturned();
  }
  for (const auto &rank : localRanksState)
    rank->device->allowCommandBuffers(wantsGraphs());
  bool areAllHere = locals.size() == static_cast<size_t>(size);
  if (areAllHere ? !wantsGraphs() : !votes)
    return;
  std::vector<CudaDevice *> devices;
  for (const auto &rank : localRanksState)
    devices.push_back(rank->device.get());
  {
    std::lock_guard<std::mutex> lock(mutex);
    runningEntry = &entry;
    recorded.clear();
  }
  startedBefore = localRanksState.front()->started;
  Graphs::Key arguments = describeArguments(entry, args, devices);
  uint64_t number =
      arguments.empty() ? 0 : graphChoice.choose(entry, arguments, devices);
  for (size_t i = 0; i < devices.size(); ++i)
    devices[i]->numberInvocation(number, args[i]);
}

bool CudaEngine::endRun() {
  if (runningEntry)
    communicates.try_emplace(runningEntry,
                             localRanksState.front()->started > startedBefore);
  bool isAhead = false;
  for (const auto &rank : localRanksState) {
    rank->device->numberInvocation(0, nullptr);
    isAhead |= rank->device->isAhead();
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!failed) {
      isRunning = false;
      return true;
    }
  }
  // Ranks that have ended before may use memory that the caller frees next.
  stopRanks();
  return !isAhead;
}

/// Which ranks have no recording, and why; empty if all have one.
std::string CudaEngine::describeUnrecorded() const {
  static const std::string advice = " (run without cuda-graph)";
  std::string text;
  for (const auto &[rank, problem] : recorded)
    if (!problem.empty())
      text += (text.empty() ? "" : "; ") + problem;
  for (size_t at; (at = text.find(advice)) != std::string::npos;)
    text.erase(at, advice.size());
  return text;
}

bool CudaEngine::keepsRecording(int32_t number, const std::string *problem) {
  CudaRank &rank = find(number);
  if (!rank.device->recordsOnTrial())
    return true;
  std::string own = problem ? *problem : rank.device->completeRecording();
  // Errors of the program name the rank.
  if (!own.empty() && (!problem || problem == rank.device->recordingProblem()))
    own = messagePrefix({}, number) + own;
  std::vector<int32_t> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  post(Recorded, own);
  int64_t timeoutNs = environment.config.timeoutNs;
  std::unique_lock<std::mutex> lock(mutex);
  recorded[number] = own;
  changed.notify_all();
  std::vector<int32_t> missing = awaitMembers(lock, all, recorded, timeoutNs);
  std::string why = describeUnrecorded();
  lock.unlock();
  rank.throwIfFailed();
  if (!missing.empty())
    throw Error(describeTimeout(timeoutNs) + listRanks(missing) +
                (missing.size() == 1 ? " does" : " do") +
                " not complete the recording of a graph");
  if (why.empty())
    return true;
  if (number == locals.front()) {
    graphChoice.refuse(*runningEntry);
    if (number == 0)
      environment.log(std::string("warning: ") + runningEntry->name +
                      " runs without a graph: " + why);
  }
  return false;
}

void CudaEngine::restartInvocation(int32_t rank) {
  find(rank).dropRecording();
  find(rank).device->restartInvocation();
}
