//===- Trials.cpp - Short trials of what libraries propose ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Trials.h"
#include "Base/Error.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The rounds in which all candidates run in turn. A GPU that works for more
/// than some 40 ms reaches its power limit and slows down, so each round is
/// followed by a rest: otherwise the candidates that come first would win.
static constexpr int rounds = 4;

/// A rest, in multiples of the round before it, and at most.
static constexpr float restPerRound = 3, mostRestMs = 100;

/// How long a candidate runs at a time: longer than what an event takes.
static constexpr float turnMs = 0.3F;
static constexpr int mostRunsPerTurn = 10;

/// Candidates that take this many times as long as the fastest one in two
/// single runs have no turn in the rounds.
static constexpr float hopeless = 3;
static constexpr int singleRuns = 2;

Scratch::Scratch(const Driver &driver, Stream stream, int64_t bytes)
    : driver(driver), stream(stream) {
  if (driver.memAllocAsync(&address, static_cast<size_t>(bytes), stream) !=
      SUCCESS)
    address = 0;
}

Scratch::~Scratch() {
  if (address)
    driver.memFreeAsync(address, stream);
}

Trials::~Trials() {
  for (Event event : {begin, end})
    if (event)
      gpu.driver.eventDestroy(event);
  if (measuring)
    gpu.driver.streamDestroy(measuring);
}

void Trials::open() {
  if (!measuring)
    measuring = gpu.driver.createStream(StreamPriority::Lowest);
  for (Event *event : {&begin, &end})
    if (!*event)
      gpu.driver.call(gpu.driver.eventCreate, event, EVENT_TIMING);
}

/// Numbers of `dtype` from -1 to 1 whose mantissas and signs are random: as
/// with the data of programs, the power that they take depends on the
/// algorithm.
static std::vector<uint64_t> makeOperandData(int32_t dtype) {
  uint64_t exponent = 0, half = 0;
  switch (dtype) {
  case BRAID_RT_F16:
    exponent = 0x7c007c007c007c00, half = 0x3800380038003800;
    break;
  case BRAID_RT_BF16:
    exponent = 0x7f807f807f807f80, half = 0x3f003f003f003f00;
    break;
  case BRAID_RT_F8E4M3FN:
    exponent = 0x7878787878787878, half = 0x3030303030303030;
    break;
  case BRAID_RT_F64:
  case BRAID_RT_COMPLEX_F64:
    exponent = 0x7ff0000000000000, half = 0x3fe0000000000000;
    break;
  default: // F32, COMPLEX_F32
    exponent = 0x7f8000007f800000, half = 0x3f0000003f000000;
  }
  constexpr size_t words = size_t(1) << 17;
  std::vector<uint64_t> data(words);
  std::mt19937_64 random(1);
  for (uint64_t &word : data)
    word = (random() & ~exponent) | half;
  return data;
}

void Trials::fill(DevicePointer memory, int64_t bytes, int32_t dtype) {
  std::vector<uint64_t> data = makeOperandData(dtype);
  auto done = std::min<int64_t>(
      bytes, static_cast<int64_t>(data.size() * sizeof(uint64_t)));
  gpu.driver.call(gpu.driver.memcpyHtoDAsync, memory, data.data(),
                  static_cast<size_t>(done), measuring);
  for (int64_t size; done < bytes; done += size) {
    size = std::min(done, bytes - done);
    gpu.driver.call(gpu.driver.memcpyDtoDAsync,
                    memory + static_cast<DevicePointer>(done), memory,
                    static_cast<size_t>(size), measuring);
  }
  // The copy from the host may read its data until the stream is done.
  gpu.driver.call(gpu.driver.eventRecord, end, measuring);
  gpu.waitOnHost(end, measuring, "the operands of a trial");
}

/// The milliseconds of `runs` runs of a candidate.
float Trials::time(size_t candidate, const std::function<void(size_t)> &run,
                   int runs) {
  gpu.driver.call(gpu.driver.eventRecord, begin, measuring);
  for (int i = 0; i < runs; ++i)
    run(candidate);
  gpu.driver.call(gpu.driver.eventRecord, end, measuring);
  gpu.waitOnHost(end, measuring, "the choice of an algorithm");
  float milliseconds = 0;
  gpu.driver.call(gpu.driver.eventElapsedTime, &milliseconds, begin, end);
  return milliseconds;
}

std::vector<float> Trials::timeAll(size_t count,
                                   const std::function<void(size_t)> &run) {
  std::vector<float> times(count, std::numeric_limits<float>::max());
  // Work of the program would disturb the trial. It may wait for an operation
  // that another rank has yet to start, so the wait is short.
  gpu.settle(gpu.stream, int64_t(200) * 1000 * 1000);
  std::vector<size_t> running;
  for (size_t i = 0; i < count; ++i) {
    try {
      run(i); // The first run loads the kernel.
    } catch (const Error &) {
      continue;
    }
    running.push_back(i);
  }
  if (running.empty())
    return times;
  for (size_t i : running)
    for (int turn = 0; turn < singleRuns; ++turn)
      times[i] = std::min(times[i], time(i, run, 1));
  float fastest = *std::min_element(times.begin(), times.end());
  running.erase(
      std::remove_if(running.begin(), running.end(),
                     [&](size_t i) { return times[i] > hopeless * fastest; }),
      running.end());
  int runs = fastest * mostRunsPerTurn <= turnMs
                 ? mostRunsPerTurn
                 : std::max(1, static_cast<int>(turnMs / fastest));
  for (int round = 0; round < rounds; ++round) {
    float roundMs = 0;
    for (size_t i : running) {
      float taken = time(i, run, runs);
      times[i] = std::min(times[i], taken / static_cast<float>(runs));
      roundMs += taken;
    }
    std::this_thread::sleep_for(std::chrono::duration<float, std::milli>(
        std::min(restPerRound * roundMs, mostRestMs)));
  }
  return times;
}

size_t Trials::findFastest(const std::vector<float> &times) {
  size_t best = 0;
  for (size_t i = 1; i < times.size(); ++i)
    if (times[i] < wanted * times[best])
      best = i;
  return best;
}
