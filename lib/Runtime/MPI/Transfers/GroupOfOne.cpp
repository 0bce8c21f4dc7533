//===- GroupOfOne.cpp - Operations in a group of one ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Transfer.h"
#include "Reduce/Reduce.h"

#include <cstring>

using namespace braid::rt;

void braid::rt::runAlone(const Operation &operation) {
  for (const Operand &operand : operation.operands) {
    int64_t bytes = operand.sourceBytes();
    if (bytes == 0)
      continue;
    char *destination = operand.destination;
    if (operation.isReduction()) {
      const unsigned char *scale = operation.scale;
      reduce({operand.dtype, operation.reduction,
              bytes / operand.elementBytes(), 1, &operand.source, &scale, 1,
              &destination, false});
    } else if (operation.traits().flow == BRAID_RT_FLOW_PAIRS &&
               operation.pairs.empty()) {
      std::memset(destination, 0, static_cast<size_t>(bytes));
    } else {
      copyBytes(destination, operand.source, bytes, false);
    }
  }
}
