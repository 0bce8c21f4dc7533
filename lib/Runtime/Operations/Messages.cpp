//===- Messages.cpp - Texts about operations and ranks --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations/Messages.h"
#include "Base/Error.h"
#include "Base/TextSink.h"

using namespace braid::rt;

void braid::rt::printOperation(TextSink &text, const Operation &operation) {
  operation.printSignature(text);
  if (operation.site.file || operation.site.label) {
    text << " at ";
    printSite(text, operation.site);
  }
}

std::string braid::rt::describeOperation(const Operation &operation) {
  StringSink sink;
  printOperation(sink, operation);
  return sink.text;
}

std::string braid::rt::describeLane(const CommunicatorSpec &spec,
                                    const Operation &operation) {
  return spec.name + (spec.lane.name.empty() ? "" : " " + spec.lane.name) +
         (operation.isPointToPoint() ? " p2p" : "");
}

std::string braid::rt::describeCommunicator(const CommunicatorSpec &spec) {
  return "communicator of group @" + spec.name +
         (spec.lane.name.empty() ? "" : ", lane " + spec.lane.name) + " with " +
         std::to_string(spec.size()) + " ranks, the first is " +
         std::to_string(spec.ranks.front());
}

std::string braid::rt::listRanks(const std::vector<int32_t> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i)
      text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

/// `collective number 3`, or `otherwise` for a message.
static std::string describeNumber(const Match &match, const char *otherwise) {
  return match.isMessage
             ? std::string(otherwise)
             : "collective number " + std::to_string(match.sequence);
}

/// `collective number 3 of group @tp`.
static std::string describeMatch(const Match &match) {
  return describeNumber(match, "its side of the message") + " of group @" +
         match.group;
}

std::string braid::rt::describeWaiting(const std::vector<int32_t> &ranks,
                                       const std::string &operation) {
  return listRanks(ranks) + (ranks.size() == 1 ? " waits" : " wait") + " for " +
         operation;
}

std::string braid::rt::describeMissing(const std::vector<int32_t> &ranks,
                                       const Match &match) {
  return listRanks(ranks) + (ranks.size() == 1 ? " has" : " have") +
         " not started " + describeMatch(match);
}

std::string braid::rt::describeDeparted(int32_t rank, const Match &match) {
  return "rank " + std::to_string(rank) +
         " has ended its program without starting " + describeMatch(match);
}

std::string braid::rt::describeDisagreement(
    const Match &match, int32_t firstRank, const std::string &firstOperation,
    int32_t secondRank, const std::string &secondOperation) {
  return "the ranks of group @" + match.group + " disagree in " +
         describeNumber(match, "a message") + ": rank " +
         std::to_string(firstRank) + " runs " + firstOperation + ", rank " +
         std::to_string(secondRank) + " runs " + secondOperation;
}

std::string braid::rt::describeSplitDisagreement(int32_t sender, int64_t sent,
                                                 int32_t receiver,
                                                 int64_t expected) {
  return "; rank " + std::to_string(sender) + " sends " + std::to_string(sent) +
         " rows to rank " + std::to_string(receiver) + ", which expects " +
         std::to_string(expected);
}

std::string braid::rt::describeTimeout(int64_t timeoutNs) {
  return "timed out after " + std::to_string(timeoutNs / 1000000) + " ms: ";
}

std::string
braid::rt::describeDeadlock(const std::map<int32_t, std::string> &operations,
                            int32_t worldSize) {
  std::vector<int32_t> ranks;
  std::string list;
  for (const auto &[rank, operation] : operations) {
    ranks.push_back(rank);
    list += (list.empty() ? ": rank " : ", rank ") + std::to_string(rank) +
            " for " + operation;
  }
  bool isEveryRank = ranks.size() == static_cast<size_t>(worldSize);
  return (isEveryRank ? "every rank waits for another one"
                      : listRanks(ranks) + " wait for each other") +
         list;
}
