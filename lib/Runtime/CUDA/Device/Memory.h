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

  /// Throws an Error with the needed and the available bytes for `what` unless
  /// `bytes` are available. `released` bytes count as available.
  void checkAvailable(int64_t bytes, const std::string &what,
                      int64_t released = 0) const;

  /// Allocates memory for `what` from the engine, aligned to 256 bytes.
  DevicePointer allocate(int64_t bytes, const std::string &what);
  void free(DevicePointer pointer);

  /// Allocates memory for the runtime, which no collective accesses.
  DevicePointer allocatePrivate(int64_t bytes, const std::string &what);
  void freePrivate(DevicePointer pointer);

  /// Copies in the order of the compute stream, and returns after the copy.
  void toDevice(DevicePointer device, const void *host, int64_t bytes);
  void toHost(void *host, DevicePointer device, int64_t bytes);

  /// Copies on the compute stream.
  void copy(DevicePointer destination, DevicePointer source, int64_t bytes);

  /// Writes at most mostWritten bytes on the compute stream. The calls contain
  /// the values, so a graph records the values, and the caller may free `host`.
  void write(DevicePointer device, const void *host, int64_t bytes);

  static constexpr int64_t mostWritten = 64;

  /// Copies a few bytes to the host through pinned memory, and waits.
  void read(void *host, DevicePointer device, int64_t bytes);

  /// Allocates the pinned memory of `read`. Must be called before the first
  /// invocation.
  void prepare();

private:
  const Gpu &gpu;
  void *staging = nullptr; ///< Pinned memory of stagingBytes.
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_MEMORY_H
