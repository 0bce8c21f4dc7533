//===- AlapWaits.h - Waits as late as possible ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_ALAPWAITS_H
#define BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_ALAPWAITS_H

#include "Schedule/Model/FlatProblem.h"

namespace braid {

/// `order`, which is legal, with every wait just before the first node that has
/// to follow it. Keeps the edges, but perhaps not the limits. Linear.
ScheduleOrder getOrderWithAlapWaits(const FlatProblem &flat,
                                    llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_ALAPWAITS_H
