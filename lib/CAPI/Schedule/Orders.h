//===- Orders.h - Orders as callers see them --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CAPI_SCHEDULE_ORDERS_H
#define BRAID_LIB_CAPI_SCHEDULE_ORDERS_H

#include "braid-c/Schedule.h"
#include "braid/Schedule/Schedule.h"

namespace braid {

/// The order that the caller gave; none, and `error`, unless it is allowed.
std::optional<ScheduleOrder> readOrder(const SchedulingProblem &problem,
                                       const int64_t *order,
                                       braid_error *error);

void writeOrder(llvm::ArrayRef<unsigned> order, int64_t *target);

} // namespace braid

#endif // BRAID_LIB_CAPI_SCHEDULE_ORDERS_H
