//===- BucketAssignmentTest.cpp - Tests of bucket assignment --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first four tests are those of PyTorch's ComputeBucketAssignmentTest in
// test_c10d_common.py, with its numbers of elements, types and limits.
//
//===----------------------------------------------------------------------===//

#include "Schedule/Planning/LaunchGroups.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <utility>
#include <vector>

using namespace braid;
using testing::ElementsAre;

namespace {

enum ElementType : unsigned { f32, f64 };

BucketItem tensor(int64_t elements, ElementType type) {
  return {elements * (type == f32 ? 4 : 8), type};
}

using Lists = std::vector<std::vector<unsigned>>;

Lists getItems(llvm::ArrayRef<Bucket> buckets) {
  Lists lists;
  for (const Bucket &bucket : buckets)
    lists.emplace_back(bucket.items.begin(), bucket.items.end());
  return lists;
}

std::vector<int64_t> getLimits(llvm::ArrayRef<Bucket> buckets) {
  std::vector<int64_t> limits;
  for (const Bucket &bucket : buckets)
    limits.push_back(bucket.limit);
  return limits;
}

const std::vector<BucketItem> mixed = {tensor(50, f32), tensor(25, f64),
                                       tensor(50, f32), tensor(25, f64),
                                       tensor(50, f32), tensor(25, f64)};

TEST(ComputeBucketAssignment, SingleLimitSingleDtype) {
  auto buckets = computeBucketAssignment(
      {tensor(100, f32), tensor(200, f32), tensor(100, f32), tensor(50, f32)},
      {400});
  EXPECT_EQ(getItems(buckets), (Lists{{0}, {1}, {2}, {3}}));
  EXPECT_THAT(getLimits(buckets), ElementsAre(400, 400, 400, 400));
}

TEST(ComputeBucketAssignment, SingleLimitMultiDtype) {
  auto buckets = computeBucketAssignment(mixed, {400});
  EXPECT_EQ(getItems(buckets), (Lists{{0, 2}, {1, 3}, {4}, {5}}));
  EXPECT_THAT(getLimits(buckets), ElementsAre(400, 400, 400, 400));
}

TEST(ComputeBucketAssignment, MultiLimitSingleDtype) {
  auto buckets = computeBucketAssignment(
      {tensor(10, f32), tensor(10, f32), tensor(10, f32), tensor(10, f32)},
      {40, 80});
  EXPECT_EQ(getItems(buckets), (Lists{{0}, {1, 2}, {3}}));
  EXPECT_THAT(getLimits(buckets), ElementsAre(40, 80, 80));
}

TEST(ComputeBucketAssignment, MultiLimitMultiDtype) {
  auto buckets = computeBucketAssignment(mixed, {200, 400});
  EXPECT_EQ(getItems(buckets), (Lists{{0}, {1}, {2, 4}, {3, 5}}));
  EXPECT_THAT(getLimits(buckets), ElementsAre(200, 200, 400, 400));
}

TEST(ComputeBucketAssignment, NothingGivesNoBucket) {
  EXPECT_TRUE(computeBucketAssignment({}, {400}).empty());
}

// A sparse gradient stands alone, closes nobody's bucket and uses up no limit.
TEST(ComputeBucketAssignment, AloneItemsHaveBucketsOfTheirOwn) {
  BucketItem sparse = tensor(1000, f32);
  sparse.alone = true;
  auto buckets = computeBucketAssignment(
      {tensor(10, f32), sparse, tensor(10, f32), tensor(10, f32)}, {80, 1000});
  EXPECT_EQ(getItems(buckets), (Lists{{0, 2}, {1}, {3}}));
  EXPECT_THAT(getLimits(buckets), ElementsAre(80, Bucket::noLimit, 1000));
}

TEST(ComputeBucketAssignment, AnItemLargerThanTheLimitIsNotSplit) {
  auto buckets =
      computeBucketAssignment({tensor(1, f32), tensor(1000, f32)}, {40});
  EXPECT_EQ(getItems(buckets), (Lists{{0, 1}}));
}

// What is left of the first key stands before the closed bucket of the second.
TEST(ComputeBucketAssignment, BucketsAreSortedByTheirLowestItem) {
  auto buckets = computeBucketAssignment(
      {tensor(1, f32), tensor(100, f64), tensor(1, f32)}, {400});
  EXPECT_EQ(getItems(buckets), (Lists{{0, 2}, {1}}));
}

} // namespace
