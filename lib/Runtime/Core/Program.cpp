//===- Program.cpp - Loading compiled programs ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid-rt/Program.h"
#include "Base/Error.h"
#include "Base/SharedObject.h"
#include "braid-rt/Host.h"
#include "braid-rt/Numerics.h"

#include <cstring>
#include <dlfcn.h>

using namespace braid::rt;

struct braid_rt_library {
  void *handle;
  const braid_rt_program *program;
};

braid_rt_library *braid_rt_load(const char *path, char *error,
                                size_t errorSize) {
  // The loader would search a name without a slash in the system's folders.
  std::string file = std::strchr(path, '/') ? path : std::string("./") + path;
  std::string unloadable = describeUnloadable(file);
  if (!unloadable.empty()) {
    copyError(std::string("cannot load ") + path + ": " + unloadable, error,
              errorSize);
    return nullptr;
  }
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    copyError(std::string("cannot load ") + path + ": " + dlerror(), error,
              errorSize);
    return nullptr;
  }
  const auto *program = static_cast<const braid_rt_program *>(
      dlsym(handle, BRAID_RT_PROGRAM_SYMBOL));
  std::string problem;
  if (!program)
    problem = std::string(path) + " is no Braid program: it has no symbol " +
              BRAID_RT_PROGRAM_SYMBOL;
  else if (program->abiVersion != BRAID_RT_ABI_VERSION)
    problem = std::string(path) + " was compiled for version " +
              std::to_string(program->abiVersion) +
              " of the runtime's ABI, expected " +
              std::to_string(BRAID_RT_ABI_VERSION);
  if (!problem.empty()) {
    copyError(problem, error, errorSize);
    dlclose(handle);
    return nullptr;
  }
  return new braid_rt_library{handle, program};
}

const braid_rt_program *
braid_rt_library_program(const braid_rt_library *library) {
  return library->program;
}

const braid_rt_numerics *
braid_rt_library_numerics(const braid_rt_library *library) {
  const auto *numerics = static_cast<const braid_rt_numerics *>(
      dlsym(library->handle, BRAID_RT_NUMERICS_SYMBOL));
  bool isKnown = numerics && numerics->version == BRAID_RT_NUMERICS_VERSION;
  return isKnown ? numerics : nullptr;
}

void braid_rt_unload(braid_rt_library *library) {
  if (!library)
    return;
  dlclose(library->handle);
  delete library;
}

const char *braid_rt_version(void) { return BRAID_VERSION; }

const braid_rt_entry *braid_rt_find_entry(const braid_rt_program *program,
                                          const char *name, char *error,
                                          size_t errorSize) {
  std::string names;
  for (int64_t i = 0; i < program->entryCount; ++i) {
    const braid_rt_entry *entry = program->entries[i];
    if (std::strcmp(entry->name, name ? name : "main") == 0)
      return entry;
    names += (names.empty() ? "" : ", ") + std::string(entry->name);
  }
  if (!name && program->entryCount == 1)
    return program->entries[0];
  std::string wanted =
      name ? "no entry '" + std::string(name) + "'"
           : std::string(program->entryCount ? "several entries and no 'main'"
                                             : "no entries");
  if (!names.empty())
    wanted += "; there is " + names;
  copyError("the program has " + wanted, error, errorSize);
  return nullptr;
}
