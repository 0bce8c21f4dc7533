//===- Cupti.cpp - A fake of CUPTI ----------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Cupti.h"
#include "FakeCUDA.h"
#include "FakeCupti.h"
#include "State.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace braid::rt::cupti;

namespace {
/// A record of any kind, and how many of its bytes count.
struct Record {
  std::vector<uint64_t> words;
  size_t bytes = 0;
};

struct Fake {
  std::mutex mutex;
  uint32_t version = 130001;
  Result subscription = Success;
  int heldFlushes = 0;
  bool forgetsCorrelations = false;
  int64_t offsetNs = 0;

  Callback *callback = nullptr;
  void *callbackData = nullptr;
  std::set<uint32_t> callbacks;
  BufferRequested *requested = nullptr;
  BufferCompleted *completed = nullptr;
  Timestamp *timestamp = nullptr;
  std::set<ActivityKind> enabled;
  uint32_t calls = 0;
  std::vector<Record> records;
};
} // namespace

static Fake &fake() {
  static auto *only = new Fake;
  return *only;
}

/// The external numbers of the calling thread.
static thread_local std::vector<uint64_t> external;

[[noreturn]] static void fail(const char *call, const char *why) {
  std::fprintf(stderr, "fake CUPTI: %s: %s\n", call, why);
  std::abort();
}

template <typename T> static void keep(const T &record) {
  // A real record has more at its end, and all begin at multiples of eight.
  constexpr size_t more = 32;
  Record kept;
  kept.words.resize((sizeof(T) + more + 7) / 8);
  kept.bytes = 8 * kept.words.size();
  std::memcpy(kept.words.data(), &record, sizeof(T));
  fake().records.push_back(std::move(kept));
}

static bool isEnabled(ActivityKind kind) {
  return fake().enabled.count(kind) != 0;
}

//===----------------------------------------------------------------------===//
// What the driver tells
//===----------------------------------------------------------------------===//

static unsigned called() {
  Fake &own = fake();
  std::lock_guard<std::mutex> lock(own.mutex);
  uint32_t number = ++own.calls;
  if (!external.empty() && isEnabled(DriverCall) &&
      isEnabled(ExternalCorrelation) && !own.forgetsCorrelations) {
    CorrelationActivity record = {};
    record.kind = ExternalCorrelation;
    record.externalKind = Custom0;
    record.externalId = external.back();
    record.correlationId = number;
    keep(record);
  }
  return number;
}

static void notice(uint32_t callback, const void *node, const void *original) {
  Fake &own = fake();
  if (!own.callback || !own.callbacks.count(callback))
    return;
  GraphData graph = {};
  graph.node = static_cast<GraphNode>(const_cast<void *>(node));
  graph.originalNode = static_cast<GraphNode>(const_cast<void *>(original));
  ResourceData data = {nullptr, nullptr, &graph};
  own.callback(own.callbackData, Resources, callback, &data);
}

static void recorded(const void *node) { notice(NodeCreated, node, nullptr); }

static void cloned(const void *node, const void *original) {
  notice(NodeCloned, node, original);
}

template <typename T>
static void keepWork(ActivityKind kind, const fake_cuda_work &work) {
  if (!isEnabled(kind))
    return;
  T record = {};
  record.kind = kind;
  record.start = static_cast<uint64_t>(work.beginNs + fake().offsetNs);
  record.end = static_cast<uint64_t>(work.endNs + fake().offsetNs);
  record.contextId = static_cast<uint32_t>(work.device) + 1;
  record.streamId = static_cast<uint32_t>(work.stream);
  record.correlationId = work.correlation;
  record.graphNodeId = reinterpret_cast<uint64_t>(work.node);
  keep(record);
}

static void ran(const fake_cuda_work *work) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  if (std::strncmp(work->what, "copy", 4) == 0)
    keepWork<MemcpyActivity>(Memcpy, *work);
  else if (std::strncmp(work->what, "fill", 4) == 0)
    keepWork<MemsetActivity>(Memset, *work);
  else
    keepWork<KernelActivity>(ConcurrentKernel, *work);
}

static constexpr fake_cuda_tracer tracer = {called, recorded, cloned, ran};

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

extern "C" {

Result cuptiGetVersion(uint32_t *version) {
  *version = fake().version;
  return Success;
}

Result cuptiGetResultString(Result result, const char **text) {
  *text = result == MultipleSubscribers
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : "CUPTI_ERROR";
  return Success;
}

Result cuptiSubscribe(Subscriber *subscriber, Callback *callback, void *data) {
  Fake &own = fake();
  std::lock_guard<std::mutex> lock(own.mutex);
  if (own.subscription != Success)
    return own.subscription;
  if (own.callback)
    return MultipleSubscribers;
  own.callback = callback;
  own.callbackData = data;
  *subscriber = reinterpret_cast<Subscriber>(&own);
  fake_cuda_trace(&tracer);
  return Success;
}

Result cuptiEnableCallback(uint32_t enable, Subscriber subscriber,
                           CallbackDomain domain, uint32_t callback) {
  Fake &own = fake();
  std::lock_guard<std::mutex> lock(own.mutex);
  if (subscriber != reinterpret_cast<Subscriber>(&own) || domain != Resources)
    fail("cuptiEnableCallback", "no such subscriber or domain");
  if (enable)
    own.callbacks.insert(callback);
  else
    own.callbacks.erase(callback);
  return Success;
}

Result cuptiGetTimestamp(uint64_t *timestamp) {
  if (!fake().timestamp)
    fail("cuptiGetTimestamp", "the fake knows no clock of its own");
  *timestamp = fake().timestamp() + static_cast<uint64_t>(fake().offsetNs);
  return Success;
}

Result cuptiActivityRegisterTimestampCallback(Timestamp *timestamp) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  if (!fake().enabled.empty())
    fail("cuptiActivityRegisterTimestampCallback", "kinds are enabled already");
  fake().timestamp = timestamp;
  return Success;
}

Result cuptiActivityRegisterCallbacks(BufferRequested *requested,
                                      BufferCompleted *completed) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().requested = requested;
  fake().completed = completed;
  return Success;
}

Result cuptiActivityEnable(ActivityKind kind) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  if (!fake().requested)
    fail("cuptiActivityEnable", "nobody gives buffers for the records");
  fake().enabled.insert(kind);
  return Success;
}

Result cuptiActivityDisable(ActivityKind kind) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().enabled.erase(kind);
  return Success;
}

Result cuptiActivityFlushAll(uint32_t flags) {
  Fake &own = fake();
  std::vector<Record> records;
  {
    std::lock_guard<std::mutex> lock(own.mutex);
    if (flags)
      fail("cuptiActivityFlushAll", "it would deliver unfinished records");
    if (own.heldFlushes > 0) {
      --own.heldFlushes;
      return Success;
    }
    records.swap(own.records);
  }
  for (size_t next = 0; next < records.size();) {
    uint8_t *buffer = nullptr;
    size_t size = 0, most = 0, used = 0;
    own.requested(&buffer, &size, &most);
    if (!buffer || reinterpret_cast<uintptr_t>(buffer) % 8)
      fail("cuptiActivityFlushAll", "the buffer has to lie at a multiple of 8");
    for (; next < records.size() && used + 8 + records[next].bytes <= size;
         ++next) {
      // The length stands before each record.
      std::memcpy(buffer + used, &records[next].bytes, 8);
      std::memcpy(buffer + used + 8, records[next].words.data(),
                  records[next].bytes);
      used += 8 + records[next].bytes;
    }
    own.completed(nullptr, 0, buffer, size, used);
  }
  return Success;
}

Result cuptiActivityGetNextRecord(uint8_t *buffer, size_t validSize,
                                  Activity **record) {
  uint8_t *next = buffer + 8;
  if (*record) {
    auto *last = reinterpret_cast<uint8_t *>(*record);
    size_t bytes = 0;
    std::memcpy(&bytes, last - 8, 8);
    next = last + bytes + 8;
  }
  if (next >= buffer + validSize)
    return MaxLimitReached;
  *record = reinterpret_cast<Activity *>(next);
  return Success;
}

Result cuptiActivityPushExternalCorrelationId(ExternalCorrelationKind,
                                              uint64_t id) {
  external.push_back(id);
  return Success;
}

Result cuptiActivityPopExternalCorrelationId(ExternalCorrelationKind,
                                             uint64_t *) {
  if (external.empty())
    fail("cuptiActivityPopExternalCorrelationId", "nothing has been pushed");
  external.pop_back();
  return Success;
}

Result cuptiGetContextId(ContextHandle context, uint32_t *id) {
  *id = static_cast<uint32_t>(context->device) + 1;
  return Success;
}

Result cuptiGetStreamIdEx(ContextHandle, Stream stream, uint8_t, uint32_t *id) {
  *id = static_cast<uint32_t>(fake_cuda_stream_number(stream));
  return Success;
}

Result cuptiGetGraphNodeId(GraphNode node, uint64_t *id) {
  *id = reinterpret_cast<uint64_t>(node);
  return Success;
}

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

void fake_cupti_reset(void) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().version = 130001;
  fake().subscription = Success;
  fake().heldFlushes = 0;
  fake().forgetsCorrelations = false;
  fake().offsetNs = 0;
  fake().records.clear();
}

void fake_cupti_set_version(unsigned version) { fake().version = version; }

void fake_cupti_fail_subscription(unsigned result) {
  fake().subscription = static_cast<Result>(result);
}

void fake_cupti_hold(int flushes) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().heldFlushes = flushes;
}

void fake_cupti_set_clock_offset(long long ns) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().offsetNs = ns;
}

void fake_cupti_forget_correlations(int forget) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().forgetsCorrelations = forget != 0;
}

int fake_cupti_enabled(void) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  return static_cast<int>(fake().enabled.size());
}
} // extern "C"
