//===- ConvolutionTest.cpp - Checks of convolutions -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "braid-rt/Convolution.h"
#include "gtest/gtest.h"

#include <array>
#include <string>

using namespace braid::test;

namespace {

/// Two dimensions, two groups.
struct Call {
  using Sizes = std::array<int64_t, 4>;
  std::array<Sizes, 3> sizes = {{{2, 4, 5, 6}, {6, 2, 3, 2}, {2, 6, 3, 3}}};
  std::array<int64_t, 8> window = {2, 1, 1, 1, 2, 1, 0, 0};
  braid_rt_convolution_options options = {
      window.data(), 2, BRAID_RT_CONVOLUTION_FORWARD, 2, BRAID_RT_F32, 0};
  bool hasFilter = true;

  /// The error of the call on the host.
  std::string run() {
    World &world = sharedWorld(1);
    bool succeeds = world.run([&](int32_t) {
      braid_rt_convolution_operand operands[3];
      for (size_t i = 0; i != 3; ++i)
        operands[i] = {hasFilter || i != 1 ? &memory : nullptr, sizes[i].data(),
                       sizes[i].data()};
      braid_rt_convolution(&options, operands, nullptr);
    });
    return succeeds ? "" : world.error(0);
  }

private:
  double memory = 0;
};

} // namespace

TEST(Convolution, hasNoLibraryOnTheHost) {
  const char *names[] = {"convolution", "convolution_backward_data",
                         "convolution_backward_filter"};
  for (int32_t kind : {0, 1, 2}) {
    Call call;
    call.options.kind = kind;
    EXPECT_EQ(call.run(), "rank 0: " + std::string(names[kind]) +
                              " 2x4x5x6 by 6x2x3x2 f32: only a GPU has a "
                              "library for convolutions, but the program runs "
                              "on the host");
  }
}

TEST(Convolution, comparesOperandsWithEachOther) {
  auto errorOf = [](size_t operand, size_t dim, int64_t size) {
    Call call;
    call.sizes[operand][dim] = size;
    return call.run();
  };
  std::string begin = "rank 0: convolution 2x4x5x6 by 6x2x3x2 f32: ";
  EXPECT_EQ(errorOf(2, 0, 3), begin + "operand y is 3x6x3x3, expected 2 "
                                      "elements in dimension 0");
  EXPECT_EQ(errorOf(2, 1, 3), begin + "operand y is 2x3x3x3, expected 6 "
                                      "elements in dimension 1");
  EXPECT_EQ(errorOf(2, 2, 4), begin + "operand y is 2x6x4x3, expected 3 "
                                      "elements in dimension 2");
  EXPECT_EQ(errorOf(2, 3, 0), begin + "operand y is 2x6x3x0, expected at "
                                      "least 1 element in each dimension");
  EXPECT_EQ(errorOf(1, 1, 4),
            "rank 0: convolution 2x4x5x6 by 6x4x3x2 f32: operand w is 6x4x3x2, "
            "expected 2 elements in dimension 1");
  EXPECT_EQ(errorOf(1, 0, 5),
            "rank 0: convolution 2x4x5x6 by 5x2x3x2 f32: there are 2 groups, "
            "expected a number that divides the features 4 and 5");
}

TEST(Convolution, needsAllOperands) {
  Call call;
  call.hasFilter = false;
  EXPECT_EQ(call.run(), "rank 0: convolution 2x4x5x6 by 6x2x3x2 f32: operand w "
                        "has no data");
}

TEST(Convolution, checksItsOptions) {
  Call call;
  call.options.kind = 3;
  EXPECT_EQ(call.run(), "rank 0: convolution: kind is 3, expected 0 to 2");
  call.options.kind = 0;
  call.options.spatialDims = 4;
  EXPECT_EQ(call.run(),
            "rank 0: convolution: spatialDims is 4, expected 1 to 3");
  call.options.spatialDims = 2;
  call.window[4] = 0;
  EXPECT_EQ(call.run(), "rank 0: convolution: stride is 0, expected 1 to "
                        "2147483647");
  call.window[4] = 2;
  call.window[2] = -1;
  EXPECT_EQ(call.run(), "rank 0: convolution: low padding is -1, expected 0 to "
                        "2147483647");
}
