//===- HoldTest.cpp - Blocks that hold multiprocessors --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Setup.h"

using namespace braid::rt;
using testing::HasSubstr;

namespace {
class HoldTest : public CudaTest {
protected:
  std::string taken(const std::string &blocks) {
    return device().property("multiprocessors-taken-from-pairs:" + blocks);
  }
};
} // namespace

TEST_F(HoldTest, needsClusters) {
  fake_cuda_set_capability(80);
  EXPECT_EQ(taken("4"), "");
}

TEST_F(HoldTest, tellsWhatPairsLack) {
  EXPECT_EQ(taken("1"), "8");
  EXPECT_EQ(taken("4"), "8");
  EXPECT_EQ(taken("8"), "8");
  EXPECT_EQ(taken("24"), "24");
  std::string log = fake_cuda_log();
  EXPECT_THAT(log, HasSubstr("stream 2: kernel braid_hold_single grid 24 1 1 "
                             "block 512 1 1 shared 232448"));
  EXPECT_THAT(log, HasSubstr("stream 1: kernel braid_hold_pair grid 132 1 1 "
                             "block 512 1 1 shared 232448"));
}

TEST_F(HoldTest, tellsNothingOfOtherNumbers) {
  for (const char *blocks :
       {"", "0", "-4", "4x", "133", "99999999999999999999"})
    EXPECT_EQ(taken(blocks), "") << blocks;
  EXPECT_EQ(device().property("multiprocessors-taken-from-pairs"), "");
}

// A failure is forgotten: the next measurement loads the kernels again.
TEST_F(HoldTest, tellsNothingWhereTheKernelsDoNotLoad) {
  device();
  fake_cuda_fail("cuModuleLoadDataEx", cuda::ERROR_UNSUPPORTED_PTX_VERSION, 0);
  EXPECT_EQ(taken("4"), "");
  fake_cuda_fail("cuEventCreate", cuda::ERROR_OUT_OF_MEMORY, 0);
  EXPECT_EQ(taken("4"), "");
  EXPECT_EQ(taken("4"), "8");
}
