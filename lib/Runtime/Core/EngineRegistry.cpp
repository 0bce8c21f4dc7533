//===- EngineRegistry.cpp - Engines by name -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/EngineRegistry.h"
#include "Base/Error.h"
#include "Base/SharedObject.h"
#include "InProcess/InProcessEngine.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <dlfcn.h>

using namespace braid::rt;

static constexpr const char *inProcessName = "inproc";

/// The folder of this library. It is absolute also if the library was loaded by
/// a relative path: the working directory may be another one by now. Throws an
/// Error if the loader does not know the folder.
static std::string libraryFolder() {
  Dl_info info;
  void *map = nullptr;
  char origin[PATH_MAX] = "";
  if (!dladdr1(reinterpret_cast<const void *>(&libraryFolder), &info, &map,
               RTLD_DL_LINKMAP) ||
      dlinfo(map, RTLD_DI_ORIGIN, origin) != 0 || origin[0] != '/')
    throw Error(
        "the loader does not know where libbraid_rt.so is, beside which "
        "engines are");
  return origin;
}

/// Engines stay loaded: libraries such as MPI cannot be unloaded safely.
static const EngineDescriptor &loadEngine(const std::string &name) {
  bool isName =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return std::islower(static_cast<unsigned char>(c)) ||
               std::isdigit(static_cast<unsigned char>(c));
      });
  if (!isName)
    throw Error("'" + name + "' is no engine; engines are inproc, mpi, cuda");
  std::string file = "libbraid_rt_" + name + ".so";
  std::string path = libraryFolder() + '/' + file;
  std::string unloadable = describeUnloadable(path);
  if (!unloadable.empty())
    throw Error("there is no engine '" + name + "' here: " + path + ": " +
                unloadable);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Error("there is no engine '" + name + "' here: " + dlerror());
  const auto *descriptor = static_cast<const EngineDescriptor *>(
      dlsym(handle, BRAID_RT_ENGINE_SYMBOL));
  if (!descriptor)
    throw Error(file +
                " is no engine: it has no symbol " BRAID_RT_ENGINE_SYMBOL);
  if (descriptor->interfaceVersion != engineInterfaceVersion)
    throw Error(file + " has version " +
                std::to_string(descriptor->interfaceVersion) +
                " of the engine interface, expected " +
                std::to_string(engineInterfaceVersion));
  return *descriptor;
}

void braid::rt::findEngine(const std::string &name) {
  if (name != inProcessName)
    loadEngine(name);
}

std::unique_ptr<Engine>
braid::rt::createEngine(const Environment &environment) {
  if (environment.engineName == inProcessName)
    return createInProcessEngine(environment);
  return loadEngine(environment.engineName).create(environment);
}
