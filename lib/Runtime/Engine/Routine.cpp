//===- Routine.cpp - A call of a library routine --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Routine.h"

#include <functional>
#include <numeric>

using namespace braid::rt;

int64_t braid::rt::countElements(const braid_rt_view &view,
                                 int64_t dimensions) {
  return std::accumulate(view.sizes + view.rank - dimensions,
                         view.sizes + view.rank, int64_t(1),
                         std::multiplies<>());
}

int64_t braid::rt::countBytes(const braid_rt_view &view) {
  return countElements(view, view.rank) * braid_rt_dtype_size(view.dtype);
}

const char *RoutineCall::name() const {
  return getRoutineTraits(routine)->name;
}

braid::RoutinePlace RoutineCall::place() const {
  return getRoutineTraits(routine)->place;
}

size_t RoutineCall::flagPosition(size_t index) const {
  std::string_view choices = getRoutineTraits(routine)->flags;
  for (size_t i = 0; i != index; ++i)
    choices.remove_prefix(choices.find(' ') + 1);
  return choices.find(flags[index]);
}

int64_t RoutineCall::batch() const {
  return std::accumulate(shape.batch.begin(), shape.batch.end(), int64_t(1),
                         std::multiplies<>());
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

std::vector<int64_t> RoutineCall::transformSizes() const {
  const braid_rt_view &whole = givesRealNumbers() ? outputs[0] : inputs[0];
  const int64_t *end = whole.sizes + whole.rank;
  return {end - dimensions, end};
}
