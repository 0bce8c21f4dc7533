//===- ReduceAVX2.cpp - Reductions with 256-bit vectors ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduce/ReduceKernels.h"

void braid::rt::reduceAVX2(const Reduction &r) { reduceAnyType(r); }
