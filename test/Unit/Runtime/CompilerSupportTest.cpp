//===- CompilerSupportTest.cpp - Functions that code generators call ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Reference.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace braid::test;

extern "C" {
float __truncsfbf2(float value);
float __truncdfbf2(double value);
}

/// The low 16 bits of the register.
static uint32_t lowBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits & 0xffff;
}

static uint32_t reference(double value) {
  Buffer buffer(BRAID_RT_BF16, {1});
  encode(buffer, 0, value, 0);
  return *buffer.as<uint16_t>();
}

TEST(CompilerSupport, Bf16RoundsToNearestEven) {
  uint64_t state = 1;
  for (int i = 0; i < 100000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    auto bits = static_cast<uint32_t>(state >> 32);
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value) || std::fabs(value) > 3e38F)
      continue;
    ASSERT_EQ(lowBits(__truncsfbf2(value)), reference(value)) << value;
  }
  EXPECT_EQ(lowBits(__truncsfbf2(INFINITY)), 0x7f80U);
  EXPECT_EQ(lowBits(__truncsfbf2(std::numeric_limits<float>::max())), 0x7f80U);
  EXPECT_EQ(lowBits(__truncsfbf2(NAN)) & 0x7fc0, 0x7fc0U);
  EXPECT_EQ(lowBits(__truncsfbf2(-0.0F)), 0x8000U);
}

TEST(CompilerSupport, DoubleToBf16RoundsOnce) {
  // One bit above a tie: rounding to float first would lose it.
  double tie = 1.0 + 0x1.0p-8, above = tie + 0x1.0p-40, below = tie - 0x1.0p-40;
  EXPECT_EQ(lowBits(__truncdfbf2(tie)), reference(tie));
  EXPECT_EQ(lowBits(__truncdfbf2(above)), 0x3f81U);
  EXPECT_EQ(lowBits(__truncdfbf2(below)), 0x3f80U);
  EXPECT_EQ(lowBits(__truncdfbf2(-above)), 0xbf81U);
  EXPECT_EQ(lowBits(__truncdfbf2(1e300)), 0x7f80U);
  EXPECT_EQ(lowBits(__truncdfbf2(0.1)), reference(0.1));
}

namespace {
/// A memref of any rank with its own descriptor.
struct Memref {
  Memref(char *data, int64_t offset, const std::vector<int64_t> &sizes,
         const std::vector<int64_t> &strides)
      : words{reinterpret_cast<int64_t>(data), reinterpret_cast<int64_t>(data),
              offset} {
    words.insert(words.end(), sizes.begin(), sizes.end());
    words.insert(words.end(), strides.begin(), strides.end());
    unranked = {static_cast<int64_t>(sizes.size()), words.data()};
  }
  std::vector<int64_t> words;
  braid_rt_unranked_memref unranked;
};
} // namespace

/// Copies between two strided layouts and compares element by element.
static void checkCopy(int64_t elementSize, const std::vector<int64_t> &sizes,
                      const std::vector<int64_t> &from,
                      const std::vector<int64_t> &to, int64_t room) {
  std::vector<char> source(static_cast<size_t>(room * elementSize));
  for (size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<char>(i * 31 + i / 256);
  std::vector<char> result(source.size(), 0), expected(source.size(), 0);
  Memref a(source.data(), 3, sizes, from), b(result.data(), 5, sizes, to);
  memrefCopy(elementSize, &a.unranked, &b.unranked);
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, x = 3, y = 5;
    for (size_t d = sizes.size(); d-- > 0;) {
      x += rest % sizes[d] * from[d];
      y += rest % sizes[d] * to[d];
      rest /= sizes[d];
    }
    std::memcpy(&expected[y * elementSize], &source[x * elementSize],
                static_cast<size_t>(elementSize));
  }
  EXPECT_EQ(result, expected) << elementSize;
}

TEST(CompilerSupport, CopiesOfAllLayouts) {
  for (int64_t elementSize : {1, 2, 4, 8, 16, 3}) {
    checkCopy(elementSize, {}, {}, {}, 16);
    checkCopy(elementSize, {7}, {1}, {1}, 32);
    checkCopy(elementSize, {7}, {2}, {3}, 64);
    checkCopy(elementSize, {4, 6}, {6, 1}, {6, 1}, 64);       // dense
    checkCopy(elementSize, {4, 6}, {10, 1}, {6, 1}, 64);      // rows of a slice
    checkCopy(elementSize, {40, 70}, {1, 40}, {70, 1}, 4000); // transposition
    checkCopy(elementSize, {3, 4, 5}, {20, 5, 1}, {1, 3, 12}, 128);
    checkCopy(elementSize, {3, 1, 5}, {5, 99, 1}, {5, 77, 1}, 64);
    checkCopy(elementSize, {2, 0, 5}, {5, 5, 1}, {5, 5, 1}, 64);
    checkCopy(elementSize, {2, 3, 4, 5}, {60, 20, 5, 1}, {100, 30, 6, 1}, 300);
    checkCopy(elementSize, {4, 3}, {0, 1}, {3, 1}, 64); // one row four times
  }
}
