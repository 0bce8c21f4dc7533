//===- HostDevice.cpp - A rank that computes on the host ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/HostDevice.h"
#include "Engine/Routine.h"

#include <algorithm>
#include <cstdlib>
#include <malloc.h>
#include <thread>
#include <unistd.h>

using namespace braid::rt;

int32_t braid::rt::chooseThreads(int32_t configured, int32_t ranksOfHost) {
  if (configured)
    return configured;
  const char *variable = std::getenv("OPENBLAS_NUM_THREADS");
  if (int asked = variable ? std::atoi(variable) : 0; asked > 0)
    return asked;
  // If the launcher has bound the rank to cores, use all of these.
  auto own = static_cast<int32_t>(std::thread::hardware_concurrency());
  auto ofHost = static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, std::min(own, ofHost / std::max(1, ranksOfHost)));
}

static void sortArrays(const RoutineCall &call, const RunParts &runParts) {
  auto *numbers = static_cast<int64_t *>(call.outputs[0].data);
  int64_t size = call.shape['n'], arrays = call.batch();
  // A heap of few numbers is faster than a sort.
  bool isPart = call.dimensions > 0 && call.dimensions < size / 8;
  // A core sorts this many in some 100 us.
  constexpr int64_t leastNumbers = 1 << 12;
  int64_t perPart = leastNumbers / std::max<int64_t>(1, size) + 1;
  runParts(divideUp(arrays, perPart), [&](int64_t part) {
    for (int64_t array = part * perPart,
                 end = std::min(arrays, array + perPart);
         array < end; ++array) {
      int64_t *first = numbers + array * size;
      if (isPart)
        std::partial_sort(first, first + call.dimensions, first + size);
      else
        std::sort(first, first + size);
    }
  });
}

HostDevice::HostDevice(int32_t threads, bool isAlone)
    : threads(threads), isAlone(isAlone) {
#ifdef __GLIBC__
  // The process keeps the memory of freed results for those of the next
  // invocation, because new pages cost more than many kernels. These are the
  // values that glibc itself takes after it has freed a block of 32 MiB.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

void HostDevice::runParts(int64_t parts,
                          const std::function<void(int64_t)> &body) {
  workers->run(parts, threads, body);
}

static void callRoutine(const RoutineCall &call, const RunParts &runParts) {
  if (call.routine == BRAID_RT_ROUTINE_SORT)
    sortArrays(call, runParts);
  else if (call.isTransform())
    transform(call);
  else
    callLapack(call, runParts);
}

static void runInOrder(int64_t parts,
                       const std::function<void(int64_t)> &body) {
  for (int64_t part = 0; part < parts; ++part)
    body(part);
}

void braid::rt::callRoutineOnHost(const RoutineCall &call) {
  ::callRoutine(call, runInOrder);
}

void HostDevice::callRoutine(const RoutineCall &call) {
  if (!isAlone || !wantsBlasThreads(call))
    return ::callRoutine(call, [this](int64_t parts, const auto &body) {
      runParts(parts, body);
    });
  setBlasThreads(threads);
  callRoutineOnHost(call);
  setBlasThreads(1);
}

bool HostDevice::beginInvocation(const braid_rt_entry &, void **) {
  setBlasThreads(1);
  return false;
}
