//===- Modules.cpp - Kernels and constants of programs --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Modules.h"
#include "Base/Error.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace braid::rt;
using namespace braid::rt::cuda;

Modules::~Modules() {
  for (auto &image : images)
    unload(image.second);
  for (const auto &block : constantBlocks)
    gpu.driver.memFree(block.second);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

static std::string chipName(int32_t capability) {
  return "sm_" + std::to_string(capability);
}

static Error wrongChip(const Gpu &gpu, const braid_rt_image &image,
                       const std::string &why) {
  return Error("the program was compiled for " + std::string(image.chip) +
               ", but " + gpu.name + " is " + chipName(gpu.capability) + why +
               ": compile with --chip=" + chipName(gpu.capability));
}

/// Checks the chip of an image. A cubin runs on later minor versions of its
/// major version; a cubin for a chip with a suffix (`sm_90a`) runs on no other
/// chip. The driver checks images that may contain PTX.
void Modules::checkChip(const braid_rt_image &image) const {
  bool isCubin = image.size >= 4 && std::memcmp(image.data, "\177ELF", 4) == 0;
  if (!isCubin || std::strncmp(image.chip, "sm_", 3) != 0)
    return;
  char *suffix = nullptr;
  long chip = std::strtol(image.chip + 3, &suffix, 10);
  bool fits = *suffix
                  ? chip == gpu.capability
                  : chip / 10 == gpu.capability / 10 && chip <= gpu.capability;
  if (!fits)
    throw wrongChip(gpu, image, "");
}

void Modules::loadImage(const braid_rt_image &image) {
  checkChip(image);
  char log[4096] = {};
  JitOption options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  // The option's value is the size itself, passed as a pointer.
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  Image &loaded = images[&image];
  Result result = gpu.driver.moduleLoadDataEx(&loaded.module, image.data, 2,
                                              options, values);
  if (result == ERROR_NO_BINARY_FOR_GPU || result == ERROR_INVALID_PTX ||
      result == ERROR_UNSUPPORTED_PTX_VERSION)
    throw wrongChip(gpu, image,
                    " and cannot load it: " + gpu.driver.describe(result) +
                        (*log ? std::string(": ") + log : ""));
  if (result != SUCCESS)
    throw Error(gpu.name + " cannot load the program's kernels: " +
                "cuModuleLoadDataEx failed: " + gpu.driver.describe(result) +
                (*log ? std::string(": ") + log : ""));
  DevicePointer mark = 0;
  size_t markBytes = 0;
  loaded.waits = gpu.driver.moduleGetGlobal(&mark, &markBytes, loaded.module,
                                            BRAID_RT_KERNELS_WAIT) == SUCCESS;
  unsigned count = 0;
  gpu.driver.call(gpu.driver.moduleGetFunctionCount, &count, loaded.module);
  std::vector<Function> functions(count);
  gpu.driver.call(gpu.driver.moduleEnumerateFunctions, functions.data(), count,
                  loaded.module);
  for (Function function : functions) {
    const char *name = nullptr;
    gpu.driver.call(gpu.driver.funcGetName, &name, function);
    // Loading a kernel at its first launch waits for all running work, such as
    // a collective that another rank has not started.
    Result loadResult = gpu.driver.funcLoad(function);
    if (loadResult != SUCCESS)
      throw Error(gpu.name + " cannot load kernel '" + name +
                  "': cuFuncLoad failed: " + gpu.driver.describe(loadResult));
    loaded.functions.emplace(name, function);
  }
}

void Modules::unload(Image &image) {
  if (image.module)
    gpu.driver.moduleUnload(image.module);
}

void Modules::forget(const braid_rt_program &program) {
  kernels.clear();
  const braid_rt_device_program &device = *program.device;
  for (int64_t i = 0; i < device.imageCount; ++i) {
    auto found = images.find(device.images[i]);
    if (found == images.end())
      continue;
    unload(found->second);
    images.erase(found);
  }
  for (int64_t i = 0; i < device.constantCount; ++i)
    constants.erase(device.constants[i]);
  auto block = constantBlocks.find(&program);
  if (block == constantBlocks.end())
    return;
  memory.freePrivate(block->second);
  constantBlocks.erase(block);
}

void Modules::load(const braid_rt_program &program) {
  forget(program);
  for (int64_t i = 0; i < program.device->imageCount; ++i)
    loadImage(*program.device->images[i]);
  loadConstants(program);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static int64_t alignedSize(const braid_rt_constant &constant) {
  return (constant.size + 255) / 256 * 256;
}

int64_t Modules::constantBytes(const braid_rt_device_program &program) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < program.constantCount; ++i)
    bytes += alignedSize(*program.constants[i]);
  return bytes;
}

void Modules::loadConstants(const braid_rt_program &program) {
  const braid_rt_device_program &device = *program.device;
  if (device.constantCount == 0)
    return;
  DevicePointer next =
      memory.allocatePrivate(constantBytes(device), "the program's constants");
  constantBlocks[&program] = next;
  for (int64_t i = 0; i < device.constantCount; ++i) {
    const braid_rt_constant &constant = *device.constants[i];
    memory.toDevice(next, constant.data, constant.size);
    constants[&constant] = next;
    next += static_cast<DevicePointer>(alignedSize(constant));
  }
}

DevicePointer Modules::constant(const braid_rt_constant &constant) const {
  auto found = constants.find(&constant);
  if (found == constants.end())
    throw Error("the program asks for a constant of " +
                describeBytes(constant.size) +
                " that its table does not name, or it has not been prepared");
  return found->second;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void Modules::findParameters(Kernel &kernel) const {
  size_t offset = 0, bytes = 0;
  Result result = SUCCESS;
  while ((result = gpu.driver.funcGetParamInfo(kernel.function,
                                               kernel.parameterBytes.size(),
                                               &offset, &bytes)) == SUCCESS)
    kernel.parameterBytes.push_back(bytes);
  // The position after the last parameter is an invalid value.
  kernel.parameters = result == ERROR_INVALID_VALUE
                          ? static_cast<int64_t>(kernel.parameterBytes.size())
                          : -1;
}

Modules::Kernel &Modules::find(const braid_rt_kernel &kernel) {
  auto known = kernels.find(&kernel);
  if (known != kernels.end())
    return known->second;
  auto image = images.find(kernel.image);
  if (image == images.end())
    throw Error("kernel '" + std::string(kernel.name) +
                "' belongs to an image that its program's table does not name, "
                "or the program has not been prepared");
  Kernel found;
  Image &owner = image->second;
  found.waits = owner.waits;
  auto function = owner.functions.find(kernel.name);
  if (function != owner.functions.end()) {
    found.function = function->second;
  } else {
    // A driver may not list the kernels of an image.
    Result result = gpu.driver.moduleGetFunction(&found.function, owner.module,
                                                 kernel.name);
    if (result == ERROR_NOT_FOUND)
      throw Error("the program's image for " + std::string(kernel.image->chip) +
                  " has no kernel '" + kernel.name + "'");
    gpu.driver.check(result, "cuModuleGetFunction");
  }
  findParameters(found);
  int limit = 0;
  gpu.driver.call(gpu.driver.funcGetAttribute, &limit,
                  FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES, found.function);
  found.sharedLimit = limit;
  return kernels.emplace(&kernel, found).first->second;
}

void Modules::allowShared(Kernel &kernel, int64_t bytes) {
  if (bytes <= kernel.sharedLimit)
    return;
  if (bytes > std::numeric_limits<int>::max())
    throw Error("its shared memory does not fit 32 bits");
  gpu.driver.check(gpu.driver.funcSetAttribute(
                       kernel.function, FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                       static_cast<int>(bytes)),
                   "cuFuncSetAttribute of the limit of dynamic shared memory");
  kernel.sharedLimit = bytes;
}

static unsigned narrow(int64_t size) {
  if (size < 0 || size > std::numeric_limits<unsigned>::max())
    throw Error("a size does not fit 32 bits");
  return static_cast<unsigned>(size);
}

static std::string describeTriple(const int64_t *sizes) {
  return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " +
         std::to_string(sizes[2]);
}

/// The kernel's function, its grid, its blocks and its shared memory.
static constexpr size_t wordsBeforeArguments = 8;

bool Modules::describe(const braid_rt_kernel &kernel, const LaunchSize &size,
                       void **arguments, int64_t argumentCount,
                       std::vector<uint64_t> &words) {
  const Kernel &found = find(kernel);
  if (argumentCount != found.parameters)
    return false;
  words.push_back(reinterpret_cast<uintptr_t>(found.function));
  words.insert(words.end(), size.grid, size.grid + 3);
  words.insert(words.end(), size.block, size.block + 3);
  words.push_back(static_cast<uint64_t>(size.sharedBytes));
  for (size_t index = 0; index < found.parameterBytes.size(); ++index) {
    size_t bytes = found.parameterBytes[index], begin = words.size();
    words.resize(begin + (bytes + 7) / 8);
    std::memcpy(&words[begin], arguments[index], bytes);
  }
  return true;
}

void Modules::launch(const braid_rt_kernel &kernel, const LaunchSize &size,
                     const uint64_t *words) {
  const uint64_t *next = words + wordsBeforeArguments;
  std::vector<void *> arguments;
  for (size_t bytes : find(kernel).parameterBytes) {
    arguments.push_back(const_cast<uint64_t *>(next));
    next += (bytes + 7) / 8;
  }
  launch(kernel, size, arguments.data(),
         static_cast<int64_t>(arguments.size()));
}

void Modules::launch(const braid_rt_kernel &kernel, const LaunchSize &size,
                     void **arguments, int64_t argumentCount) {
  Kernel &found = find(kernel);
  try {
    if (found.parameters >= 0 && argumentCount != found.parameters)
      throw Error("it takes " + std::to_string(found.parameters) +
                  " arguments, but the program passes " +
                  std::to_string(argumentCount));
    allowShared(found, size.sharedBytes);
    gpu.hooks.enqueues();
    EarlyLaunch early;
    LaunchConfig config{
        {narrow(size.grid[0]), narrow(size.grid[1]), narrow(size.grid[2])},
        {narrow(size.block[0]), narrow(size.block[1]), narrow(size.block[2])},
        narrow(size.sharedBytes),
        gpu.stream,
        &early,
        found.waits && !gpu.followsControl ? 1U : 0U};
    gpu.followsControl = false;
    gpu.driver.call(gpu.driver.launchKernelEx,
                    reinterpret_cast<const CUlaunchConfig_st *>(&config),
                    found.function, arguments, nullptr);
  } catch (const Error &caught) {
    throw Error("kernel '" + std::string(kernel.name) +
                "' cannot be launched on " + gpu.name + " with a grid of " +
                describeTriple(size.grid) + ", blocks of " +
                describeTriple(size.block) + " and " +
                describeBytes(size.sharedBytes) +
                " of dynamic shared memory: " + caught.what());
  }
  if (gpu.capturing)
    gpu.checkCapture(("kernel '" + std::string(kernel.name) + "'").c_str());
}
