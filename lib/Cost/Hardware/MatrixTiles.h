//===- MatrixTiles.h - Matrix products in waves of tiles --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel computes a matrix product in tiles of the result, one a
// multiprocessor at a time: in waves, the last of which takes as long as a full
// one. It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_HARDWARE_MATRIXTILES_H
#define BRAID_LIB_COST_HARDWARE_MATRIXTILES_H

#include "braid/Cost/Hardware/Hardware.h"

#include <cstdint>

namespace braid {

/// How a product is cut.
struct TileGrid {
  /// The tiles of the result, those at its edges counted whole.
  uint64_t numTiles = 0;
  /// How many times as long the product takes as if it were spread evenly over
  /// all multiprocessors; at least 1.
  double stretch = 1.0;
};

/// The tiles of `batch` products with results of `rows` x `columns` elements of
/// class `element` on `multiprocessors`, all of them at least 1.
///
/// A tile is 128 x 256 elements on matrix units and 128 x 128 elsewhere and for
/// f64: CUTLASS's defaults, and what cuBLAS takes for large products in bf16 on
/// an H200, whose time goes up by a wave wherever these tiles need one more.
/// Smaller products are cut smaller, down to 64 x 64, where that takes less
/// time: a tile of half the size takes two thirds of the time, as measured
/// there.
TileGrid chooseTiles(uint64_t rows, uint64_t columns, uint64_t batch,
                     ElementClass element, int64_t multiprocessors);

} // namespace braid

#endif // BRAID_LIB_COST_HARDWARE_MATRIXTILES_H
