//===- Routine.h - A call of a library routine ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_ENGINE_ROUTINE_H
#define BRAID_RUNTIME_ENGINE_ROUTINE_H

#include "braid-rt/Routines.h"
#include "braid/Support/RoutineSignature.h"

#include <string>
#include <vector>

namespace braid::rt {

/// A call whose operands fit its routine.
struct RoutineCall {
  int32_t routine; ///< A braid_rt_routine.
  std::string flags;
  int64_t dimensions; ///< Of a transform.
  std::vector<braid_rt_view> inputs, outputs;
  RoutineShape shape; ///< All sizes are known.

  const char *name() const { return getRoutineTraits(routine)->name; }
  /// The number of matrices or arrays.
  int64_t batch() const;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_ENGINE_ROUTINE_H
