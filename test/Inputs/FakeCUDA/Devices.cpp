//===- Devices.cpp - Devices and contexts of the fake CUDA driver ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <cstdio>

using namespace fakecuda;

static thread_local CUctx_st *threadContext = nullptr;

CUctx_st *fakecuda::currentContext(const char *call) {
  if (!threadContext)
    fail(call, "the calling thread has no current context");
  if (threadContext->retained == 0)
    fail(call, "the current context, of device " +
                   std::to_string(threadContext->device) +
                   ", has been released");
  return threadContext;
}

extern "C" {

Result cuDeviceGetCount(int *count) {
  FAKE_CUDA_ENTER("cuDeviceGetCount")
  *count = state().deviceCount;
  return SUCCESS;
}

Result cuDeviceGet(DeviceHandle *device, int ordinal) {
  FAKE_CUDA_ENTER("cuDeviceGet")
  if (ordinal < 0 || ordinal >= state().deviceCount)
    return ERROR_INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

Result cuDeviceGetName(char *name, int size, DeviceHandle) {
  FAKE_CUDA_ENTER("cuDeviceGetName")
  std::snprintf(name, static_cast<size_t>(size), "Fake GPU");
  return SUCCESS;
}

Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute,
                            DeviceHandle) {
  FAKE_CUDA_ENTER("cuDeviceGetAttribute")
  switch (attribute) {
  case DEVICE_MULTIPROCESSOR_COUNT:
    *value = 132;
    return SUCCESS;
  case DEVICE_COMPUTE_CAPABILITY_MAJOR:
    *value = state().capability / 10;
    return SUCCESS;
  case DEVICE_COMPUTE_CAPABILITY_MINOR:
    *value = state().capability % 10;
    return SUCCESS;
  }
  return ERROR_INVALID_VALUE;
}

Result cuDevicePrimaryCtxRetain(ContextHandle *context, DeviceHandle device) {
  FAKE_CUDA_ENTER("cuDevicePrimaryCtxRetain")
  std::unique_ptr<CUctx_st> &slot = state().contexts[device];
  if (!slot) {
    slot = std::make_unique<CUctx_st>();
    slot->device = device;
  }
  ++slot->retained;
  *context = slot.get();
  return SUCCESS;
}

Result cuDevicePrimaryCtxRelease_v2(DeviceHandle device) {
  FAKE_CUDA_ENTER("cuDevicePrimaryCtxRelease")
  CUctx_st *context = state().contexts[device].get();
  if (!context || context->retained == 0)
    fail("cuDevicePrimaryCtxRelease", "the context has not been retained");
  if (--context->retained == 0)
    for (const auto &entry : state().streams)
      if (entry.first->context == context)
        fail("cuDevicePrimaryCtxRelease",
             "a stream of the context has not been destroyed");
  return SUCCESS;
}

Result cuCtxSetCurrent(ContextHandle context) {
  FAKE_CUDA_ENTER("cuCtxSetCurrent")
  threadContext = context;
  return SUCCESS;
}

Result cuCtxSynchronize() {
  FAKE_CUDA_ENTER("cuCtxSynchronize")
  CUctx_st *context = currentContext("cuCtxSynchronize");
  if (breaksCapture())
    return ERROR_STREAM_CAPTURE_UNSUPPORTED;
  waitIdle(lock, *context);
  return SUCCESS;
}

Result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  FAKE_CUDA_ENTER("cuCtxGetStreamPriorityRange")
  currentContext("cuCtxGetStreamPriorityRange");
  *least = 0;
  *greatest = -5;
  return SUCCESS;
}
} // extern "C"
