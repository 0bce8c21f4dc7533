//===- Control.cpp - Control messages ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "MPI/MPIEngine.h"

#include <algorithm>

using namespace braid::rt;

std::map<uint64_t, int64_t> MPIEngine::startedCounters() {
  std::map<uint64_t, int64_t> counters;
  for (auto &entry : communicators)
    if (entry.second->spec.size() > 1)
      entry.second->forEachQueue(
          [&](Queue &queue) { counters[queue.id] = queue.started; });
  return counters;
}

RankStatus MPIEngine::ownStatus() {
  RankStatus status;
  status.rank = rank;
  status.begun = begun;
  status.ended = ended;
  status.exchanges = exchanges;
  status.failed = hasFailed;
  status.wait = waitCount;
  status.started = startedCounters();
  if (blockedOn && blockedOn->state.load() == Transfer::Checking)
    status.open.push_back(blockedOn->describe());
  return status;
}

//===----------------------------------------------------------------------===//
// Sending and receiving
//===----------------------------------------------------------------------===//

void MPIEngine::send(int32_t to, ControlKind kind, const std::string &body) {
  sent.push_back({body, MPI_REQUEST_NULL});
  SentMessage &message = sent.back();
  CHECK_MPI(MPI_Isend(message.body.data(),
                      static_cast<int>(message.body.size()), MPI_BYTE, to, kind,
                      control, &message.request));
}

void MPIEngine::sendToAll(ControlKind kind, const std::string &body) {
  for (int32_t to = 0; to < size; ++to)
    if (to != rank)
      send(to, kind, body);
}

void MPIEngine::releaseSent() {
  for (auto it = sent.begin(); it != sent.end();) {
    int done = 0;
    CHECK_MPI(MPI_Test(&it->request, &done, MPI_STATUS_IGNORE));
    it = done ? sent.erase(it) : std::next(it);
  }
}

void MPIEngine::serveControl() {
  releaseSent();
  while (true) {
    int arrived = 0;
    MPI_Status status;
    MPI_Message message;
    CHECK_MPI(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, control, &arrived,
                          &message, &status));
    if (!arrived)
      return;
    int bytes = 0;
    CHECK_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
    std::string body(static_cast<size_t>(bytes), '\0');
    CHECK_MPI(
        MPI_Mrecv(body.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    receive(status.MPI_SOURCE, status.MPI_TAG, body);
  }
}

void MPIEngine::receive(int32_t from, int kind, const std::string &body) {
  unreachable.erase(from);
  Reader reader(body);
  switch (kind) {
  case StatusQuestion:
    return send(from, StatusAnswer,
                Writer().put(reader.get<int64_t>()).put(ownStatus()).bytes);
  case StatusAnswer:
    if (reader.get<int64_t>() == inquiry.number)
      inquiry.answers[from] = reader.get<RankStatus>();
    return;
  case GivenUp:
    return receiveGivenUp(body);
  case Failed:
    return hearOfFailure(from, body);
  case FailureHeard:
    acknowledged[from] = reader.getCounters();
    return;
  case LastOperations:
    gone[from].last = reader.getCounters();
    return failWhatNeeds(from);
  case GroupAsked:
    return receiveAsked(from, body);
  default:
    return makeAnnounced(reader.getText());
  }
}

//===----------------------------------------------------------------------===//
// Groups that no program has announced
//===----------------------------------------------------------------------===//

// Making a communicator blocks until all its members call the function, so all
// ranks must make communicators in the same order. Rank 0 collects the ready
// members of each group and tells them when the group is complete. Its messages
// arrive in the same order on every rank.

void MPIEngine::requestCommunicator(MPICommunicator &communicator) {
  if (communicator.requested)
    return;
  communicator.requested = true;
  const CommunicatorSpec &spec = communicator.spec;
  Writer writer;
  writer.put(spec.key).put(spec.ranks);
  if (rank == 0)
    receiveAsked(rank, writer.bytes);
  else
    send(0, GroupAsked, writer.bytes);
}

void MPIEngine::receiveAsked(int32_t from, const std::string &body) {
  Reader reader(body);
  std::string key = reader.getText();
  std::vector<int32_t> members = reader.getList<int32_t>();
  std::vector<int32_t> &ready = asking[key];
  ready.push_back(from);
  if (ready.size() < members.size())
    return;
  asking.erase(key);
  for (int32_t member : members)
    if (member != 0)
      send(member, GroupReady, Writer().put(key).bytes);
  if (std::count(members.begin(), members.end(), 0))
    makeAnnounced(key);
}

void MPIEngine::makeAnnounced(const std::string &key) {
  auto found = communicators.find(key);
  if (found == communicators.end())
    throw Error("rank 0 says that a group is ready of which this rank is no "
                "member");
  MPICommunicator &communicator = *found->second;
  MPI_Group all = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  CHECK_MPI(MPI_Comm_group(world, &all));
  const std::vector<int32_t> &ranks = communicator.spec.ranks;
  CHECK_MPI(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(),
                           &members));
  MPI_Comm comm = MPI_COMM_NULL;
  CHECK_MPI(MPI_Comm_create_group(world, members, 0, &comm));
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  communicator.make(comm);
}
