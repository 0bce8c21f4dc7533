//===- Compile.h - What the compiler does for a run -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TOOLS_COMPILE_H
#define BRAID_TOOLS_BRAID_RUN_TOOLS_COMPILE_H

#include <cstdint>
#include <string>

namespace braid::run {

/// The options for compiling a program.
struct CompileRequest {
  std::string passes;
  std::string target; ///< Empty: host.
  std::string chip;   ///< Of the target cuda.
  /// What computes attention and convolutions, with the target cuda; empty:
  /// the default.
  std::string attention, convolution;
  /// What braid-compile makes of errors that comm-verify finds; empty: its
  /// default.
  std::string verify;
  int32_t ranks = 0; ///< Those that comm-verify follows; 0: not known.
  /// The process of rank 0 sends its program to the others. Else each process
  /// reads its own.
  bool isSent = false;
};

/// Compiles an MLIR file with the braid-compile beside this program or on the
/// PATH. Writes the shared object `object`.
void compileProgram(const std::string &file, const CompileRequest &request,
                    const std::string &object);

/// Runs `passes` of braid-opt, which end with comm-interpret, on an MLIR file.
/// Throws RunError; the errors of the program stand on standard error.
void interpretProgram(const std::string &file, const std::string &passes);

/// Has braid-opt compare a run of the program with what the model predicts, and
/// print that on stderr or where `reportOptions`, options of comm-report, say.
/// `trace` is a temporary file with the trace of the run.
void compareWithModel(const std::string &file, const CompileRequest &request,
                      const std::string &trace,
                      const std::string &reportOptions);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TOOLS_COMPILE_H
