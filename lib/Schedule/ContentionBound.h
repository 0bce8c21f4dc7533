//===- ContentionBound.h - What slowing each other down costs ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_CONTENTIONBOUND_H
#define BRAID_LIB_SCHEDULE_CONTENTIONBOUND_H

#include "PrecedenceDag.h"

namespace braid {

/// `job` with its node, as the contention bound needs it.
struct NodeJob {
  Job job;
  unsigned node;
};

/// The cheapest way to place the communication of each lane, and of each link,
/// beside the compute of the stream. `stream` has the nodes on the stream with
/// work; `lanes` the operations with work, by lane, whose tails are -1 if the
/// end of what is measured does not depend on them. 0 without contention.
int64_t getContentionBound(const SchedulingProblem &problem,
                           llvm::ArrayRef<NodeJob> stream,
                           llvm::ArrayRef<std::vector<NodeJob>> lanes);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_CONTENTIONBOUND_H
