//===- Memory.h - Memory of a GPU -------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_MEMORY_H
#define BRAID_RUNTIME_CUDA_DEVICE_MEMORY_H

#include "CUDA/Device/Gpu.h"

#include <cstdint>
#include <string>

namespace braid::rt::cuda {

/// `12.50 GiB`, `640 bytes`.
std::string describeBytes(int64_t bytes);

/// Allocations of a GPU and copies from and to them. The GPU's context is
/// current on the calling thread.
class DeviceMemory {
public:
  explicit DeviceMemory(const Gpu &gpu) : gpu(gpu) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// Throws an Error that says how much is needed for `what` and how much is
  /// available, unless `bytes` are; `released` will be free by then.
  void checkAvailable(int64_t bytes, const std::string &what,
                      int64_t released = 0) const;

  /// Memory for `what` that the engine provides, aligned to 256 bytes.
  DevicePointer allocate(int64_t bytes, const std::string &what);
  void free(DevicePointer pointer);

  /// Memory for the runtime's own use, which no collective touches.
  DevicePointer allocatePrivate(int64_t bytes, const std::string &what);
  void freePrivate(DevicePointer pointer);

  /// Copies in the order of the compute stream; done on return.
  void toDevice(DevicePointer device, const void *host, int64_t bytes);
  void toHost(void *host, DevicePointer device, int64_t bytes);

  /// A copy on the compute stream.
  void copy(DevicePointer destination, DevicePointer source, int64_t bytes);

  /// Writes at most 64 bytes on the compute stream. The values stand in the
  /// calls, so that a graph keeps them and `host` may die.
  void write(DevicePointer device, const void *host, int64_t bytes);

  /// Copies a few bytes to the host through pinned memory, and waits.
  void read(void *host, DevicePointer device, int64_t bytes);

  /// Allocates the pinned memory of `read`; call it before the first
  /// invocation.
  void prepare();

private:
  const Gpu &gpu;
  void *staging = nullptr; ///< Pinned memory of stagingBytes.
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_MEMORY_H
