//===- ChildProcess.h - Programs that this one runs -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without LLVM, because braid-run uses these functions as well.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_CHILDPROCESS_H
#define BRAID_SUPPORT_CHILDPROCESS_H

#include <string>
#include <vector>

namespace braid {

/// The name of a file as an argument that no program takes for an option or for
/// a file of options: `./-lead.so`, `./@list`.
std::string fileArgument(const std::string &name);

/// Runs `words[0]`, a path or a name on the PATH, and waits for its end. If
/// `log` names a file, the output and the errors go there. With an object
/// `CleanUp` the program does not outlive this process.
///
/// Returns the status as from waitpid, or -1 with an error number in `error` if
/// the program could not start.
int runProgram(const std::vector<std::string> &words, const std::string &log,
               int &error);

} // namespace braid

#endif // BRAID_SUPPORT_CHILDPROCESS_H
