//===- MatrixTiles.cpp - Matmuls in waves of tiles ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixTiles.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

using namespace braid;

/// The sides of a tile for large matmuls, the shorter one first.
/// CUTLASS, include/cutlass/gemm/device/default_gemm_configuration.h:
/// `OpClassTensorOp` from Sm70 to Sm80 and Hopper's examples 128 x 256, double
/// and `OpClassSimt` 128 x 128.
static std::pair<uint64_t, uint64_t> getLargestTile(ElementClass element) {
  switch (element) {
  case ElementClass::BF16:
  case ElementClass::F16:
  case ElementClass::F8:
  case ElementClass::I8:
    return {128, 256};
  case ElementClass::F64:
  case ElementClass::F32:
  case ElementClass::Integer:
    return {128, 128};
  }
  llvm_unreachable("unknown class of element types");
}

/// The rows that a warp group multiplies at once: the shortest side of a tile,
/// of which one of the sides is a multiple. The kernels of cuBLASLt for Hopper
/// (nvjet) have tiles such as 144 x 128, 192 x 208 and 320 x 128, so few
/// matmuls leave half of a wave idle.
static constexpr uint64_t shortestSide = 64;

/// The step of the other side, the longest side, and the largest area as a
/// multiple of that of the tile for large matmuls.
static constexpr uint64_t sideStep = 16, longestSide = 512;
static constexpr double largestPart = 1.25;

/// Other tiles than those of powers of two have to gain this fraction.
static constexpr double wantedGain = 0.02;

/// The relative time of a tile of half the size and the same depth. On an H100,
/// bf16, tuned: 2048 x 1024, 128 tiles of 128 x 128, takes 23.5 us with a depth
/// of 4096 and 13.6 with 2048, where 4096 x 1024, a wave of 128 x 256, takes
/// 44.1 and 23.7. The first algorithms that cuBLASLt names take two thirds. The
/// figure is the one with which 91 random steps of 2 and 4 GPUs are predicted
/// best (docs/performance/method.md).
static constexpr double halfTileTime = 0.56;

/// The least depth of a slice of a matmul that is split along its depth, and
/// how many times as long as a side the depth of such a matmul is at least:
/// 256 x 4096 with a depth of 8192 is not split.
static constexpr uint64_t shortestSlice = 2048, deepMatmul = 4;

/// The tiles of `grid`, chosen for all of `multiprocessors`, on `target`.
static TileGrid limitBlocks(TileGrid grid, uint64_t multiprocessors,
                            uint64_t target) {
  if (target >= multiprocessors || grid.numTiles <= target)
    return grid;
  constexpr double exponent = 0.65;
  uint64_t waves = llvm::divideCeil(grid.numTiles, target);
  if (waves > llvm::divideCeil(grid.numTiles, multiprocessors))
    grid.stretch *= std::pow(static_cast<double>(multiprocessors) /
                                 static_cast<double>(target),
                             exponent);
  grid.numTiles = llvm::SaturatingMultiply(waves, target);
  return grid;
}

/// The areas of all tiles are multiples of this one.
static constexpr uint64_t areaStep = shortestSide * sideStep;

/// The relative times of tiles of 0 to `longestSide`^2 elements, by multiples
/// of `areaStep`, where a tile of `largestArea` takes 1. A larger area has no
/// higher rate.
using TileTimes = std::array<double, longestSide * longestSide / areaStep + 1>;

static TileTimes computeTileTimes(double largestArea) {
  TileTimes times = {};
  for (size_t i = 1; i != times.size(); ++i) {
    double part = static_cast<double>(i * areaStep) / largestArea;
    times[i] = part > 1.0 ? part : std::pow(halfTileTime, -std::log2(part));
  }
  return times;
}

/// The same for elements of a class. A program has thousands of matmuls, each
/// with hundreds of tiles to choose from.
static const TileTimes &getTileTimes(ElementClass element) {
  static const std::array<TileTimes, numElementClasses> times = []() {
    std::array<TileTimes, numElementClasses> result;
    for (unsigned number = 0; number != numElementClasses; ++number) {
      auto [shorter, longer] =
          getLargestTile(static_cast<ElementClass>(number));
      result[number] = computeTileTimes(static_cast<double>(shorter * longer));
    }
    return result;
  }();
  return times[static_cast<unsigned>(element)];
}

TileGrid braid::chooseTiles(uint64_t rows, uint64_t columns, uint64_t batch,
                            ElementClass element, int64_t multiprocessors,
                            int64_t target, uint64_t depth) {
  auto [shortSide, longSide] = getLargestTile(element);
  uint64_t shorter = shortSide, longer = longSide;
  auto all = static_cast<uint64_t>(multiprocessors);
  uint64_t mostSlices = depth / deepMatmul >= std::max(rows, columns)
                            ? std::max<uint64_t>(1, depth / shortestSlice)
                            : 1;
  double largestArea = static_cast<double>(shorter * longer);
  const TileTimes &tileTimes = getTileTimes(element);
  // The time of an even distribution, in units of the largest tile.
  double even = static_cast<double>(rows) * static_cast<double>(columns) *
                static_cast<double>(batch) /
                (largestArea * static_cast<double>(all));

  // Divisions are what takes the time here, and tiles share their sides.
  std::array<uint64_t, longestSide / sideStep + 1> rowTiles = {},
                                                   columnTiles = {};
  for (uint64_t side = sideStep; side <= longestSide; side += sideStep) {
    rowTiles[side / sideStep] = llvm::divideCeil(rows, side);
    columnTiles[side / sideStep] = llvm::divideCeil(columns, side);
  }
  TileGrid best;
  double bestTime = 0.0;
  auto consider = [&](uint64_t tileRows, uint64_t tileColumns,
                      double gain = 0.0) {
    double tileTime = tileTimes[tileRows * tileColumns / areaStep];
    uint64_t numTiles = llvm::SaturatingMultiply(
        llvm::SaturatingMultiply(rowTiles[tileRows / sideStep],
                                 columnTiles[tileColumns / sideStep]),
        batch);
    uint64_t slices = mostSlices == 1
                          ? 1
                          : std::clamp<uint64_t>(all / numTiles, 1, mostSlices);
    numTiles *= slices;
    double time = tileTime *
                  static_cast<double>(llvm::divideCeil(numTiles, all)) /
                  static_cast<double>(slices);
    if (best.numTiles != 0 && time >= bestTime * (1.0 - gain))
      return;
    bestTime = time;
    best = {numTiles, std::max(1.0, time / even)};
  };
  while (true) {
    consider(shorter, longer);
    consider(longer, shorter);
    if (longer == shortestSide)
      break;
    longer /= 2;
    if (longer < shorter)
      std::swap(shorter, longer);
  }
  // Of equally fast tiles the largest one counts, which reads the least. What
  // tiles wider types have was not measured.
  bool hasOthers = shortSide != longSide;
  for (uint64_t side = hasOthers ? longestSide : 0; side >= shortestSide;
       side -= shortestSide)
    for (uint64_t other = longestSide; other >= shortestSide; other -= sideStep)
      if (static_cast<double>(side * other) <= largestPart * largestArea) {
        consider(side, other, wantedGain);
        consider(other, side, wantedGain);
      }
  return target > 0 ? limitBlocks(best, all, static_cast<uint64_t>(target))
                    : best;
}
