//===- RunVotes.cpp - Agreement before each invocation --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/RunVotes.h"
#include "Base/Environment.h"
#include "CUDA/Processes/Introduction.h"

#include <chrono>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

static uint64_t pack(uint32_t high, uint32_t low) {
  return static_cast<uint64_t>(high) << 32 | low;
}

static uint32_t highOf(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}

static uint32_t lowOf(uint64_t word) { return static_cast<uint32_t>(word); }

bool RunVotes::map(int flags) {
  int file = shm_open(memoryName.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  if (file < 0)
    return false;
  // Memory that is not there would end the process at its first use.
  bool isThere = (flags & O_CREAT) == 0 ||
                 posix_fallocate(file, 0, static_cast<off_t>(bytes())) == 0;
  void *mapped = isThere ? mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                                MAP_SHARED, file, 0)
                         : MAP_FAILED;
  close(file);
  if (mapped == MAP_FAILED)
    return false;
  // New memory is zero.
  words = static_cast<Word *>(mapped);
  return true;
}

std::unique_ptr<RunVotes> RunVotes::create(int32_t ranks) {
  std::unique_ptr<RunVotes> votes(
      new RunVotes("/braid-" + toHex(drawNonce()), 0, ranks));
  return votes->map(O_CREAT | O_EXCL) ? std::move(votes) : nullptr;
}

std::unique_ptr<RunVotes> RunVotes::open(const std::string &name, int32_t rank,
                                         int32_t ranks) {
  std::unique_ptr<RunVotes> votes(new RunVotes(name, rank, ranks));
  bool isOpen = votes->map(0);
  // Who has made it removes it.
  votes->memoryName.clear();
  return isOpen ? std::move(votes) : nullptr;
}

void RunVotes::hide() {
  if (!memoryName.empty())
    shm_unlink(memoryName.c_str());
  memoryName.clear();
}

RunVotes::~RunVotes() {
  hide();
  if (words)
    munmap(words, bytes());
}

void RunVotes::reset() {
  invocations = {};
  for (size_t entry = 0; entry < mostEntries; ++entry) {
    if (rank == 0)
      settled(entry) = 0;
    for (uint32_t place = 0; place < kept; ++place)
      ballot(entry, place, rank) = 0;
  }
}

bool RunVotes::areAllHere(size_t entry, uint32_t invocation) const {
  for (size_t i = 0; i < ranks; ++i)
    if (highOf(ballot(entry, invocation, i)) != invocation)
      return false;
  return true;
}

std::vector<uint64_t> RunVotes::vote(size_t entry, uint32_t arguments,
                                     const std::function<bool()> &isOver,
                                     int64_t patienceNs) {
  constexpr int64_t briefNs = 1000 * 1000;
  const uint32_t own = ++invocations[entry];
  const int64_t beganNs = monotonicNs();
  Word &word = settled(entry);
  for (bool hasVoted = false; !isOver();) {
    uint64_t present = word.load();
    uint32_t together = highOf(present), last = lowOf(present);
    if (hasVoted && together == own) {
      // Nobody gets so far ahead that it writes there again.
      std::vector<uint64_t> all;
      for (size_t i = 0; i < ranks; ++i)
        all.push_back(lowOf(ballot(entry, own, i)));
      return all;
    }
    if (last >= own || last - together >= mostMissed)
      break;
    if (!hasVoted)
      ballot(entry, own, rank) = pack(own, arguments);
    hasVoted = true;
    int64_t waitedNs = monotonicNs() - beganNs;
    if (areAllHere(entry, own))
      word.compare_exchange_strong(present, pack(own, own));
    else if (waitedNs > patienceNs)
      word.compare_exchange_strong(present, pack(together, own));
    else if (waitedNs < briefNs)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return {};
}
