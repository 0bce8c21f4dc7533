//===- CompareTest.cpp - Comparing results ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

using namespace braid::run;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

Tensor tensor(int32_t dtype, const std::vector<double> &values) {
  Tensor result(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    result.setElement(static_cast<int64_t>(i), values[i]);
  return result;
}

constexpr Allowance exact = {true, 0};

TEST(CompareTest, ExactMeansEveryBit) {
  Tensor zero = tensor(BRAID_RT_F32, {0, 1}),
         minusZero = tensor(BRAID_RT_F32, {-0.0, 1});
  EXPECT_THAT(compareTensors(zero, zero, exact, "expected").text, IsEmpty());
  EXPECT_THAT(compareTensors(zero, minusZero, exact, "expected").text,
              HasSubstr("differs at [0]: 0, expected -0 (1 of 2"));
  Difference signs = compareTensors(zero, minusZero, {false, 0}, "expected");
  EXPECT_THAT(signs.text, IsEmpty());
  EXPECT_FALSE(signs.isBitwise);
  EXPECT_TRUE(compareTensors(zero, zero, {false, 0}, "expected").isBitwise);
}

TEST(CompareTest, ErrorsAreRelativeToTheLargestElement) {
  Tensor expected = tensor(BRAID_RT_F64, {8, 0}),
         found = tensor(BRAID_RT_F64, {8, 0.5});
  Difference near =
      compareTensors(found, expected, {false, 0.0625}, "expected");
  EXPECT_THAT(near.text, IsEmpty());
  EXPECT_THAT(near.relative, DoubleNear(0.0625, 1e-12));
  EXPECT_THAT(compareTensors(found, expected, {false, 0.06}, "expected").text,
              HasSubstr("differs at [1]: 0.5, expected 0"));
}

TEST(CompareTest, FewElementsOfManyMayBeOffByMore) {
  std::vector<double> values(200'000, 1);
  Tensor expected = tensor(BRAID_RT_BF16, values);
  values[1] = values[7] = 1.125;
  Tensor two = tensor(BRAID_RT_BF16, values);
  values[9] = 1.125;
  Tensor three = tensor(BRAID_RT_BF16, values);
  values[7] = values[9] = 1;
  values[1] = 1.5;
  Tensor far = tensor(BRAID_RT_BF16, values);
  Allowance allowance = allowRounding(BRAID_RT_BF16, 1);
  EXPECT_THAT(compareTensors(two, expected, allowance, "expected").text,
              IsEmpty());
  EXPECT_THAT(compareTensors(three, expected, allowance, "expected").text,
              HasSubstr("3 of 200000 elements differ"));
  EXPECT_THAT(compareTensors(far, expected, allowance, "expected").text,
              HasSubstr("1 of 200000 elements differ"));
  // Who names a tolerance means each element.
  EXPECT_THAT(compareTensors(two, expected, {false, 0.0625}, "expected").text,
              HasSubstr("2 of 200000 elements differ"));
}

TEST(CompareTest, NotANumberIsOnlyNearItself) {
  double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  Tensor special = tensor(BRAID_RT_F32, {nan, inf, 1});
  EXPECT_THAT(compareTensors(special, special, {false, 0.1}, "expected").text,
              IsEmpty());
  for (const std::vector<double> &other : {std::vector<double>{1, inf, 1},
                                           {nan, 1, 1},
                                           {nan, -inf, 1},
                                           {nan, inf, nan}})
    EXPECT_THAT(compareTensors(tensor(BRAID_RT_F32, other), special,
                               {false, 1000}, "expected")
                    .text,
                HasSubstr("(1 of 3"));
}

TEST(CompareTest, BothPartsOfComplexNumbersCount) {
  Tensor a(BRAID_RT_COMPLEX_F32, {1}), b(BRAID_RT_COMPLEX_F32, {1});
  a.setElement(0, 2);
  b.setElement(0, 2);
  reinterpret_cast<float *>(b.data)[1] = 1;
  EXPECT_THAT(compareTensors(a, b, {false, 0.4}, "expected").text,
              HasSubstr("differs at [0, 1]: 0, expected 1"));
  EXPECT_THAT(compareTensors(a, b, {false, 0.5}, "expected").text, IsEmpty());
}

TEST(CompareTest, OtherSizesAndTypesDiffer) {
  EXPECT_THAT(compareTensors(tensor(BRAID_RT_F32, {1}),
                             tensor(BRAID_RT_F32, {1, 1}), {false, 1},
                             "expected")
                  .text,
              HasSubstr("is tensor<1xf32>, expected tensor<2xf32>"));
  EXPECT_THAT(compareTensors(tensor(BRAID_RT_F32, {1}),
                             tensor(BRAID_RT_F64, {1}), {false, 1}, "expected")
                  .text,
              HasSubstr("is tensor<1xf32>, expected tensor<1xf64>"));
}

TEST(CompareTest, AFirstDifferenceIsFoundInLargeTensors) {
  // Large enough for several threads.
  Tensor a(BRAID_RT_I8, {1 << 20}), b(BRAID_RT_I8, {1 << 20});
  for (int64_t i = 0; i < a.count(); ++i) {
    a.setElement(i, 1);
    b.setElement(i, i == 300000 || i == 900000 ? 2 : 1);
  }
  EXPECT_THAT(compareTensors(a, b, {false, 0.1}, "expected").text,
              HasSubstr("differs at [300000]: 1, expected 2 (2 of 1048576"));
}

TEST(AllowanceTest, FollowsTheTypeAndTheDepthOfSums) {
  EXPECT_THAT(allowRounding(BRAID_RT_F32, 4).relative,
              DoubleNear(24 * 0x1p-24, 1e-12));
  EXPECT_THAT(allowRounding(BRAID_RT_F32, 10000).relative,
              DoubleNear(416 * 0x1p-24, 1e-12));
  // Sums of short types are f32.
  EXPECT_THAT(allowRounding(BRAID_RT_BF16, 10000).relative,
              DoubleNear(0.0625 + 400 * 0x1p-24, 1e-12));
  EXPECT_LT(allowRounding(BRAID_RT_F64, 10000).relative, 1e-13);
  EXPECT_TRUE(allowRounding(BRAID_RT_I32, 10000).exact);
  EXPECT_TRUE(allowRounding(BRAID_RT_I1, 10000).exact);
}

TEST(AllowanceTest, NeverHidesAMissingOperand) {
  for (int32_t dtype = 0; dtype < BRAID_RT_DTYPE_COUNT; ++dtype)
    EXPECT_LE(allowRounding(dtype, int64_t(1) << 50).relative, 0.25);
}

TEST(AllowanceTest, TheDepthIsTheLargestSizeOnAllRanks) {
  static const int64_t sizes[] = {3, 50};
  static const braid_rt_argument arguments[] = {
      {"x", BRAID_RT_F32, 0, nullptr, BRAID_RT_IN, BRAID_RT_SCALAR},
      {"y", BRAID_RT_F32, 2, sizes, BRAID_RT_OUT, BRAID_RT_MEMREF}};
  braid_rt_entry entry = {"main", nullptr, 2, arguments, nullptr};
  EXPECT_EQ(reductionDepth(entry, 4), 200);
}

} // namespace
