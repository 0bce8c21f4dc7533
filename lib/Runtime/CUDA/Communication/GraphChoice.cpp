//===- GraphChoice.cpp - Which invocations become graphs ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/GraphChoice.h"

#include <algorithm>

using namespace braid::rt;
using namespace braid::rt::cuda;

static void forgetAll(const std::vector<CudaDevice *> &devices,
                      uint64_t number) {
  for (CudaDevice *device : devices)
    device->forgetGraph(number);
}

/// Finds the invocation with `arguments`. The least recently used one makes
/// room for a new one.
GraphChoice::Invocation &
GraphChoice::find(Runs &entry, const Graphs::Key &arguments,
                  const std::vector<CudaDevice *> &devices) {
  for (Invocation &invocation : entry.known)
    if (invocation.arguments == arguments)
      return invocation;
  if (entry.known.size() == Graphs::capacity) {
    auto oldest = std::min_element(
        entry.known.begin(), entry.known.end(),
        [](const auto &a, const auto &b) { return a.lastUse < b.lastUse; });
    forgetAll(devices, oldest->number);
    entry.known.erase(oldest);
  }
  entry.known.push_back({arguments, ++lastNumber});
  return entry.known.back();
}

uint64_t GraphChoice::choose(const braid_rt_entry &entry,
                             const Graphs::Key &arguments,
                             const std::vector<CudaDevice *> &devices) {
  Runs &ofEntry = runs[&entry];
  if (ofEntry.refused)
    return 0;
  Invocation &invocation = find(ofEntry, arguments, devices);
  invocation.lastUse = ++uses;
  Graphs::State state = devices.front()->stateOfGraph(invocation.number);
  // One device may have freed memory, and with it its recordings.
  bool isCommon = std::all_of(
      devices.begin(), devices.end(), [&](const CudaDevice *device) {
        return device->stateOfGraph(invocation.number) == state;
      });
  if (!isCommon) {
    forgetAll(devices, invocation.number);
    return invocation.number;
  }
  if (state == Graphs::State::Recorded)
    ++ofEntry.replays;
  if (state != Graphs::State::HasRun)
    return invocation.number;
  if (ofEntry.recordings >=
      freeRecordings + ofEntry.replays / replaysOfRecording)
    return 0;
  ++ofEntry.recordings;
  return invocation.number;
}

uint32_t ArgumentNumbers::find(const braid_rt_entry &entry, void **args,
                               const CudaDevice &device) {
  if (known.size() == capacity || timesForgotten != device.timesForgotten())
    known.clear();
  timesForgotten = device.timesForgotten();
  Graphs::Key key = {reinterpret_cast<uintptr_t>(&entry)};
  Graphs::describe(entry, args, key);
  auto [found, isNew] = known.try_emplace(std::move(key), last + 1);
  last += isNew;
  return found->second;
}
