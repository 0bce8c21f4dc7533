//===- Streams.cpp - Streams and events of the fake CUDA driver -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <algorithm>
#include <chrono>

using namespace fakecuda;

//===----------------------------------------------------------------------===//
// A stream's thread
//===----------------------------------------------------------------------===//

CUstream_st::CUstream_st(CUctx_st *context, int number, int priority,
                         bool blocked)
    : context(context), number(number), priority(priority), blocked(blocked),
      thread([this]() { work(); }) {}

CUstream_st::~CUstream_st() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void CUstream_st::work() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [&]() {
      return (stopping && tasks.empty()) || (!blocked && !tasks.empty());
    });
    if (tasks.empty())
      return;
    auto task = std::move(tasks.front());
    tasks.pop_front();
    busy = true;
    lock.unlock();
    task(*this);
    task = nullptr;
    lock.lock();
    busy = false;
    changed.notify_all();
  }
}

void CUstream_st::push(std::function<void(CUstream_st &)> task) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    tasks.push_back(std::move(task));
  }
  changed.notify_all();
}

bool CUstream_st::idle() {
  std::lock_guard<std::mutex> lock(mutex);
  return tasks.empty() && !busy;
}

void CUstream_st::waitIdle() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&]() { return tasks.empty() && !busy; });
}

void CUstream_st::setBlocked(bool value) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    blocked = value;
  }
  changed.notify_all();
}

void fakecuda::waitIdle(Lock &lock, CUstream_st &stream) {
  Clock reached = stream.clock;
  lock.unlock();
  stream.waitIdle();
  lock.lock();
  merge(state().host, reached);
}

void fakecuda::waitIdle(Lock &lock, CUctx_st &context) {
  std::vector<CUstream_st *> streams;
  for (const auto &entry : state().streams)
    if (entry.first->context == &context)
      streams.push_back(entry.first);
  for (CUstream_st *stream : streams)
    waitIdle(lock, *stream);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

CUstream_st &fakecuda::checkStream(const char *call, Stream stream) {
  CUctx_st *context = currentContext(call);
  auto found = state().streams.find(stream);
  if (found == state().streams.end())
    fail(call, stream ? "the stream does not exist, or was destroyed"
                      : "the legacy stream orders all streams of the device");
  if (stream->context != context)
    fail(call, "the stream belongs to device " +
                   std::to_string(stream->context->device) +
                   ", but the current context to device " +
                   std::to_string(context->device));
  return *stream;
}

CUevent_st &fakecuda::checkEvent(const char *call, Event event) {
  if (state().events.find(event) == state().events.end())
    fail(call, "the event does not exist, or was destroyed");
  return *event;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Runs an operation, or the parts of a graph.
static void execute(CUstream_st &stream, const Operation &operation,
                    unsigned correlation, const void *node) {
  for (const std::shared_ptr<Operation> &part : operation.parts)
    execute(stream, *part, correlation, part.get());
  auto runBody = [&](size_t number) {
    for (const auto &part : operation.bodies[number]->operations)
      execute(stream, *part, correlation, part.get());
  };
  if (operation.isChoice && *operation.condition < operation.bodies.size())
    runBody(*operation.condition);
  while (operation.condition && !operation.isChoice && *operation.condition)
    runBody(0);
  if (!operation.parts.empty() || !operation.run)
    return;
  int64_t beginNs = nowNs();
  operation.run();
  stream.timeNs += operation.costNs;
  const fake_cuda_tracer *tracer = state().tracer;
  if (!tracer)
    return;
  const fake_cuda_work work = {
      operation.what.c_str(), correlation, node,       stream.context->device,
      stream.number,          beginNs,     nowNs() + 1};
  tracer->ran(&work);
}

Result fakecuda::submit(const char *call, CUstream_st &stream,
                        std::shared_ptr<Operation> operation) {
  State &all = state();
  for (const Access &access : operation->accesses)
    checkMemory(operation->what, stream.context->device, access.begin,
                access.end - access.begin);
  all.log +=
      "stream " + std::to_string(stream.number) + ": " + operation->what + '\n';
  if (Capture *capture = stream.capture) {
    if (capture->invalidated)
      return ERROR_STREAM_CAPTURE_INVALIDATED;
    capture->lastWork[stream.number] = ++stream.clock[stream.number];
    capture->races.check(*operation, stream.number, stream.clock);
    if (const fake_cuda_tracer *tracer = all.tracer)
      tracer->recorded(operation.get());
    capture->operations.push_back(std::move(operation));
    return SUCCESS;
  }
  merge(stream.clock, all.host);
  ++stream.clock[stream.number];
  all.races.check(*operation, stream.number, stream.clock);
  if (const fake_cuda_tracer *tracer = all.tracer)
    operation->correlation = tracer->called();
  stream.push([operation](CUstream_st &self) {
    execute(self, *operation, operation->correlation, nullptr);
  });
  (void)call;
  return SUCCESS;
}

static void complete(Completion &completion, int64_t timeNs) {
  {
    std::lock_guard<std::mutex> lock(completion.mutex);
    completion.done = true;
    completion.timeNs = timeNs;
  }
  completion.changed.notify_all();
}

static int64_t await(Completion &completion) {
  std::unique_lock<std::mutex> lock(completion.mutex);
  completion.changed.wait(lock, [&]() { return completion.done; });
  return completion.timeNs;
}

static bool isDone(Completion &completion) {
  std::lock_guard<std::mutex> lock(completion.mutex);
  return completion.done;
}

extern "C" {

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Result cuStreamCreateWithPriority(Stream *stream, unsigned flags,
                                  int priority) {
  FAKE_CUDA_ENTER("cuStreamCreateWithPriority")
  CUctx_st *context = currentContext("cuStreamCreateWithPriority");
  checkAllocation("cuStreamCreateWithPriority");
  if (flags != STREAM_NON_BLOCKING)
    fail("cuStreamCreateWithPriority",
         "the stream would wait for the legacy stream");
  State &all = state();
  auto created = std::make_unique<CUstream_st>(
      context, ++all.streamCount, std::max(-5, std::min(0, priority)),
      all.blockedDevices.count(context->device) > 0);
  *stream = created.get();
  all.streams.emplace(*stream, std::move(created));
  return SUCCESS;
}

Result cuStreamDestroy_v2(Stream stream) {
  FAKE_CUDA_ENTER("cuStreamDestroy")
  checkStream("cuStreamDestroy", stream);
  waitIdle(lock, *stream);
  auto found = state().streams.find(stream);
  std::unique_ptr<CUstream_st> owned = std::move(found->second);
  state().streams.erase(found);
  lock.unlock();
  return SUCCESS;
}

Result cuStreamSynchronize(Stream stream) {
  FAKE_CUDA_ENTER("cuStreamSynchronize")
  checkStream("cuStreamSynchronize", stream);
  if (stream->capture) {
    stream->capture->invalidated = true;
    return ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  waitIdle(lock, *stream);
  return SUCCESS;
}

Result cuStreamQuery(Stream stream) {
  FAKE_CUDA_ENTER("cuStreamQuery")
  checkStream("cuStreamQuery", stream);
  if (stream->capture) {
    stream->capture->invalidated = true;
    return ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (!stream->idle())
    return ERROR_NOT_READY;
  merge(state().host, stream->clock);
  return SUCCESS;
}

Result cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  FAKE_CUDA_ENTER("cuStreamWaitEvent")
  checkStream("cuStreamWaitEvent", stream);
  std::shared_ptr<Completion> last =
      checkEvent("cuStreamWaitEvent", event).last;
  if (!last)
    fail("cuStreamWaitEvent", "the event has never been recorded");
  Capture *capture = findCapture(last->captureNumber);
  if (stream->capture && stream->capture->invalidated)
    return ERROR_STREAM_CAPTURE_INVALIDATED;
  if (last->captureNumber && !capture)
    return ERROR_CAPTURED_EVENT;
  if (stream->capture && stream->capture != capture) {
    stream->capture->invalidated = true;
    return ERROR_STREAM_CAPTURE_ISOLATION;
  }
  state().log +=
      "stream " + std::to_string(stream->number) + ": wait for an event\n";
  if (capture && !stream->capture) {
    stream->capture = capture;
    capture->streams.emplace(stream, stream->clock);
  }
  merge(stream->clock, last->clock);
  if (!capture)
    stream->push([last](CUstream_st &self) {
      self.timeNs = std::max(self.timeNs, await(*last));
    });
  return SUCCESS;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

Result cuEventCreate(Event *event, unsigned flags) {
  FAKE_CUDA_ENTER("cuEventCreate")
  CUctx_st *context = currentContext("cuEventCreate");
  checkAllocation("cuEventCreate");
  auto created = std::make_unique<CUevent_st>();
  created->context = context;
  created->flags = flags;
  *event = created.get();
  state().events.emplace(*event, std::move(created));
  return SUCCESS;
}

Result cuEventDestroy_v2(Event event) {
  FAKE_CUDA_ENTER("cuEventDestroy")
  checkEvent("cuEventDestroy", event);
  state().events.erase(event);
  return SUCCESS;
}

Result cuEventRecord(Event event, Stream stream) {
  FAKE_CUDA_ENTER("cuEventRecord")
  checkStream("cuEventRecord", stream);
  checkEvent("cuEventRecord", event);
  if (event->context != stream->context)
    fail("cuEventRecord", "event and stream belong to different contexts");
  if (stream->capture && stream->capture->invalidated)
    return ERROR_STREAM_CAPTURE_INVALIDATED;
  auto completion = std::make_shared<Completion>();
  if (stream->capture)
    completion->captureNumber = stream->capture->number;
  else
    merge(stream->clock, state().host);
  ++stream->clock[stream->number];
  completion->clock = stream->clock;
  event->last = completion;
  state().log +=
      "stream " + std::to_string(stream->number) + ": record an event\n";
  if (!stream->capture)
    stream->push([completion](CUstream_st &self) {
      complete(*completion, self.timeNs);
    });
  return SUCCESS;
}

/// ERROR_CAPTURED_EVENT for an event that only graphs know.
static Result checkOnHost(const char *call, Event event) {
  Completion *last = checkEvent(call, event).last.get();
  return last && last->captureNumber ? ERROR_CAPTURED_EVENT : SUCCESS;
}

Result cuEventQuery(Event event) {
  FAKE_CUDA_ENTER("cuEventQuery")
  if (Result result = checkOnHost("cuEventQuery", event); result != SUCCESS)
    return result;
  if (!event->last)
    return SUCCESS;
  if (!isDone(*event->last))
    return ERROR_NOT_READY;
  merge(state().host, event->last->clock);
  return SUCCESS;
}

Result cuEventSynchronize(Event event) {
  FAKE_CUDA_ENTER("cuEventSynchronize")
  Result result = checkOnHost("cuEventSynchronize", event);
  if (result != SUCCESS || !event->last)
    return result;
  std::shared_ptr<Completion> last = event->last;
  lock.unlock();
  await(*last);
  lock.lock();
  merge(state().host, last->clock);
  return SUCCESS;
}

Result cuEventElapsedTime_v2(float *milliseconds, Event begin, Event end) {
  FAKE_CUDA_ENTER("cuEventElapsedTime")
  for (Event event : {begin, end}) {
    if (Result result = checkOnHost("cuEventElapsedTime", event);
        result != SUCCESS)
      return result;
    if ((event->flags & EVENT_NO_TIMING) || !event->last)
      return ERROR_INVALID_HANDLE;
    if (!isDone(*event->last))
      return ERROR_NOT_READY;
  }
  *milliseconds = static_cast<float>(
      static_cast<double>(end->last->timeNs - begin->last->timeNs) / 1e6);
  return SUCCESS;
}
} // extern "C"
