//===- PairTimes.h - Compute and collectives side by side -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_PAIRTIMES_H
#define BRAID_TOOLS_BRAID_CALIBRATE_PAIRTIMES_H

#include "Trace.h"

#include "llvm/ADT/ArrayRef.h"

namespace braid::calibrate {

/// Mean times of the operations of one rank in ns, with the gaps between them;
/// 0 where the trace has too few operations.
struct PairTimes {
  double computeNs = 0; ///< Beside collectives.
  double computeAloneNs = 0;
  double collectiveNs = 0; ///< Beside compute.
};

/// The times in the trace of compute that begins before a series of collectives
/// and ends behind the series. The first collective is left out: that one waits
/// for the ranks that arrive later, by milliseconds after a second of matmuls,
/// because no two devices have the same clocks. Compute alone is what runs in
/// the `aloneNs` before and behind the collectives; there must be some on
/// either side.
PairTimes readPairTimes(llvm::ArrayRef<TracedSpan> spans, int64_t aloneNs);

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_PAIRTIMES_H
