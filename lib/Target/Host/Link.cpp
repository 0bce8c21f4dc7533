//===- Link.cpp - Shared objects for the host -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Target/Host/HostTarget.h"

#include "braid/Support/ChildProcess.h"
#include "braid/Support/OutputFile.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

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

namespace {
/// A temporary file that is removed in the end, also by signals.
struct TemporaryFile {
  TemporaryFile(StringRef prefix, StringRef suffix) {
    error = llvm::sys::fs::createTemporaryFile(prefix, suffix, path);
    if (error)
      return;
    remover.setFile(path);
    llvm::sys::RemoveFileOnSignal(path);
  }
  ~TemporaryFile() {
    if (!path.empty())
      llvm::sys::DontRemoveFileOnSignal(path);
  }

  SmallString<128> path;
  std::error_code error;

private:
  llvm::FileRemover remover;
};
} // namespace

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

  // The linker writes a file that is copied whole: half an output is none.
  TemporaryFile library("braid-link", "so"), log("braid-link", "log");
  for (const TemporaryFile *file : {&library, &log})
    if (file->error)
      return emitError(loc)
             << "cannot create a temporary file: " << file->error.message();
  std::vector<std::string> arguments = {program, "-shared", "-o",
                                        fileArgument(library.path.str().str()),
                                        fileArgument(objectPath.str())};
  if (!runtimePath.empty()) {
    arguments.push_back(fileArgument(runtimePath.str()));
    if (isCompiler)
      arguments.push_back("-Wl,-z,defs");
  }
  if (isCompiler)
    arguments.push_back("-lm");

  int error = 0;
  int status = runChild(arguments, log.path.str().str(), error);
  if (status != 0)
    return emitError(loc) << "cannot link '" << outputPath << "': '" << program
                          << "' failed"
                          << describeFailure(status, error, log.path);
  auto bytes = llvm::MemoryBuffer::getFile(library.path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!bytes)
    return emitError(loc) << "cannot read " << library.path << ": "
                          << bytes.getError().message();
  StringRef buffer = (*bytes)->getBuffer();
  constexpr unsigned executable = 0777;
  if (std::string problem =
          writeWholeFile(outputPath.str(), buffer, executable);
      !problem.empty())
    return emitError(loc) << problem;
  return success();
}
