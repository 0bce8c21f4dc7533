//===- HoldMultiprocessors.cpp - Multiprocessors without work -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/HoldMultiprocessors.h"
#include "Base/Error.h"
#include "Operations/Messages.h"

#include <algorithm>

using namespace braid::rt;
using namespace braid::rt::cuda;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// Each block writes the time of its begin, and its first thread sleeps until
// its time is over; the other threads wait for the first one. A block ends by
// itself, whatever the host does. It never looks at memory of the host: four
// blocks that do so make all other kernels 2 to 7 times slower.
#define BODY                                                                   \
  "{\n"                                                                        \
  "  .reg .pred %p<3>;\n"                                                      \
  "  .reg .b32 %r<3>;\n"                                                       \
  "  .reg .b64 %d<7>;\n"                                                       \
  "  mov.u32 %r1, %tid.x;\n"                                                   \
  "  setp.ne.u32 %p1, %r1, 0;\n"                                               \
  "  @%p1 bra over;\n"                                                         \
  "  mov.u64 %d1, %globaltimer;\n"                                             \
  "  ld.param.u64 %d2, [begins];\n"                                            \
  "  cvta.to.global.u64 %d2, %d2;\n"                                           \
  "  mov.u32 %r2, %ctaid.x;\n"                                                 \
  "  mad.wide.u32 %d3, %r2, 8, %d2;\n"                                         \
  "  st.volatile.global.u64 [%d3], %d1;\n"                                     \
  "  ld.param.u64 %d4, [ns];\n"                                                \
  "  add.u64 %d5, %d1, %d4;\n"                                                 \
  "sleep:\n"                                                                   \
  "  nanosleep.u32 1000;\n"                                                    \
  "  mov.u64 %d6, %globaltimer;\n"                                             \
  "  setp.lt.u64 %p2, %d6, %d5;\n"                                             \
  "  @%p2 bra sleep;\n"                                                        \
  "over:\n"                                                                    \
  "  bar.sync 0;\n"                                                            \
  "  ret;\n"                                                                   \
  "}\n"

static constexpr const char *ptx =
    ".version 7.8\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry braid_hold_single(.param .u64 begins, .param .u64 ns)\n"
    ".maxntid 512, 1, 1\n" BODY
    ".visible .entry braid_hold_pair(.param .u64 begins, .param .u64 ns)\n"
    ".explicitcluster\n"
    ".reqnctapercluster 2, 1, 1\n"
    ".maxntid 512, 1, 1\n" BODY;
#undef BODY

static constexpr unsigned threads = 512;

void HeldMultiprocessors::open() {
  if (ended)
    return;
  if (!module)
    gpu.driver.check(
        gpu.driver.moduleLoadDataEx(&module, ptx, 0, nullptr, nullptr),
        "cuModuleLoadDataEx of the kernels that hold multiprocessors");
  sharedBytes = gpu.attribute(DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  for (auto [kernel, name] : {std::pair(&single, "braid_hold_single"),
                              std::pair(&pair, "braid_hold_pair")}) {
    gpu.driver.check(gpu.driver.moduleGetFunction(kernel, module, name),
                     "cuModuleGetFunction");
    // Loading a kernel at its first launch may wait for running work.
    gpu.driver.check(gpu.driver.funcLoad(*kernel), "cuFuncLoad");
    gpu.driver.check(
        gpu.driver.funcSetAttribute(
            *kernel, FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES, sharedBytes),
        "cuFuncSetAttribute of the limit of dynamic shared memory");
  }
  if (!begins)
    begins = memory.allocatePrivate(2 * beginBytes(),
                                    "the begins of blocks that hold");
  if (!stream)
    stream = gpu.driver.createStream(StreamPriority::Highest);
  gpu.driver.check(gpu.driver.eventCreate(&ended, EVENT_NO_TIMING),
                   "cuEventCreate");
}

/// Ignores errors, which the caller cannot handle.
HeldMultiprocessors::~HeldMultiprocessors() {
  if (ended)
    gpu.driver.eventDestroy(ended);
  // The blocks end by themselves. Freeing their memory waits for them.
  if (stream)
    gpu.driver.streamDestroy(stream);
  if (begins)
    gpu.driver.memFree(begins);
  if (module)
    gpu.driver.moduleUnload(module);
}

//===----------------------------------------------------------------------===//
// Begins
//===----------------------------------------------------------------------===//

int64_t HeldMultiprocessors::beginBytes() const {
  return int64_t(gpu.multiprocessors) * static_cast<int64_t>(sizeof(uint64_t));
}

DevicePointer HeldMultiprocessors::beginsOfPairs() const {
  return begins + static_cast<DevicePointer>(beginBytes());
}

std::vector<uint64_t> HeldMultiprocessors::readBegins(DevicePointer from,
                                                      int64_t count) const {
  std::vector<uint64_t> read(static_cast<size_t>(count));
  memory.toHost(read.data(), from,
                count * static_cast<int64_t>(sizeof(uint64_t)));
  return read;
}

//===----------------------------------------------------------------------===//
// Holding
//===----------------------------------------------------------------------===//

void HeldMultiprocessors::launch(Function kernel, int64_t blocks,
                                 DevicePointer to, int64_t ns,
                                 Stream on) const {
  auto duration = static_cast<uint64_t>(ns);
  void *arguments[] = {&to, &duration};
  gpu.driver.check(
      gpu.driver.launchKernel(kernel, static_cast<unsigned>(blocks), 1, 1,
                              threads, 1, 1, static_cast<unsigned>(sharedBytes),
                              on, arguments, nullptr),
      "cuLaunchKernel of a kernel that holds multiprocessors");
}

/// How long blocks hold, and pairs beside them.
static constexpr int64_t holdNs = 5000000, pairNs = 1000000;

void HeldMultiprocessors::awaitEnd() const {
  gpu.waitOnHost(ended, stream, "holding multiprocessors");
}

void HeldMultiprocessors::hold(int64_t blocks) {
  awaitEnd();
  const std::vector<uint64_t> none(2 * size_t(gpu.multiprocessors));
  memory.toDevice(begins, none.data(), 2 * beginBytes());
  launch(single, blocks, begins, holdNs, stream);
  gpu.driver.check(gpu.driver.eventRecord(ended, stream), "cuEventRecord");
  constexpr int64_t timeoutNs = int64_t(1000) * 1000 * 1000;
  for (int64_t began = monotonicNs();;) {
    std::vector<uint64_t> times = readBegins(begins, blocks);
    if (std::count(times.begin(), times.end(), 0) == 0)
      return;
    if (monotonicNs() - began > timeoutNs)
      throw Error(gpu.name + " has not begun to hold " +
                  std::to_string(blocks) + " multiprocessors after 1 s");
  }
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// None if the blocks that hold have not begun first, or have ended too early.
std::optional<int64_t> HeldMultiprocessors::tryPairs(int64_t blocks) {
  hold(blocks);
  int64_t pairBlocks = gpu.multiprocessors / 2 * 2;
  launch(pair, pairBlocks, beginsOfPairs(), pairNs, gpu.ordered());
  gpu.synchronize("pairs of blocks");
  awaitEnd();
  std::vector<uint64_t> held = readBegins(begins, blocks),
                        pairs = readBegins(beginsOfPairs(), pairBlocks);
  uint64_t firstPair = *std::min_element(pairs.begin(), pairs.end());
  // Blocks that find no multiprocessor begin when the first blocks end.
  uint64_t limit = firstPair + pairNs / 2;
  uint64_t firstEnd = *std::min_element(held.begin(), held.end()) + holdNs;
  if (*std::max_element(held.begin(), held.end()) >= firstPair ||
      limit > firstEnd)
    return std::nullopt;
  int64_t placed = std::count_if(pairs.begin(), pairs.end(),
                                 [&](uint64_t begin) { return begin < limit; });
  return std::max(blocks, gpu.multiprocessors - placed);
}

int64_t HeldMultiprocessors::measureTakenFromPairs(int64_t blocks) {
  constexpr int32_t clusters = 90; // compute capability 9.0
  if (gpu.capability < clusters || blocks < 1 || blocks > gpu.multiprocessors)
    return 0;
  int64_t most = 0;
  try {
    open();
    // Where single blocks go may differ from time to time.
    constexpr int tries = 3;
    for (int i = 0; i < tries; ++i)
      most = std::max(most, tryPairs(blocks).value_or(0));
  } catch (const Error &) {
    return 0;
  }
  return most;
}
