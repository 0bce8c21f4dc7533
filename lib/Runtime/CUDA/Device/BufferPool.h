//===- BufferPool.h - Buffers of sizes known at run time --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_BUFFERPOOL_H
#define BRAID_RUNTIME_CUDA_DEVICE_BUFFERPOOL_H

#include "CUDA/Device/Memory.h"

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace braid::rt::cuda {

/// The buffers that a program allocates while it runs. The pool reuses freed
/// blocks for later allocations of their size class. The compute stream orders
/// all uses, so only the first allocation of a class may wait for the device,
/// and only if the reserve is used up. The GPU's context must be current on the
/// calling thread.
class BufferPool {
public:
  BufferPool(const Gpu &gpu, DeviceMemory &memory) : gpu(gpu), memory(memory) {}
  ~BufferPool();
  BufferPool(const BufferPool &) = delete;
  BufferPool &operator=(const BufferPool &) = delete;

  /// Allocates a reserve once, while the device does nothing else; none if the
  /// GPU has little memory.
  void reserve();

  /// Allocates `bytes` bytes, aligned to 256. Throws an Error if the GPU has
  /// too little memory, or while it records a graph.
  DevicePointer allocate(int64_t bytes);

  /// Frees a buffer of the invocation. Throws an Error for any other address.
  void free(DevicePointer buffer);

  /// Transfers a buffer of the invocation to the caller; false for any other
  /// address.
  bool detach(DevicePointer buffer);

  /// Frees a detached buffer; false for any other address.
  bool reclaim(DevicePointer buffer);

  /// Frees all buffers of the invocation and returns their bytes.
  int64_t releaseAll();

  /// The size class of `bytes`: at least `bytes`, at most a quarter more from
  /// 2 KiB on, and a multiple of 512.
  static int64_t getClass(int64_t bytes);

  /// The size of the reserve: this part of the available memory, at most this.
  static constexpr int64_t reserveFraction = 64;
  static constexpr int64_t mostReserved = int64_t(256) << 20;

private:
  using Sizes = std::unordered_map<DevicePointer, int64_t>;

  void openSlab(int64_t bytes);
  DevicePointer allocateWhole(int64_t size);
  DevicePointer allocateBlock(int64_t size);
  void keep(Sizes &from, Sizes::iterator buffer);
  void releaseKept();

  const Gpu &gpu;
  DeviceMemory &memory;
  Sizes live, detached; ///< With their size classes.
  std::map<int64_t, std::vector<DevicePointer>> kept;
  /// The kept and live blocks that are no parts of slabs.
  std::unordered_set<DevicePointer> whole;
  /// The reserve, and blocks of which small ones are parts; freed with the
  /// pool.
  std::vector<DevicePointer> slabs;
  DevicePointer slab = 0;
  int64_t slabLeft = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_BUFFERPOOL_H
