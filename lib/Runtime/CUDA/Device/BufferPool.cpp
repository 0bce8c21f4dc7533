//===- BufferPool.cpp - Buffers of sizes known at run time ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/BufferPool.h"
#include "Base/Error.h"

#include <algorithm>
#include <limits>

using namespace braid::rt;
using namespace braid::rt::cuda;

static constexpr int64_t smallestClass = 512;
/// Blocks up to this size are parts of slabs, because the driver allocates
/// memory in units of 2 MiB.
static constexpr int64_t largestPart = int64_t(1) << 20;
static constexpr int64_t slabBytes = int64_t(16) << 20;
static const char *const what = "a buffer of the program";

int64_t BufferPool::getClass(int64_t bytes) {
  if (bytes <= smallestClass)
    return smallestClass;
  // Four classes from one power of two to the next.
  int64_t power = smallestClass;
  while (power <= (bytes - 1) / 2)
    power *= 2;
  int64_t step = std::max(power / 4, smallestClass);
  return (bytes + step - 1) / step * step;
}

BufferPool::~BufferPool() {
  try {
    for (Sizes *sizes : {&live, &detached})
      while (!sizes->empty())
        keep(*sizes, sizes->begin());
    releaseKept();
    for (DevicePointer block : slabs)
      memory.freePrivate(block);
  } catch (const Error &) {
    // The process may have lost the device.
  }
}

void BufferPool::reserve() {
  if (!slabs.empty())
    return;
  size_t available = 0, total = 0;
  gpu.driver.call(gpu.driver.memGetInfo, &available, &total);
  int64_t bytes =
      std::min(static_cast<int64_t>(available) / reserveFraction, mostReserved);
  if (bytes >= slabBytes)
    openSlab(bytes);
}

void BufferPool::openSlab(int64_t bytes) {
  slab = memory.allocatePrivate(bytes, what);
  slabs.push_back(slab);
  slabLeft = bytes;
}

DevicePointer BufferPool::allocateWhole(int64_t size) {
  try {
    return memory.allocatePrivate(size, what);
  } catch (const Error &) {
    if (whole.empty())
      throw;
    releaseKept();
    return memory.allocatePrivate(size, what);
  }
}

DevicePointer BufferPool::allocateBlock(int64_t size) {
  if (slabLeft < size && size > largestPart)
    return *whole.insert(allocateWhole(size)).first;
  if (slabLeft < size)
    openSlab(slabBytes);
  DevicePointer block = slab;
  slab += static_cast<DevicePointer>(size);
  slabLeft -= size;
  return block;
}

DevicePointer BufferPool::allocate(int64_t bytes) {
  if (gpu.capturing)
    throw Error("the program allocates a buffer whose size is known only while "
                "it runs, which a graph cannot do (run without cuda-graph)");
  if (bytes > std::numeric_limits<int64_t>::max() / 2)
    throw Error("the program allocates a buffer of " + std::to_string(bytes) +
                " bytes");
  int64_t size = getClass(bytes);
  std::vector<DevicePointer> &blocks = kept[size];
  DevicePointer block = 0;
  if (blocks.empty()) {
    block = allocateBlock(size);
  } else {
    block = blocks.back();
    blocks.pop_back();
  }
  live.emplace(block, size);
  return block;
}

void BufferPool::keep(Sizes &from, Sizes::iterator buffer) {
  kept[buffer->second].push_back(buffer->first);
  from.erase(buffer);
}

void BufferPool::free(DevicePointer buffer) {
  auto found = live.find(buffer);
  if (found == live.end())
    throw Error("the program frees a buffer that it does not hold");
  keep(live, found);
}

bool BufferPool::detach(DevicePointer buffer) {
  auto found = live.find(buffer);
  if (found == live.end())
    return false;
  detached.insert(*found);
  live.erase(found);
  return true;
}

bool BufferPool::reclaim(DevicePointer buffer) {
  auto found = detached.find(buffer);
  if (found == detached.end())
    return false;
  keep(detached, found);
  return true;
}

int64_t BufferPool::releaseAll() {
  int64_t bytes = 0;
  while (!live.empty()) {
    bytes += live.begin()->second;
    keep(live, live.begin());
  }
  return bytes;
}

void BufferPool::releaseKept() {
  for (auto &[size, blocks] : kept) {
    auto parts =
        std::partition(blocks.begin(), blocks.end(), [&](DevicePointer block) {
          return whole.count(block) == 0;
        });
    for (auto block = parts; block != blocks.end(); ++block) {
      whole.erase(*block);
      memory.freePrivate(*block);
    }
    blocks.erase(parts, blocks.end());
  }
}
