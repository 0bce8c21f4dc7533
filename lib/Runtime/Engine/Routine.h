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
struct BRAID_RT_API RoutineCall {
  int32_t routine; ///< A braid_rt_routine.
  std::string flags;
  int64_t dimensions; ///< Of a transform.
  std::vector<braid_rt_view> inputs, outputs;
  RoutineShape shape; ///< All sizes are known.

  const char *name() const;
  /// What runs the routine of a program for a GPU.
  RoutinePlace place() const;
  /// The position of flag number `index` among its letters in the table of
  /// routines.
  size_t flagPosition(size_t index) const;
  /// The number of matrices or arrays.
  int64_t batch() const;
  /// Whether the routine reads output number `output`, too.
  bool readsOutput(size_t output) const;

  /// Whether the routine is a Fourier transform.
  bool isTransform() const;
  /// Whether the transform is no inverse one.
  bool isForward() const;
  /// Whether the transform gives real numbers.
  bool givesRealNumbers() const;
  /// The sizes of the transform, which its input has, or a real output.
  std::vector<int64_t> transformSizes() const;
};

/// The elements of the last `dimensions` of `view`.
BRAID_RT_API int64_t countElements(const braid_rt_view &view,
                                   int64_t dimensions);

/// The bytes of the elements of `view`.
BRAID_RT_API int64_t countBytes(const braid_rt_view &view);

/// Runs the routine, whose operands the host can read, by a library of the
/// host. Throws an Error if there is no such library.
BRAID_RT_API void callRoutineOnHost(const RoutineCall &call);

} // namespace braid::rt

#endif // BRAID_RUNTIME_ENGINE_ROUTINE_H
