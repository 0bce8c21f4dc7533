//===- RoutinesTest.cpp - Routines of libraries -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "braid-rt/Routines.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <complex>
#include <cstdlib>

using namespace braid::test;
using testing::HasSubstr;

namespace {
/// An array of a call.
struct Array {
  int32_t dtype;
  std::vector<int64_t> sizes;
  void *data;

  braid_rt_view view() const {
    return {data, sizes.data(), dtype, static_cast<int32_t>(sizes.size())};
  }
};
} // namespace

/// Runs a routine on one rank. Gives its error, empty without one.
static std::string call(int32_t routine, const char *flags, int64_t dimensions,
                        const std::vector<Array> &inputs,
                        const std::vector<Array> &outputs) {
  std::vector<braid_rt_view> in, out;
  for (const Array &array : inputs)
    in.push_back(array.view());
  for (const Array &array : outputs)
    out.push_back(array.view());
  World &world = sharedWorld(1);
  bool succeeds = world.run([&](int32_t) {
    braid_rt_call_routine(
        routine, flags, dimensions, static_cast<int64_t>(in.size()), in.data(),
        static_cast<int64_t>(out.size()), out.data(), nullptr);
  });
  return succeeds ? "" : world.error(0);
}

TEST(Routines, factorEachMatrixOfABatch) {
  // The second matrix is not positive.
  double matrices[] = {4, 2, 2, 5, 1, 2, 2, 1};
  int32_t info[] = {-1, -1};
  ASSERT_EQ(
      call(BRAID_RT_ROUTINE_POTRF, "L", 0, {},
           {{BRAID_RT_F64, {2, 2, 2}, matrices}, {BRAID_RT_I32, {2}, info}}),
      "");
  EXPECT_EQ(info[0], 0);
  EXPECT_EQ(info[1], 2);
  EXPECT_DOUBLE_EQ(matrices[0], 2);
  EXPECT_DOUBLE_EQ(matrices[1], 1);
  EXPECT_DOUBLE_EQ(matrices[3], 2);
  // Of the other triangle nothing is written.
  EXPECT_DOUBLE_EQ(matrices[2], 2);
}

TEST(Routines, sortsEachArrayOfABatch) {
  int64_t numbers[] = {3, -1, 2, 7, INT64_MAX, INT64_MIN};
  ASSERT_EQ(
      call(BRAID_RT_ROUTINE_SORT, "", 0, {}, {{BRAID_RT_I64, {2, 3}, numbers}}),
      "");
  EXPECT_THAT(numbers, testing::ElementsAre(-1, 2, 3, INT64_MIN, 7, INT64_MAX));
}

TEST(Routines, sortsTheLeastNumbersOfALongArray) {
  std::vector<int64_t> numbers(100);
  for (int64_t i = 0; i < 100; ++i)
    numbers[i] = i * 37 % 100;
  ASSERT_EQ(call(BRAID_RT_ROUTINE_SORT, "", 3, {},
                 {{BRAID_RT_I64, {100}, numbers.data()}}),
            "");
  numbers.resize(3);
  EXPECT_THAT(numbers, testing::ElementsAre(0, 1, 2));
}

/// Solves with a triangle whose diagonal is 2 and whose first column, or first
/// row on the right, is 2: the threads take several parts of `sides`.
static std::vector<double> solve(const char *flags, int64_t order,
                                 std::vector<int64_t> sizes,
                                 std::vector<double> sides) {
  int64_t batch = sizes[0];
  std::vector<double> triangles(static_cast<size_t>(batch * order * order));
  for (int64_t t = 0; t < batch; ++t)
    for (int64_t i = 0; i < order; ++i) {
      triangles[(t * order + i) * order + i] = 2;
      triangles[t * order * order + i] = 2;
    }
  EXPECT_EQ(call(BRAID_RT_ROUTINE_TRSM, flags, 0,
                 {{BRAID_RT_F64, {batch, order, order}, triangles.data()}},
                 {{BRAID_RT_F64, std::move(sizes), sides.data()}}),
            "");
  return sides;
}

TEST(Routines, solvesEachColumnOfManyRightSides) {
  // Columns of 300 elements, one after the other: x_0 is b_0 / 2, and the
  // others are (b_i - 2 x_0) / 2.
  std::vector<double> sides(2 * 250 * 300);
  for (size_t i = 0; i < sides.size(); ++i)
    sides[i] = static_cast<double>(i % 7 + i / 300);
  std::vector<double> found = solve("LLNN", 300, {2, 250, 300}, sides);
  for (size_t i = 0; i < sides.size(); ++i) {
    double first = sides[i / 300 * 300];
    ASSERT_DOUBLE_EQ(found[i], i % 300 ? (sides[i] - first) / 2 : first / 2)
        << i;
  }
}

TEST(Routines, solvesEachRowOfManyRightSides) {
  // Rows of 300 elements, 250 apart, times a triangle that is transposed.
  std::vector<double> sides(300 * 250);
  for (size_t i = 0; i < sides.size(); ++i)
    sides[i] = static_cast<double>(i % 7 + i % 250);
  std::vector<double> found = solve("RLTN", 300, {1, 300, 250}, sides);
  for (size_t i = 0; i < sides.size(); ++i) {
    double first = sides[i % 250];
    ASSERT_DOUBLE_EQ(found[i], i < 250 ? first / 2 : (sides[i] - first) / 2)
        << i;
  }
}

TEST(Routines, threadsFactorPartsOfABatch) {
  constexpr int64_t count = 500, order = 20;
  std::vector<double> matrices(count * order * order);
  std::vector<int32_t> info(count, -1);
  for (int64_t i = 0; i < count * order; ++i)
    matrices[i * order + i % order] = static_cast<double>((i + 1) * (i + 1));
  ASSERT_EQ(call(BRAID_RT_ROUTINE_POTRF, "L", 0, {},
                 {{BRAID_RT_F64, {count, order, order}, matrices.data()},
                  {BRAID_RT_I32, {count}, info.data()}}),
            "");
  EXPECT_THAT(info, testing::Each(0));
  for (int64_t i = 0; i < count * order; ++i)
    ASSERT_DOUBLE_EQ(matrices[i * order + i % order],
                     static_cast<double>(i + 1));
}

TEST(Routines, sortsPartsOfManyArrays) {
  constexpr int64_t arrays = 1000, size = 30;
  std::vector<int64_t> numbers(arrays * size);
  for (int64_t i = 0; i < arrays * size; ++i)
    numbers[i] = i / size * size + i * 7 % size;
  ASSERT_EQ(call(BRAID_RT_ROUTINE_SORT, "", 0, {},
                 {{BRAID_RT_I64, {arrays, size}, numbers.data()}}),
            "");
  for (int64_t i = 0; i < arrays * size; ++i)
    ASSERT_EQ(numbers[i], i);
}

TEST(Routines, aLibraryThatIsMissingIsNamed) {
  std::complex<double> values[4] = {}, transformed[4] = {};
  setenv("BRAID_FFTW_LIBRARY", "/nowhere/libfftw3.so", 1);
  std::string error =
      call(BRAID_RT_ROUTINE_FFT, "", 1, {{BRAID_RT_COMPLEX_F64, {4}, values}},
           {{BRAID_RT_COMPLEX_F64, {4}, transformed}});
  unsetenv("BRAID_FFTW_LIBRARY");
  EXPECT_THAT(error, HasSubstr("FFTW for f64 cannot be loaded: "
                               "/nowhere/libfftw3.so: No such file or "
                               "directory; the path is the value of "
                               "BRAID_FFTW_LIBRARY"));
}

TEST(Routines, conjugatePairsOfEigenvectors) {
  // A rotation: the eigenvalues are i and -i.
  double matrix[] = {0, 1, -1, 0};
  std::complex<double> values[2], left[4], right[4];
  int32_t info = -1;
  ASSERT_EQ(call(BRAID_RT_ROUTINE_GEEV, "NV", 0, {},
                 {{BRAID_RT_F64, {2, 2}, matrix},
                  {BRAID_RT_COMPLEX_F64, {2}, values},
                  {BRAID_RT_COMPLEX_F64, {2, 2}, left},
                  {BRAID_RT_COMPLEX_F64, {2, 2}, right},
                  {BRAID_RT_I32, {}, &info}}),
            "");
  EXPECT_EQ(info, 0);
  EXPECT_NEAR(std::abs(values[0].imag()), 1, 1e-12);
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(std::abs(right[i] - std::conj(right[2 + i])), 0, 1e-12);
  // (A v)_0 is -v_1: the first column of A is (0, 1).
  EXPECT_NEAR(std::abs(-right[1] - values[0] * right[0]), 0, 1e-12);
}

TEST(Routines, nothingToDoIsNoError) {
  int32_t info[] = {7};
  EXPECT_EQ(
      call(BRAID_RT_ROUTINE_POTRF, "U", 0, {},
           {{BRAID_RT_F32, {0, 3, 3}, nullptr}, {BRAID_RT_I32, {0}, info}}),
      "");
  EXPECT_EQ(info[0], 7);
  EXPECT_EQ(
      call(BRAID_RT_ROUTINE_POTRF, "U", 0, {},
           {{BRAID_RT_F32, {1, 0, 0}, nullptr}, {BRAID_RT_I32, {1}, info}}),
      "");
  EXPECT_EQ(info[0], 0);
}

TEST(Routines, callsThatDoNotFitAreErrors) {
  float a[16] = {};
  int32_t info = 0;
  auto potrf = [&](const char *flags, int32_t dtype,
                   std::vector<int64_t> sizes) {
    return call(BRAID_RT_ROUTINE_POTRF, flags, 0, {},
                {{dtype, std::move(sizes), a}, {BRAID_RT_I32, {}, &info}});
  };
  EXPECT_THAT(potrf("X", BRAID_RT_F32, {4, 4}),
              HasSubstr("potrf: the flags are 'X', expected one of LU"));
  EXPECT_THAT(potrf("L", BRAID_RT_F32, {4, 3}),
              HasSubstr("potrf: output 0 is 4x3 of f32, expected a size of 4 "
                        "instead of 3"));
  EXPECT_THAT(potrf("L", BRAID_RT_F16, {4, 4}),
              HasSubstr("potrf: output 0 is 4x4 of f16, expected elements of "
                        "type f32, f64, complex<f32> or complex<f64>"));
  EXPECT_THAT(call(BRAID_RT_ROUTINE_COUNT, "", 0, {}, {}),
              HasSubstr("the program asks for routine number"));
  EXPECT_THAT(call(BRAID_RT_ROUTINE_FFT, "", 4, {}, {}),
              HasSubstr("fft: the number of dimensions is 4, expected 1 to 3"));
  EXPECT_THAT(call(BRAID_RT_ROUTINE_FFT, "", 1, {}, {}),
              HasSubstr("there are 0 inputs and 0 outputs, expected 1 inputs "
                        "and 1 outputs"));
}
