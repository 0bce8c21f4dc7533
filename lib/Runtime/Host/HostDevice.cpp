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

static void sortArrays(const RoutineCall &call) {
  auto *numbers = static_cast<int64_t *>(call.outputs[0].data);
  int64_t size = call.shape['n'];
  // A heap of few numbers is faster than a sort.
  bool isPart = call.dimensions > 0 && call.dimensions < size / 8;
  for (int64_t array = 0; array != call.batch(); ++array, numbers += size)
    if (isPart)
      std::partial_sort(numbers, numbers + call.dimensions, numbers + size);
    else
      std::sort(numbers, numbers + size);
}

void HostDevice::callRoutine(const RoutineCall &call) {
  if (call.routine == BRAID_RT_ROUTINE_SORT)
    sortArrays(call);
  else if (getRoutineTraits(call.routine)->thirds == 0)
    transform(call);
  else {
    if (isAlone)
      setBlasThreads(threads);
    callLapack(call);
    setBlasThreads(1);
  }
}

bool HostDevice::beginInvocation(const braid_rt_entry &, void **) {
  setBlasThreads(1);
  return false;
}
