//===- Control.cpp - Control of the fake CUDA driver ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace fakecuda;

static size_t setting(const char *variable, size_t fallback) {
  const char *text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : fallback;
}

static void restoreDefaults(State &all) {
  all.deviceCount = static_cast<int>(setting("FAKE_CUDA_DEVICES", 8));
  all.deviceBytes = setting("FAKE_CUDA_MEMORY", size_t(1) << 30);
  all.capability = static_cast<int>(setting("FAKE_CUDA_CAPABILITY", 90));
  all.version = 13000;
  all.allowsForeignMemory = setting("FAKE_CUDA_FOREIGN_MEMORY", 0) != 0;
}

State &fakecuda::state() {
  // Never destroyed: streams may still run when the process ends.
  static State *instance = []() {
    auto *created = new State;
    restoreDefaults(*created);
    return created;
  }();
  return *instance;
}

void fakecuda::fail(const std::string &call, const std::string &why) {
  std::fprintf(stderr, "fake CUDA: %s: %s\n", call.c_str(), why.c_str());
  std::abort();
}

void fakecuda::merge(Clock &clock, const Clock &other) {
  for (const auto &entry : other)
    if (uint64_t &tick = clock[entry.first]; tick < entry.second)
      tick = entry.second;
}

bool fakecuda::enter(const char *call, Lock &, Result &result) {
  State &all = state();
  if (!all.initialized && std::strcmp(call, "cuInit") != 0)
    fail(call, "cuInit has not been called");
  auto failure = all.failures.find(call);
  if (failure == all.failures.end() || failure->second.skipped-- > 0)
    return true;
  result = failure->second.result;
  all.failures.erase(failure);
  return false;
}

void fakecuda::checkAllocation(const char *call) {
  if (state().allocationsForbidden)
    fail(call, "nothing may be allocated any more");
}

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

extern "C" {

void fake_cuda_reset(void) {
  Lock lock(state().mutex);
  State &all = state();
  restoreDefaults(all);
  all.allocationsForbidden = false;
  all.log.clear();
  all.failures.clear();
  all.kernels.clear();
  if (all.streams.empty())
    all.streamCount = 0;
}

void fake_cuda_set_devices(int count) {
  Lock lock(state().mutex);
  state().deviceCount = count;
}

void fake_cuda_set_memory(size_t bytes) {
  Lock lock(state().mutex);
  state().deviceBytes = bytes;
}

void fake_cuda_set_capability(int capability) {
  Lock lock(state().mutex);
  state().capability = capability;
}

void fake_cuda_set_version(int version) {
  Lock lock(state().mutex);
  state().version = version;
}

void fake_cuda_fail(const char *function, unsigned result, int skipped) {
  Lock lock(state().mutex);
  state().failures[function] = {static_cast<Result>(result), skipped};
}

void fake_cuda_forbid_allocations(int forbidden) {
  Lock lock(state().mutex);
  state().allocationsForbidden = forbidden != 0;
}

const char *fake_cuda_log(void) {
  static std::string copy;
  Lock lock(state().mutex);
  copy = state().log;
  return copy.c_str();
}

void fake_cuda_clear_log(void) {
  Lock lock(state().mutex);
  state().log.clear();
}

const char *fake_cuda_leaks(void) {
  static std::string text;
  Lock lock(state().mutex);
  State &all = state();
  text.clear();
  auto add = [&](size_t count, const std::string &what) {
    if (count)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + ' ' + what +
              (count == 1 ? "" : "s");
  };
  size_t live = 0, retained = 0;
  for (const auto &entry : all.allocations)
    live += entry.second.freedBy.empty();
  for (const auto &entry : all.contexts)
    retained += entry.second->retained > 0;
  add(live, "allocation");
  add(all.pinned.size(), "pinned allocation");
  add(all.streams.size(), "stream");
  add(all.events.size(), "event");
  add(all.modules.size(), "module");
  add(all.graphs.size(), "graph");
  add(all.graphExecs.size(), "executable graph");
  add(retained, "context");
  return text.c_str();
}

void fake_cuda_register_kernel(const char *name, const size_t *sizes, int count,
                               fake_cuda_kernel function) {
  Lock lock(state().mutex);
  state().kernels[name] = {std::vector<size_t>(sizes, sizes + count), function};
}

static void setBlocked(int device, bool blocked) {
  Lock lock(state().mutex);
  if (blocked)
    state().blockedDevices.insert(device);
  else
    state().blockedDevices.erase(device);
  for (auto &entry : state().streams)
    if (entry.first->context->device == device)
      entry.first->setBlocked(blocked);
}

void fake_cuda_block(int device) { setBlocked(device, true); }
void fake_cuda_unblock(int device) { setBlocked(device, false); }

int fake_cuda_stream_number(void *stream) {
  return static_cast<Stream>(stream)->number;
}

int fake_cuda_stream_priority(void *stream) {
  return static_cast<Stream>(stream)->priority;
}

//===----------------------------------------------------------------------===//
// For other fake libraries
//===----------------------------------------------------------------------===//

unsigned fake_cuda_enqueue(void *stream, const char *what,
                           const fake_cuda_access *accesses, int accessCount,
                           int64_t costNs, void (*run)(void *),
                           void (*release)(void *), void *data) {
  Lock lock(state().mutex);
  auto operation = std::make_shared<Operation>();
  operation->what = what;
  operation->costNs = costNs;
  for (int i = 0; i < accessCount; ++i) {
    auto begin = reinterpret_cast<uintptr_t>(accesses[i].pointer);
    operation->accesses.push_back(
        {begin, begin + accesses[i].bytes, accesses[i].writes != 0});
  }
  std::shared_ptr<void> owned(data, release);
  operation->run = [owned, run]() { run(owned.get()); };
  CUstream_st &checked = checkStream(what, static_cast<Stream>(stream));
  return submit(what, checked, operation);
}

void fake_cuda_trace(const fake_cuda_tracer *tracer) {
  state().tracer = tracer;
}

int fake_cuda_current_device(const char *call) {
  Lock lock(state().mutex);
  return currentContext(call)->device;
}

int fake_cuda_stream_device(const char *call, void *stream) {
  Lock lock(state().mutex);
  auto found = state().streams.find(static_cast<Stream>(stream));
  if (found == state().streams.end())
    fail(call, "the stream does not exist, or was destroyed");
  return found->first->context->device;
}

int fake_cuda_memory_device(const void *pointer) {
  Lock lock(state().mutex);
  const auto *found = findAllocation(reinterpret_cast<uintptr_t>(pointer));
  return found && found->second.freedBy.empty() ? found->second.device : -1;
}

int fake_cuda_find_allocation(const void *pointer, void **begin,
                              size_t *bytes) {
  Lock lock(state().mutex);
  const auto *found = findAllocation(reinterpret_cast<uintptr_t>(pointer));
  if (!found || !found->second.freedBy.empty())
    return 0;
  *begin = reinterpret_cast<void *>(found->first);
  *bytes = found->second.bytes;
  return 1;
}

void fake_cuda_check_memory(const char *call, int device, const void *pointer,
                            size_t bytes) {
  Lock lock(state().mutex);
  checkMemory(call, device, reinterpret_cast<uintptr_t>(pointer), bytes);
}

void fake_cuda_abort(const char *call, const char *why) { fail(call, why); }

//===----------------------------------------------------------------------===//
// The driver: initialisation and errors
//===----------------------------------------------------------------------===//

Result cuInit(unsigned) {
  FAKE_CUDA_ENTER("cuInit")
  state().initialized = true;
  return state().deviceCount ? SUCCESS : ERROR_NO_DEVICE;
}

Result cuDriverGetVersion(int *version) {
  Lock lock(state().mutex);
  *version = state().version;
  return SUCCESS;
}

static constexpr struct {
  Result result;
  const char *name, *text;
} errorTexts[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
     "no CUDA-capable device is detected"},
    {ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX",
     "a PTX JIT compilation failed"},
    {ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {ERROR_STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing "
     "stream"},
    {ERROR_STREAM_CAPTURE_WRONG_THREAD,
     "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another "
     "thread"},
};

Result cuGetErrorName(Result result, const char **text) {
  for (const auto &entry : errorTexts)
    if (entry.result == result) {
      *text = entry.name;
      return SUCCESS;
    }
  *text = nullptr;
  return ERROR_INVALID_VALUE;
}

Result cuGetErrorString(Result result, const char **text) {
  for (const auto &entry : errorTexts)
    if (entry.result == result) {
      *text = entry.text;
      return SUCCESS;
    }
  *text = nullptr;
  return ERROR_INVALID_VALUE;
}
} // extern "C"
