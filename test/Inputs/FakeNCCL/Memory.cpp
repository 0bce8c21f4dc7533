//===- Memory.cpp - Memory, windows and registrations of the fake NCCL ----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "FakeNCCL.h"
#include "Library.h"

#include <algorithm>

// NOLINTBEGIN(readability-identifier-naming): NCCL's own names.

using namespace fakenccl;

// The driver's, in libfake_cuda.so.
extern "C" unsigned cuMemAlloc_v2(unsigned long long *pointer, size_t bytes);
extern "C" unsigned cuMemFree_v2(unsigned long long pointer);

/// Registers a window together with the other members.
static Result registerWindow(ncclComm *comm, const char *begin, size_t bytes,
                             Window *window) {
  int64_t number = ++comm->windowCount;
  std::string base = comm->id + ".w" + std::to_string(number) + ".";
  std::string mine = std::to_string(bytes), other;
  exchange().put(base + std::to_string(comm->rank), mine, comm->size - 1);
  for (int i = 0; i < comm->size; ++i)
    if (i != comm->rank) {
      if (!exchange().take(base + std::to_string(i), other, comm->aborted))
        return refuse(InternalError, "aborted");
      if (other != mine)
        fake_cuda_abort("ncclCommWindowRegister",
                        "members register buffers of different sizes");
    }
  if (refuses("windows", comm->rank))
    return refuse(InvalidUsage, "symmetric memory is not supported");
  if (refuses("nowindows", comm->rank))
    return Success;
  std::lock_guard<std::mutex> lock(comm->mutex);
  comm->windows.push_back(
      std::make_unique<ncclWindow_vidmem>(ncclWindow_vidmem{begin, bytes}));
  *window = comm->windows.back().get();
  return Success;
}

extern "C" {

Result ncclMemAlloc(void **pointer, size_t bytes) {
  FAKE_NCCL_ENTER("ncclMemAlloc")
  unsigned long long address = 0;
  if (cuMemAlloc_v2(&address, bytes) != 0)
    return refuse(UnhandledCudaError, "out of memory");
  *pointer = reinterpret_cast<void *>(address);
  std::lock_guard<std::mutex> lock(library().mutex);
  library().allocations[static_cast<const char *>(*pointer)] = bytes;
  return Success;
}

Result ncclMemFree(void *pointer) {
  FAKE_NCCL_ENTER("ncclMemFree")
  const auto *begin = static_cast<const char *>(pointer);
  {
    std::lock_guard<std::mutex> lock(library().mutex);
    for (ncclComm *comm : library().live) {
      std::lock_guard<std::mutex> commLock(comm->mutex);
      for (const auto &window : comm->windows)
        if (window->begin == begin)
          fake_cuda_abort("ncclMemFree", "a window still holds the memory");
      for (const auto &registration : comm->registrations)
        if (*registration == begin)
          fake_cuda_abort("ncclMemFree", "the memory is still registered");
    }
    if (library().allocations.erase(begin) == 0)
      fake_cuda_abort("ncclMemFree", "no ncclMemAlloc has returned this");
  }
  return cuMemFree_v2(reinterpret_cast<unsigned long long>(pointer)) == 0
             ? Success
             : UnhandledCudaError;
}

Result ncclCommRegister(ncclComm *comm, void *buffer, size_t bytes,
                        void **handle) {
  FAKE_NCCL_ENTER("ncclCommRegister")
  Call call("ncclCommRegister", comm);
  checkIdle("ncclCommRegister", comm);
  const auto *begin = static_cast<const char *>(buffer);
  {
    std::lock_guard<std::mutex> lock(library().mutex);
    auto found = library().allocations.find(begin);
    if (found == library().allocations.end() || found->second < bytes)
      return refuse(InvalidArgument, "the buffer is not of ncclMemAlloc");
  }
  std::lock_guard<std::mutex> lock(comm->mutex);
  comm->registrations.push_back(std::make_unique<const char *>(begin));
  *handle = comm->registrations.back().get();
  return Success;
}

Result ncclCommDeregister(ncclComm *comm, void *handle) {
  Call call("ncclCommDeregister", comm);
  std::lock_guard<std::mutex> lock(comm->mutex);
  auto found =
      std::find_if(comm->registrations.begin(), comm->registrations.end(),
                   [&](const std::unique_ptr<const char *> &entry) {
                     return entry.get() == handle;
                   });
  if (found == comm->registrations.end())
    fake_cuda_abort("ncclCommDeregister", "there is no such registration");
  comm->registrations.erase(found);
  return Success;
}

Result ncclCommWindowRegister(ncclComm *comm, void *buffer, size_t bytes,
                              Window *window, int) {
  FAKE_NCCL_ENTER("ncclCommWindowRegister")
  Call call("ncclCommWindowRegister", comm);
  checkIdle("ncclCommWindowRegister", comm);
  const auto *begin = static_cast<const char *>(buffer);
  {
    std::lock_guard<std::mutex> lock(library().mutex);
    auto found = library().allocations.find(begin);
    if (found == library().allocations.end() || found->second < bytes)
      return refuse(InvalidArgument, "the buffer is not of ncclMemAlloc");
  }
  *window = nullptr;
  return registerInGroup(
      [=]() { return registerWindow(comm, begin, bytes, window); });
}

Result ncclCommWindowDeregister(ncclComm *comm, Window window) {
  Call call("ncclCommWindowDeregister", comm);
  std::lock_guard<std::mutex> lock(comm->mutex);
  auto found =
      std::find_if(comm->windows.begin(), comm->windows.end(),
                   [&](const std::unique_ptr<ncclWindow_vidmem> &entry) {
                     return entry.get() == window;
                   });
  if (found == comm->windows.end())
    fake_cuda_abort("ncclCommWindowDeregister", "there is no such window");
  comm->windows.erase(found);
  return Success;
}

int fake_nccl_registrations(void) {
  std::lock_guard<std::mutex> lock(library().mutex);
  size_t count = 0;
  for (ncclComm *comm : library().live) {
    std::lock_guard<std::mutex> commLock(comm->mutex);
    count += comm->registrations.size();
  }
  return static_cast<int>(count);
}
}

// NOLINTEND(readability-identifier-naming)
