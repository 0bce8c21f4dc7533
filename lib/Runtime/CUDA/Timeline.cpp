//===- Timeline.cpp - When a device reaches points of its streams ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Timeline.h"
#include "Core/Environment.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

Timeline::~Timeline() {
  for (Event event : events)
    driver.eventDestroy(event);
}

void Timeline::begin(Event first) {
  origin = first;
  originNs = monotonicNs() - createdNs;
  used = 0;
}

int64_t Timeline::mark(Stream stream) {
  if (used == events.size()) {
    events.push_back(nullptr);
    driver.check(driver.eventCreate(&events.back(), EVENT_TIMING),
                 "cuEventCreate");
  }
  driver.check(driver.eventRecord(events[used], stream), "cuEventRecord");
  return static_cast<int64_t>(used++);
}

int64_t Timeline::timeOf(int64_t number) const {
  float milliseconds = 0;
  driver.check(driver.eventElapsedTime(&milliseconds, origin,
                                       events[static_cast<size_t>(number)]),
               "cuEventElapsedTime");
  return originNs +
         static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}
