//===- Link.cpp - Shared objects for the host -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Target/Host/HostTarget.h"

#include "braid/Support/ChildProcess.h"
#include "braid/Support/CleanUp.h"
#include "braid/Support/OutputFile.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <cstring>
#include <sys/wait.h>

using namespace mlir;
using namespace braid;

/// The path of the first of `names` on the PATH; empty if there is none.
static std::string findProgram(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return {};
}

/// What a linker says of its failure.
static std::string describeFailure(int status, int error, StringRef log) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (status < 0)
    stream << " (" << std::strerror(error) << ")";
  else if (WIFSIGNALED(status))
    stream << " (ended by signal " << WTERMSIG(status) << ")";
  auto file = llvm::MemoryBuffer::getFile(log);
  if (file && !(*file)->getBuffer().trim().empty())
    stream << ":\n" << (*file)->getBuffer().rtrim();
  return text;
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

  // The linker writes a temporary file, so that no half output appears.
  TemporaryFolder folder("braid-link");
  if (!folder.getError().empty())
    return emitError(loc) << folder.getError();
  std::string library = folder.at("library.so"), log = folder.at("log");
  std::vector<std::string> arguments = {program, "-shared", "-o",
                                        fileArgument(library),
                                        fileArgument(objectPath.str())};
  if (!runtimePath.empty()) {
    arguments.push_back(fileArgument(runtimePath.str()));
    if (isCompiler)
      arguments.push_back("-Wl,-z,defs");
  }
  if (isCompiler)
    arguments.push_back("-lm");

  int error = 0;
  int status = runProgram(arguments, log, error);
  if (status != 0)
    return emitError(loc) << "cannot link '" << outputPath << "': '" << program
                          << "' failed" << describeFailure(status, error, log);
  auto bytes = llvm::MemoryBuffer::getFile(library, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!bytes)
    return emitError(loc) << "cannot read " << library << ": "
                          << bytes.getError().message();
  StringRef buffer = (*bytes)->getBuffer();
  constexpr unsigned executable = 0777;
  if (std::string problem =
          writeWholeFile(outputPath.str(), buffer, executable);
      !problem.empty())
    return emitError(loc) << problem;
  return success();
}
