//===- Activities.cpp - Activity records from CUPTI -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Trace/Activities.h"
#include "Base/Environment.h"
#include "Base/Error.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The size of buffers. CUPTI's manual recommends 1 to 10 MiB.
static constexpr size_t bufferBytes = size_t(2) << 20;

/// The alignment of records.
static constexpr size_t recordAlignment = 8;

static constexpr cupti::ActivityKind kinds[] = {
    cupti::ConcurrentKernel, cupti::Memcpy, cupti::Memset,
    // Correlation records refer to records of calls, so the calls must be
    // recorded, too. NCCL and cuBLASLt also call the CUDA runtime.
    cupti::DriverCall, cupti::RuntimeCall, cupti::ExternalCorrelation};

/// The open regions of the calling thread, the outermost first.
static thread_local std::vector<uint64_t> current;

namespace {
/// CUPTI allows one client for each process and calls the client until the
/// process ends, so the client is never destroyed.
struct Client {
  std::mutex mutex;
  std::atomic<Activities *> activities{nullptr};
  int users = 0;
};
} // namespace

static Client &client() {
  static auto *only = new Client;
  return *only;
}

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

std::shared_ptr<Activities> Activities::open() {
  Client &own = client();
  std::lock_guard<std::mutex> lock(own.mutex);
  if (!own.activities)
    own.activities = new Activities;
  Activities *activities = own.activities;
  if (own.users == 0)
    activities->enable();
  ++own.users;
  return {activities, [](Activities *activities) {
            std::lock_guard<std::mutex> lock(client().mutex);
            if (--client().users == 0)
              activities->disable();
          }};
}

Activities::Activities() {
  cupti::Subscriber subscriber = nullptr;
  cupti::Result result = cupti.subscribe(&subscriber, notice, this);
  if (result == cupti::MultipleSubscribers)
    throw Error("another tool, such as a profiler, uses CUPTI in this process");
  cupti.check(result, "cuptiSubscribe");
  for (cupti::ResourceCallback callback :
       {cupti::NodeCreated, cupti::NodeCloned})
    cupti.call(cupti.enableCallback, 1, subscriber, cupti::Resources, callback);
  // Before any kind is enabled, because the clock of records must not change. A
  // library without this function keeps its own clock.
  cupti.registerTimestamp(
      []() { return static_cast<uint64_t>(monotonicNs()); });
  cupti.call(cupti.registerBuffers, request, complete);
}

void Activities::enable() {
  try {
    for (cupti::ActivityKind kind : kinds)
      cupti.call(cupti.enable, kind);
  } catch (const Error &) {
    disable();
    throw;
  }
}

/// Ignores errors, which the caller cannot handle.
void Activities::disable() {
  for (cupti::ActivityKind kind : kinds)
    cupti.disable(kind);
  cupti.flushAll(0);
  std::lock_guard<std::mutex> lock(mutex);
  byContext.clear();
  regionOfCall.clear();
  regionOfNode.clear();
}

int64_t Activities::clockOffsetNs() const {
  int64_t before = monotonicNs();
  uint64_t shown = 0;
  cupti.call(cupti.getTimestamp, &shown);
  int64_t after = monotonicNs();
  auto shownNs = static_cast<int64_t>(shown);
  return shownNs >= before && shownNs <= after
             ? 0
             : before + (after - before) / 2 - shownNs;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

uint64_t Activities::begin() {
  uint64_t region = 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    region = ++regions;
  }
  cupti.call(cupti.pushExternalId, cupti::Custom0, region);
  current.push_back(region);
  return region;
}

void Activities::end() {
  current.pop_back();
  cupti.popExternalId(cupti::Custom0, nullptr);
}

uint32_t Activities::contextId(ContextHandle context) const {
  uint32_t id = 0;
  cupti.call(cupti.getContextId, context, &id);
  return id;
}

uint32_t Activities::streamId(ContextHandle context, Stream stream) const {
  uint32_t id = 0;
  cupti.call(cupti.getStreamId, context, stream, 0, &id);
  return id;
}

std::vector<Activities::Activity> Activities::take(uint32_t context) {
  cupti.call(cupti.flushAll, 0);
  int64_t offsetNs = clockOffsetNs();
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Activity> taken;
  taken.swap(byContext[context]);
  for (Activity &activity : taken) {
    activity.beginNs += offsetNs;
    activity.endNs += offsetNs;
    const auto found =
        activity.node ? regionOfNode.find(activity.node) : regionOfNode.end();
    if (found != regionOfNode.end())
      activity.region = found->second;
    else if (auto call = regionOfCall.find(activity.correlation);
             !activity.node && call != regionOfCall.end())
      activity.region = call->second;
  }
  return taken;
}

void Activities::forget(const std::vector<uint64_t> &ended) {
  if (ended.empty())
    return;
  auto [first, last] = std::minmax_element(ended.begin(), ended.end());
  std::lock_guard<std::mutex> lock(mutex);
  for (auto it = regionOfCall.begin(); it != regionOfCall.end();)
    if (it->second >= *first && it->second <= *last &&
        std::binary_search(ended.begin(), ended.end(), it->second))
      it = regionOfCall.erase(it);
    else
      ++it;
}

//===----------------------------------------------------------------------===//
// Callbacks of CUPTI
//===----------------------------------------------------------------------===//

void Activities::request(uint8_t **buffer, size_t *size, size_t *records) {
  *buffer =
      static_cast<uint8_t *>(std::aligned_alloc(recordAlignment, bufferBytes));
  *size = *buffer ? bufferBytes : 0;
  *records = 0; // As many as fit.
}

void Activities::complete(ContextHandle, uint32_t, uint8_t *buffer, size_t,
                          size_t validSize) {
  // CUPTI may return an empty buffer before the constructor has returned.
  Activities *activities = client().activities;
  cupti::Activity *record = nullptr;
  while (activities && validSize &&
         activities->cupti.getNextRecord(buffer, validSize, &record) ==
             cupti::Success)
    activities->add(*record);
  std::free(buffer);
}

template <typename Record> void Activities::addWork(const Record &record) {
  // CUPTI had no memory on the device for the times.
  if (record.start == 0 || record.end == 0)
    return;
  Activity activity;
  activity.node = record.graphNodeId;
  activity.correlation = record.correlationId;
  activity.stream = record.streamId;
  activity.beginNs = static_cast<int64_t>(record.start);
  activity.endNs = static_cast<int64_t>(record.end);
  byContext[record.contextId].push_back(activity);
}

void Activities::add(const cupti::Activity &record) {
  std::lock_guard<std::mutex> lock(mutex);
  switch (record.kind) {
  case cupti::ConcurrentKernel:
    return addWork(reinterpret_cast<const cupti::KernelActivity &>(record));
  case cupti::Memcpy:
    return addWork(reinterpret_cast<const cupti::MemcpyActivity &>(record));
  case cupti::Memset:
    return addWork(reinterpret_cast<const cupti::MemsetActivity &>(record));
  case cupti::ExternalCorrelation: {
    const auto &found =
        reinterpret_cast<const cupti::CorrelationActivity &>(record);
    if (found.externalKind == cupti::Custom0)
      regionOfCall[found.correlationId] = found.externalId;
    return;
  }
  default:
    return;
  }
}

/// The thread that records a graph creates its nodes. The executable graph has
/// copies of the nodes.
void Activities::addNode(const cupti::GraphData &data, bool isClone) {
  uint64_t node = 0, original = 0;
  if (cupti.getGraphNodeId(data.node, &node) != cupti::Success)
    return;
  if (!isClone) {
    if (current.empty())
      return;
    std::lock_guard<std::mutex> lock(mutex);
    regionOfNode[node] = current.back();
    return;
  }
  if (cupti.getGraphNodeId(data.originalNode, &original) != cupti::Success)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  auto found = regionOfNode.find(original);
  if (found != regionOfNode.end())
    regionOfNode[node] = found->second;
}

void Activities::notice(void *data, cupti::CallbackDomain domain,
                        uint32_t callback, const void *callbackData) {
  if (domain != cupti::Resources ||
      (callback != cupti::NodeCreated && callback != cupti::NodeCloned))
    return;
  const auto *resource = static_cast<const cupti::ResourceData *>(callbackData);
  static_cast<Activities *>(data)->addNode(
      *static_cast<const cupti::GraphData *>(resource->descriptor),
      callback == cupti::NodeCloned);
}
