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
#include "Tools/Compile.h"
#include "braid-rt/Numerics.h"
#include "braid-rt/braid-rt.h"

#include <memory>
#include <optional>
#include <string>

namespace braid::run {

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

/// The target of a compiled program, a braid_rt_target; nothing if the file
/// cannot be loaded, and then `why` says why.
std::optional<int32_t> targetOf(const std::string &file, std::string &why);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_PROGRAM_H
