//===- EngineRegistry.h - Engines by name -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine `inproc` is part of the runtime library. Every other engine NAME
// is a shared object libbraid_rt_NAME.so beside that library, loaded when a
// world asks for it, so that the runtime links neither MPI nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_ENGINEREGISTRY_H
#define BRAID_RUNTIME_CORE_ENGINEREGISTRY_H

#include "Core/Engine.h"

#include <memory>

namespace braid::rt {

/// Changes with Engine.h: an engine of another version is refused.
constexpr int32_t engineInterfaceVersion = 4;

/// What the shared object of an engine exports as `braid_rt_engine`.
struct EngineDescriptor {
  int32_t interfaceVersion;
  /// Throws an Error that says what is missing, or which option is unknown.
  std::unique_ptr<Engine> (*create)(const Environment &environment);
};

#define BRAID_RT_ENGINE_SYMBOL "braid_rt_engine"

/// Throws an Error that says which engine or library was not found.
void findEngine(const std::string &name);

/// The engine that the environment names. Throws an Error that says which
/// engine or library was not found.
std::unique_ptr<Engine> createEngine(const Environment &environment);

/// Throws an Error unless every option of the environment is one of `known`.
BRAID_RT_API void checkEngineOptions(const Environment &environment,
                                     const std::vector<std::string> &known);

/// The value of an option as text, `fallback` where it was not given.
BRAID_RT_API std::string getEngineOption(const Environment &environment,
                                         const std::string &key,
                                         const std::string &fallback);

/// The value of an option as a number in [least, most]; throws an Error that
/// names option, found and expected.
BRAID_RT_API double getEngineNumber(const Environment &environment,
                                    const std::string &key, double fallback,
                                    double least, double most);

/// Whether an option has the first of two values, rather than the second; the
/// first is the default. Throws an Error that names option, found and expected.
BRAID_RT_API bool isFirstChoice(const Environment &environment,
                                const std::string &key,
                                const std::string &first,
                                const std::string &second);

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_ENGINEREGISTRY_H
