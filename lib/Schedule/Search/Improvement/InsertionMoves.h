//===- InsertionMoves.h - Moves judged by simulation ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_INSERTIONMOVES_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_INSERTIONMOVES_H

#include "Schedule/Model/FlatProblem.h"
#include "Schedule/Simulation/ScheduleEvaluator.h"
#include "braid/Schedule/Search/SearchTypes.h"
#include "braid/Schedule/Simulation/Simulator.h"

#include <random>

namespace braid {

/// Moves single nodes of `order` at random, on any machine: each move that
/// makes nothing worse stays. Ends when the makespan, `value.makespanNs`, is at
/// most `targetNs`, when `maxSteps` are spent, or when nothing has become
/// better for long. Keeps the limits if `order` does.
void searchInsertionMoves(const FlatProblem &flat, ScheduleEvaluator &evaluator,
                          ScheduleOrder &order, ScheduleEvaluator::Value &value,
                          int64_t targetNs, uint64_t maxSteps,
                          std::mt19937_64 &engine,
                          SearchStatistics &statistics);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_INSERTIONMOVES_H
