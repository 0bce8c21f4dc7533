//===- Library.cpp - A library loaded at run time -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Library.h"
#include "Core/Error.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The file of a handle; `fallback` if the loader does not know it.
static std::string fileOf(void *handle, const char *fallback) {
  char origin[4096];
  if (dlinfo(handle, RTLD_DI_ORIGIN, origin) != 0)
    return fallback;
  std::string name = fallback;
  return std::string(origin) + '/' + name.substr(name.rfind('/') + 1);
}

Library::Library(const LibrarySpec &spec) : spec(spec) {
  const char *given = std::getenv(spec.variable);
  bool isGiven = given && *given;
  std::string why;
  std::vector<const char *> names =
      isGiven ? std::vector<const char *>{given} : spec.names;
  for (const char *name : names) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle) {
      file = fileOf(handle, name);
      return;
    }
    const char *text = dlerror();
    why += (why.empty() ? "" : "; ") + std::string(text ? text : name);
  }
  throw Error(std::string(spec.what) + " cannot be loaded: " + why + "; " +
              (isGiven
                   ? std::string("the path is the value of ") + spec.variable
                   : std::string(spec.advice) + ", or set " + spec.variable +
                         " to the library's path"));
}

void *Library::find(const char *symbol) {
  void *address = dlsym(handle, symbol);
  if (!address)
    missing.emplace_back(symbol);
  return address;
}

void Library::checkComplete() const {
  if (missing.empty())
    return;
  std::string names;
  for (const std::string &name : missing)
    names += (names.empty() ? "" : ", ") + name;
  throw Error(std::string(spec.what) + " in " + file + " has no " + names +
              "; " + spec.advice);
}
