//===- Tools.h - Running tools of the compiler ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TOOLS_TOOLS_H
#define BRAID_TOOLS_BRAID_RUN_TOOLS_TOOLS_H

#include "braid/Support/CleanUp.h"

#include <string>
#include <vector>

namespace braid::run {

/// Runs the tool `words[0]` (`braid-compile`) beside this program, or else the
/// one on the PATH, and returns its exit status. Throws a RunError if the tool
/// cannot start, with `advice` at the end, or if a signal has ended it on
/// `file`.
int runTool(std::vector<std::string> words, const std::string &file,
            const std::string &advice);

/// A temporary folder. Throws a RunError if there is none.
class RunFolder : public TemporaryFolder {
public:
  RunFolder();
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TOOLS_TOOLS_H
