//===- NCCLCommunicator.cpp - A member of an NCCL communicator ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/NCCLCommunicator.h"
#include "Base/Error.h"
#include "CUDA/Communication/LaneOptions.h"
#include "CUDA/Communication/Mapping.h"
#include "CUDA/Communication/Rank.h"
#include "CUDA/Communication/RankServices.h"
#include "Operations/Messages.h"

#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;

CudaRequest::~CudaRequest() {
  if (flight)
    rank.markReleased(*flight);
}

NCCLCommunicator::NCCLCommunicator(CudaRank &rank, CommunicatorSpec spec,
                                   std::shared_ptr<Rendezvous> rendezvous)
    : Communicator(std::move(spec)), rank(rank),
      rendezvous(std::move(rendezvous)),
      calls([this](const Operation &operation) {
        checkSupported(operation, this->spec.size());
      }),
      used(this->spec.lane) {
  collectives.label = this->spec.name;
  if (!this->spec.lane.name.empty())
    collectives.label += " " + this->spec.lane.name;
  messages.label = collectives.label + " p2p";
}

NCCLCommunicator::~NCCLCommunicator() {
  const Driver &driver = rank.driver();
  forEachLane([&](Lane &lane) {
    if (lane.follow)
      driver.eventDestroy(lane.follow);
    if (lane.stream)
      driver.streamDestroy(lane.stream);
  });
  if (!barrierWord)
    return;
  if (hasWindows())
    rank.engine.nccl().memFree(reinterpret_cast<void *>(barrierWord));
  else
    driver.memFree(barrierWord);
}

//===----------------------------------------------------------------------===//
// Making and releasing
//===----------------------------------------------------------------------===//

void NCCLCommunicator::open() {
  if (collectives.stream)
    return;
  const Driver &driver = rank.driver();
  rank.gpu().makeCurrent();
  // Collectives have a higher priority than compute: all members wait for the
  // slowest one.
  forEachLane([&](Lane &lane) {
    lane.stream = driver.createStream(StreamPriority::Highest);
    driver.call(driver.eventCreate, &lane.follow, EVENT_NO_TIMING);
  });
  if (hasWindows()) {
    void *word = nullptr;
    rank.engine.nccl().call(rank.engine.nccl().memAlloc, &word, wordBytes());
    barrierWord = reinterpret_cast<DevicePointer>(word);
  } else {
    driver.call(driver.memAlloc, &barrierWord, sizeof(int32_t));
  }
  made = spec.size() == 1;
}

size_t NCCLCommunicator::wordBytes() const {
  return static_cast<size_t>(kStagingAlignment + spec.lane.staging);
}

bool NCCLCommunicator::hasWindows() const {
  return spec.size() > 1 && needsWindows(spec.lane);
}

bool NCCLCommunicator::wantsWindows() const {
  return spec.size() > 1 && needsWindows(used);
}

void NCCLCommunicator::refuse(const char *function, nccl::Result result) {
  std::string text = std::string(function) +
                     (result == nccl::Success
                          ? " has given no window"
                          : " failed: " + rank.engine.nccl().describe(result));
  if (refusal.find(text) == std::string::npos)
    refusal += (refusal.empty() ? "" : ", ") + text;
}

bool NCCLCommunicator::request(Lane &lane, const nccl::UniqueId &id) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  rank.gpu().makeCurrent();
  nccl::Config config = configOf(used, lane.label, rank.engine.blocksInNCCL());
  nccl::Result result =
      nccl.commInitRankConfig(&lane.comm, static_cast<int>(spec.size()), id,
                              static_cast<int>(spec.index), &config);
  // NCCL checks the configuration before it contacts other ranks.
  if (isRefusal(result) && weaken(used)) {
    refuse("ncclCommInitRankConfig", result);
    lane.comm = nullptr;
    return false;
  }
  nccl.check(result, "ncclCommInitRankConfig");
  return true;
}

void NCCLCommunicator::requestAccepted(Lane &lane, const nccl::UniqueId &id) {
  while (!request(lane, id)) {
  }
}

void NCCLCommunicator::complete() {
  forEachLane([&](Lane &lane) {
    settle(lane, nccl::InProgress, "ncclCommInitRankConfig");
  });
  made = true;
  rank.engine.logCommunicator(spec, used);
}

nccl::Result NCCLCommunicator::registerFirstWindow() {
  if (!wantsWindows())
    return nccl::Success;
  rank.gpu().makeCurrent();
  return rank.engine.nccl().commWindowRegister(
      collectives.comm, reinterpret_cast<void *>(barrierWord), wordBytes(),
      &collectives.windows[barrierWord], nccl::windowCollSymmetric);
}

void NCCLCommunicator::completeFirstWindow(nccl::Result result) {
  const char *function = "ncclCommWindowRegister";
  if (!wantsWindows())
    return;
  if (result == nccl::InProgress)
    result = poll(collectives, result, function);
  if (!isRefusal(result))
    rank.engine.nccl().check(result, function);
  if (result == nccl::Success && collectives.windows[barrierWord])
    return;
  // A communicator that has returned an error is of no further use.
  refuse(function, result);
  used.transport = BRAID_RT_TRANSPORT_DEFAULT;
  isStale = true;
}

void NCCLCommunicator::adopt(const LaneAgreement &agreement) {
  allRefusals = agreement.describeRefusals();
  LaneSpec common = agreement.common();
  used.ctas = common.ctas;
  used.transport = common.transport;
  if (!agreement.needsOthers())
    return;
  isStale = made = false;
  release();
}

void NCCLCommunicator::reportReplacement() {
  if (!allRefusals.empty())
    rank.replaces({"lane " + collectives.label, describeResources(spec.lane),
                   allRefusals, describeResources(used)});
}

nccl::Result NCCLCommunicator::poll(Lane &lane, nccl::Result result,
                                    const char *function) const {
  const nccl::NCCL &nccl = rank.engine.nccl();
  // With blocking=0 a call returns ncclInProgress: poll until it completes.
  for (int64_t begin = monotonicNs(); result == nccl::InProgress;) {
    rank.throwIfFailed();
    nccl.call(nccl.commGetAsyncError, lane.comm, &result);
    if (result != nccl::InProgress)
      break;
    int64_t timeoutNs = rank.engine.environment.config.timeoutNs;
    if (monotonicNs() - begin > timeoutNs)
      throw Error(describeTimeout(timeoutNs) + function + " for @" +
                  lane.label + " has not ended");
    std::this_thread::yield();
  }
  return result;
}

void NCCLCommunicator::settle(Lane &lane, nccl::Result result,
                              const char *function) const {
  const nccl::NCCL &nccl = rank.engine.nccl();
  if (result == nccl::Success)
    return;
  result = poll(lane, result, function);
  if (result != nccl::Success) {
    rank.engine.awaitFailureOfPeer(result);
    rank.throwIfFailed();
  }
  nccl.check(result, function);
}

void NCCLCommunicator::release(Lane &lane, bool abort) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  nccl::Comm comm = lane.comm;
  lane.comm = nullptr;
  lane.windows.clear();
  lane.known = 0;
  nccl::Result result = abort ? nccl.commAbort(comm) : nccl.commDestroy(comm);
  if (result != nccl::Success && result != nccl::InProgress)
    rank.engine.environment.log("rank " + std::to_string(rank.rank) + ": " +
                                (abort ? "ncclCommAbort" : "ncclCommDestroy") +
                                " for @" + lane.label +
                                " failed: " + nccl.describe(result));
}

void NCCLCommunicator::release() {
  forEachLane([&](Lane &lane) {
    if (lane.comm)
      release(lane, /*abort=*/false);
  });
}

void NCCLCommunicator::abort(std::vector<std::thread> &threads) {
  forEachLane([&](Lane &lane) {
    if (lane.comm)
      threads.emplace_back([&]() { release(lane, /*abort=*/true); });
  });
}

void NCCLCommunicator::ensureMade() {
  if (!made)
    rank.engine.makeUnannounced(*this);
}

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

Flight &NCCLCommunicator::begin(Lane &lane, std::shared_ptr<const Call> call,
                                int64_t sequence) {
  Flight flight;
  flight.call = std::move(call);
  flight.sequence = sequence;
  flight.invocation = rank.begun;
  flight.group = ++flushes;
  flight.startedNs = rank.engine.environment.now();
  flight.captured = rank.gpu().capturing;
  return rank.addFlight(lane, spec, std::move(flight));
}

void NCCLCommunicator::follow(Lane &lane) {
  rank.device->submit();
  const Driver &driver = rank.driver();
  driver.call(driver.eventRecord, lane.follow, rank.gpu().stream);
  driver.call(driver.streamWaitEvent, lane.stream, lane.follow, 0);
}

void NCCLCommunicator::finish(Lane &lane, Flight &flight) {
  const Driver &driver = rank.driver();
  driver.call(driver.eventRecord, flight.end, lane.stream);
  rank.markIssued(flight);
}

void NCCLCommunicator::meet(const Flight &flight) {
  if (rendezvous->meet(flight.sequence, flight.call->fingerprint))
    return;
  rank.engine.failDisagreement(*rendezvous, flight.sequence);
  rank.throwIfFailed();
}

void NCCLCommunicator::announce(const Flight &flight) {
  if (spec.size() < 2 || !rank.engine.announces())
    return;
  rank.engine.announce(rank.describe(*this, flight));
  rank.throwIfFailed();
}

std::unique_ptr<EngineRequest> NCCLCommunicator::start(Operation &&operation) {
  rank.throwIfFailed();
  if (operation.isPointToPoint())
    return startMessage(std::move(operation));
  auto request = std::make_unique<CudaRequest>(std::move(operation), rank);
  const Operation &started = request->operation;
  std::shared_ptr<const Call> call = calls.find(started);
  Flight &flight = begin(collectives, std::move(call), this->started + 1);
  request->flight = &flight;
  request->sequence = ++this->started;
  meet(flight);
  announce(flight);
  rank.markIssuing(flight);
  ensureMade();
  {
    std::lock_guard<std::mutex> lock(rank.issuing);
    follow(collectives);
    TimelineSpan span(rank.gpu().timeline.get(), collectives.stream,
                      {BRAID_RT_EVENT_COLLECTIVE, ""});
    issue(started);
    span.close();
    request->span = span.number();
    request->recorded = span.recordedNumber();
    finish(collectives, flight);
  }
  rank.gpu().checkCapture(braid_rt_kind_name(started.kind));
  return request;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

// Messages that a rank starts without a wait of their lane in between are
// issued together, in one NCCL group. A single message would wait in its stream
// for a peer that has started another message first. A wait for anything else
// does not end the group: the scheduler may put one there.

void NCCLCommunicator::meetMessage(const Flight &flight) {
  const Operation &operation = flight.call->operation;
  bool sends = operation.kind == BRAID_RT_SEND;
  int32_t peer = spec.ranks[static_cast<size_t>(operation.peer)];
  std::optional<Rendezvous::Side> other = rendezvous->meetMessage(
      sends ? rank.rank : peer, sends ? peer : rank.rank, flight.sequence,
      {rank.rank, flight.call});
  if (!other)
    return;
  OpenOperation own = rank.describe(*this, flight), others = own;
  others.text = describeOperation(other->call->operation);
  others.fingerprint = other->call->fingerprint;
  Statuses statuses;
  statuses[rank.rank].open = {own};
  statuses[other->rank].open = {others};
  rank.engine.fail(findProblem(statuses).value());
  rank.throwIfFailed();
}

std::unique_ptr<EngineRequest>
NCCLCommunicator::startMessage(Operation operation) {
  auto request = std::make_unique<CudaRequest>(std::move(operation), rank);
  const Operation &started = request->operation;
  std::shared_ptr<const Call> call = calls.find(started);
  int64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(rank.mutex);
    number = ++counts[{started.peer, started.kind == BRAID_RT_SEND}];
  }
  Flight &flight = begin(messages, std::move(call), number);
  request->flight = &flight;
  if (rank.engine.isLocal(spec.ranks[static_cast<size_t>(started.peer)]))
    meetMessage(flight);
  announce(flight);
  ensureMade();
  {
    std::lock_guard<std::mutex> lock(rank.issuing);
    follow(messages);
  }
  if (deferred.empty())
    rank.defer(*this);
  deferred.push_back(request.get());
  return request;
}

void NCCLCommunicator::flush() {
  std::vector<CudaRequest *> requests;
  requests.swap(deferred);
  std::lock_guard<std::mutex> lock(rank.issuing);
  rank.throwIfFailed();
  TimelineSpan span(rank.gpu().timeline.get(), messages.stream,
                    {BRAID_RT_EVENT_COLLECTIVE, ""});
  registerMemory(messages);
  nccl::Group calls(rank.engine.nccl());
  for (CudaRequest *request : requests)
    issueMessage(request->operation);
  settle(messages, calls.end(), "ncclGroupEnd");
  span.close();
  // Flights of one group end together.
  int64_t group = ++flushes;
  for (CudaRequest *request : requests) {
    request->flight->group = group;
    request->span = span.number();
    request->recorded = span.recordedNumber();
    finish(messages, *request->flight);
  }
  rank.gpu().checkCapture("a message");
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

void NCCLCommunicator::wait(EngineRequest &base) {
  auto &request = static_cast<CudaRequest &>(base);
  rank.throwIfFailed();
  if (request.operation.isPointToPoint())
    rank.flushMessages(*this);
  rank.passesWait();
  rank.device->submit();
  const Driver &driver = rank.driver();
  driver.call(driver.streamWaitEvent, rank.gpu().stream, request.flight->end,
              0);
  rank.markAwaited(*request.flight);
  if (spec.size() > 1 && rank.engine.announces()) {
    rank.beginWait(rank.gpu().stream);
    rank.engine.awaitAnnouncements(rank, rank.describe(*this, *request.flight));
    rank.endWait();
  }
  // Host times. With a trace, `measure` replaces them by times of the device.
  request.beginNs = request.flight->startedNs;
  request.endNs = rank.engine.environment.now();
}

void NCCLCommunicator::measure(EngineRequest &base) {
  auto &request = static_cast<CudaRequest &>(base);
  if (request.span < 0)
    return;
  std::optional<Timeline::Interval> time =
      rank.gpu().timeline->timeOf(request.span);
  if (!time)
    return;
  request.beginNs = time->beginNs;
  request.endNs = time->endNs;
}

void NCCLCommunicator::hostWait(EngineRequest &base) {
  auto &request = static_cast<CudaRequest &>(base);
  wait(request);
  if (rank.gpu().capturing)
    throw Error("the host waits for " + request.operation.signature() +
                ", which a graph cannot do (run without cuda-graph)");
  bool isMessage = request.operation.isPointToPoint();
  rank.gpu().waitOnHost(request.flight->end,
                        (isMessage ? messages : collectives).stream,
                        "a collective");
  rank.throwIfFailed();
  request.endNs = rank.engine.environment.now();
}
