//===- Tools.cpp - Running tools of the compiler ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools/Tools.h"
#include "Common/Failure.h"
#include "braid/Support/ChildProcess.h"

#include <climits>
#include <cstring>
#include <unistd.h>

using namespace braid::run;

/// The tool beside this program, or else its name.
static std::string findTool(const std::string &name) {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length > 0) {
    std::string own(path, static_cast<size_t>(length));
    std::string sibling = own.substr(0, own.rfind('/') + 1) + name;
    if (access(sibling.c_str(), X_OK) == 0)
      return sibling;
  }
  return name;
}

int braid::run::runTool(std::vector<std::string> words, const std::string &file,
                        const std::string &advice) {
  std::string name = words.front();
  words.front() = findTool(name);
  int error = 0, status = runProgram(words, /*log=*/"", error);
  if (status < 0)
    throw RunError("cannot start " + name +
                   ", which was looked for next to braid-run and on the "
                   "PATH: " +
                   std::strerror(error) + advice);
  if (WIFSIGNALED(status))
    throw RunError(name + " was ended by signal " +
                   std::to_string(WTERMSIG(status)) + " on " + file);
  return WEXITSTATUS(status);
}

RunFolder::RunFolder() : TemporaryFolder("braid-run") {
  if (!getError().empty())
    throw RunError(getError());
}
