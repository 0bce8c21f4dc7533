//===- Schedule.h - Scheduling without any IR -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the library BraidSchedule offers to programs that have no MLIR:
//
//   SchedulingProblem   a graph of compute, starts of operations and waits, the
//                       machine that it runs on, memory and limits
//   searchSchedule      the best order that is found, and the lower bound
//   computeLowerBounds  what no order can go below, by kind of bound
//   simulateOrder       the timeline of an order: when each node runs, memory
//   simulateLoopOrder   the same of the body of a loop
//   getExposureReasons  why an order leaves communication exposed
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SCHEDULE_H
#define BRAID_SCHEDULE_SCHEDULE_H

#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Model/SchedulingProblem.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/ExposureReasons.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#endif // BRAID_SCHEDULE_SCHEDULE_H
