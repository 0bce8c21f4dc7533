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

/// Throws an Error that names the missing engine or library, if there is one.
void findEngine(const std::string &name);

/// Creates the engine that the environment names. Throws an Error that names
/// the missing engine or library.
std::unique_ptr<Engine> createEngine(const Environment &environment);

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_ENGINEREGISTRY_H
