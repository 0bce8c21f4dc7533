//===- KernelOverlap.h - Persistent kernels beside lanes --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a persistent kernel (PersistentKernel.h) loses at least to operations
// that run beside it. A block that has begun keeps its multiprocessor until no
// tile is left. So operations that leave less than the kernel's b blocks run
// beside it in two parts of its time only: at its beginning, while at most m
// blocks have begun, and at its end, when no tile is left for some blocks, for
// the time of one tile at most. If the kernel takes D tiles, and the other
// b - m blocks have time for r tiles each,
//
//   m D + (b - m) r >= tiles,
//
// so that the operations run beside it for at most D - r tiles, and for one
// more if enough blocks have one tile less.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_KERNELOVERLAP_H
#define BRAID_LIB_SCHEDULE_BOUNDS_KERNELOVERLAP_H

#include "braid/Schedule/Model/Machine.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace braid {

/// A kernel that takes `time` has operations beside it for at most `overlap`;
/// both in parts of its cost.
struct KernelOverlap {
  double time, overlap;
};

/// The most blocks that a persistent kernel has at once.
int64_t getMostBlocks(const ResourceDemand &demand,
                      const MachineModel &machine);

/// For a persistent kernel of `costNs` > 0 beside operations that leave it at
/// most `mostBlocks` if it begins behind them, and that begin behind it only
/// where it holds at most `mostAtEnd`: all times that it may take, ascending,
/// up to the one at which it has them beside it throughout. `mostBlocks` is
/// less than `getMostBlocks`, `mostAtEnd` is as well.
llvm::SmallVector<KernelOverlap, 4>
getKernelOverlaps(int64_t costNs, const ResourceDemand &demand,
                  const MachineModel &machine, int64_t mostBlocks,
                  int64_t mostAtEnd);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_KERNELOVERLAP_H
