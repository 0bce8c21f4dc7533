//===- Context.cpp - The state of one rank ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Context.h"
#include "Base/TextSink.h"
#include "Operations/Messages.h"
#include "braid-rt/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <thread>

using namespace braid::rt;

static thread_local Context *currentContext = nullptr;

namespace {
struct Refusal {
  int64_t contextNumber = 0;
  std::string message;
};
} // namespace
static thread_local Refusal lastRefusal;

int64_t Context::createNumber() {
  static std::atomic<int64_t> last{0};
  return ++last;
}

Context *Context::current() { return currentContext; }

void braid::rt::failOutsideOfRank() {
  std::fputs("braid runtime: called by a thread that runs no rank "
             "(compiled code must be entered through braid_rt_invoke)\n",
             stderr);
  std::abort();
}

//===----------------------------------------------------------------------===//
// Invocation
//===----------------------------------------------------------------------===//

bool Context::begin(const braid_rt_entry &entry, void **args) {
  error.clear();
  failed = secondary = false;
  // A new program may have its descriptors at the addresses of an unloaded
  // program.
  communicators.clear();
  events.clear();
  exportedEvents.clear();
  tracedRequests.clear();
  skipped = 0;
  mostSkipped = std::numeric_limits<int64_t>::max();
  // Conditions may depend on results, so some more are no mistake.
  constexpr int64_t more = 1000;
  if (auto found = startsOfEntries.find(&entry); found != startsOfEntries.end())
    mostSkipped = 2 * found->second + more;
  recorder.beginInvocation();
  engine.beginInvocation(rank);
  return device.beginInvocation(entry, args);
}

/// Calls the entry; false if an error left it. A function of its own, because
/// no object with a destructor may be alive in a function to which longjmp
/// returns.
__attribute__((noinline)) static bool
call(std::jmp_buf &target, const braid_rt_entry &entry, void **args) {
  if (setjmp(target) != 0)
    return false;
  entry.function(args);
  return true;
}

/// Calls the entry as the rank of this thread; false if an error left it.
bool Context::callHere(const braid_rt_entry &entry, void **args) {
  currentContext = this;
  bool returned = call(jumpTarget, entry, args);
  currentContext = nullptr;
  return returned;
}

/// Calls the entry, again if the ranks do without the recording of the first
/// call. False if an error has left it.
bool Context::enter(const braid_rt_entry &entry, void **args) {
  braid_rt_statistics before = statistics;
  size_t eventsBefore = events.size();
  bool returned = true;
  const std::string *problem = device.recordingProblem();
  if (!problem) {
    returned = callHere(entry, args);
    problem = returned ? nullptr : &error;
  }
  if (engine.keepsRecording(rank, problem))
    return returned;
  dropRequests();
  device.releaseBuffers();
  statistics = before;
  events.resize(eventsBefore);
  skipped = 0;
  error.clear();
  failed = secondary = false;
  engine.restartInvocation(rank);
  return callHere(entry, args);
}

int32_t Context::refuse(const char *why) const {
  lastRefusal = {number, messagePrefix({}, rank) + why};
  return BRAID_RT_FAILED;
}

const std::string *Context::refusal() const {
  return lastRefusal.contextNumber == number ? &lastRefusal.message : nullptr;
}

void Context::forgetRefusal() { lastRefusal = {}; }

int32_t Context::invoke(const braid_rt_entry &entry, void **args) {
  forgetRefusal();
  if (currentContext)
    return refuse("a rank is already running on this thread");
  if (running.exchange(true, std::memory_order_acquire))
    return refuse("another thread is already running this rank");
  int32_t status = run(entry, args);
  running.store(false, std::memory_order_release);
  // Drops a refusal of a nested invocation: this invocation is the last one.
  forgetRefusal();
  return status;
}

int32_t Context::run(const braid_rt_entry &entry, void **args) {
  int64_t beginNs = environment.now();
  chosenCases.clear();
  int64_t startsBefore = statistics.starts;
  bool returned = true;
  try {
    if (!begin(entry, args)) {
      returned = enter(entry, args);
      if (returned && skip == BRAID_RT_SKIP_NOTHING)
        startsOfEntries[&entry] = statistics.starts - startsBefore;
    }
    statistics.hostNs += environment.now() - beginNs;
    if (returned) {
      finish(entry, args);
      if (environment.config.trace)
        addInvocation(entry, beginNs);
    } else
      fail(error, secondary);
  } catch (const Error &caught) {
    fail(messagePrefix(caught.site.value_or(braid_rt_site{}), rank) +
             caught.what(),
         caught.secondary);
  }
  int64_t leaked = device.releaseBuffers();
  if (leaked && !failed) {
    statistics.leakedBytes += leaked;
    if (environment.logs(BRAID_RT_DEBUG_INFO))
      environment.log("rank " + std::to_string(rank) + ": " + entry.name +
                      " did not free " + std::to_string(leaked) + " bytes");
  }
  if (failed)
    for (int64_t i = 0; i < entry.argumentCount; ++i) {
      const braid_rt_argument &argument = entry.arguments[i];
      bool dynamic = std::count(argument.sizes, argument.sizes + argument.rank,
                                BRAID_RT_DYNAMIC) > 0;
      if (argument.direction == BRAID_RT_OUT && dynamic)
        *static_cast<braid_rt_memref *>(args[i]) = {};
    }
  return failed ? BRAID_RT_FAILED : BRAID_RT_OK;
}

void Context::finish(const braid_rt_entry &entry, void **args) {
  try {
    for (const Request &request : requests)
      if (request.request)
        throw Error(messagePrefix(request.operation().site, rank) +
                    "the program ended without waiting for " +
                    request.operation().signature() + " on @" + request.lane());
    detachResults(entry, args);
    atSite(entry.site, [&]() {
      device.endInvocation();
      if (!device.isAhead())
        statistics.deviceNs = device.deviceNs();
      if (tracesDevice())
        addDeviceEvents();
      engine.endInvocation(rank);
      recorder.endInvocation();
    });
  } catch (const Error &caught) {
    fail(caught.what(), caught.secondary);
  }
}

void Context::detachResults(const braid_rt_entry &entry, void **args) {
  std::vector<void *> detached;
  for (int64_t i = 0; i < entry.argumentCount; ++i) {
    const braid_rt_argument &argument = entry.arguments[i];
    if (argument.direction != BRAID_RT_OUT ||
        argument.passing != BRAID_RT_MEMREF ||
        !std::count(argument.sizes, argument.sizes + argument.rank,
                    BRAID_RT_DYNAMIC))
      continue;
    auto *result = static_cast<braid_rt_memref *>(args[i]);
    if (device.detachBuffer(result->allocated)) {
      detached.push_back(result->allocated);
      continue;
    }
    for (void *pointer : detached)
      device.free(pointer);
    throw Error(
        messagePrefix(entry.site ? *entry.site : braid_rt_site{}, rank) +
        entry.name + " returned memory for " + argument.name +
        " that it had not allocated or had returned before");
  }
}

void Context::recordError(const std::string &message, bool isSecondary) {
  error = message;
  failed = true;
  secondary = isSecondary;
}

void Context::fail(const std::string &message, bool isSecondary) {
  recordError(message, isSecondary);
  if (environment.logs(BRAID_RT_DEBUG_INFO))
    environment.log("failed: " + message);
  // Before the engine, which may end the process.
  if (engine.capabilities().hostMemory) {
    recorder.fail(message);
    writeFlights("failure");
  }
  engine.failInvocation(rank, message);
  device.failInvocation();
  dropRequests();
}

void Context::loseResults() {
  fail(messagePrefix({}, rank) + "another rank has failed before the end of "
                                 "the work that gives the results",
       /*isSecondary=*/true);
}

void Context::dropRequests() {
  for (size_t slot = 0; slot < requests.size(); ++slot)
    if (requests[slot].request) {
      requests[slot].request.reset();
      ++requests[slot].generation;
      freeSlots.push_back(slot);
    }
  tracedRequests.clear();
}

void Context::writeFlights(const std::string &reason, bool always) const {
  recorder.dump(environment, rank, engine.worldSize(), reason, always);
}

void Context::setSkip(int32_t value) {
  if (skip == value)
    return;
  skip = value;
  device.forgetGraphs();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The content of a list of a group, which identifies the communicator on all
/// ranks.
static std::string communicatorKey(const braid_rt_group &group, int32_t list) {
  std::string key = std::string(group.name) + '\n' +
                    (group.lane ? group.lane->name : "") + '\n';
  if (group.allRanks)
    return key + "all";
  for (int32_t i = 0; i < group.offsets[group.listCount]; ++i) {
    for (int32_t l = 0; l < group.listCount; ++l)
      if (group.offsets[l] == i)
        key += '[';
    key += std::to_string(group.ranks[i]) + ' ';
  }
  return key + '#' + std::to_string(list);
}

CommunicatorSpec braid::rt::findPlace(const braid_rt_group &group, int32_t rank,
                                      int32_t worldSize) {
  CommunicatorSpec spec;
  spec.name = group.name;
  if (group.lane)
    spec.lane = {group.lane->name, group.lane->ctas, group.lane->transport,
                 group.lane->staging};
  int32_t list = group.allRanks ? 0 : -1;
  if (group.allRanks) {
    for (int32_t r = 0; r < worldSize; ++r)
      spec.ranks.push_back(r);
    spec.index = rank;
  } else {
    std::vector<bool> seen(worldSize);
    for (int32_t l = 0; l < group.listCount; ++l)
      for (int32_t i = group.offsets[l]; i < group.offsets[l + 1]; ++i) {
        int32_t member = group.ranks[i];
        if (member < 0 || member >= worldSize)
          throw Error(std::string("group @") + group.name + " names rank " +
                      std::to_string(member) + ", but the program runs on " +
                      std::to_string(worldSize) +
                      (worldSize == 1 ? " rank" : " ranks"));
        if (seen[member])
          throw Error(std::string("group @") + group.name + " has rank " +
                      std::to_string(member) + " twice");
        seen[member] = true;
        if (member == rank) {
          list = l;
          spec.index = i - group.offsets[l];
        }
      }
    if (list >= 0)
      spec.ranks.assign(group.ranks + group.offsets[list],
                        group.ranks + group.offsets[list + 1]);
  }
  spec.key = communicatorKey(group, std::max(list, 0));
  return spec;
}

Communicator *Context::communicator(const braid_rt_group &group) {
  auto it = communicators.find(&group);
  if (it != communicators.end())
    return it->second;
  CommunicatorSpec spec = findPlace(group, rank, engine.worldSize());
  Communicator *result =
      spec.ranks.empty() ? nullptr : &engine.communicator(rank, spec);
  communicators.emplace(&group, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

std::string Context::Request::lane() const {
  return describeLane(communicator->spec, operation());
}

std::vector<Operand> Context::takeOperands() {
  if (spareOperands.empty())
    return {};
  std::vector<Operand> operands = std::move(spareOperands.back());
  spareOperands.pop_back();
  return operands;
}

static void *makeHandle(size_t slot, uint32_t generation) {
  // Odd, so neither null nor a valid pointer.
  return reinterpret_cast<void *>((static_cast<uintptr_t>(generation) << 32) |
                                  (slot << 1) | 1);
}

size_t Context::freeSlot() {
  if (freeSlots.empty()) {
    requests.emplace_back();
    return requests.size() - 1;
  }
  size_t slot = freeSlots.back();
  freeSlots.pop_back();
  return slot;
}

std::unique_ptr<EngineRequest>
Context::startRecorded(Communicator &communicator, Operation &&operation,
                       int64_t &flight) {
  flight = 0;
  if (!engine.capabilities().hostMemory)
    return communicator.start(std::move(operation));
  flight = recorder.start({calls.find(operation), &communicator.spec});
  try {
    auto request = communicator.start(std::move(operation));
    recorder.setStarted(flight, request->startedNs ? request->startedNs
                                                   : environment.now());
    return request;
  } catch (...) {
    recorder.setStarted(flight, environment.now());
    recorder.refuse(flight);
    throw;
  }
}

void Context::checkSkipped() {
  if (++skipped > mostSkipped)
    throw Error("without communication the program has started " +
                std::to_string(skipped) +
                " operations, far more than with it: its conditions depend on "
                "results of communication, and it may never end");
}

void Context::standIn(const Operation &operation) {
  for (const Operand &operand : operation.operands)
    if (operand.source && operand.destination &&
        operand.source != operand.destination)
      device.standIn(operand.destination, operand.destinationBytes(),
                     operand.source, operand.sourceBytes());
}

void *Context::start(const braid_rt_group &group, Operation &&operation) {
  int64_t beginNs = environment.config.trace ? environment.now() : 0;
  braid_rt_site site = operation.site;
  size_t slot = freeSlot();
  Request &request = requests[slot];
  try {
    Communicator *communicator = this->communicator(group);
    if (!communicator)
      throw Error("this rank is in no list of group @" +
                  std::string(group.name) + " and may not run its " +
                  braid_rt_kind_name(operation.kind));
    checkOperation(operation, communicator->spec.index,
                   communicator->spec.size());
    request.waitsLeft =
        std::max<int64_t>(1, static_cast<int64_t>(operation.operands.size()));
    request.communicator = communicator;
    request.completed = skips(BRAID_RT_SKIP_COMMUNICATION);
    if (request.completed) {
      checkSkipped();
      standIn(operation);
    }
    request.request =
        request.completed
            ? std::make_unique<EngineRequest>(std::move(operation))
            : startRecorded(*communicator, std::move(operation),
                            request.flight);
  } catch (const Error &caught) {
    freeSlots.push_back(slot);
    throw Error(messagePrefix(caught.site.value_or(site), rank) + caught.what(),
                caught.secondary);
  }
  ++statistics.starts;
  if (environment.logs(BRAID_RT_DEBUG_DETAIL))
    environment.log(messagePrefix(site, rank) + "starts " +
                    request.operation().signature() + " on @" + request.lane() +
                    ", number " + std::to_string(request.request->sequence));
  if (environment.config.trace)
    addEvent(BRAID_RT_EVENT_START, *request.request, *request.communicator,
             beginNs, environment.now());
  return makeHandle(slot, request.generation);
}

Context::Request &Context::find(void *handle, const braid_rt_site &site) {
  auto bits = reinterpret_cast<uintptr_t>(handle);
  size_t slot = (bits & 0xffffffff) >> 1;
  if (!(bits & 1) || slot >= requests.size() ||
      requests[slot].generation != bits >> 32 || !requests[slot].request)
    throw Error(messagePrefix(site, rank) +
                "this wait's request is none of this rank, or has been "
                "awaited already");
  return requests[slot];
}

class Context::WaitScope {
public:
  WaitScope(Context &context, const Operation &operation) : context(context) {
    context.waitingFor.store(&operation, std::memory_order_release);
  }
  ~WaitScope() {
    // A signal handler on another thread may be reading the operation.
    while (!context.waitingFor.exchange(nullptr, std::memory_order_acq_rel))
      std::this_thread::yield();
  }
  WaitScope(const WaitScope &) = delete;
  WaitScope &operator=(const WaitScope &) = delete;

private:
  Context &context;
};

bool Context::describeWait(char *text, size_t size) {
  const Operation *operation =
      waitingFor.exchange(nullptr, std::memory_order_acq_rel);
  if (!operation)
    return false;
  if (text && size) {
    BufferSink sink(text, size);
    printOperation(sink, *operation);
  }
  waitingFor.store(operation, std::memory_order_release);
  return true;
}

void Context::wait(void *handle, const braid_rt_site *site, bool onHost) {
  Request &request = find(handle, site ? *site : braid_rt_site{});
  ++statistics.waits;
  if (!request.completed) {
    int64_t beginNs = environment.now();
    request.request->awaitedNs = beginNs;
    try {
      WaitScope scope(*this, request.operation());
      if (request.flight)
        recorder.await(request.flight);
      if (onHost)
        request.communicator->hostWait(*request.request);
      else
        request.communicator->wait(*request.request);
    } catch (const Error &caught) {
      // The engine may report the failure of another request.
      throw Error(
          messagePrefix(caught.site.value_or(request.operation().site), rank) +
              caught.what(),
          caught.secondary);
    }
    int64_t endNs = environment.now();
    if (request.flight)
      recorder.finish(request.flight, endNs);
    statistics.waitNs += endNs - beginNs;
    request.completed = true;
    if (environment.config.trace) {
      auto add = [&](braid_rt_event_category category, int64_t beginNs,
                     int64_t endNs) {
        addEvent(category, *request.request, *request.communicator, beginNs,
                 endNs);
      };
      if (!tracesDevice())
        add(BRAID_RT_EVENT_COLLECTIVE, request.request->beginNs,
            request.request->endNs);
      add(BRAID_RT_EVENT_WAIT, beginNs, endNs);
    }
    if (environment.logs(BRAID_RT_DEBUG_DETAIL))
      environment.log(
          messagePrefix(request.operation().site, rank) + "has " +
          request.operation().signature() + " on @" + request.lane() +
          ", number " + std::to_string(request.request->sequence) + ", after " +
          std::to_string((endNs - beginNs) / 1000) + " us of waiting");
  }
  if (--request.waitsLeft > 0)
    return;
  endRequest(request);
}

void Context::endRequest(Request &request) {
  // A program with more operations in flight spends its time elsewhere.
  constexpr size_t mostSpare = 16;
  if (tracesDevice() && !skips(BRAID_RT_SKIP_COMMUNICATION))
    tracedRequests.push_back(
        {std::move(request.request), request.communicator});
  else if (spareOperands.size() < mostSpare)
    spareOperands.push_back(std::move(request.request->operation.operands));
  request.request.reset();
  ++request.generation;
  freeSlots.push_back(static_cast<size_t>(&request - requests.data()));
}
