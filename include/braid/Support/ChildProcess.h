//===- ChildProcess.h - Programs that end with this one ---------*- C++ -*-===//
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

/// The environment variable by which a tool tells another one that it runs the
/// number of its process.
inline constexpr const char *parentVariable = "BRAID_PARENT";

/// Ends this process with SIGTERM when the process that `parentVariable` names
/// ends, if that process has started this one. Call first in main: the signal
/// comes when the thread ends that has started this process.
void endWithParent();

/// The name of a file as an argument that no program takes for an option or for
/// a file of options: `./-lead.so`, `./@list`.
std::string fileArgument(const std::string &name);

/// Runs `words[0]`, a path, and waits for its end. Its output and errors go to
/// the file `log`. The program and what it starts are a process group that
/// SIGINT, SIGTERM and SIGHUP to this process end before anything else happens;
/// if this process is killed, the program is. One thread at a time.
///
/// Returns the status as from waitpid, or -1 with an error number in `error` if
/// the program could not start.
int runChild(const std::vector<std::string> &words, const std::string &log,
             int &error);

} // namespace braid

#endif // BRAID_SUPPORT_CHILDPROCESS_H
