//===- Failures.cpp - Failures of ranks in other processes ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A rank with a long wait asks all other ranks for their state. From the
// answers it finds a rank that has ended its program, or a deadlock. The rank
// then gives up its operation and tells the other members the reason.
//
// A failing rank tells all other ranks. They start no more operations with it,
// and answer with the operations that they have started. The failing rank
// completes the operations that all members have started, and sends the number
// of the last one. Later operations with this rank fail on the other ranks.
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "MPI/MPIEngine.h"
#include "MPI/Pause.h"
#include "Operations/Messages.h"

#include <algorithm>

using namespace braid::rt;

namespace {
/// The longest time between two rounds of questions.
constexpr int64_t longestPauseNs = int64_t(2000) * 1000 * 1000;
/// The time between the two rounds that find a deadlock.
constexpr int64_t confirmNs = 5 * 1000 * 1000;
/// The time in which other ranks may leave the world after a failure.
constexpr int64_t leaveNs = int64_t(1000) * 1000 * 1000;
/// The same if a rank does not answer.
constexpr int64_t leaveUnansweredNs = int64_t(300) * 1000 * 1000;
/// The shortest timeout for data while all ranks answer: a busy host is slow,
/// and a network may need this time for a byte.
constexpr int64_t leastDataTimeoutNs = int64_t(10000) * 1000 * 1000;
constexpr int64_t slowestByteNs = 100;
/// The time for which a failing rank continues to send if a rank does not
/// answer.
constexpr int64_t flushNs = int64_t(100) * 1000 * 1000;
} // namespace

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

void MPIEngine::ask() {
  ++inquiry.number;
  inquiry.sentNs = environment.now();
  inquiry.answers.clear();
  sendToAll(StatusQuestion, Writer().put(inquiry.number).bytes);
}

bool MPIEngine::allAnswered() const {
  return inquiry.answers.size() + 1 == static_cast<size_t>(size);
}

void MPIEngine::noteUnreachable() {
  for (int32_t other = 0; other < size; ++other)
    if (other != rank && !inquiry.answers.count(other))
      unreachable.insert(other);
}

/// Of a rank that has ended its program without starting the operation.
std::optional<Failure> MPIEngine::findDeparted(const OpenOperation &operation,
                                               const Statuses &statuses) const {
  for (int32_t member : operation.members)
    if (std::optional<Failure> departed =
            compareMembers(statuses, operation, rank, member);
        departed && !gone.count(member))
      return departed;
  return std::nullopt;
}

void MPIEngine::investigate(Transfer &transfer, int64_t now, int64_t waitedNs) {
  int64_t lateNs = waitedNs - environment.config.timeoutNs;
  if (inquiry.sentNs == 0) {
    // A round that begins just before the timeout would delay it.
    int64_t quietNs =
        std::min(longestAnswerNs, environment.config.timeoutNs / 2);
    bool mayAsk = lateNs < -quietNs || !lastWaits.empty();
    if (lateNs >= 0 || (mayAsk && now >= nextInquiryNs))
      ask();
    return;
  }
  if (!allAnswered() && now - inquiry.sentNs < longestAnswerNs)
    return;
  bool isLate = lateNs >= 0 && inquiry.sentNs >= now - lateNs;
  if (isLate)
    noteUnreachable();
  inquiry.sentNs = 0;
  Statuses statuses = inquiry.answers;
  statuses[rank] = ownStatus();
  OpenOperation operation = transfer.describe();
  if (std::optional<Failure> departed = findDeparted(operation, statuses))
    return giveUp(transfer, departed->text);
  std::optional<Deadlock> deadlock = findDeadlock(statuses, size);
  bool isSuspected = deadlock && deadlock->waits.count(rank);
  // The answers of one round are from different times.
  if (isSuspected && deadlock->waits == lastWaits)
    return giveUpAll(transfer, *deadlock, statuses);
  lastWaits = deadlock ? deadlock->waits : std::map<int32_t, int64_t>();
  if (isLate)
    return giveUp(transfer, describeTimedOut(statuses, operation,
                                             environment.config.timeoutNs)
                                .text);
  nextInquiryNs = now + (isSuspected ? confirmNs : inquiryPauseNs);
  inquiryPauseNs = std::min(2 * inquiryPauseNs, longestPauseNs);
}

/// Handles an operation that all members have started but whose data do not
/// move.
void MPIEngine::investigateData(Transfer &transfer, int64_t now,
                                int64_t quietNs) {
  int64_t timeoutNs = environment.config.timeoutNs;
  if (quietNs < timeoutNs)
    return;
  if (inquiry.sentNs < now - quietNs) {
    if (now >= nextInquiryNs)
      ask();
    return;
  }
  if (!allAnswered() && now - inquiry.sentNs < longestAnswerNs)
    return;
  inquiry.sentNs = 0;
  nextInquiryNs = now + longestAnswerNs;
  noteUnreachable();
  std::vector<int32_t> present;
  std::string silent;
  for (int32_t member : transfer.members()) {
    if (unreachable.count(member))
      silent += "rank " + std::to_string(member) + " does not answer; ";
    else
      present.push_back(member);
  }
  int64_t bytes = transfer.queue.open.front()->operation.linkBytes();
  int64_t longestNs =
      std::max(timeoutNs, leastDataTimeoutNs + bytes * slowestByteNs);
  if (silent.empty() && quietNs < longestNs)
    return;
  failTransfer(
      transfer,
      describeTimeout(silent.empty() ? longestNs : timeoutNs) + silent +
          "the data do not arrive; " +
          describeWaiting(present, describeOperation(transfer.operation)),
      /*secondary=*/false);
}

//===----------------------------------------------------------------------===//
// Giving an operation up
//===----------------------------------------------------------------------===//

void MPIEngine::giveUp(const Transfer &transfer, const std::string &text) {
  failTransfer(transfer, text, /*secondary=*/false);
  std::string body =
      Writer().put(transfer.queue.otherId).put(transfer.number).put(text).bytes;
  for (int32_t member : transfer.members())
    if (member != rank)
      send(member, GivenUp, body);
}

void MPIEngine::giveUpAll(const Transfer &transfer, const Deadlock &deadlock,
                          const Statuses &statuses) {
  const std::string &text = deadlock.failure.text;
  failTransfer(transfer, text, /*secondary=*/false);
  for (int32_t other : deadlock.failure.members) {
    const OpenOperation &operation = statuses.at(other).open.front();
    if (other != rank)
      send(other, GivenUp,
           Writer()
               .put(operation.ownQueue)
               .put(operation.sequence)
               .put(text)
               .bytes);
  }
}

void MPIEngine::receiveGivenUp(const std::string &body) {
  Reader reader(body);
  auto queueId = reader.get<uint64_t>();
  auto number = reader.get<int64_t>();
  std::string text = reader.getText();
  givenUp.emplace(std::make_pair(queueId, number), text);
  for (const auto &entry : busy)
    if (entry.first->id == queueId)
      for (const std::shared_ptr<Transfer> &transfer : entry.first->open)
        if (transfer->number == number &&
            transfer->state.load() == Transfer::Checking)
          failTransfer(*transfer, text, /*secondary=*/false);
}

void MPIEngine::refuseStart(const Transfer &transfer) {
  // A failed rank waits for answers for at most this time before it releases
  // its memory. After that its sends must match no receive.
  if (!isDead && transfer.startedNs - lastControlNs > longestAnswerNs / 2)
    serveControlAt(transfer.startedNs);
  throwIfFailed();
  auto it = givenUp.find({transfer.queue.id, transfer.number});
  if (it != givenUp.end())
    failTransfer(transfer, it->second, /*secondary=*/false);
  for (const auto &entry : gone)
    if (transfer.involves(entry.first))
      failTransfer(transfer, entry.second.text, /*secondary=*/true);
  throwIfFailed();
}

//===----------------------------------------------------------------------===//
// Another rank has failed
//===----------------------------------------------------------------------===//

void MPIEngine::hearOfFailure(int32_t from, const std::string &body) {
  gone[from].text = Reader(body).getText();
  send(from, FailureHeard, Writer().put(startedCounters()).bytes);
}

void MPIEngine::failWhatNeeds(int32_t from) {
  const Gone &other = gone[from];
  for (const auto &entry : busy) {
    auto it = other.last->find(entry.first->id);
    int64_t last = it == other.last->end() ? 0 : it->second;
    for (const std::shared_ptr<Transfer> &transfer : entry.first->open) {
      if (!transfer->isUnderWay() || transfer->number <= last ||
          !transfer->involves(from))
        continue;
      failTransfer(*transfer, other.text, /*secondary=*/true);
      // A transfer whose data move ends here only if a call has failed.
      if (transfer->state.load() == Transfer::Moving)
        transfer->state.store(Transfer::Broken);
    }
  }
}

//===----------------------------------------------------------------------===//
// This rank fails
//===----------------------------------------------------------------------===//

bool MPIEngine::allHaveHeard() const {
  for (int32_t other = 0; other < size; ++other)
    if (other != rank && !acknowledged.count(other) &&
        !unreachable.count(other))
      return false;
  return true;
}

void MPIEngine::failInvocation(int32_t, const std::string &message) {
  if (size == 1) {
    Lock lock(mutex);
    hasFailed = true;
    ended = begun;
    return;
  }
  Pause pause(*this);
  // The other ranks get the first cause, not the chain of failures.
  std::string text =
      failure && failure->secondary
          ? failure->text
          : "rank " + std::to_string(rank) + " failed: " + message;
  hasFailed = true;
  if (!failure)
    failure = OwnFailure{text, false, {}};
  try {
    if (!isDead)
      sendToAll(Failed, Writer().put(text).bytes);
    int64_t beginNs = environment.now();
    auto waited = [&]() { return environment.now() - beginNs; };
    while (!isDead && !allHaveHeard() && waited() < longestAnswerNs) {
      progress();
      pause.sleep(false, waited());
    }
    if (!isDead)
      sendLastOperations();
    int64_t longestNs = unreachable.empty()
                            ? longestAnswerNs + environment.config.timeoutNs
                            : waited() + flushNs;
    while (!isDead && (isDraining() || !sent.empty()) && waited() < longestNs) {
      progress();
      pause.sleep(isDraining(), waited());
    }
    if (isDraining())
      isDead = true;
  } catch (const Error &error) {
    isDead = true;
    environment.log("rank " + std::to_string(rank) + ": " + error.what());
  }
  abandonRest();
  ended = begun;
}

/// The number of the last operation of a queue that all members have started,
/// according to their answers.
int64_t MPIEngine::lastOperation(MPICommunicator &communicator,
                                 const Queue &queue) const {
  int64_t last = queue.started;
  for (int32_t member : communicator.spec.ranks) {
    bool counts =
        !queue.isMessages() || communicator.spec.ranks[queue.peer] == member;
    if (member == rank || !counts)
      continue;
    auto heard = acknowledged.find(member);
    if (heard == acknowledged.end()) {
      last = 0;
      continue;
    }
    auto counter = heard->second.find(queue.otherId);
    last = std::min(last, counter == heard->second.end() ? 0 : counter->second);
  }
  for (const std::shared_ptr<Transfer> &transfer : queue.open) {
    int state = transfer->state.load();
    // All members have started a transfer whose data move, even those that do
    // not answer.
    if (state == Transfer::Moving || state == Transfer::Done)
      last = std::max(last, transfer->number);
    if (state == Transfer::Broken)
      return std::min(last, transfer->number - 1);
  }
  return last;
}

void MPIEngine::sendLastOperations() {
  std::map<uint64_t, int64_t> ofOthers;
  for (auto &entry : communicators)
    if (entry.second->spec.size() > 1)
      entry.second->forEachQueue([&](Queue &queue) {
        queue.last = lastOperation(*entry.second, queue);
        ofOthers[queue.otherId] = queue.last;
      });
  sendToAll(LastOperations, Writer().put(ofOthers).bytes);
}

bool MPIEngine::isDraining() const {
  for (const auto &entry : busy)
    for (const std::shared_ptr<Transfer> &transfer : entry.first->open)
      if (transfer->isUnderWay() && transfer->number <= entry.first->last)
        return true;
  return false;
}

/// Keeps the open transfers forever, because checks that never end refer to
/// them.
void MPIEngine::abandonRest() {
  static auto *abandoned = new std::vector<std::shared_ptr<Transfer>>();
  for (const auto &entry : busy) {
    for (const std::shared_ptr<Transfer> &transfer : entry.first->open) {
      // A failed call may still refer to the rank's memory, and so may a send
      // to a rank that does not know of the failure.
      bool mayLinger = transfer->hasIssued() && !unreachable.empty();
      isDead |= mayLinger || transfer->state.load() == Transfer::Broken;
      abandoned->push_back(transfer);
    }
    entry.first->open.clear();
  }
  busy.clear();
}

//===----------------------------------------------------------------------===//
// Leaving the world
//===----------------------------------------------------------------------===//

bool MPIEngine::leave() {
  if (size == 1)
    return !isDead;
  Pause pause(*this);
  int64_t beginNs = environment.now(), failedNs = 0;
  Requests requests;
  if (!isDead)
    CHECK_MPI(MPI_Ibarrier(leaving, addRequest(requests)));
  while (true) {
    int64_t now = environment.now();
    if (failedNs == 0 && (isDead || hasFailed || failure || !gone.empty()))
      failedNs = now;
    int done = 0;
    if (!isDead) {
      progress();
      CHECK_MPI(MPI_Test(&requests.front(), &done, MPI_STATUS_IGNORE));
    }
    if (done && sent.empty())
      return true;
    if (failedNs &&
        now - failedNs > (unreachable.empty() ? leaveNs : leaveUnansweredNs))
      return false;
    pause.sleep(false, now - beginNs);
  }
}
