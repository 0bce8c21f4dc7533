//===- SharedObject.h - Checks of files to load -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_SHAREDOBJECT_H
#define BRAID_RUNTIME_BASE_SHAREDOBJECT_H

#include "braid-rt/Types.h"

#include <string>

namespace braid::rt {

/// Why this process cannot load the file `path` as a shared object: what was
/// found and expected. Empty if nothing speaks against it. The loader itself
/// says "No such file or directory" of a foreign machine's file and ends the
/// process with SIGBUS at a truncated one.
BRAID_RT_API std::string describeUnloadable(const std::string &path);

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_SHAREDOBJECT_H
