//===- Memory.cpp - Memory of the fake CUDA driver ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace fakecuda;

//===----------------------------------------------------------------------===//
// Bookkeeping
//===----------------------------------------------------------------------===//

const std::pair<const uintptr_t, Allocation> *
fakecuda::findAllocation(uintptr_t address) {
  auto next = state().allocations.upper_bound(address);
  if (next == state().allocations.begin())
    return nullptr;
  const auto &found = *std::prev(next);
  return address < found.first + found.second.mapped ? &found : nullptr;
}

static std::string hex(uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%zx", static_cast<size_t>(address));
  return text;
}

void fakecuda::checkMemory(const std::string &call, int device,
                           uintptr_t address, size_t bytes) {
  if (bytes == 0)
    return;
  const auto *found = findAllocation(address);
  if (!found && state().allowsForeignMemory)
    return;
  if (!found)
    fail(call, hex(address) + " is no device memory");
  const Allocation &allocation = found->second;
  if (!allocation.freedBy.empty())
    fail(call,
         hex(address) + " is memory that " + allocation.freedBy + " has freed");
  if (allocation.device != device)
    fail(call, hex(address) + " is memory of device " +
                   std::to_string(allocation.device) +
                   ", but the stream belongs to device " +
                   std::to_string(device));
  size_t left = found->first + allocation.bytes - address;
  if (address + bytes > found->first + allocation.bytes)
    fail(call, std::to_string(bytes) + " bytes from " + hex(address) +
                   " on leave an allocation that has " + std::to_string(left) +
                   " there");
}

static size_t usedBytes(int device) {
  size_t used = 0;
  for (const auto &entry : state().allocations)
    if (entry.second.freedBy.empty() && entry.second.device == device)
      used += entry.second.bytes;
  return used;
}

/// New memory holds bytes that are a NaN in every float type.
static Result allocate(DevicePointer *pointer, size_t bytes, int device) {
  State &all = state();
  if (bytes == 0)
    return ERROR_INVALID_VALUE;
  if (usedBytes(device) + bytes > all.deviceBytes)
    return ERROR_OUT_OF_MEMORY;
  size_t mapped = (bytes + 4095) / 4096 * 4096;
  void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return ERROR_OUT_OF_MEMORY;
  if (bytes <= (size_t(1) << 20))
    std::memset(memory, 0xff, bytes);
  auto address = reinterpret_cast<uintptr_t>(memory);
  all.allocations[address] = {bytes, mapped, device, ""};
  *pointer = address;
  return SUCCESS;
}

/// Gives the pages back, but keeps the addresses: nothing else gets them.
static void release(const char *call, DevicePointer pointer) {
  auto found = state().allocations.find(pointer);
  if (found == state().allocations.end())
    fail(call, hex(pointer) + " is not the begin of an allocation");
  Allocation &allocation = found->second;
  if (!allocation.freedBy.empty())
    fail(call,
         hex(pointer) + " is memory that " + allocation.freedBy + " has freed");
  allocation.freedBy = call;
  state().races.forget(found->first, found->first + allocation.mapped);
  void *memory = reinterpret_cast<void *>(found->first);
  madvise(memory, allocation.mapped, MADV_DONTNEED);
  mprotect(memory, allocation.mapped, PROT_NONE);
}

extern "C" {

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

Result cuMemGetInfo_v2(size_t *available, size_t *total) {
  FAKE_CUDA_ENTER("cuMemGetInfo")
  int device = currentContext("cuMemGetInfo")->device;
  *total = state().deviceBytes;
  size_t used = usedBytes(device);
  *available = used < *total ? *total - used : 0;
  return SUCCESS;
}

Result cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  FAKE_CUDA_ENTER("cuMemAlloc")
  CUctx_st *context = currentContext("cuMemAlloc");
  checkAllocation("cuMemAlloc");
  if (breaksCapture())
    return ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return allocate(pointer, bytes, context->device);
}

/// Waits for the device, as the real one may.
Result cuMemFree_v2(DevicePointer pointer) {
  FAKE_CUDA_ENTER("cuMemFree")
  CUctx_st *context = currentContext("cuMemFree");
  if (breaksCapture())
    return ERROR_STREAM_CAPTURE_UNSUPPORTED;
  waitIdle(lock, *context);
  release("cuMemFree", pointer);
  return SUCCESS;
}

Result cuMemAllocAsync(DevicePointer *pointer, size_t bytes, Stream stream) {
  FAKE_CUDA_ENTER("cuMemAllocAsync")
  checkStream("cuMemAllocAsync", stream);
  if (stream->capture)
    fail("cuMemAllocAsync", "the fake records no allocations");
  return allocate(pointer, bytes, stream->context->device);
}

Result cuMemFreeAsync(DevicePointer pointer, Stream stream) {
  FAKE_CUDA_ENTER("cuMemFreeAsync")
  checkStream("cuMemFreeAsync", stream);
  if (stream->capture)
    fail("cuMemFreeAsync", "the fake records no allocations");
  waitIdle(lock, *stream);
  release("cuMemFreeAsync", pointer);
  return SUCCESS;
}

Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  FAKE_CUDA_ENTER("cuMemHostAlloc")
  currentContext("cuMemHostAlloc");
  checkAllocation("cuMemHostAlloc");
  if (breaksCapture())
    return ERROR_STREAM_CAPTURE_UNSUPPORTED;
  *pointer = std::malloc(bytes);
  state().pinned[reinterpret_cast<uintptr_t>(*pointer)] = bytes;
  return SUCCESS;
}

Result cuMemFreeHost(void *pointer) {
  FAKE_CUDA_ENTER("cuMemFreeHost")
  currentContext("cuMemFreeHost");
  if (!state().pinned.erase(reinterpret_cast<uintptr_t>(pointer)))
    fail("cuMemFreeHost", "the memory has not been pinned, or was freed");
  std::free(pointer);
  return SUCCESS;
}

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

static std::shared_ptr<Operation> makeOperation(const char *what,
                                                size_t bytes) {
  auto operation = std::make_shared<Operation>();
  operation->what = what + (' ' + std::to_string(bytes)) + " bytes";
  operation->costNs = 1000 + static_cast<int64_t>(bytes / 16);
  return operation;
}

static void *pointerTo(DevicePointer address) {
  return reinterpret_cast<void *>(address);
}

static bool isPinned(const void *pointer, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  auto next = state().pinned.upper_bound(address);
  if (next == state().pinned.begin())
    return false;
  --next;
  return address + bytes <= next->first + next->second;
}

/// Pageable memory is read before the call returns, but by a graph when it
/// runs.
Result cuMemcpyHtoDAsync_v2(DevicePointer device, const void *host,
                            size_t bytes, Stream stream) {
  FAKE_CUDA_ENTER("cuMemcpyHtoDAsync")
  CUstream_st &checked = checkStream("cuMemcpyHtoDAsync", stream);
  auto operation = makeOperation("copy from host", bytes);
  operation->accesses = {{device, device + bytes, true}};
  if (checked.capture || isPinned(host, bytes)) {
    operation->run = [=]() { std::memcpy(pointerTo(device), host, bytes); };
  } else {
    const char *begin = static_cast<const char *>(host);
    operation->run = [=, copied = std::vector<char>(begin, begin + bytes)]() {
      std::memcpy(pointerTo(device), copied.data(), bytes);
    };
  }
  return submit("cuMemcpyHtoDAsync", checked, operation);
}

Result cuMemcpyDtoHAsync_v2(void *host, DevicePointer device, size_t bytes,
                            Stream stream) {
  FAKE_CUDA_ENTER("cuMemcpyDtoHAsync")
  CUstream_st &checked = checkStream("cuMemcpyDtoHAsync", stream);
  auto operation = makeOperation("copy to host", bytes);
  operation->accesses = {{device, device + bytes, false}};
  operation->run = [=]() { std::memcpy(host, pointerTo(device), bytes); };
  return submit("cuMemcpyDtoHAsync", checked, operation);
}

Result cuMemcpyDtoDAsync_v2(DevicePointer destination, DevicePointer source,
                            size_t bytes, Stream stream) {
  FAKE_CUDA_ENTER("cuMemcpyDtoDAsync")
  CUstream_st &checked = checkStream("cuMemcpyDtoDAsync", stream);
  auto operation = makeOperation("copy", bytes);
  operation->accesses = {{source, source + bytes, false},
                         {destination, destination + bytes, true}};
  operation->run = [=]() {
    std::memcpy(pointerTo(destination), pointerTo(source), bytes);
  };
  return submit("cuMemcpyDtoDAsync", checked, operation);
}

} // extern "C"

template <typename T>
static Result fill(const char *call, DevicePointer device, size_t pitch,
                   T value, size_t width, size_t height, Stream stream) {
  FAKE_CUDA_ENTER(call)
  CUstream_st &checked = checkStream(call, stream);
  if (device % sizeof(T))
    return ERROR_INVALID_VALUE;
  auto operation = makeOperation("fill", width * height * sizeof(T));
  for (size_t row = 0; row < height; ++row) {
    uintptr_t begin = device + row * pitch;
    operation->accesses.push_back({begin, begin + width * sizeof(T), true});
  }
  operation->run = [=]() {
    for (size_t row = 0; row < height; ++row)
      for (size_t i = 0; i < width; ++i)
        std::memcpy(pointerTo(device + row * pitch + i * sizeof(T)), &value,
                    sizeof(T));
  };
  return submit(call, checked, operation);
}

extern "C" {

Result cuMemsetD8Async(DevicePointer device, unsigned char value, size_t count,
                       Stream stream) {
  return fill<uint8_t>("cuMemsetD8Async", device, 0, value, count, 1, stream);
}

Result cuMemsetD16Async(DevicePointer device, unsigned short value,
                        size_t count, Stream stream) {
  return fill<uint16_t>("cuMemsetD16Async", device, 0, value, count, 1, stream);
}

Result cuMemsetD32Async(DevicePointer device, unsigned value, size_t count,
                        Stream stream) {
  return fill<uint32_t>("cuMemsetD32Async", device, 0, value, count, 1, stream);
}

Result cuMemsetD2D8Async(DevicePointer device, size_t pitch,
                         unsigned char value, size_t width, size_t height,
                         Stream stream) {
  if (pitch < width)
    return ERROR_INVALID_VALUE;
  return fill<uint8_t>("cuMemsetD2D8Async", device, pitch, value, width, height,
                       stream);
}
} // extern "C"
