//===- EngineRegistry.h - Engines by name -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine `inproc` is part of the runtime library. Every other engine NAME
// is a shared object libbraid_rt_NAME.so beside that library. The runtime loads
// the object when a world uses the engine, so it links neither MPI nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_ENGINEREGISTRY_H
#define BRAID_RUNTIME_CORE_ENGINEREGISTRY_H

#include "Engine/Engine.h"

#include <memory>

namespace braid::rt {

/// The version of Engine.h. The runtime refuses an engine of another version.
constexpr int32_t engineInterfaceVersion = 8;

/// The object that the shared library of an engine exports as
/// `braid_rt_engine`.
struct EngineDescriptor {
  int32_t interfaceVersion;
  /// Throws an Error that names the missing part or the unknown option.
  std::unique_ptr<Engine> (*create)(const Environment &environment);
};

#define BRAID_RT_ENGINE_SYMBOL "braid_rt_engine"

/// Throws an Error that names the missing engine or library, if there is one.
void findEngine(const std::string &name);

/// Creates the engine that the environment names. Throws an Error that names
/// the missing engine or library.
std::unique_ptr<Engine> createEngine(const Environment &environment);

/// Throws an Error unless every option of the environment is one of `known`.
BRAID_RT_API void checkEngineOptions(const Environment &environment,
                                     const std::vector<std::string> &known);

/// The value of an option as text; `fallback` if the option is not set.
BRAID_RT_API std::string getEngineOption(const Environment &environment,
                                         const std::string &key,
                                         const std::string &fallback);

/// The value of an option as a number in [least, most]. Throws an Error that
/// names the option, the found and the expected value.
BRAID_RT_API double getEngineNumber(const Environment &environment,
                                    const std::string &key, double fallback,
                                    double least, double most);

/// True if an option has the first of its two values, which is the default.
/// Throws an Error that names the option, the found and the expected value.
BRAID_RT_API bool isFirstChoice(const Environment &environment,
                                const std::string &key,
                                const std::string &first,
                                const std::string &second);

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_ENGINEREGISTRY_H
