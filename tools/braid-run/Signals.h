//===- Signals.h - Signals that end braid-run -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_SIGNALS_H
#define BRAID_TOOLS_BRAID_RUN_SIGNALS_H

#include "braid-rt/braid-rt.h"

#include <vector>

namespace braid::run {

/// Has SIGFPE and SIGSEGV of a compiled program, SIGTERM and SIGINT end
/// braid-run with status 1 and a message that names the rank and, for the last
/// two, what it waits for.
void installSignalHandlers();

/// The status with which SIGTERM and SIGINT end braid-run, once it has printed
/// why it fails.
void setSignalStatus(int status);

/// The message of a failure that is not printed yet: SIGTERM and SIGINT print
/// it instead of what the ranks wait for. nullptr: there is none. The text has
/// to live until the next call.
void setPendingFailure(const char *text);

/// The ranks that such a message is about, until the scope ends. Installs the
/// handlers again, as an engine's library may have put its own.
class SignalScope {
public:
  explicit SignalScope(const std::vector<braid_rt_context *> &contexts,
                       const std::vector<int32_t> &ranks);
  ~SignalScope();
  SignalScope(const SignalScope &) = delete;
  SignalScope &operator=(const SignalScope &) = delete;

  struct Rank {
    braid_rt_context *context;
    int32_t number;
  };

private:
  std::vector<Rank> list;
};

/// Has this process end when the one that has started it is gone: a launcher
/// that was killed leaves no ranks behind.
void endWithLauncher();

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_SIGNALS_H
