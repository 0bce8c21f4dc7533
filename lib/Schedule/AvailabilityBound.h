//===- AvailabilityBound.h - Work that is not there in time -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_AVAILABILITYBOUND_H
#define BRAID_LIB_SCHEDULE_AVAILABILITYBOUND_H

#include "PrecedenceDag.h"

namespace braid {

/// What no order can go below because `resource` runs out of work: what it can
/// do by a time depends on what `supplier`, another resource, has done by then.
/// `heads` are those of `dag`, -1 for vertices that do not count. Returns 0 if
/// nothing on `resource` depends on anything on `supplier`. The more `steps`,
/// the better.
int64_t getAvailabilityBound(const PrecedenceDag &dag,
                             llvm::ArrayRef<int64_t> heads, int32_t resource,
                             int32_t supplier, size_t steps);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_AVAILABILITYBOUND_H
