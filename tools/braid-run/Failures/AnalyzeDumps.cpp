//===- AnalyzeDumps.cpp - Which rank the others wait for ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis/Status.h"
#include "Failures/Dumps.h"
#include "Operations/Messages.h"

#include <set>
#include <tuple>

using namespace braid::run;
namespace rt = braid::rt;

namespace {
/// An operation, by invocation, queue and number: equal on all its members.
using Key = std::tuple<int64_t, std::string, int64_t>;

/// Finds what ranks wait for.
class Analysis {
public:
  explicit Analysis(const std::map<int32_t, Dump> &dumps) : dumps(dumps) {
    for (const auto &[rank, dump] : dumps)
      for (const DumpEntry &entry : dump.entries)
        started[keyOf(entry)].emplace(rank, &entry);
  }

  std::string describe() {
    describeRanks();
    describeDisagreements();
    describeMissing();
    if (!hasFound)
      text += "no rank is behind another one\n";
    return text;
  }

private:
  enum class Progress { Started, Behind, Unknown };

  /// An operation for which ranks wait, and who has not started it.
  struct Late {
    const DumpEntry *entry = nullptr;
    std::vector<int32_t> waiting, behind, unknown;
  };

  static Key keyOf(const DumpEntry &entry) {
    return {entry.invocation, entry.queue, entry.sequence};
  }
  static rt::Match matchOf(const DumpEntry &entry) {
    return {entry.group, entry.isMessage, entry.sequence};
  }

  void say(const std::string &line) {
    text += line + "\n";
    hasFound = true;
  }

  /// The oldest operation that the rank awaits, if any.
  static const DumpEntry *findAwaited(const Dump &dump) {
    for (const DumpEntry &entry : dump.entries)
      if (entry.state == "awaited")
        return &entry;
    return nullptr;
  }

  static std::string whereabouts(const Dump &dump) {
    if (dump.begun == 0)
      return "has not begun its program";
    bool hasFailed = !dump.error.empty();
    if (const DumpEntry *entry = findAwaited(dump))
      return std::string(hasFailed ? "has failed in its wait for "
                                   : "waits for ") +
             entry->operation + ", " + numberOf(*entry);
    std::string state = hasFailed                  ? "has failed"
                        : dump.begun == dump.ended ? "has ended its program"
                                                   : "runs its program";
    if (dump.entries.empty())
      return state + " and has started no operation";
    const DumpEntry &last = dump.entries.back();
    return state + "; its last operation is " + last.operation + ", " +
           numberOf(last) + " (" + last.state + ")";
  }

  static std::string numberOf(const DumpEntry &entry) {
    return (entry.isMessage ? "message number " : "collective number ") +
           std::to_string(entry.sequence) + " of group @" + entry.group;
  }

  /// The ranks without a dump: numbers, or from 10 on ranges, because a world
  /// may have many more ranks than there are dumps.
  std::string listAbsent(int32_t worldSize) const {
    size_t count = static_cast<size_t>(worldSize) - dumps.size();
    std::vector<int32_t> few;
    std::string ranges;
    int64_t begin = 0;
    auto add = [&](int64_t end) {
      for (int64_t rank = begin; count < 10 && rank < end; ++rank)
        few.push_back(static_cast<int32_t>(rank));
      if (begin < end)
        ranges += (ranges.empty() ? "ranks " : ", ") + std::to_string(begin) +
                  (begin + 1 < end ? " to " + std::to_string(end - 1) : "");
    };
    for (const auto &[rank, dump] : dumps) {
      add(rank);
      begin = int64_t(rank) + 1;
    }
    add(worldSize);
    return count == 0 ? "" : few.empty() ? ranges : rt::listRanks(few);
  }

  void describeRanks() {
    int32_t worldSize = dumps.begin()->second.worldSize;
    text += "dumps of " + std::to_string(dumps.size()) + " of " +
            std::to_string(worldSize) +
            (worldSize == 1 ? " rank\n" : " ranks\n");
    for (const auto &[rank, dump] : dumps) {
      text += "rank " + std::to_string(rank) + " (" + dump.reason +
              "): " + whereabouts(dump) + "\n";
      if (!dump.error.empty())
        text += "  error: " + dump.error + "\n";
    }
    if (std::string absent = listAbsent(worldSize); !absent.empty())
      say("no dump of " + absent + ": a killed process writes none");
  }

  /// Later operations of a queue follow from the first disagreement.
  void describeDisagreements() {
    std::set<std::string> described;
    for (const auto &[key, members] : started) {
      const auto &[firstRank, first] = *members.begin();
      for (const auto &[rank, entry] : members) {
        if (entry->fingerprint == first->fingerprint ||
            !described.insert(entry->queue).second)
          continue;
        say(rt::describeDisagreement(matchOf(*entry), firstRank,
                                     first->operation, rank, entry->operation));
      }
    }
  }

  Progress progressOf(int32_t rank, const DumpEntry &operation) const {
    auto found = dumps.find(rank);
    if (found == dumps.end())
      return Progress::Unknown;
    const Dump &dump = found->second;
    bool usesQueue = false;
    for (const DumpEntry &entry : dump.entries) {
      if (entry.queue != operation.queue)
        continue;
      usesQueue = true;
      if (entry.invocation >= operation.invocation &&
          entry.sequence >= operation.sequence)
        return Progress::Started;
    }
    // The recorder has dropped operations, maybe this one.
    if (!usesQueue && dump.dropped)
      return Progress::Unknown;
    return Progress::Behind;
  }

  std::vector<Late> findLate() const {
    std::vector<Late> all;
    for (const auto &[key, members] : started) {
      Late late;
      for (const auto &[rank, entry] : members)
        if (entry->isOpen()) {
          late.entry = entry;
          late.waiting.push_back(rank);
        }
      if (!late.entry)
        continue;
      for (int32_t member : *late.entry->ranks) {
        Progress progress = progressOf(member, *late.entry);
        if (progress == Progress::Behind)
          late.behind.push_back(member);
        else if (progress == Progress::Unknown)
          late.unknown.push_back(member);
      }
      all.push_back(late);
    }
    return all;
  }

  void describeMissing() {
    rt::WaitingRanks waits;
    std::map<int32_t, std::string> awaited;
    for (const Late &late : findLate()) {
      if (!late.behind.empty())
        say(rt::describeMissing(late.behind, matchOf(*late.entry)) + "; " +
            rt::describeWaiting(late.waiting, late.entry->operation));
      if (!late.unknown.empty())
        say(rt::describeWaiting(late.waiting, late.entry->operation) +
            "; whether " + rt::listRanks(late.unknown) +
            (late.unknown.size() == 1 ? " has" : " have") +
            " started it is not known");
      if (late.behind.empty() && late.unknown.empty())
        say(rt::describeWaiting(late.waiting, late.entry->operation) +
            ", which all have started and which has not ended");
      for (int32_t rank : late.waiting)
        if (findAwaited(dumps.at(rank)) ==
            started.at(keyOf(*late.entry)).at(rank)) {
          waits[rank] = late.behind;
          awaited[rank] = late.entry->operation;
        }
    }
    std::vector<int32_t> stuck = rt::findDeadlocked(waits);
    if (stuck.empty())
      return;
    std::map<int32_t, std::string> operations;
    for (int32_t rank : stuck)
      operations[rank] = awaited[rank];
    say(rt::describeDeadlock(operations, dumps.begin()->second.worldSize));
  }

  const std::map<int32_t, Dump> &dumps;
  std::map<Key, std::map<int32_t, const DumpEntry *>> started;
  std::string text;
  bool hasFound = false;
};
} // namespace

std::string braid::run::analyzeDumps(const std::map<int32_t, Dump> &dumps) {
  return Analysis(dumps).describe();
}
