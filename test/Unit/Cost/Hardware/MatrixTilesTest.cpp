//===- MatrixTilesTest.cpp - Matmuls in waves of tiles --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Hardware/MatrixTiles.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

using namespace braid;

/// The time of a matmul on `multiprocessors`, relative to other matmuls and
/// numbers of multiprocessors.
static double getTime(uint64_t rows, uint64_t columns,
                      int64_t multiprocessors) {
  return chooseTiles(rows, columns, 1, ElementClass::BF16, multiprocessors)
             .stretch *
         static_cast<double>(rows) * static_cast<double>(columns) /
         static_cast<double>(multiprocessors);
}

TEST(MatrixTiles, CountsTilesAndRoundsUpToWaves) {
  // 64 x 32 tiles in 16 waves of 132, of which 15.52 would do.
  TileGrid grid = chooseTiles(8192, 8192, 1, ElementClass::BF16, 132);
  EXPECT_EQ(grid.numTiles, 2048u);
  EXPECT_DOUBLE_EQ(grid.stretch, 16 * 132 / 2048.0);
  // 2048 tiles are 16 waves of 128 exactly.
  EXPECT_DOUBLE_EQ(chooseTiles(8192, 8192, 1, ElementClass::BF16, 128).stretch,
                   1.0);
  // On 127 these tiles would need a wave more, and others waste less.
  EXPECT_LT(chooseTiles(8192, 8192, 1, ElementClass::F8, 127).stretch,
            17 * 127 / 2048.0);
}

// cuBLASLt 13 on an H200 has tiles such as 144 x 128 and 320 x 128. Traces of a
// program, bf16, beside 194 us of 4096 x 4096 x 4096: rows, columns, depth, us.
// These matmuls draw less power than the long one, and run at higher clocks.
TEST(MatrixTiles, OddSizesHaveTilesOfTheirOwn) {
  struct Measured {
    uint64_t rows, columns, depth;
    double us;
  };
  double whole = getTime(4096, 4096, 132) * 4096 / 194.455;
  for (auto [rows, columns, depth, us] :
       {Measured{1576, 3072, 6144, 73.6}, Measured{1576, 3072, 5376, 65.0},
        Measured{1576, 5376, 3072, 68.8}, Measured{1576, 6144, 3072, 77.0}}) {
    double predicted =
        getTime(rows, columns, 132) * static_cast<double>(depth) / whole;
    EXPECT_NEAR(predicted / us, 1.0, 0.15) << rows << " x " << columns;
    EXPECT_GE(predicted / us, 1.0) << rows << " x " << columns;
  }
}

TEST(MatrixTiles, MatmulsWithFewerBlocksFillWaves) {
  auto choose = [](uint64_t rows, int64_t target) {
    return chooseTiles(rows, 4096, 1, ElementClass::BF16, 132, target);
  };
  // 256 tiles need two waves on 132 and on 128.
  EXPECT_EQ(choose(2048, 0).numTiles, 256u);
  EXPECT_EQ(choose(2048, 132).numTiles, 256u);
  EXPECT_EQ(choose(2048, 128).numTiles, 256u);
  EXPECT_DOUBLE_EQ(choose(2048, 128).stretch, choose(2048, 0).stretch);
  // Three waves of other tiles on 124.
  EXPECT_EQ(choose(2048, 124).numTiles, 3u * 124u);
  EXPECT_DOUBLE_EQ(choose(2048, 124).stretch,
                   choose(2048, 0).stretch * std::pow(132.0 / 124.0, 0.65));
  // Fewer tiles than blocks.
  EXPECT_EQ(choose(512, 130).numTiles, 128u);
  EXPECT_DOUBLE_EQ(choose(512, 130).stretch, choose(512, 0).stretch);
}

TEST(MatrixTiles, DeepMatmulsAreSplitAlongTheirDepth) {
  auto choose = [](uint64_t rows, uint64_t columns, uint64_t depth) {
    return chooseTiles(rows, columns, 1, ElementClass::BF16, 132, 0, depth);
  };
  // 33 slices of 4 tiles, and as many slices as the depth allows.
  EXPECT_EQ(choose(64, 256, 100352).numTiles, 132u);
  EXPECT_LT(choose(64, 256, 100352).stretch, 3);
  EXPECT_EQ(choose(64, 64, 8192).numTiles, 4u);
  // Too shallow, an unknown depth, and enough tiles.
  EXPECT_EQ(choose(64, 256, 1023).numTiles, choose(64, 256, 0).numTiles);
  EXPECT_EQ(choose(256, 4096, 8192).stretch, choose(256, 4096, 0).stretch);
  EXPECT_EQ(choose(2048, 4096, 32768).numTiles, 256u);
}

// An H200, bf16, tuned: 512 x 5120 with a depth of 20480 takes 143.0 us, 512 x
// 20480 with a depth of 5120 143.3; 2560 x 3440 with a depth of 16384 381.9,
// 16384 x 3440 with a depth of 2560 389.9.
TEST(MatrixTiles, DeepMatmulsFillWavesAsOthersDo) {
  auto stretch = [](uint64_t rows, uint64_t columns, uint64_t depth) {
    return chooseTiles(rows, columns, 1, ElementClass::BF16, 132, 0, depth)
        .stretch;
  };
  EXPECT_NEAR(stretch(512, 5120, 20480) / stretch(512, 20480, 5120),
              143.0 / 143.3, 0.1);
  EXPECT_NEAR(stretch(2560, 3440, 16384) / stretch(16384, 3440, 2560),
              381.9 / 389.9, 0.1);
}

TEST(MatrixTiles, BatchesMultiply) {
  EXPECT_EQ(chooseTiles(1024, 1024, 64, ElementClass::F16, 132).numTiles,
            64u * 32u);
}

TEST(MatrixTiles, TilesMayLieEitherWay) {
  TileGrid tall = chooseTiles(256 * 132, 128, 1, ElementClass::BF16, 132);
  EXPECT_EQ(tall.numTiles, 132u);
  EXPECT_DOUBLE_EQ(tall.stretch, 1.0);
  TileGrid wide = chooseTiles(128, 256 * 132, 1, ElementClass::BF16, 132);
  EXPECT_EQ(wide.numTiles, 132u);
  EXPECT_DOUBLE_EQ(wide.stretch, 1.0);
}

TEST(MatrixTiles, ClassesHaveTilesOfTheirOwn) {
  for (ElementClass element : {ElementClass::F16, ElementClass::BF16,
                               ElementClass::F8, ElementClass::I8})
    EXPECT_EQ(chooseTiles(8192, 8192, 1, element, 128).numTiles, 2048u);
  for (ElementClass element :
       {ElementClass::F32, ElementClass::F64, ElementClass::Integer})
    EXPECT_EQ(chooseTiles(8192, 8192, 1, element, 128).numTiles, 4096u);
}

TEST(MatrixTiles, EdgesAreWholeTiles) {
  EXPECT_EQ(chooseTiles(8193, 8192, 1, ElementClass::BF16, 132).numTiles,
            65u * 32u);
  TileGrid one = chooseTiles(1, 1, 1, ElementClass::BF16, 132);
  EXPECT_EQ(one.numTiles, 1u);
  EXPECT_GT(one.stretch, 132.0);
}

TEST(MatrixTiles, HugeMatmulsDoNotOverflow) {
  uint64_t most = std::numeric_limits<uint64_t>::max();
  TileGrid grid = chooseTiles(most, most, most, ElementClass::BF16, 132);
  EXPECT_EQ(grid.numTiles, most);
  EXPECT_GE(grid.stretch, 1.0);
}

// Measured on an H200 with cuBLAS 13 and `cublasSetSmCountTarget`, bf16,
// normally distributed numbers, ms, medians of 7: 8192 x 8192 x 8192.
TEST(MatrixTiles, FollowsAnH200WithFewerMultiprocessors) {
  const std::vector<std::pair<int64_t, double>> measured = {
      {132, 1.411}, {128, 1.412}, {124, 1.461}, {116, 1.639},
      {108, 1.677}, {104, 1.725}, {100, 1.818}, {96, 1.861},
      {88, 1.999},  {80, 2.202},  {72, 2.381}};
  for (auto [multiprocessors, ms] : measured)
    EXPECT_NEAR(
        (getTime(8192, 8192, multiprocessors) / getTime(8192, 8192, 132)) /
            (ms / measured.front().second),
        1.0, 0.08)
        << multiprocessors;
}

// The same matmul on another H200, tuned anew for each number of
// multiprocessors: 128 are as good as 132, less cost a wave and more.
TEST(MatrixTiles, FollowsATunedH200WithFewerMultiprocessors) {
  const std::vector<std::pair<int64_t, double>> measured = {
      {132, 1.35}, {128, 1.35}, {116, 1.58}, {108, 1.73}, {100, 1.99}};
  double last = 0.0;
  for (auto [multiprocessors, ms] : measured) {
    double time = getTime(8192, 8192, multiprocessors);
    EXPECT_NEAR((time / getTime(8192, 8192, 132)) /
                    (ms / measured.front().second),
                1.0, 0.11)
        << multiprocessors;
    EXPECT_GE(time, last);
    last = time;
  }
  EXPECT_DOUBLE_EQ(getTime(8192, 8192, 128), getTime(8192, 8192, 132));
}

// The first H200: 4096 columns, depth 8192, by rows, compared with 8192 rows.
// Below 1024 rows tuned algorithms are faster than the first ones, see below.
TEST(MatrixTiles, FollowsAnH200OnSmallerMatmuls) {
  const std::vector<std::pair<uint64_t, double>> measured = {
      {1024, 0.1002}, {2048, 0.1854}, {3072, 0.2680}, {4096, 0.3562},
      {4352, 0.3947}, {5120, 0.4433}, {6144, 0.5264}, {8192, 0.6977}};
  for (auto [rows, ms] : measured)
    EXPECT_NEAR((getTime(rows, 4096, 132) / getTime(8192, 4096, 132)) /
                    (ms / measured.back().second),
                1.0, 0.14)
        << rows;
}

// An H100 in random steps, bf16, tuned, the shortest of 2 to 8 times: us beside
// those of 4096 x 1024, a wave of whole tiles. 3 us of each are fixed.
TEST(MatrixTiles, FollowsATunedH100BelowAWave) {
  struct Measured {
    uint64_t rows, columns;
    double us, wholeUs;
  };
  for (auto [rows, columns, us, wholeUs] :
       {Measured{2048, 1024, 23.5, 44.1}, Measured{2048, 1024, 13.6, 23.7},
        Measured{1024, 2048, 13.2, 23.7}, Measured{1024, 1024, 15.4, 44.1}})
    EXPECT_NEAR((getTime(rows, columns, 132) / getTime(4096, 1024, 132)) /
                    ((us - 3) / (wholeUs - 3)),
                1.0, 0.15)
        << rows << " x " << columns;
}
