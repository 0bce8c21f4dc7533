//===- Parallel.h - Loops over large tensors --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_COMMON_PARALLEL_H
#define BRAID_TOOLS_BRAID_RUN_COMMON_PARALLEL_H

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace braid::run {

/// Calls body(begin, end) for pieces of [0, count), on as many threads as the
/// host has cores. The body does not throw.
template <typename Body> void forEachPiece(int64_t count, Body body) {
  constexpr int64_t least = 1
                            << 18; // Below, a thread costs more than it saves.
  int64_t pieces = std::clamp<int64_t>(
      count / least, 1,
      std::max<int64_t>(1, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < pieces; ++i)
    threads.emplace_back(body, count * i / pieces, count * (i + 1) / pieces);
  body(0, count / pieces);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_COMMON_PARALLEL_H
