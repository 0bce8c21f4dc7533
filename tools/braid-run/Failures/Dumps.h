//===- Dumps.h - The files of the flight recorder ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_FAILURES_DUMPS_H
#define BRAID_TOOLS_BRAID_RUN_FAILURES_DUMPS_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace braid::run {

/// A started operation in a dump.
struct DumpEntry {
  std::string queue; ///< Equal on all members: communicator or pair.
  std::string group; ///< The group's name.
  /// The members of the group, or both sides of a message; never null.
  std::shared_ptr<const std::vector<int32_t>> ranks;
  bool isMessage = false;
  int64_t sequence = 0; ///< In its queue.
  int64_t invocation = 0;
  std::string operation; ///< `all_reduce sum tensor<4xf32> at prog.mlir:3:8`.
  std::string fingerprint;
  std::string state;

  /// The rank awaits the operation, which has not ended.
  bool isOpen() const {
    return state == "started" || state == "awaited" || state == "refused";
  }
};

/// The last operations of a rank, as FlightRecorder::toJson writes them.
struct Dump {
  std::string file;
  int32_t rank = 0, worldSize = 0;
  std::string reason, error;
  int64_t begun = 0, ended = 0; ///< Invocations.
  int64_t dropped = 0;          ///< Operations before the first entry.
  std::vector<DumpEntry> entries;
};

/// Reads all dumps of a folder, by rank. Throws a RunError for a file that is
/// no dump, and for dumps that do not belong together.
std::map<int32_t, Dump> readDumps(const std::string &folder);

/// Reads the text of the dump `file`. Texts of the dump that messages show are
/// printable. Throws a RunError with the place of what is wrong.
Dump readDump(const std::string &text, const std::string &file);

/// Adds a dump by its rank. Throws a RunError if there is one of this rank, or
/// if the others are of another world.
void addDump(std::map<int32_t, Dump> &dumps, Dump dump);

/// Says for each rank where it is, and which ranks the others wait for.
std::string analyzeDumps(const std::map<int32_t, Dump> &dumps);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_FAILURES_DUMPS_H
