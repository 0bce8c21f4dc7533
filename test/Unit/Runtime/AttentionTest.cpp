//===- AttentionTest.cpp - Checks of attention ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "braid-rt/Attention.h"
#include "gtest/gtest.h"

#include <array>
#include <string>
#include <vector>

using namespace braid::test;

namespace {

/// Operands of two batches, four heads, three queries and five keys.
struct Call {
  using Sizes = std::array<int64_t, 4>;
  Sizes queries = {2, 4, 3, 8}, keys = {2, 2, 5, 8}, values = {2, 2, 5, 16},
        bias = {1, 4, 3, 5}, result = {2, 4, 3, 16}, sums = {2, 4, 3, 1};
  std::vector<braid_rt_attention_operand> operands;

  Call() {
    for (const Sizes *sizes : {&queries, &keys, &values, &bias, &result, &sums,
                               &result, &queries, &keys, &values, &bias})
      operands.push_back({&memory, sizes->data(), sizes->data(),
                          sizes == &sums ? BRAID_RT_F32 : BRAID_RT_BF16, 0});
  }
  Call(const Call &) = delete;

  /// The error of the call on the host.
  std::string run(bool isBackward) {
    const braid_rt_attention_options options = {1.0, 0, 0, 0};
    World &world = sharedWorld(1);
    bool succeeds = world.run([&](int32_t) {
      if (isBackward)
        braid_rt_attention_backward(&options, operands.data(), nullptr);
      else
        braid_rt_attention(&options, operands.data(), nullptr);
    });
    return succeeds ? "" : world.error(0);
  }

private:
  double memory = 0;
};
} // namespace

TEST(Attention, hasNoLibraryOnTheHost) {
  Call call;
  EXPECT_EQ(call.run(false),
            "rank 0: attention 2x4x3x5x8 bf16: only a GPU has a library "
            "for attention, but the program runs on the host");
  EXPECT_EQ(
      call.run(true),
      "rank 0: attention_backward 2x4x3x5x8 bf16: only a GPU has a library for "
      "attention, but the program runs on the host");
}

TEST(Attention, comparesOperandsWithEachOther) {
  Call call;
  call.keys[1] = 3;
  EXPECT_EQ(
      call.run(false),
      "rank 0: attention 2x4x3x5x8 bf16: there are 3 heads of keys, expected a "
      "number that divides 4");
  call.keys[1] = 2;
  call.keys[3] = 9;
  EXPECT_EQ(call.run(false),
            "rank 0: attention 2x4x3x5x8 bf16: operand keys is 2x2x5x9 of "
            "bf16, expected 2x2x5x8 of bf16");
  call.keys[3] = 8;
  call.values[2] = 4;
  EXPECT_EQ(call.run(false),
            "rank 0: attention 2x4x3x5x8 bf16: operand values is 2x2x4x16 "
            "of bf16, expected 2x2x5x16 of bf16");
  call.values[2] = 5;
  call.bias[2] = 2;
  EXPECT_EQ(call.run(false),
            "rank 0: attention 2x4x3x5x8 bf16: operand bias is 1x4x2x5 of "
            "bf16, expected 1x4x3x5 of bf16");
  call.bias[2] = 3;
  call.operands[BRAID_RT_ATTENTION_LOG_SUMS].dtype = BRAID_RT_BF16;
  EXPECT_EQ(call.run(false), "rank 0: attention 2x4x3x5x8 bf16: operand "
                             "logarithms is 2x4x3x1 of bf16, "
                             "expected 2x4x3x1 of f32");
}

TEST(Attention, needsAllOperandsButTheBias) {
  Call call;
  call.operands[BRAID_RT_ATTENTION_VALUE_GRADIENT].data = nullptr;
  EXPECT_EQ(
      call.run(true),
      "rank 0: attention: operand 9 (gradient of the values) has no data");
  Call other;
  for (int role : {BRAID_RT_ATTENTION_BIAS, BRAID_RT_ATTENTION_BIAS_GRADIENT})
    other.operands[static_cast<size_t>(role)] = {};
  EXPECT_NE(other.run(true).find("runs on the host"), std::string::npos);
}
