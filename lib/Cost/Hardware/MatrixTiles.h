//===- MatrixTiles.h - Matmuls in waves of tiles ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel computes a matmul in tiles of the result. Each multiprocessor
// computes one tile at a time, so the tiles run in waves. The last wave takes
// as long as a full one.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_HARDWARE_MATRIXTILES_H
#define BRAID_LIB_COST_HARDWARE_MATRIXTILES_H

#include "braid/Cost/Hardware/Hardware.h"

#include <cstdint>

namespace braid {

/// The tiles of a matmul.
struct TileGrid {
  /// The number of tiles of the result; tiles at its edges count whole.
  uint64_t numTiles = 0;
  /// The time of the matmul divided by its time with an even distribution over
  /// all multiprocessors; at least 1.
  double stretch = 1.0;
};

/// The tiles of `batch` matmuls with results of `rows` x `columns` elements of
/// class `element` on `multiprocessors`, all of them at least 1.
///
/// A tile has 128 x 256 elements on matrix units, and 128 x 128 elements on
/// other units and for f64. These are CUTLASS's defaults. cuBLAS uses the same
/// tiles for large matmuls in bf16 on an H200: the measured time grows by a
/// wave exactly where these tiles need one more. Small matmuls have smaller
/// tiles, down to 64 x 64, if this takes less time: a tile of half the size
/// takes 0.56 of the time, as tuned algorithms do (`Runtime/CUDA/Device`).
///
/// A kernel for at most `target` multiprocessors (0 for all) takes the same
/// time if its tiles need no more waves. Otherwise cuBLASLt, tuned for the
/// target, finds tiles that fill whole waves there, and the matmul takes
/// (multiprocessors / target)^0.65 times as long: under load the power limit
/// binds, and fewer multiprocessors run at higher clocks. Eleven matmuls on an
/// H200 (braid-calibrate) took 0.5 percent longer on 128 of 132, where they
/// need no more waves, and 5.9, 3.0, 9.7 and 13.0 percent longer on 124, 120,
/// 116 and 108 (medians; the formula gives 4.1, 6.4, 8.8 and 13.9).
///
/// Where tiles leave half of the multiprocessors idle and the `depth` (0 if
/// unknown) is far longer than the sides of the result, cuBLASLt also splits
/// the depth: several tiles share a part of the result, and their partial sums
/// are added afterwards. 64 x 256 with a depth of 100352 takes 19.6 us in bf16
/// on an H200, hardly longer than its operands take to read.
TileGrid chooseTiles(uint64_t rows, uint64_t columns, uint64_t batch,
                     ElementClass element, int64_t multiprocessors,
                     int64_t target = 0, uint64_t depth = 0);

} // namespace braid

#endif // BRAID_LIB_COST_HARDWARE_MATRIXTILES_H
