//===- IterationCount.cpp - How often a counted loop runs -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/IterationCount.h"

#include "llvm/ADT/APInt.h"

using namespace braid;
using llvm::APInt;

std::optional<uint64_t> braid::countIterations(const APInt &lower,
                                               const APInt &upper,
                                               const APInt &step,
                                               bool isUnsigned) {
  if (isUnsigned ? lower.uge(upper) : lower.sge(upper))
    return 0;
  if (isUnsigned ? step.isZero() : step.isNonPositive())
    return std::nullopt;
  // The distance may exceed the largest signed number, but not the width.
  APInt distance = upper - lower;
  return ((distance - 1).udiv(step) + 1).getLimitedValue();
}
