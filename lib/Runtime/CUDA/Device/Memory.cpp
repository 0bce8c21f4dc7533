//===- Memory.cpp - Memory of a GPU ---------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Memory.h"
#include "Base/Error.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;

static constexpr int64_t stagingBytes = 64 * 1024;

std::string braid::rt::cuda::describeBytes(int64_t bytes) {
  static constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit < 3; ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f %s", value, units[unit]);
  return text;
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

DeviceMemory::~DeviceMemory() {
  if (staging)
    gpu.driver.memFreeHost(staging);
}

static Error notEnough(const Gpu &gpu, int64_t bytes, const std::string &what,
                       int64_t available, int64_t total) {
  return Error(gpu.name + " has too little memory for " + what + ": " +
               describeBytes(bytes) + " are needed, " +
               describeBytes(available) + " of " + describeBytes(total) +
               " are available");
}

void DeviceMemory::checkAvailable(int64_t bytes, const std::string &what,
                                  int64_t released) const {
  size_t available = 0, total = 0;
  gpu.driver.call(gpu.driver.memGetInfo, &available, &total);
  int64_t usable = static_cast<int64_t>(available) + released;
  if (bytes > usable)
    throw notEnough(gpu, bytes, what, usable, static_cast<int64_t>(total));
}

DevicePointer DeviceMemory::allocate(int64_t bytes, const std::string &what) {
  checkAvailable(bytes, what);
  // The driver refuses allocations of 0 bytes.
  DevicePointer pointer =
      gpu.hooks.allocate(gpu.driver, std::max<int64_t>(bytes, 1));
  if (pointer)
    return pointer;
  size_t available = 0, total = 0;
  gpu.driver.memGetInfo(&available, &total);
  throw notEnough(gpu, bytes, what + " in one piece",
                  static_cast<int64_t>(available), static_cast<int64_t>(total));
}

void DeviceMemory::free(DevicePointer pointer) {
  if (pointer)
    gpu.hooks.free(gpu.driver, pointer);
}

DevicePointer DeviceMemory::allocatePrivate(int64_t bytes,
                                            const std::string &what) {
  checkAvailable(bytes, what);
  DevicePointer pointer = 0;
  gpu.driver.call(gpu.driver.memAlloc, &pointer,
                  static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  return pointer;
}

void DeviceMemory::freePrivate(DevicePointer pointer) {
  if (pointer)
    gpu.driver.call(gpu.driver.memFree, pointer);
}

void DeviceMemory::prepare() {
  if (!staging)
    gpu.driver.call(gpu.driver.memHostAlloc, &staging, stagingBytes,
                    HOST_PORTABLE);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void DeviceMemory::toDevice(DevicePointer device, const void *host,
                            int64_t bytes) {
  if (bytes == 0)
    return;
  gpu.driver.call(gpu.driver.memcpyHtoDAsync, device, host,
                  static_cast<size_t>(bytes), gpu.stream);
  gpu.synchronize("a copy from the host");
}

void DeviceMemory::toHost(void *host, DevicePointer device, int64_t bytes) {
  if (bytes == 0)
    return;
  gpu.driver.call(gpu.driver.memcpyDtoHAsync, host, device,
                  static_cast<size_t>(bytes), gpu.stream);
  gpu.synchronize("a copy to the host");
}

void DeviceMemory::read(void *host, DevicePointer device, int64_t bytes) {
  if (gpu.capturing)
    throw Error("the program reads device memory on the host, which a graph "
                "cannot do (run without cuda-graph)");
  auto *to = static_cast<char *>(host);
  for (int64_t done = 0; done < bytes;) {
    int64_t piece = std::min(bytes - done, stagingBytes);
    toHost(staging, device + static_cast<DevicePointer>(done), piece);
    std::memcpy(to + done, staging, static_cast<size_t>(piece));
    done += piece;
  }
}

void DeviceMemory::copy(DevicePointer destination, DevicePointer source,
                        int64_t bytes) {
  gpu.hooks.enqueues();
  gpu.driver.call(gpu.driver.memcpyDtoDAsync, destination, source,
                  static_cast<size_t>(bytes), gpu.stream);
  gpu.checkCapture("a copy");
}

/// Writes `bytes` bytes with fills of units of type T: one call for each run of
/// equal units.
template <typename T, typename Set>
static void writeUnits(const Gpu &gpu, DevicePointer device, const char *from,
                       int64_t bytes, const Set &set) {
  int64_t count = bytes / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count;) {
    T value, next;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    int64_t end = i + 1;
    for (; end < count; ++end) {
      std::memcpy(&next, from + end * sizeof(T), sizeof(T));
      if (next != value)
        break;
    }
    gpu.driver.call(set, device + i * sizeof(T), value,
                    static_cast<size_t>(end - i), gpu.stream);
    i = end;
  }
}

void DeviceMemory::write(DevicePointer device, const void *host,
                         int64_t bytes) {
  if (bytes < 0 || bytes > mostWritten)
    throw Error("the program writes " + std::to_string(bytes) +
                " bytes to device memory at once, expected at most " +
                std::to_string(mostWritten));
  const auto *from = static_cast<const char *>(host);
  DevicePointer alignment = device | static_cast<DevicePointer>(bytes);
  if (alignment % 4 == 0)
    writeUnits<uint32_t>(gpu, device, from, bytes, gpu.driver.memsetD32Async);
  else if (alignment % 2 == 0)
    writeUnits<uint16_t>(gpu, device, from, bytes, gpu.driver.memsetD16Async);
  else
    writeUnits<uint8_t>(gpu, device, from, bytes, gpu.driver.memsetD8Async);
  gpu.checkCapture("a write");
}
