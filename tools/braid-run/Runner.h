//===- Runner.h - Running an entry and keeping its results ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUNNER_H
#define BRAID_TOOLS_BRAID_RUN_RUNNER_H

#include "Options.h"
#include "Tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace braid::run {

/// Results by rank and number.
using Results = std::vector<std::vector<Tensor>>;

/// A loaded program; removes a temporary file as soon as it is loaded.
class Program {
public:
  /// Loads a compiled program, or compiles `file` first; `passes` is handed to
  /// braid-compile.
  Program(const std::string &file, const std::optional<std::string> &passes);

  const braid_rt_entry &entry(const std::string &name) const;

private:
  std::shared_ptr<braid_rt_library> library;
  std::string file;
};

/// The ranks.
class Runner {
public:
  explicit Runner(const Options &options);

  /// Runs the entry once on all ranks with these inputs, which stay as they
  /// are. Throws RunError with the message of every rank that failed by itself.
  Results run(const braid_rt_entry &entry,
              const std::vector<std::vector<Tensor>> &inputs);

  int64_t elapsedNs() const { return braid_rt_world_elapsed_ns(world.get()); }

  /// The most memory that compiled code held at once on any rank, and the
  /// longest that a rank waited, since the last call.
  void takeStatistics(int64_t &peakBytes, int64_t &waitNs);

  /// Writes what the last run recorded as a Chrome trace.
  void writeTrace(const std::string &file) const;

private:
  int32_t ranks;
  std::unique_ptr<braid_rt_world, void (*)(braid_rt_world *)> world;
};

/// Compiles an MLIR file with braid-compile, which stands next to this program
/// or on the PATH, and returns the name of a temporary shared object in a
/// folder of its own.
std::string compileProgram(const std::string &file,
                           const std::optional<std::string> &passes);

/// Removes what compileProgram has written.
void removeCompiled(const std::string &file);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUNNER_H
