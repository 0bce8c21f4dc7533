//===- RoutineSignature.h - Operands of library routines --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the table of routines (braid-rt/Routines.def) says of the operands of a
// call. Without LLVM, because the runtime checks calls with it as well.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_ROUTINESIGNATURE_H
#define BRAID_SUPPORT_ROUTINESIGNATURE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

/// What runs a routine of a program for a GPU.
enum class RoutinePlace {
  Host,    ///< The host, for which the GPU waits.
  Device,  ///< The GPU.
  Waiting, ///< The GPU, for which the host may wait.
};

/// A row of the table.
struct RoutineTraits {
  const char *name, *inputs, *outputs, *flags;
  int64_t thirds;
  RoutinePlace place;
};

/// The row of routine number `routine`; null if there is none.
const RoutineTraits *getRoutineTraits(int32_t routine);

/// The number of the routine called `name`; none if there is no such routine.
std::optional<int32_t> findRoutine(std::string_view name);

/// Whether the routine is a Fourier transform.
bool isTransform(int32_t routine);

/// Whether the transform gives real numbers.
bool givesRealNumbers(int32_t transform);

/// Whether the routine reads output number `output`, too.
bool readsOutput(int32_t routine, size_t output);

/// A routine, and what a call says beside its operands.
struct RoutineRequest {
  int32_t routine;
  std::string_view flags;
  int64_t dimensions; ///< Of a transform.
};

/// An operand of a call.
struct RoutineOperand {
  int32_t dtype;              ///< A braid_rt_dtype.
  std::vector<int64_t> sizes; ///< -1 for one that is not known.
};

/// What the operands of a call say together.
struct RoutineShape {
  /// The type of the routine; for transforms the complex type.
  int32_t dtype = -1;
  /// The sizes of the batch; -1 for one that is not known.
  std::vector<int64_t> batch;

  /// The size that the table calls `letter`; -1 if it is not known.
  int64_t operator[](char letter) const { return sizes[letter - 'a']; }

  std::array<int64_t, 26> sizes;
};

/// What is wrong with a call.
struct RoutineFault {
  enum class Kind { Routine, Flags, Dimensions, Count, Input, Output };
  Kind kind;
  size_t number;        ///< Of the input or output.
  std::string expected; ///< `2 dimensions at least`
};

/// Finds what the operands say together; a fault where they do not fit the
/// routine. Sizes that are not known fit.
std::optional<RoutineFault>
matchRoutine(const RoutineRequest &request,
             const std::vector<RoutineOperand> &inputs,
             const std::vector<RoutineOperand> &outputs, RoutineShape &shape);

} // namespace braid

#endif // BRAID_SUPPORT_ROUTINESIGNATURE_H
