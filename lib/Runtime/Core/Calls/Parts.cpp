//===- Parts.cpp - Loops on the threads of a rank ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid-rt/Parts.h"
#include "Core/Context.h"

#include <algorithm>

using namespace braid::rt;

void braid_rt_run_parts(braid_rt_part part, const void *arguments, int64_t size,
                        int64_t partSize) {
  leaveOnError([&](Context &context) {
    context.device.runParts(
        (size + partSize - 1) / partSize, [&](int64_t number) {
          int64_t begin = number * partSize;
          part(arguments, begin, std::min(size, begin + partSize));
        });
  });
}
