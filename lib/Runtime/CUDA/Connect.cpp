//===- Connect.cpp - Creation of communicators ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "CUDA/CudaEngine.h"
#include "Operations/Messages.h"

#include <algorithm>
#include <optional>

using namespace braid::rt;
using namespace braid::rt::cuda;

std::shared_ptr<Rendezvous>
CudaEngine::rendezvous(const CommunicatorSpec &spec) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Rendezvous> &group = groups[spec.key];
  if (!group)
    group = std::make_shared<Rendezvous>(spec);
  return group;
}

void CudaEngine::logCommunicator(const CommunicatorSpec &spec,
                                 const LaneSpec &used) const {
  // If the ranks are threads, only one of them prints the message.
  bool says = spec.index == 0 || locals.size() == 1;
  if (!environment.logs(BRAID_RT_DEBUG_INFO) || !says)
    return;
  environment.log(describeCommunicator(spec) +
                  (isPlanned(used) ? ", " + describeResources(used) : ""));
}

CommunicatorIds CudaEngine::createIds() const {
  CommunicatorIds ids;
  for (nccl::UniqueId *id : {&ids.collectives, &ids.messages})
    nccl().call(nccl().getUniqueId, id);
  return ids;
}

/// True if the bytes of a process are those of this rank. Without a launcher
/// one process has all ranks.
bool CudaEngine::mayDecide(size_t process, int32_t rank) const {
  return !launch.hasLauncher() || static_cast<size_t>(rank) == process;
}

/// Creates the ids of each list on its first member, and sends them to all
/// processes.
void CudaEngine::exchangeIds(const std::vector<RankSpecs> &specs) {
  Writer own;
  for (const RankSpecs &ofRank : specs)
    for (const CommunicatorSpec &spec : ofRank) {
      if (spec.size() < 2 || spec.index != 0)
        continue;
      std::shared_ptr<Rendezvous> group = rendezvous(spec);
      if (group->ids)
        continue;
      group->ids = createIds();
      own.put(spec.key).put(*group->ids);
    }
  std::vector<std::string> all = exchange(own.bytes);
  for (size_t process = 0; process < all.size(); ++process)
    for (Reader reader(all[process]); !reader.atEnd();) {
      std::string key = reader.getText();
      auto ids = reader.get<CommunicatorIds>();
      for (const RankSpecs &ofRank : specs)
        for (const CommunicatorSpec &spec : ofRank)
          if (spec.key == key && spec.size() > 1 &&
              mayDecide(process, spec.ranks.front()))
            rendezvous(spec)->ids = ids;
    }
  for (const RankSpecs &ofRank : specs)
    for (const CommunicatorSpec &spec : ofRank)
      if (spec.size() > 1 && !rendezvous(spec)->ids)
        throw Error("rank " + std::to_string(spec.ranks.front()) +
                    " has sent no ids of the communicator of group @" +
                    spec.name);
}

/// Requests one NCCL communicator of each member. False if NCCL refuses their
/// configuration: every member requests less in the next call.
bool CudaEngine::requestTogether(const std::vector<NCCLCommunicator *> &members,
                                 bool forCollectives) {
  nccl::Group group(nccl());
  bool accepted = true;
  for (NCCLCommunicator *member : members) {
    const CommunicatorIds &ids = *member->rendezvous->ids;
    accepted &= forCollectives
                    ? member->request(member->collectives, ids.collectives)
                    : member->request(member->messages, ids.messages);
  }
  nccl::Result result = group.end();
  if (!accepted)
    return false;
  if (result != nccl::Success && result != nccl::InProgress) {
    awaitFailureOfPeer(result);
    members.front()->rank.throwIfFailed();
  }
  nccl().check(result, "ncclGroupEnd");
  return true;
}

void CudaEngine::makeTogether(const std::vector<NCCLCommunicator *> &members) {
  // Another process may fail in the meantime.
  std::vector<std::unique_lock<std::mutex>> locks;
  for (NCCLCommunicator *member : members)
    locks.emplace_back(member->rank.issuing);
  for (bool forCollectives : {true, false})
    while (!requestTogether(members, forCollectives)) {
    }
  for (NCCLCommunicator *member : members)
    member->complete();
  testWindows(members);
}

void CudaEngine::testWindows(const std::vector<NCCLCommunicator *> &members) {
  // All of them are members of one lane.
  if (!members.front()->wantsWindows())
    return;
  nccl::Group group(nccl());
  nccl::Result first = nccl::Success;
  for (NCCLCommunicator *member : members) {
    nccl::Result result = member->registerFirstWindow();
    if (first == nccl::Success && result != nccl::InProgress)
      first = result;
  }
  nccl::Result result = group.end();
  for (NCCLCommunicator *member : members)
    member->completeFirstWindow(first == nccl::Success ? result : first);
}

/// Creates the communicators that are not made, and adds them to `created`.
void CudaEngine::makeAll(const std::vector<RankSpecs> &specs,
                         std::vector<NCCLCommunicator *> &created) {
  if (size > 1)
    exchangeIds(specs);
  // Group by group: all processes have the members of a list in the same order.
  size_t count = specs.empty() ? 0 : specs[0].size();
  for (size_t i = 0; i < count; ++i) {
    std::vector<NCCLCommunicator *> members;
    for (const RankSpecs &ofRank : specs) {
      const CommunicatorSpec &spec = ofRank[i];
      if (spec.ranks.empty())
        continue;
      NCCLCommunicator &member = find(ofRank.rank).communicator(spec);
      if (!member.isMade())
        members.push_back(&member);
    }
    if (!members.empty())
      makeTogether(members);
    for (NCCLCommunicator *member : members)
      if (std::find(created.begin(), created.end(), member) == created.end())
        created.push_back(member);
  }
}

/// Exchanges what NCCL gives the members, of which all use what all have. False
/// if members of any process need other communicators for that.
bool CudaEngine::agree(const std::vector<NCCLCommunicator *> &members) {
  Writer own;
  for (const NCCLCommunicator *member : members) {
    if (!isPlanned(member->spec.lane))
      continue;
    own.put(member->spec.key).put(member->rank.rank).put(member->outcome());
  }
  std::map<std::string, LaneAgreement> lanes;
  std::vector<std::string> all = exchange(own.bytes);
  for (size_t process = 0; process < all.size(); ++process)
    for (Reader reader(all[process]); !reader.atEnd();) {
      std::string key = reader.getText();
      auto rank = reader.get<int32_t>();
      auto outcome = reader.get<LaneOutcome>();
      if (!mayDecide(process, rank))
        throw Error("rank " + std::to_string(process) +
                    " tells what NCCL gives rank " + std::to_string(rank));
      lanes[key].add(rank, outcome);
    }
  bool agreed = std::none_of(lanes.begin(), lanes.end(), [](const auto &lane) {
    return lane.second.needsOthers();
  });
  // Ranks that are threads leave their communicators together.
  std::optional<nccl::Group> group;
  if (!agreed)
    group.emplace(nccl());
  for (NCCLCommunicator *member : members) {
    auto found = lanes.find(member->spec.key);
    if (found == lanes.end())
      continue;
    member->adopt(found->second);
    if (found->second.needsOthers())
      member->rendezvous->ids.reset();
  }
  if (group)
    group->end();
  return agreed;
}

void CudaEngine::prepare(const std::vector<RankSpecs> &specs) {
  graphChoice.forget();
  communicates.clear();
  openVotes();
  std::vector<NCCLCommunicator *> created;
  do {
    makeAll(specs, created);
    // Between two exchanges no rank runs.
    if (votes)
      votes->reset();
  } while (size > 1 && !agree(created));
  for (NCCLCommunicator *member : created)
    member->reportReplacement();
}

//===----------------------------------------------------------------------===//
// Groups that no program has announced
//===----------------------------------------------------------------------===//

/// What the members of the communicator publish under the key, in their order.
std::vector<std::string>
CudaEngine::exchangeAmong(const NCCLCommunicator &communicator,
                          const std::string &key, const std::string &own) {
  const CommunicatorSpec &spec = communicator.spec;
  int32_t rank = communicator.rank.rank;
  post(Published, Writer().put(key).put(own).bytes);
  std::unique_lock<std::mutex> lock(mutex);
  std::map<int32_t, std::string> &all = published[key];
  all[rank] = own;
  changed.notify_all();
  int64_t timeoutNs = environment.config.timeoutNs;
  std::vector<int32_t> missing = awaitMembers(lock, spec.ranks, all, timeoutNs);
  std::vector<std::string> result;
  for (int32_t member : spec.ranks)
    result.push_back(all[member]);
  lock.unlock();
  if (missing.empty())
    return result;
  communicator.rank.throwIfFailed();
  throw Error(describeTimeout(timeoutNs) +
              describeMissing(missing, {spec.name, false, 1}));
}

/// False if the members need other communicators than those of this attempt.
bool CudaEngine::tryUnannounced(NCCLCommunicator &communicator,
                                int32_t attempt) {
  const CommunicatorSpec &spec = communicator.spec;
  std::string key = spec.key + " attempt " + std::to_string(attempt);
  auto ids = fromBytes<CommunicatorIds>(
      exchangeAmong(communicator, key,
                    spec.index == 0 ? toBytes(createIds()) : "")
          .front());
  std::lock_guard<std::mutex> issue(communicator.rank.issuing);
  communicator.requestAccepted(communicator.collectives, ids.collectives);
  communicator.requestAccepted(communicator.messages, ids.messages);
  communicator.complete();
  if (!isPlanned(spec.lane))
    return true;
  communicator.completeFirstWindow(communicator.registerFirstWindow());
  std::vector<std::string> outcomes = exchangeAmong(
      communicator, key + " lane", toBytes(communicator.outcome()));
  LaneAgreement agreement;
  for (size_t i = 0; i < outcomes.size(); ++i)
    agreement.add(spec.ranks[i], fromBytes<LaneOutcome>(outcomes[i]));
  communicator.adopt(agreement);
  return !agreement.needsOthers();
}

void CudaEngine::makeUnannounced(NCCLCommunicator &communicator) {
  for (int32_t attempt = 0; !tryUnannounced(communicator, attempt);)
    ++attempt;
  communicator.reportReplacement();
}
