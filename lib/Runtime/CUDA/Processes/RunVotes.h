//===- RunVotes.h - Agreement before each invocation ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_RUNVOTES_H
#define BRAID_RUNTIME_CUDA_PROCESSES_RUNVOTES_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// Shared memory in which the processes of one host exchange the numbers of
/// their arguments before each invocation. Either all processes get the numbers
/// of all, or none does.
///
/// A rank may run an entry that other ranks do not run. A vote that some ranks
/// do not join in time fails for all, later ranks included. After `mostMissed`
/// such votes in a row no rank waits any more.
class RunVotes {
public:
  ~RunVotes();
  RunVotes(const RunVotes &) = delete;
  RunVotes &operator=(const RunVotes &) = delete;

  /// Makes the memory for so many ranks, and opens it for rank 0. Null if this
  /// host has no memory to share.
  static std::unique_ptr<RunVotes> create(int32_t ranks);
  /// Opens the memory `name` for another rank; null if it is not on this host.
  static std::unique_ptr<RunVotes> open(const std::string &name, int32_t rank,
                                        int32_t ranks);

  /// Where others find the memory until `hide` is called.
  const std::string &name() const { return memoryName; }
  void hide();

  /// Begins from the start. All ranks call this before any of them votes again.
  void reset();

  /// Says that this rank begins an invocation of entry number `entry` with its
  /// arguments number `arguments`. Waits for the others, at most `patienceNs`
  /// and until `isOver`. Returns the numbers of all ranks; empty if not all
  /// come.
  std::vector<uint64_t> vote(size_t entry, uint32_t arguments,
                             const std::function<bool()> &isOver,
                             int64_t patienceNs = 500 * 1000 * 1000);

  static constexpr size_t mostEntries = 16;
  /// After so many invocations without all ranks nobody waits.
  static constexpr uint32_t mostMissed = 4;

private:
  using Word = std::atomic<uint64_t>;
  static_assert(Word::is_always_lock_free);
  /// More than the invocations that a rank can be ahead of a slow reader.
  static constexpr uint32_t kept = 2 * mostMissed;

  RunVotes(std::string name, int32_t rank, int32_t ranks)
      : memoryName(std::move(name)), rank(static_cast<size_t>(rank)),
        ranks(static_cast<size_t>(ranks)) {}

  bool map(int flags);
  size_t bytes() const {
    return mostEntries * (1 + kept * ranks) * sizeof(Word);
  }
  /// The last invocation that all ranks have begun together, and the last one
  /// for which that is settled.
  Word &settled(size_t entry) const {
    return words[entry * (1 + kept * ranks)];
  }
  /// What a rank says for an invocation: its number, and the arguments'.
  Word &ballot(size_t entry, uint32_t invocation, size_t ofRank) const {
    return (&settled(entry))[1 + invocation % kept * ranks + ofRank];
  }
  bool areAllHere(size_t entry, uint32_t invocation) const;

  std::string memoryName; ///< Empty if it has none, or none of this object's.
  const size_t rank, ranks;
  Word *words = nullptr;
  /// Invocations of each entry.
  std::array<uint32_t, mostEntries> invocations = {};
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_RUNVOTES_H
