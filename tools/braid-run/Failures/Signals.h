//===- Signals.h - Signals that end braid-run -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_FAILURES_SIGNALS_H
#define BRAID_TOOLS_BRAID_RUN_FAILURES_SIGNALS_H

#include "braid-rt/braid-rt.h"

#include <thread>
#include <vector>

namespace braid::run {

/// Installs handlers for SIGFPE, SIGSEGV, SIGBUS and SIGILL of a compiled
/// program, SIGTERM, SIGINT and SIGUSR1. All but the last one end braid-run
/// with status 1 and a message that names the rank and, for the last two, the
/// awaited operation.
void installSignalHandlers();

/// Sets the status with which SIGTERM and SIGINT end braid-run after it has
/// printed a failure.
void setSignalStatus(int status);

/// Sets the message of a failure that is not printed yet, or nullptr. SIGTERM
/// and SIGINT print this message instead of the awaited operations. The text
/// must stay valid until the next call.
void setPendingFailure(const char *text);

/// Sets the ranks of such messages until the end of the scope. Installs the
/// handlers again, because the library of an engine may have installed its own.
///
/// SIGUSR1 writes the last operations of the ranks (braid_rt_world_dump). With
/// `dumpsAtEnd` the signals that end braid-run do so, too.
class SignalScope {
public:
  explicit SignalScope(const braid_rt_world *world,
                       const std::vector<braid_rt_context *> &contexts,
                       const std::vector<int32_t> &ranks, bool dumpsAtEnd);
  ~SignalScope();
  SignalScope(const SignalScope &) = delete;
  SignalScope &operator=(const SignalScope &) = delete;

  struct Rank {
    braid_rt_context *context;
    int32_t number;
  };

private:
  void dump();

  const braid_rt_world *world;
  std::vector<Rank> list;
  std::thread dumper;
};

/// Makes this process end when its parent ends, so that a killed launcher
/// leaves no ranks behind.
void endWithLauncher();

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_FAILURES_SIGNALS_H
