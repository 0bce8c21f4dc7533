//===- Staging.cpp - Buffers that operations borrow -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Staging.h"

using namespace braid::rt;

/// The most bytes that are kept for reuse.
static constexpr int64_t mostKeptBytes = int64_t(64) << 20;
/// The size of the smallest buffer that is kept; malloc is fast for smaller
/// ones.
static constexpr int64_t leastKeptBytes = 1024;

Staging::Buffer Staging::borrow(int64_t bytes) {
  if (bytes < leastKeptBytes)
    return {new char[static_cast<size_t>(bytes)],
            std::default_delete<char[]>()};
  std::unique_ptr<char[]> memory;
  int64_t capacity = bytes;
  auto it = store->kept.lower_bound(bytes);
  if (it != store->kept.end() && it->first <= 2 * bytes) {
    capacity = it->first;
    memory = std::move(it->second);
    store->keptBytes -= capacity;
    store->kept.erase(it);
  } else {
    // make_unique would clear the memory.
    memory.reset(new char[static_cast<size_t>(bytes)]);
  }
  auto giveBack = [store = store, capacity](char *pointer) {
    std::unique_ptr<char[]> owned(pointer);
    if (store->keptBytes + capacity > mostKeptBytes)
      return;
    store->keptBytes += capacity;
    store->kept.emplace(capacity, std::move(owned));
  };
  char *pointer = memory.release();
  return {pointer, giveBack};
}
