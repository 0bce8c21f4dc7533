//===- EngineOptions.h - Options of engines ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_ENGINE_ENGINEOPTIONS_H
#define BRAID_RUNTIME_ENGINE_ENGINEOPTIONS_H

#include "Base/Environment.h"

#include <string>
#include <vector>

namespace braid::rt {

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

#endif // BRAID_RUNTIME_ENGINE_ENGINEOPTIONS_H
