//===- Programs.h - What programs multiply and exchange ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_PROGRAMS_H
#define BRAID_TOOLS_BRAID_CALIBRATE_PROGRAMS_H

#include "Load.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace braid::calibrate {

/// The shapes of programs, each once.
struct ProgramShapes {
  std::vector<MatmulCall> matmuls;
  /// Bytes of the whole operation, by kind.
  std::map<int32_t, std::set<int64_t>> collectives;
};

/// Adds the shapes of a file: a report of comm-report (format=json), or a
/// program in MLIR, whose report braid-opt writes. Only collectives of `ranks`
/// ranks on one node count.
llvm::Error readShapes(llvm::StringRef path, int64_t ranks,
                       ProgramShapes &shapes);

/// The kind of collective called `name` (`all_reduce`) that a load can run.
std::optional<int32_t> findKind(llvm::StringRef name);

/// Adds `matmul` unless it is there already.
void addMatmul(const MatmulCall &matmul, std::vector<MatmulCall> &matmuls);

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_PROGRAMS_H
