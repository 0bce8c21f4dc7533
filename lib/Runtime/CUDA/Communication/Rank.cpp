//===- Rank.cpp - One rank and its GPU ------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/Rank.h"
#include "Base/Bytes.h"
#include "Base/Error.h"
#include "CUDA/Communication/LaneOptions.h"
#include "CUDA/Communication/RankServices.h"
#include "Operations/Messages.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;

CudaRank::CudaRank(RankServices &engine, int32_t rank)
    : engine(engine), rank(rank), recorder(engine.recorder(rank)) {}

CudaRank::~CudaRank() {
  if (!device)
    return;
  driver().ctxSetCurrent(gpu().context);
  for (auto &entry : communicators)
    entry.second->forEachLane([&](Lane &lane) {
      for (const Flight &flight : lane.flights)
        driver().eventDestroy(flight.end);
    });
  communicators.clear();
  for (Event event : events)
    driver().eventDestroy(event);
  // The device frees its memory through the hooks, which are this object.
  device.reset();
}

void CudaRank::forgetGraphs() {
  if (device)
    device->forgetGraphs();
}

void CudaRank::deregisterBuffers() {
  driver().ctxSetCurrent(gpu().context);
  for (auto &entry : communicators)
    entry.second->deregisterBuffers();
}

void CudaRank::releaseCommunicators() {
  driver().ctxSetCurrent(gpu().context);
  for (auto &entry : communicators)
    entry.second->release();
}

void CudaRank::open(int32_t ordinal, const DeviceOptions &options) {
  device = std::make_unique<CudaDevice>(engine.driver, engine.blas, ordinal,
                                        options, *this);
}

const Driver &CudaRank::driver() const { return engine.driver; }

//===----------------------------------------------------------------------===//
// DeviceHooks
//===----------------------------------------------------------------------===//

DevicePointer CudaRank::allocate(const Driver &driver, int64_t bytes) {
  if (engine.worldSize() == 1)
    return DeviceHooks::allocate(driver, bytes);
  void *pointer = nullptr;
  nccl::Result result =
      engine.nccl().memAlloc(&pointer, static_cast<size_t>(bytes));
  // NCCL reports missing memory as ncclUnhandledCudaError.
  if (result == nccl::UnhandledCudaError || !pointer)
    return 0;
  engine.nccl().check(result, "ncclMemAlloc");
  symmetric.emplace_back(reinterpret_cast<DevicePointer>(pointer), bytes);
  return symmetric.back().first;
}

void CudaRank::free(const Driver &driver, DevicePointer pointer) {
  if (engine.worldSize() == 1)
    return DeviceHooks::free(driver, pointer);
  for (auto &[begin, bytes] : symmetric)
    if (begin == pointer && bytes) {
      for (auto &entry : communicators)
        entry.second->forgetMemory(pointer);
      bytes = 0;
      begin = 0;
    }
  engine.nccl().call(engine.nccl().memFree, reinterpret_cast<void *>(pointer));
}

bool CudaRank::isSymmetric(DevicePointer pointer, int64_t bytes) const {
  return std::any_of(
      symmetric.begin(), symmetric.end(), [&](const auto &allocation) {
        auto [begin, size] = allocation;
        return pointer >= begin && pointer - begin < uint64_t(size) &&
               uint64_t(bytes) <= uint64_t(size) - (pointer - begin);
      });
}

void CudaRank::waitsFor(Stream stream) {
  // The compute stream may wait for messages that are not issued yet.
  flushMessages();
  beginWait(stream);
}

void CudaRank::beginWait(Stream stream) {
  if (awaitedStream != stream) {
    std::lock_guard<std::mutex> lock(mutex);
    ++waits;
    awaitedStream = stream;
  }
  if (isHit)
    throwIfFailed();
}

void CudaRank::endWait() {
  if (!awaitedStream)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  awaitedStream = nullptr;
}

void CudaRank::launchesGraph(const std::function<void()> &launch) {
  // The communicators of the graph are aborted with this lock alone.
  std::lock_guard<std::mutex> lock(issuing);
  throwIfFailed();
  launch();
}

int32_t CudaRank::chooseAlgorithm(const std::string &operation,
                                  const std::function<int32_t()> &measure) {
  return engine.chooseAlgorithm(*this, operation, measure);
}

void CudaRank::replaces(const Replacement &replacement) {
  replacements.push_back(replacement);
  engine.environment.log(
      "warning: rank " + std::to_string(rank) + ": " + replacement.resource +
      ": planned " + replacement.planned +
      ", used instead: " + replacement.used + " (" + replacement.reason + ")");
}

//===----------------------------------------------------------------------===//
// Invocations
//===----------------------------------------------------------------------===//

void CudaRank::beginInvocation() {
  std::lock_guard<std::mutex> lock(mutex);
  ++begun;
  running = true;
  hasFailed = false;
  if (device->willRecord())
    for (auto &entry : communicators)
      entry.second->noteStarts();
}

/// Ends all flights of an invocation.
void CudaRank::dropFlights(int64_t nowNs) {
  for (auto &entry : communicators)
    entry.second->forEachLane([&](Lane &lane) {
      for (Flight &flight : lane.flights) {
        if (!flight.finishedNs)
          recorder.finish(flight.number, nowNs);
        events.push_back(flight.end);
      }
      lane.flights.clear();
      lane.finished = 0;
    });
}

void CudaRank::dropMessages() {
  for (NCCLCommunicator *communicator : withMessages)
    communicator->drop();
  withMessages.clear();
  hasPassedWait = false;
}

void CudaRank::dropRecording() {
  dropMessages();
  std::lock_guard<std::mutex> lock(mutex);
  dropFlights(engine.environment.now());
  issuingFlight = nullptr;
  for (auto &entry : communicators)
    entry.second->restoreStarts();
}

void CudaRank::endInvocation() {
  // After an abort the stream continues with wrong data: report the failure.
  if (isHit)
    throwIfFailed();
  std::lock_guard<std::mutex> lock(mutex);
  dropFlights(engine.environment.now());
  ended = begun;
  running = false;
}

void CudaRank::failInvocation() {
  dropMessages();
  // NCCL ends no communicator before the graphs with its operations.
  forgetGraphs();
  {
    std::unique_lock<std::mutex> lock(mutex);
    ended = begun;
    hasFailed = true;
    running = false;
    abortDone.wait(lock, [&]() { return aborted; });
  }
  for (auto &entry : communicators)
    entry.second->forEachLane([&](Lane &lane) {
      gpu().settle(lane.stream, int64_t(5) * 1000 * 1000 * 1000);
    });
}

void CudaRank::throwIfFailed() {
  if (!engine.hasFailed())
    return;
  Failure failure = engine.failure();
  Error error(failure.textFor(rank), !failure.concerns(rank));
  // Reports the site of the operation that failed, not of the one awaited.
  std::lock_guard<std::mutex> lock(mutex);
  int64_t oldestNs = std::numeric_limits<int64_t>::max();
  for (auto &entry : communicators) {
    if (!entry.second)
      continue;
    NCCLCommunicator &communicator = *entry.second;
    communicator.forEachLane([&](Lane &lane) {
      for (const Flight &flight : lane.flights) {
        bool isIt =
            failure.sequence == 0
                ? flight.finishedNs == 0 && flight.startedNs < oldestNs
                : flight.sequence == failure.sequence &&
                      describe(communicator, flight).match == failure.match;
        if (!isIt)
          continue;
        oldestNs = flight.startedNs;
        error.site = flight.call->operation.site;
      }
    });
  }
  throw error;
}

NCCLCommunicator &CudaRank::communicator(const CommunicatorSpec &spec) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = communicators.find(spec.key);
    if (found != communicators.end())
      return *found->second;
  }
  CommunicatorSpec adjusted = spec;
  adjusted.lane = engine.laneOptions.apply(spec.lane);
  auto made = std::make_unique<NCCLCommunicator>(*this, std::move(adjusted),
                                                 engine.rendezvous(spec));
  // Nothing keeps a communicator that cannot be opened.
  made->open();
  std::lock_guard<std::mutex> lock(mutex);
  return *communicators.emplace(spec.key, std::move(made)).first->second;
}

//===----------------------------------------------------------------------===//
// Flights
//===----------------------------------------------------------------------===//

Event CudaRank::takeEvent() {
  if (events.empty()) {
    Event event = nullptr;
    driver().call(driver().eventCreate, &event, EVENT_NO_TIMING);
    return event;
  }
  Event event = events.back();
  events.pop_back();
  return event;
}

bool CudaRank::isFinished(Flight &flight) const {
  if (flight.finishedNs)
    return true;
  // The event of an operation in a graph may not be queried.
  if (!flight.issued || flight.captured)
    return false;
  if (driver().eventQuery(flight.end) != SUCCESS)
    return false;
  flight.finishedNs = std::max<int64_t>(1, engine.environment.now());
  return true;
}

void CudaRank::dropFinished(Lane &lane) {
  while (!lane.flights.empty()) {
    Flight &flight = lane.flights.front();
    if (!flight.released || !isFinished(flight))
      return;
    recorder.finish(flight.number, flight.finishedNs);
    events.push_back(flight.end);
    lane.flights.pop_front();
    lane.finished -= std::min<size_t>(lane.finished, 1);
  }
}

Flight &CudaRank::addFlight(Lane &lane, const CommunicatorSpec &spec,
                            Flight flight) {
  // Polling costs time: programs with fewer operations poll none.
  constexpr size_t most = 256;
  std::lock_guard<std::mutex> lock(mutex);
  ++started;
  if (lane.flights.size() >= most && !flight.captured)
    dropFinished(lane);
  if (lane.flights.empty())
    lane.progressNs = flight.startedNs;
  flight.end = takeEvent();
  flight.number = recorder.start(
      {flight.call, &spec, flight.startedNs, flight.sequence, flight.captured});
  lane.flights.push_back(std::move(flight));
  return lane.flights.back();
}

void CudaRank::markIssuing(const Flight &flight) {
  std::lock_guard<std::mutex> lock(mutex);
  ++waits;
  issuingFlight = &flight;
}

void CudaRank::markIssued(Flight &flight) {
  std::lock_guard<std::mutex> lock(mutex);
  issuingFlight = nullptr;
  flight.issued = true;
}

void CudaRank::markAwaited(Flight &flight) {
  std::lock_guard<std::mutex> lock(mutex);
  flight.awaited = true;
  recorder.await(flight.number);
}

void CudaRank::markReleased(Flight &flight) {
  std::lock_guard<std::mutex> lock(mutex);
  flight.released = true;
}

void CudaRank::defer(NCCLCommunicator &communicator) {
  withMessages.push_back(&communicator);
}

void CudaRank::flushMessages() {
  if (withMessages.empty())
    return;
  std::vector<NCCLCommunicator *> flushed;
  flushed.swap(withMessages);
  hasPassedWait = false;
  for (NCCLCommunicator *communicator : flushed)
    communicator->flush();
}

void CudaRank::flushMessages(NCCLCommunicator &communicator) {
  auto found =
      std::find(withMessages.begin(), withMessages.end(), &communicator);
  if (found == withMessages.end())
    return;
  withMessages.erase(found);
  hasPassedWait &= !withMessages.empty();
  communicator.flush();
}

void CudaRank::passesWait() {
  if (withMessages.empty() || hasPassedWait)
    return;
  hasPassedWait = true;
  enqueuedSince = 0;
}

void CudaRank::enqueues() {
  // What the stream waits for may need a rank that needs the messages. A stream
  // holds some 1024 calls; then the driver blocks the thread, which cannot
  // issue them any more.
  constexpr int64_t most = 256;
  if (hasPassedWait && !gpu().capturing && ++enqueuedSince > most)
    flushMessages();
}

//===----------------------------------------------------------------------===//
// For the watchdog
//===----------------------------------------------------------------------===//

void CudaRank::lookAt(Lane &lane, int64_t nowNs) {
  while (lane.finished < lane.flights.size() &&
         isFinished(lane.flights[lane.finished])) {
    recorder.finish(lane.flights[lane.finished].number,
                    lane.flights[lane.finished].finishedNs);
    lane.progressNs = nowNs;
    ++lane.finished;
  }
}

int64_t CudaRank::look(int64_t nowNs) {
  int64_t longest = 0;
  std::lock_guard<std::mutex> lock(mutex);
  // An event that is being recorded may not be queried; a context is needed.
  if (gpu().capturing || communicators.empty() || !running)
    return 0;
  driver().ctxSetCurrent(gpu().context);
  for (auto &entry : communicators)
    if (entry.second)
      entry.second->forEachLane([&](Lane &lane) {
        lookAt(lane, nowNs);
        if (lane.finished < lane.flights.size() &&
            !lane.flights[lane.finished].captured)
          longest = std::max(longest, nowNs - lane.progressNs);
      });
  return longest;
}

std::optional<OpenOperation> CudaRank::oldestOpen() {
  std::lock_guard<std::mutex> lock(mutex);
  std::optional<OpenOperation> oldest;
  int64_t oldestNs = 0;
  for (auto &entry : communicators)
    if (entry.second)
      entry.second->forEachLane([&](Lane &lane) {
        if (lane.finished >= lane.flights.size() ||
            (oldest && oldestNs <= lane.progressNs))
          return;
        oldestNs = lane.progressNs;
        oldest = describe(*entry.second, lane.flights[lane.finished]);
      });
  return oldest;
}

/// The number of one side of the messages from one rank to another.
static uint64_t messageQueue(uint64_t communicator, int32_t from, int32_t to,
                             const char *side) {
  return hashText(std::to_string(from) + " to " + std::to_string(to) + side,
                  communicator);
}

OpenOperation CudaRank::describe(const NCCLCommunicator &communicator,
                                 const Flight &flight) const {
  const Operation &operation = flight.call->operation;
  const CommunicatorSpec &spec = communicator.spec;
  OpenOperation open;
  open.group = spec.name;
  open.isMessage = operation.isPointToPoint();
  open.sequence = flight.sequence;
  open.invocation = flight.invocation;
  open.issue = flight.group;
  open.fingerprint = flight.call->fingerprint;
  uint64_t id = communicator.rendezvous->id;
  open.lane = open.isMessage ? ~id : id;
  open.match = open.ownQueue = open.otherQueue = id;
  open.members = spec.ranks;
  open.text = describeOperation(operation);
  if (!operation.operands.empty()) {
    open.sent = operation.sourceSplits;
    open.expected = operation.destinationSplits;
  }
  if (open.isMessage) {
    bool sends = operation.kind == BRAID_RT_SEND;
    int32_t peer = spec.ranks[static_cast<size_t>(operation.peer)];
    int32_t from = sends ? rank : peer, to = sends ? peer : rank;
    open.match = messageQueue(id, from, to, "");
    open.ownQueue = messageQueue(id, from, to, sends ? " sent" : " received");
    open.otherQueue = messageQueue(id, from, to, sends ? " received" : " sent");
    open.members = {from, to};
  }
  return open;
}

RankStatus CudaRank::status(size_t mostOfLane) {
  // NCCL connects members at their first operation, which blocks the thread
  // until all members come. Loading kernels takes less.
  constexpr int64_t longIssueNs = 5'000'000'000;
  int64_t now = engine.environment.now();
  std::lock_guard<std::mutex> lock(mutex);
  RankStatus result;
  result.rank = rank;
  result.begun = begun;
  result.ended = ended;
  result.failed = hasFailed;
  Stream awaited = awaitedStream;
  result.wait = awaited ? waits : 0;
  for (auto &entry : communicators) {
    if (!entry.second)
      continue;
    NCCLCommunicator &communicator = *entry.second;
    uint64_t id = communicator.rendezvous->id;
    result.started[id] = communicator.sequenceNumber();
    for (const auto &[pair, count] : communicator.messageCounts()) {
      int32_t peer = communicator.spec.ranks[static_cast<size_t>(pair.first)];
      result.started[pair.second ? messageQueue(id, rank, peer, " sent")
                                 : messageQueue(id, peer, rank, " received")] =
          count;
    }
    communicator.forEachLane([&](Lane &lane) {
      size_t end = lane.finished +
                   std::min(lane.flights.size() - lane.finished, mostOfLane);
      for (size_t i = lane.finished; i < end; ++i) {
        OpenOperation open = describe(communicator, lane.flights[i]);
        open.awaited = lane.flights[i].awaited &&
                       (awaited == gpu().stream || awaited == lane.stream);
        if (&lane.flights[i] == issuingFlight &&
            now - lane.flights[i].startedNs > longIssueNs) {
          open.awaited = true;
          result.wait = waits;
        }
        result.open.push_back(std::move(open));
      }
    });
  }
  return result;
}

std::pair<nccl::Result, std::string> CudaRank::findAsyncError() {
  std::pair<nccl::Result, std::string> found = {nccl::Success, ""};
  std::unique_lock<std::mutex> issue(issuing, std::try_to_lock);
  if (!issue.owns_lock())
    return found;
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &entry : communicators)
    if (entry.second && entry.second->isMade())
      entry.second->forEachLane([&](Lane &lane) {
        if (!lane.comm || found.first != nccl::Success)
          return;
        const nccl::NCCL &nccl = engine.nccl();
        nccl::Result result = nccl::Success;
        if (nccl.commGetAsyncError(lane.comm, &result) != nccl::Success ||
            result == nccl::Success || result == nccl::InProgress)
          return;
        found = {result, "NCCL reports for the communicator of @" + lane.label +
                             ": " + nccl.describe(result)};
      });
  return found;
}

void CudaRank::noteFailure() {
  std::lock_guard<std::mutex> lock(mutex);
  // Operations in a replayed graph have no flights.
  if (running && gpu().replaying)
    isHit = true;
  driver().ctxSetCurrent(gpu().context);
  for (auto &entry : communicators)
    if (entry.second)
      entry.second->forEachLane([&](Lane &lane) {
        if (!gpu().capturing)
          lookAt(lane, engine.environment.now());
        if (lane.finished < lane.flights.size())
          isHit = true;
      });
}

void CudaRank::abortCommunicators() {
  // The rank's thread usually returns from NCCL within this time. If NCCL waits
  // for another rank, the abort makes it return.
  constexpr auto timeout = std::chrono::milliseconds(1000);
  auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock<std::mutex> issue(issuing, std::defer_lock);
  while (!issue.try_lock() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  driver().ctxSetCurrent(gpu().context);
  std::vector<NCCLCommunicator *> all;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto &entry : communicators)
      if (entry.second)
        all.push_back(entry.second.get());
  }
  std::vector<std::thread> threads;
  for (NCCLCommunicator *communicator : all)
    communicator->abort(threads);
  for (std::thread &thread : threads)
    thread.join();
  std::lock_guard<std::mutex> lock(mutex);
  aborted = true;
  abortDone.notify_all();
}
