//===- Hold.cpp - Blocks that hold multiprocessors of the fake CUDA driver ===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's two kernels whose blocks write when they begin. The fake chip
// has 132 multiprocessors. Of its single blocks, each eight take the same eight
// multiprocessors from pairs as one of them does. The times are those of a
// clock that only these kernels advance, so that no test depends on the host's.
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <algorithm>
#include <cstring>

using namespace fakecuda;

static uint64_t readArgument(void **arguments, int index) {
  uint64_t value = 0;
  std::memcpy(&value, arguments[index], sizeof(value));
  return value;
}

void fakecuda::beginHolding(const std::string &kernel, int device,
                            unsigned blocks, void **arguments) {
  bool isPair = kernel == "braid_hold_pair";
  if (!isPair && kernel != "braid_hold_single")
    return;
  uint64_t begins = readArgument(arguments, 0), ns = readArgument(arguments, 1);
  checkMemory("kernel " + kernel, device, begins, blocks * sizeof(uint64_t));
  HeldBlocks &held = state().held[device];
  held.clockNs += 1000;
  constexpr unsigned multiprocessors = 132, eight = 8;
  unsigned taken = (held.blocks + eight - 1) / eight * eight;
  for (unsigned block = 0; block < blocks; ++block) {
    bool waits = isPair && block >= multiprocessors - taken;
    uint64_t begin = held.clockNs + (waits ? ns : 0);
    std::memcpy(reinterpret_cast<char *>(begins) + block * sizeof(begin),
                &begin, sizeof(begin));
  }
  if (!isPair)
    held.blocks = blocks;
}
