//===- LaneLaunch.h - When the first of a lane begins -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_LANELAUNCH_H
#define BRAID_TOOLS_BRAID_CALIBRATE_LANELAUNCH_H

#include "Trace.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace braid::calibrate {

/// The times from the end of a matmul to the begin of the collective that is
/// started behind it, of the trace of a load with `leads` matmuls and then
/// `rounds` times a collective and a matmul, with a wait behind them: if the
/// collective before has outlasted its matmul, its end counts. Fails if the
/// trace has other operations, or if a collective begins too early.
llvm::Expected<std::vector<double>>
readLaneLaunches(llvm::ArrayRef<TracedSpan> spans, int64_t leads,
                 int64_t rounds);

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_LANELAUNCH_H
