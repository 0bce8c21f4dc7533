//===- Link.cpp - Shared objects for the host -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Target/Host/HostTarget.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace braid;

/// The path of the first of `names` on the PATH; empty if there is none.
static std::string findProgram(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return {};
}

LogicalResult braid::linkSharedObject(StringRef objectPath,
                                      StringRef outputPath,
                                      StringRef runtimePath, Location loc) {
  // Prefer a C compiler, which finds the C library.
  std::string program = findProgram({"cc", "clang", "clang-22", "gcc"});
  bool isCompiler = !program.empty();
  if (!isCompiler)
    program = findProgram({"ld.lld", "ld.lld-22", "ld"});
  if (program.empty())
    return emitError(loc) << "found no program to link with, expected 'cc', "
                             "'clang', 'gcc', 'ld.lld' or 'ld' on the PATH";

  SmallVector<std::string> arguments = {program, "-shared", "-o",
                                        outputPath.str(), objectPath.str()};
  if (!runtimePath.empty()) {
    arguments.push_back(runtimePath.str());
    if (isCompiler)
      arguments.push_back("-Wl,-z,defs");
  }
  if (isCompiler)
    arguments.push_back("-lm");

  SmallString<128> log;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("braid-link", "log", log))
    return emitError(loc) << "cannot create a temporary file: "
                          << error.message();
  llvm::FileRemover removeLog(log);
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log),
                                          StringRef(log)};
  SmallVector<StringRef> references(arguments.begin(), arguments.end());
  std::string message;
  int status = llvm::sys::ExecuteAndWait(program, references, std::nullopt,
                                         redirects, 0, 0, &message);
  if (status == 0)
    return success();
  InFlightDiagnostic diagnostic = emitError(loc)
                                  << "cannot link '" << outputPath << "': '"
                                  << program << "' failed";
  if (!message.empty())
    diagnostic << " (" << message << ")";
  if (auto text = llvm::MemoryBuffer::getFile(log);
      text && !(*text)->getBuffer().trim().empty())
    diagnostic << ":\n" << (*text)->getBuffer().rtrim();
  return diagnostic;
}
