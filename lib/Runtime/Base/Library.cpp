//===- Library.cpp - A library loaded at run time -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Library.h"
#include "Base/Error.h"
#include "Base/SharedObject.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace braid::rt;

/// The file of a handle; `fallback` if the loader does not know it.
static std::string fileOf(void *handle, const char *fallback) {
  char origin[4096];
  if (dlinfo(handle, RTLD_DI_ORIGIN, origin) != 0)
    return fallback;
  std::string name = fallback;
  return std::string(origin) + '/' + name.substr(name.rfind('/') + 1);
}

bool braid::rt::isNamedLibrary(const LibrarySpec &spec) {
  const char *given = std::getenv(spec.variable);
  return given && *given;
}

void braid::rt::checkNamedLibrary(const LibrarySpec &spec) {
  const char *given = std::getenv(spec.variable);
  // The loader looks for a name without a slash in the system's folders.
  if (!given || !std::strchr(given, '/'))
    return;
  std::string problem = describeUnloadable(given);
  if (!problem.empty())
    throw Error(std::string(spec.what) + " cannot be loaded: " + given + ": " +
                problem + "; the path is the value of " + spec.variable);
}

Library::Library(const LibrarySpec &spec) : spec(spec) {
  bool isGiven = isNamedLibrary(spec);
  std::string why;
  std::vector<const char *> names =
      isGiven ? std::vector<const char *>{std::getenv(spec.variable)}
              : spec.names;
  if (isGiven)
    checkNamedLibrary(spec);
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

Library::Symbol Library::find(const char *symbol) {
  void *address = dlsym(handle, symbol);
  if (!address)
    missing.emplace_back(symbol);
  return {address};
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
