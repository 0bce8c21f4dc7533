//===- SourceKind.h - Files that are no programs ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_SOURCEKIND_H
#define BRAID_SUPPORT_SOURCEKIND_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace braid {

/// What the file `path` is, if the file cannot be a program of MLIR because of
/// its first bytes: "an ELF file (...)". Empty if the file may be a program, is
/// no regular file, or cannot be read.
std::string describeForeignSource(llvm::StringRef path);

} // namespace braid

#endif // BRAID_SUPPORT_SOURCEKIND_H
