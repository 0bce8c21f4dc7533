//===- SourceKind.cpp - Files that are no programs ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/SourceKind.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

#include <array>

using namespace braid;

std::string braid::describeForeignSource(llvm::StringRef path) {
  namespace fs = llvm::sys::fs;
  if (!fs::is_regular_file(path))
    return "";
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  auto close = llvm::scope_exit([&] { fs::closeFile(*file); });
  std::array<char, 512> bytes;
  llvm::Expected<size_t> count = fs::readNativeFile(*file, bytes);
  if (!count) {
    llvm::consumeError(count.takeError());
    return "";
  }
  llvm::StringRef head(bytes.data(), *count);
  if (head.starts_with("\x7f"
                       "ELF"))
    return "an ELF file (an executable, a shared object or an object file)";
  // Bytecode begins with these bytes, and text has no zeros.
  if (!head.starts_with("ML\xefR") && head.contains('\0'))
    return "a binary file";
  return "";
}
