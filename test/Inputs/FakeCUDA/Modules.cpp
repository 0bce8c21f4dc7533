//===- Modules.cpp - Kernels of the fake CUDA driver ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "braid-rt/Program.h"

#include <array>
#include <cstring>
#include <regex.h>

using namespace fakecuda;

namespace {

/// An extended regular expression of POSIX with at most two groups. A file with
/// std::regex takes ten times as long to compile.
class Pattern {
public:
  explicit Pattern(const char *text) {
    regcomp(&expression, text, REG_EXTENDED);
  }
  ~Pattern() { regfree(&expression); }
  Pattern(const Pattern &) = delete;
  Pattern &operator=(const Pattern &) = delete;

  /// Calls `visit` with the two groups of each match in `text`; a group that
  /// matches nothing is empty.
  template <typename Visit>
  void forEachMatch(const std::string &text, Visit visit) const {
    std::array<regmatch_t, 3> groups;
    for (const char *at = text.c_str();
         regexec(&expression, at, groups.size(), groups.data(), 0) == 0;
         at += groups[0].rm_eo) {
      auto get = [&](const regmatch_t &group) {
        return group.rm_so < 0
                   ? std::string()
                   : std::string(at + group.rm_so, at + group.rm_eo);
      };
      visit(get(groups[1]), get(groups[2]));
    }
  }

private:
  regex_t expression;
};

} // namespace

/// The kernels of PTX text and the sizes of their parameters.
static std::map<std::string, std::vector<size_t>>
readKernels(const std::string &ptx) {
  static const Pattern entry(
      R"(\.entry[[:space:]]+([[:alnum:]_$]+)[[:space:]]*\(([^)]*)\))");
  // The type with its bits, and the elements of an array.
  static const Pattern parameter(R"(\.[a-z]([0-9]+)[^],[]*(\[[0-9]+\])?)");
  std::map<std::string, std::vector<size_t>> kernels;
  entry.forEachMatch(ptx, [&](const std::string &name,
                              const std::string &list) {
    std::vector<size_t> &sizes = kernels[name];
    parameter.forEachMatch(list, [&](const std::string &bits,
                                     const std::string &elements) {
      sizes.push_back(std::stoul(bits) / 8 *
                      (elements.empty() ? 1 : std::stoul(elements.substr(1))));
    });
  });
  return kernels;
}

static CUfunc_st &checkFunction(const char *call, Function function) {
  if (state().functions.find(function) == state().functions.end())
    fail(call, "the kernel does not exist, or its module was unloaded");
  return *function;
}

static CUfunc_st *makeFunction(CUmod_st &module, const std::string &name) {
  std::unique_ptr<CUfunc_st> &slot = module.functions[name];
  if (!slot) {
    slot = std::make_unique<CUfunc_st>();
    slot->module = &module;
    slot->name = name;
    state().functions.emplace(slot.get(), &module);
  }
  return slot.get();
}

/// The sizes of a kernel's parameters; nullptr where nobody knows them.
static const std::vector<size_t> *findParameters(const CUfunc_st &function) {
  auto own = function.module->kernels.find(function.name);
  if (own != function.module->kernels.end())
    return &own->second;
  auto registered = state().kernels.find(function.name);
  return registered == state().kernels.end() ? nullptr
                                             : &registered->second.sizes;
}

extern "C" {

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Reads PTX text; takes anything else for an image with all kernels that are
/// asked for.
Result cuModuleLoadDataEx(Module *module, const void *image, unsigned,
                          JitOption *, void **) {
  FAKE_CUDA_ENTER("cuModuleLoadDataEx")
  CUctx_st *context = currentContext("cuModuleLoadDataEx");
  checkAllocation("cuModuleLoadDataEx");
  if (breaksCapture())
    return ERROR_STREAM_CAPTURE_UNSUPPORTED;
  auto created = std::make_unique<CUmod_st>();
  created->context = context;
  const char *text = static_cast<const char *>(image);
  if (std::strncmp(text, "//", 2) == 0 ||
      std::strncmp(text, ".version", 8) == 0) {
    created->readable = true;
    created->kernels = readKernels(text);
    created->waits = std::strstr(text, BRAID_RT_KERNELS_WAIT);
    if (created->waits && !std::strstr(text, "griddepcontrol.wait"))
      fail("cuModuleLoadDataEx", "kernels that should wait do not");
  }
  *module = created.get();
  state().modules.emplace(*module, std::move(created));
  return SUCCESS;
}

static CUmod_st &checkModule(const char *call, Module module) {
  if (state().modules.find(module) == state().modules.end())
    fail(call, "the module does not exist, or was unloaded");
  return *module;
}

Result cuModuleUnload(Module module) {
  FAKE_CUDA_ENTER("cuModuleUnload")
  checkModule("cuModuleUnload", module);
  currentContext("cuModuleUnload");
  for (const auto &function : module->functions)
    state().functions.erase(function.second.get());
  state().modules.erase(module);
  return SUCCESS;
}

Result cuModuleGetFunction(Function *function, Module module,
                           const char *name) {
  FAKE_CUDA_ENTER("cuModuleGetFunction")
  checkModule("cuModuleGetFunction", module);
  if (module->readable && !module->kernels.count(name))
    return ERROR_NOT_FOUND;
  *function = makeFunction(*module, name);
  return SUCCESS;
}

Result cuModuleGetGlobal_v2(DevicePointer *address, size_t *bytes,
                            Module module, const char *name) {
  FAKE_CUDA_ENTER("cuModuleGetGlobal_v2")
  checkModule("cuModuleGetGlobal", module);
  if (!module->waits || std::strcmp(name, BRAID_RT_KERNELS_WAIT) != 0)
    return ERROR_NOT_FOUND;
  *address = 0;
  *bytes = 1;
  return SUCCESS;
}

Result cuModuleGetFunctionCount(unsigned *count, Module module) {
  FAKE_CUDA_ENTER("cuModuleGetFunctionCount")
  checkModule("cuModuleGetFunctionCount", module);
  *count = static_cast<unsigned>(module->kernels.size());
  return SUCCESS;
}

Result cuModuleEnumerateFunctions(Function *functions, unsigned count,
                                  Module module) {
  FAKE_CUDA_ENTER("cuModuleEnumerateFunctions")
  checkModule("cuModuleEnumerateFunctions", module);
  for (const auto &kernel : module->kernels)
    if (count-- > 0)
      *functions++ = makeFunction(*module, kernel.first);
  return SUCCESS;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Result cuFuncGetName(const char **name, Function function) {
  FAKE_CUDA_ENTER("cuFuncGetName")
  *name = checkFunction("cuFuncGetName", function).name.c_str();
  return SUCCESS;
}

Result cuFuncLoad(Function function) {
  FAKE_CUDA_ENTER("cuFuncLoad")
  checkFunction("cuFuncLoad", function).loaded = true;
  return SUCCESS;
}

Result cuFuncGetParamInfo(Function function, size_t index, size_t *offset,
                          size_t *bytes) {
  FAKE_CUDA_ENTER("cuFuncGetParamInfo")
  const std::vector<size_t> *sizes =
      findParameters(checkFunction("cuFuncGetParamInfo", function));
  if (!sizes)
    return ERROR_NOT_SUPPORTED;
  if (index >= sizes->size())
    return ERROR_INVALID_VALUE;
  *offset = 0;
  *bytes = (*sizes)[index];
  return SUCCESS;
}

Result cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                          Function function) {
  FAKE_CUDA_ENTER("cuFuncGetAttribute")
  checkFunction("cuFuncGetAttribute", function);
  *value = attribute == FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES
               ? function->sharedLimit
               : 0;
  return SUCCESS;
}

Result cuFuncSetAttribute(Function function, FunctionAttribute attribute,
                          int value) {
  FAKE_CUDA_ENTER("cuFuncSetAttribute")
  checkFunction("cuFuncSetAttribute", function);
  if (attribute != FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > 227 * 1024)
    return ERROR_INVALID_VALUE;
  function->sharedLimit = value;
  return SUCCESS;
}

static std::string joined(const unsigned *values) {
  return std::to_string(values[0]) + ' ' + std::to_string(values[1]) + ' ' +
         std::to_string(values[2]);
}

/// Copies the arguments; ends the process where one points to freed memory.
static std::vector<std::vector<char>>
copyArguments(const std::string &what, int device,
              const std::vector<size_t> &sizes, void **arguments) {
  std::vector<std::vector<char>> copies;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const char *begin = static_cast<const char *>(arguments[i]);
    copies.emplace_back(begin, begin + sizes[i]);
    if (sizes[i] != sizeof(uintptr_t))
      continue;
    uintptr_t value = 0;
    std::memcpy(&value, begin, sizeof(value));
    if (findAllocation(value))
      checkMemory(what + ", argument " + std::to_string(i), device, value, 1);
  }
  return copies;
}

static Result launch(const char *call, Function function,
                     const LaunchConfig &config, void **arguments,
                     void **extra) {
  CUstream_st &checked = checkStream(call, config.stream);
  checkFunction(call, function);
  if (function->module->context != checked.context)
    fail(call, "kernel " + function->name + " of device " +
                   std::to_string(function->module->context->device) +
                   " on a stream of device " +
                   std::to_string(checked.context->device));
  if (extra)
    return ERROR_INVALID_VALUE;
  const unsigned *grid = config.grid, *block = config.block;
  uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[1] > 65535 ||
      grid[2] > 65535 || threads == 0 || threads > 1024 ||
      config.sharedBytes > static_cast<unsigned>(function->sharedLimit))
    return ERROR_INVALID_VALUE;
  if (config.attributeCount > 0 && !function->module->waits)
    fail(call, "kernel " + function->name +
                   " may start early, but does not wait for earlier kernels");
  if (config.attributeCount > 0 && checked.capture && checked.capture->target &&
      checked.capture->operations.empty())
    fail(call, "kernel " + function->name +
                   " may start early behind a conditional node, or at the "
                   "begin of a body: the driver hangs");
  auto operation = std::make_shared<Operation>();
  operation->what = "kernel " + function->name + " grid " + joined(grid) +
                    " block " + joined(block) + " shared " +
                    std::to_string(config.sharedBytes) +
                    (config.attributeCount > 0 ? " early" : "");
  operation->costNs = 1000;
  operation->run = []() {};
  if (function->name == selectorKernel) {
    uint64_t handle = *static_cast<const uint64_t *>(arguments[0]);
    auto address = *static_cast<const uintptr_t *>(arguments[1]);
    int bytes = *static_cast<const int *>(arguments[2]),
        cases = *static_cast<const int *>(arguments[3]);
    std::shared_ptr<unsigned> set = state().conditions.at(handle);
    operation->accesses = {
        {address, address + static_cast<unsigned>(bytes), false}};
    operation->run = [=]() {
      int64_t number = 0;
      std::memcpy(&number, reinterpret_cast<const void *>(address),
                  static_cast<size_t>(bytes));
      if (bytes == 4)
        number = static_cast<int32_t>(number);
      *set = cases == 0                      ? number != 0
             : number >= 0 && number < cases ? static_cast<unsigned>(number)
                                             : static_cast<unsigned>(cases - 1);
    };
    return submit(call, checked, operation);
  }
  const std::vector<size_t> *sizes = findParameters(*function);
  auto registered = state().kernels.find(function->name);
  if (sizes) {
    auto copies = std::make_shared<std::vector<std::vector<char>>>(
        copyArguments("kernel " + function->name, checked.context->device,
                      *sizes, arguments));
    fake_cuda_kernel run = registered == state().kernels.end()
                               ? nullptr
                               : registered->second.function;
    operation->run = [=]() {
      std::vector<void *> pointers;
      for (std::vector<char> &copy : *copies)
        pointers.push_back(copy.data());
      if (run)
        run(pointers.data(), config.grid, config.block);
    };
  }
  return submit(call, checked, operation);
}

Result cuLaunchKernel(Function function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes, Stream stream,
                      void **arguments, void **extra) {
  FAKE_CUDA_ENTER("cuLaunchKernel")
  return launch("cuLaunchKernel", function,
                {{gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 stream,
                 nullptr,
                 0},
                arguments, extra);
}

Result cuLaunchKernelEx(const CUlaunchConfig_st *config, Function function,
                        void **arguments, void **extra) {
  FAKE_CUDA_ENTER("cuLaunchKernelEx")
  return launch("cuLaunchKernelEx", function,
                *reinterpret_cast<const LaunchConfig *>(config), arguments,
                extra);
}
} // extern "C"
