//===- SolverRoutines.h - LAPACK's routines with cuSOLVER -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_SOLVERROUTINES_H
#define BRAID_RUNTIME_CUDA_DEVICE_SOLVERROUTINES_H

#include "CUDA/Device/LinearAlgebra.h"

namespace braid::rt::cuda {

/// The call of a routine for the matrices of its batch.
struct SolverCall;

/// How cuSOLVER and cuBLAS run a routine.
struct SolverRoutine {
  int32_t routine;
  void (*run)(const SolverCall &call, int64_t number); ///< For one matrix.
  /// For all matrices at once. False if the libraries do not have this.
  bool (*runAll)(const SolverCall &call);
};

/// The routine with this number; null if the libraries do not have it.
const SolverRoutine *findSolverRoutine(int32_t routine);

/// Runs the routine, for all matrices at once if the libraries can.
void runSolverRoutine(const SolverRoutine &routine, const RoutineCall &call,
                      LinearAlgebra &algebra);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_SOLVERROUTINES_H
