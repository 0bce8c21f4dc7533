//===- BeamSearch.h - Several orders side by side ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds orders from the beginning, node by node, and goes on from the most
// promising of all that have the same number of nodes. A list schedule decides
// once; this decides by what comes of it.
//
// States are those of `WindowSearch.h`, over the whole graph. What may come
// next is what list rules would choose between: on the stream, what is most
// urgent, what leads to a start the soonest, what fits before the next
// operation ends, or that end itself; on a lane that would stand still during
// that, the most urgent start and the first of the program, or none if another
// one is about to be ready.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_BEAMSEARCH_H
#define BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_BEAMSEARCH_H

#include "Schedule/Model/LimitTracker.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace braid {

/// How a beam search ranks states. The first state is the one with the earliest
/// possible end: by its remaining work, by the tails of `getTails` unless
/// others are given, and by a fraction of the end that `priorities` predict.
struct BeamGuide {
  /// By node: about the nanoseconds from its beginning to the end. The next
  /// node is the one with the highest value.
  llvm::ArrayRef<int64_t> priorities;
  /// The divisor of the end that `priorities` predict.
  int64_t divisor = 32;
  bool countsTails = true;
};

/// Searches one problem; reuses its memory.
class BeamSearch {
public:
  explicit BeamSearch(const FlatProblem &flat);

  /// Builds the best order that the `width` best states of each number of nodes
  /// lead to. Keeps all limits; false if they lead to none.
  bool search(const BeamGuide &guide, unsigned width, ScheduleOrder &order);

  uint64_t getSteps() const { return steps; }
  /// About the steps that a search takes for each state that it keeps of each
  /// number of nodes.
  uint64_t getStepsPerWidth() const;

private:
  struct Lane {
    /// The time at which it is free, and its remaining work.
    int64_t freeNs = 0, leftNs = 0;
    /// Ready starts, the most urgent first.
    llvm::SmallVector<unsigned, 4> ready;
  };
  struct State {
    std::vector<uint64_t> placed;
    uint64_t hash = 0;
    int64_t streamNs = 0, streamLeftNs = 0, liveBytes = 0;
    std::vector<Lane> lanes;
    /// Starts without a wait so far, and their ends.
    std::vector<std::pair<unsigned, int64_t>> inFlight;
    /// Ready nodes of the stream, the most urgent first: those that await
    /// something or take no time, and the others.
    std::vector<unsigned> pending, compute;
    unsigned trace = 0;

    bool has(unsigned node) const { return placed[node / 64] >> node % 64 & 1; }
  };
  /// A state of the next layer that is not built yet.
  struct Candidate {
    unsigned parent, node;
    int64_t value;
    uint64_t hash;
  };
  /// The latest end of any chain by one of the two measures of a guide.
  struct Chains {
    std::vector<int64_t> tails;
    /// Of each start: from the end of its operation.
    std::vector<int64_t> endTails;
    // Of one state: the two nodes with the longest tails that are ready on the
    // stream, and what operations in flight let expect.
    unsigned longest = 0, second = 0;
    int64_t inFlightNs = 0;
  };

  void prepare();
  void addReady(State &state, unsigned node) const;
  int64_t getRelease(const State &state, unsigned node) const;
  bool isReadyWith(const State &state, unsigned node, unsigned placed) const;
  bool fits(const State &state, unsigned node) const;
  void enter(const State &state, Chains &chains) const;
  int64_t getEnd(const State &state, unsigned node, int64_t streamNs,
                 const Chains &chains) const;
  void addCandidate(unsigned parent, unsigned node);
  void expand(unsigned parent);
  using Choice = llvm::SmallVector<unsigned, 8>;
  void choose(unsigned node, Choice &chosen) const;
  void chooseCompute(const State &state, int64_t releaseNs,
                     Choice &chosen) const;
  int64_t addStreamCandidates(unsigned parent, Choice &chosen,
                              unsigned released, int64_t releaseNs);
  void addLaneCandidates(unsigned parent, int64_t lastNs);
  bool mayHold(const State &state, unsigned lane, unsigned next,
               int64_t releaseNs, unsigned released) const;
  void place(State &state, unsigned node);
  bool isDominated(const State &state, const State &other) const;
  unsigned select(unsigned width);

  const FlatProblem &flat;
  /// Enters a state for each question.
  mutable LimitTracker limits;
  BeamGuide guide;
  uint64_t steps = 0;
  int64_t meanNs = 0;
  std::vector<int64_t> nearestNs;
  std::vector<unsigned> startAhead;
  std::vector<uint64_t> hashes;
  /// Of each lane the least from the end of an operation to the end.
  std::vector<int64_t> laneTailNs;
  Chains tails, priorities;
  /// The first `numStates` of each are in use.
  std::vector<State> current, next;
  unsigned numStates = 0;
  std::vector<Candidate> candidates;
  llvm::DenseMap<uint64_t, llvm::SmallVector<unsigned, 4>> statesOfSet;
  /// By state that was ever kept: the one before, and its last node.
  std::vector<std::pair<unsigned, unsigned>> traces;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_BEAMSEARCH_H
