//===- FlatBound.h - What no order can go below -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_FLATBOUND_H
#define BRAID_LIB_SCHEDULE_FLATBOUND_H

#include "FlatProblem.h"

namespace braid {

/// Nanoseconds that no order can go below on a machine where nothing slows
/// anything down, so on no other either. For the stream and for each lane: its
/// work with each piece no earlier than its longest chain from the beginning
/// allows and with its longest chain to the end after it, interrupted whenever
/// something more urgent comes up (J. R. Jackson's preemptive schedule, the
/// best there is on one machine). `tails` are those of `getTails`. Takes
/// O((n + edges) log n).
int64_t getLowerBound(const FlatProblem &flat, llvm::ArrayRef<int64_t> tails);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_FLATBOUND_H
