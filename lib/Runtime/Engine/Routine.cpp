//===- Routine.cpp - A call of a library routine --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Routine.h"

using namespace braid::rt;

int64_t braid::rt::countBytes(const braid_rt_view &view) {
  int64_t bytes = braid_rt_dtype_size(view.dtype);
  for (int32_t dim = 0; dim != view.rank; ++dim)
    bytes *= view.sizes[dim];
  return bytes;
}

const char *RoutineCall::name() const {
  return getRoutineTraits(routine)->name;
}

int64_t RoutineCall::batch() const {
  int64_t count = 1;
  for (int64_t size : shape.batch)
    count *= size;
  return count;
}

bool RoutineCall::readsOutput(size_t output) const {
  return braid::readsOutput(routine, output);
}

bool RoutineCall::isTransform() const { return braid::isTransform(routine); }

bool RoutineCall::isForward() const {
  return routine == BRAID_RT_ROUTINE_FFT || routine == BRAID_RT_ROUTINE_RFFT;
}

bool RoutineCall::givesRealNumbers() const {
  return braid::givesRealNumbers(routine);
}
