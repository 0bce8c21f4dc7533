//===- Failure.h - Errors that end braid-run --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_COMMON_FAILURE_H
#define BRAID_TOOLS_BRAID_RUN_COMMON_FAILURE_H

#include "braid/Support/Text.h"

#include <stdexcept>
#include <string>

namespace braid::run {

/// Ends braid-run with a message and an exit status. The message may quote
/// files and names of users: it has no controls of a terminal.
struct Failure : std::runtime_error {
  Failure(int status, const std::string &text, bool everywhere)
      : std::runtime_error(makePrintable(text)), status(status),
        everywhere(everywhere) {}

  int status;
  /// True if all processes of the world throw this failure; one of them prints
  /// it.
  bool everywhere;
};

/// The command line is invalid, or does not fit the program.
struct UsageError : Failure {
  explicit UsageError(const std::string &text) : Failure(2, text, false) {}
};

/// The program could not be compiled, loaded or run, or its results differ.
struct RunError : Failure {
  explicit RunError(const std::string &text) : Failure(1, text, false) {}
};

/// Writes `braid-run: error: TEXT` to stderr.
void printError(int status, const std::string &text);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_COMMON_FAILURE_H
