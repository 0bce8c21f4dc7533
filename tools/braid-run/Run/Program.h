//===- Program.h - The programs of a world ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUN_PROGRAM_H
#define BRAID_TOOLS_BRAID_RUN_RUN_PROGRAM_H

#include "Launch/Processes.h"
#include "braid-rt/Numerics.h"
#include "braid-rt/braid-rt.h"

#include <memory>
#include <optional>
#include <string>

namespace braid::run {

/// The options for compiling a program.
struct CompileRequest {
  std::string passes;
  std::string target; ///< Empty: host.
  std::string chip;   ///< Of the target cuda.
  /// What braid-compile makes of errors that comm-verify finds; empty: its
  /// default.
  std::string verifyProgram;
  int32_t ranks = 0; ///< Those that comm-verify follows; 0: not known.
  /// The process of rank 0 sends its program to the others. Else each process
  /// reads its own.
  bool isSent = false;
};

/// A program that every process of the world has loaded.
class Program {
public:
  /// Loads a compiled program, or compiles `file` with `compile` and loads the
  /// result. Throws on all processes if one of them cannot load the program, or
  /// if the processes have different files, unless the first one sends its own.
  /// Removes temporary files as soon as they are loaded.
  Program(const std::string &file, const CompileRequest &compile,
          const Processes &processes);

  const braid_rt_program &table() const {
    return *braid_rt_library_program(library.get());
  }
  /// What the program records of its numerics; null: nothing.
  const braid_rt_numerics *numerics() const {
    return braid_rt_library_numerics(library.get());
  }
  const braid_rt_entry &entry(const std::string &name) const;

private:
  void load(const std::string &object);
  void loadOwn(const CompileRequest &compile, const Processes &processes);
  void loadSent(const CompileRequest &compile, const Processes &processes);
  bool loadFromFirst(const std::string &object, const std::string &digest);

  std::shared_ptr<braid_rt_library> library;
  std::string file;
};

/// Compiles an MLIR file with the braid-compile beside this program or on the
/// PATH. Writes the shared object `object`.
void compileProgram(const std::string &file, const CompileRequest &request,
                    const std::string &object);

/// Runs `passes` of braid-opt, which end with comm-interpret, on an MLIR file.
/// Throws RunError; the errors of the program stand on standard error.
void interpretProgram(const std::string &file, const std::string &passes);

/// The target of a compiled program, a braid_rt_target; nothing if the file
/// cannot be loaded.
std::optional<int32_t> targetOf(const std::string &file);

/// Has braid-opt compare a run of the program with what the model predicts, and
/// print that on stderr or where `reportOptions`, options of comm-report, say.
/// `trace` is a temporary file with the trace of the run.
void compareWithModel(const std::string &file, const CompileRequest &request,
                      const std::string &trace,
                      const std::string &reportOptions);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_PROGRAM_H
