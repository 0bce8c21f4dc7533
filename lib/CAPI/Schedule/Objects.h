//===- Objects.h - What handles of the C interface are ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CAPI_SCHEDULE_OBJECTS_H
#define BRAID_LIB_CAPI_SCHEDULE_OBJECTS_H

#include "braid-c/Schedule.h"
#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Schedule/Schedule.h"

#include <atomic>
#include <memory>

namespace braid {
struct Calibration;
} // namespace braid

struct braid_machine {
  braid::Hardware hardware;
  /// What was measured of it; null if nothing.
  std::shared_ptr<const braid::Calibration> calibration = {};
};

struct braid_problem {
  braid::SchedulingProblem problem;
};

struct braid_monitor {
  std::atomic<bool> stop{false};
  braid::SearchProgress progress;
};

namespace braid {

/// The order that the caller gave; none, and `error`, unless it is allowed.
std::optional<ScheduleOrder> readOrder(const SchedulingProblem &problem,
                                       const int64_t *order,
                                       braid_error *error);

void writeOrder(llvm::ArrayRef<unsigned> order, int64_t *target);

} // namespace braid

#endif // BRAID_LIB_CAPI_SCHEDULE_OBJECTS_H
