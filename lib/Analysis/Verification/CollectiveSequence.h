//===- CollectiveSequence.h - What all ranks do alike -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_COLLECTIVESEQUENCE_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_COLLECTIVESEQUENCE_H

#include "Analysis/Verification/Values/RankTrace.h"
#include "Findings.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace braid {

/// True if both have the same elements, as far as static sizes tell; the same
/// number of elements with `onlyCount`.
bool haveSameData(mlir::Type a, mlir::Type b, bool onlyCount);

/// The operations of all ranks on one path, matched with each other.
class CollectiveMatching {
public:
  /// One operation of one rank.
  struct Member {
    unsigned rank;
    unsigned operation;
  };
  /// Operations that meet: the same collective of all members of a
  /// communicator, or a send and its receive.
  using Match = llvm::SmallVector<Member, 4>;

  /// `traces` has the trace of each rank.
  CollectiveMatching(llvm::ArrayRef<const RankTrace *> traces,
                     Findings &findings)
      : traces(traces), findings(findings) {}

  /// Matches all operations. Adds a finding where operations that meet differ,
  /// where one has no counterpart, and where a rank has no communicator or
  /// peer; returns false if there is one.
  bool match();

  /// The number of the match of an operation.
  unsigned getMatch(unsigned rank, unsigned operation) const {
    return matchOf[rank][operation];
  }
  llvm::ArrayRef<Match> getMatches() const { return matches; }

private:
  /// The operations of one communicator: a list of a group and a lane of it.
  struct Communicator {
    llvm::SmallVector<int64_t> members;
    std::vector<std::vector<unsigned>> operations;
  };
  bool collect();
  bool matchCommunicator(const Communicator &communicator);
  /// Compares the parts that members of `matched` send with those that others
  /// receive.
  bool matchSplits(const Match &matched);
  bool matchMessages();
  bool reportDifference(Member a, Member b, unsigned position);
  bool reportMissing(Member a, unsigned other, unsigned position);
  const StartedOperation &get(Member member) const {
    return traces[member.rank]->operations[member.operation];
  }

  llvm::ArrayRef<const RankTrace *> traces;
  Findings &findings;
  std::vector<Communicator> communicators;
  /// Group, first member, sender and receiver of each message.
  using Route = std::tuple<const void *, int64_t, int64_t, int64_t>;
  struct Messages {
    std::vector<Member> sends, receives;
  };
  std::vector<std::pair<Route, Messages>> messages;
  std::vector<std::vector<unsigned>> matchOf;
  std::vector<Match> matches;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_COLLECTIVESEQUENCE_H
