//===- DeviceCalls.cpp - Kernels and device memory ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Context.h"
#include "braid-rt/Device.h"

using namespace braid::rt;

//===----------------------------------------------------------------------===//
// For compiled code
//===----------------------------------------------------------------------===//

void *braid_rt_arena(int64_t bytes, const braid_rt_site *site) {
  return leaveOnError([&](Context &context) {
    void *memory = nullptr;
    context.atSite(site, [&]() { memory = context.device.arena(bytes); });
    return memory;
  });
}

void *braid_rt_buffer_alloc(int64_t bytes, const braid_rt_site *site) {
  return leaveOnError([&](Context &context) {
    void *memory = nullptr;
    context.atSite(site, [&]() {
      if (bytes < 0)
        throw Error("the program allocates " + std::to_string(bytes) +
                    " bytes, expected at least 0");
      memory = context.device.allocateBuffer(bytes);
    });
    return memory;
  });
}

void braid_rt_buffer_free(void *buffer, const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    if (buffer)
      context.atSite(site, [&]() { context.device.freeBuffer(buffer); });
  });
}

void *braid_rt_device_constant(const braid_rt_constant *constant,
                               const braid_rt_site *site) {
  return leaveOnError([&](Context &context) {
    void *memory = nullptr;
    context.atSite(site,
                   [&]() { memory = context.device.constant(*constant); });
    return memory;
  });
}

void braid_rt_launch(const braid_rt_kernel *kernel, const int64_t *grid,
                     const int64_t *block, int64_t sharedBytes,
                     void **arguments, int64_t argumentCount,
                     const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    LaunchSize size = {{grid[0], grid[1], grid[2]},
                       {block[0], block[1], block[2]},
                       sharedBytes};
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 ||
        context.skips(BRAID_RT_SKIP_COMPUTE))
      return;
    context.atSite(site, [&]() {
      context.device.launch(*kernel, size, arguments, argumentCount);
    });
  });
}

void braid_rt_copy(void *destination, const void *source, int64_t bytes,
                   const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    if (bytes == 0 || destination == source ||
        context.skips(BRAID_RT_SKIP_COMPUTE))
      return;
    context.atSite(site,
                   [&]() { context.device.copy(destination, source, bytes); });
  });
}

void braid_rt_read(void *host, const void *device, int64_t bytes,
                   const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    ++context.statistics.hostReads;
    context.atSite(site, [&]() { context.device.read(host, device, bytes); });
  });
}

int32_t braid_rt_repeat(const void *condition, int64_t loop,
                        const braid_rt_site *site) {
  return leaveOnError([&](Context &context) {
    bool isRepeated = false, hasRead = false;
    // What computes the condition is left out, too.
    if (!context.skips(BRAID_RT_SKIP_COMPUTE))
      context.atSite(site, [&]() {
        isRepeated = context.device.repeat(condition, loop, hasRead);
      });
    context.statistics.hostReads += hasRead;
    return static_cast<int32_t>(isRepeated);
  });
}

int32_t braid_rt_choose(const void *selector, int32_t bytes, int32_t number,
                        int32_t cases, const braid_rt_site *site) {
  return leaveOnError([&](Context &context) {
    std::vector<int64_t> &chosen = context.chosenCases;
    context.atSite(site, [&]() {
      if (number == 0) {
        // What computes the selector is left out, too.
        bool isSkipped = context.skips(BRAID_RT_SKIP_COMPUTE);
        chosen.push_back(
            isSkipped ? 0 : context.device.choose(selector, bytes, cases));
        context.statistics.hostReads +=
            !isSkipped && chosen.back() != Device::allCases;
      } else if (chosen.back() == Device::allCases) {
        if (number < cases)
          context.device.nextCase();
        else
          context.device.endChoice();
      }
    });
    bool runs = number < cases &&
                (chosen.back() == Device::allCases || chosen.back() == number);
    if (number == cases)
      chosen.pop_back();
    return static_cast<int32_t>(runs);
  });
}

void braid_rt_write(void *device, const void *host, int64_t bytes,
                    const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    if (context.skips(BRAID_RT_SKIP_COMPUTE))
      return;
    context.atSite(site, [&]() { context.device.write(device, host, bytes); });
  });
}

//===----------------------------------------------------------------------===//
// For launchers
//===----------------------------------------------------------------------===//

static Device &deviceOf(braid_rt_context *context) {
  return reinterpret_cast<Context *>(context)->device;
}

const char *braid_rt_device_chip(const braid_rt_context *context) {
  return reinterpret_cast<const Context *>(context)->device.chip();
}

int32_t braid_rt_device_property(const braid_rt_context *context,
                                 const char *property, char *text,
                                 size_t textSize) {
  const auto *rank = reinterpret_cast<const Context *>(context);
  std::string value = rank->device.property(property);
  if (value.empty())
    value = rank->engine.property(property);
  copyError(value, text, textSize);
  return value.empty() ? BRAID_RT_FAILED : BRAID_RT_OK;
}

int32_t braid_rt_find_replacement(const braid_rt_context *context,
                                  int64_t index,
                                  braid_rt_replacement *replacement) {
  const auto *rank = reinterpret_cast<const Context *>(context);
  const std::vector<Replacement> &all = rank->engine.replacements(rank->rank);
  if (index < 0 || index >= static_cast<int64_t>(all.size()))
    return BRAID_RT_FAILED;
  const Replacement &found = all[static_cast<size_t>(index)];
  *replacement = {found.resource.c_str(), found.planned.c_str(),
                  found.reason.c_str(), found.used.c_str()};
  return BRAID_RT_OK;
}

void *braid_rt_device_alloc(braid_rt_context *context, int64_t bytes,
                            char *error, size_t errorSize) {
  try {
    return deviceOf(context).allocate(bytes);
  } catch (const std::exception &caught) {
    copyError(caught.what(), error, errorSize);
    return nullptr;
  }
}

void braid_rt_device_free(braid_rt_context *context, void *pointer) {
  if (!pointer)
    return;
  try {
    deviceOf(context).free(pointer);
  } catch (const std::exception &) {
    // The device has failed; the end of the process frees its memory.
  }
}

int32_t braid_rt_copy_to_device(braid_rt_context *context, void *device,
                                const void *host, int64_t bytes, char *error,
                                size_t errorSize) {
  return returnErrors(error, errorSize, [&]() {
    deviceOf(context).copyToDevice(device, host, bytes);
  });
}

int32_t braid_rt_copy_from_device(braid_rt_context *context, void *host,
                                  const void *device, int64_t bytes,
                                  char *error, size_t errorSize) {
  return returnErrors(error, errorSize, [&]() {
    deviceOf(context).copyFromDevice(host, device, bytes);
  });
}
