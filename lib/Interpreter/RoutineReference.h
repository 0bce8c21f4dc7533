//===- RoutineReference.h - Routines of libraries, plainly ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_INTERPRETER_ROUTINEREFERENCE_H
#define BRAID_LIB_INTERPRETER_ROUTINEREFERENCE_H

#include "braid/Support/RoutineSignature.h"

#include <complex>
#include <vector>

namespace braid::interpreter {

/// The elements of one matrix, or array, of an operand. Integers are whole
/// numbers.
using RoutineElements = std::vector<std::complex<double>>;

/// A routine on one matrix, or array, in the plainest algorithm that gives
/// LAPACK's values.
struct RoutineOnce {
  RoutineRequest request;
  RoutineShape shape;
  /// The sizes of a transform of real or complex numbers.
  std::vector<int64_t> sizes;
  std::vector<RoutineElements> inputs, outputs;

  /// Computes the outputs, which have their contents before. False for a
  /// routine that has no such algorithm.
  bool run();
};

} // namespace braid::interpreter

#endif // BRAID_LIB_INTERPRETER_ROUTINEREFERENCE_H
