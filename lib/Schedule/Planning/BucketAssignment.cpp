//===- BucketAssignment.cpp - Tensors into buckets by size ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BucketAssignment.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <utility>

using namespace llvm;
using namespace braid;

namespace {
/// The bucket of one key that is being filled.
struct OpenBucket {
  Bucket bucket;
  int64_t bytes = 0;
  /// The number of the limit that holds for it.
  size_t limitIndex = 0;
};
} // namespace

SmallVector<Bucket> braid::computeBucketAssignment(ArrayRef<BucketItem> items,
                                                   ArrayRef<int64_t> limits) {
  assert(!limits.empty() && "expected at least one limit");
  SmallVector<Bucket> buckets;
  // In the order in which the keys come, so that the result is one and the
  // same on every run.
  MapVector<unsigned, OpenBucket> openBuckets;
  for (auto [index, item] : enumerate(items)) {
    if (item.alone) {
      buckets.push_back({{static_cast<unsigned>(index)}, Bucket::noLimit});
      continue;
    }
    OpenBucket &open = openBuckets[item.key];
    open.bucket.items.push_back(index);
    open.bucket.limit = limits[open.limitIndex];
    open.bytes += item.bytes;
    if (open.bytes < open.bucket.limit)
      continue;
    buckets.push_back(std::exchange(open.bucket, Bucket()));
    open.bytes = 0;
    if (open.limitIndex + 1 < limits.size())
      ++open.limitIndex;
  }
  for (auto &[key, open] : openBuckets)
    if (!open.bucket.items.empty())
      buckets.push_back(std::move(open.bucket));
  llvm::sort(buckets, [](const Bucket &lhs, const Bucket &rhs) {
    return lhs.items.front() < rhs.items.front();
  });
  return buckets;
}
