//===- Connect.cpp - Creation of communicators ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/CudaEngine.h"
#include "Core/Bytes.h"
#include "Core/Error.h"
#include "Core/Messages.h"

#include <algorithm>

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

void CudaEngine::logCommunicator(const CommunicatorSpec &spec) const {
  // If the ranks are threads, only one of them prints the message.
  bool says = spec.index == 0 || locals.size() == 1;
  if (!environment.logs(BRAID_RT_DEBUG_INFO) || !says)
    return;
  static constexpr const char *transports[] = {"", ", transport symmetric",
                                               ", transport copy"};
  environment.log(
      "communicator of group @" + spec.name +
      (spec.lane.name.empty() ? "" : ", lane " + spec.lane.name) + " with " +
      std::to_string(spec.size()) + " ranks, the first is " +
      std::to_string(spec.ranks.front()) +
      (spec.lane.ctas ? ", " + std::to_string(spec.lane.ctas) + " CTAs" : "") +
      transports[spec.lane.transport]);
}

CommunicatorIds CudaEngine::createIds() const {
  CommunicatorIds ids;
  for (nccl::UniqueId *id : {&ids.collectives, &ids.messages})
    nccl().check(nccl().getUniqueId(id), "ncclGetUniqueId");
  return ids;
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
  for (const std::string &bytes : all)
    for (Reader reader(bytes); !reader.atEnd();) {
      std::string key = reader.getText();
      auto ids = reader.get<CommunicatorIds>();
      for (const RankSpecs &ofRank : specs)
        for (const CommunicatorSpec &spec : ofRank)
          if (spec.key == key && spec.size() > 1)
            rendezvous(spec)->ids = ids;
    }
}

void CudaEngine::makeTogether(const std::vector<NCCLCommunicator *> &members) {
  // Another process may fail in the meantime.
  std::vector<std::unique_lock<std::mutex>> locks;
  for (NCCLCommunicator *member : members)
    locks.emplace_back(member->rank.issuing);
  for (auto lane :
       {&NCCLCommunicator::collectives, &NCCLCommunicator::messages}) {
    nccl::Group group(nccl());
    for (NCCLCommunicator *member : members) {
      const CommunicatorIds &ids = *member->rendezvous->ids;
      bool isFirst = lane == &NCCLCommunicator::collectives;
      member->request(member->*lane, isFirst ? ids.collectives : ids.messages);
    }
    nccl::Result result = group.end();
    if (result != nccl::Success && result != nccl::InProgress) {
      awaitFailureOfPeer();
      members.front()->rank.throwIfFailed();
    }
    nccl().check(result, "ncclGroupEnd");
  }
  for (NCCLCommunicator *member : members)
    member->complete();
}

void CudaEngine::prepare(const std::vector<RankSpecs> &specs) {
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
  }
}

//===----------------------------------------------------------------------===//
// Groups that no program has announced
//===----------------------------------------------------------------------===//

void CudaEngine::makeUnannounced(NCCLCommunicator &communicator) {
  const CommunicatorSpec &spec = communicator.spec;
  CudaRank &rank = communicator.rank;
  Rendezvous &group = *communicator.rendezvous;
  post(Ready, Writer().put(spec.key).bytes);
  std::unique_lock<std::mutex> lock(mutex);
  waiting[spec.key].insert(rank.rank);
  changed.notify_all();
  auto deadline = std::chrono::steady_clock::now() +
                  std::chrono::nanoseconds(environment.config.timeoutNs);
  auto waitFor = [&](const std::function<bool()> &condition) {
    bool inTime = changed.wait_until(lock, deadline,
                                     [&]() { return failed || condition(); });
    if (failed) {
      lock.unlock();
      rank.throwIfFailed();
    }
    if (inTime)
      return;
    std::vector<int32_t> missing;
    for (int32_t member : spec.ranks)
      if (!waiting[spec.key].count(member))
        missing.push_back(member);
    throw Error(describeTimeout(environment.config.timeoutNs) +
                describeMissing(missing, {spec.name, false, 1}));
  };
  waitFor([&]() { return waiting[spec.key].size() == spec.ranks.size(); });
  if (spec.index == 0) {
    group.ids = createIds();
    post(Ids, Writer().put(spec.key).put(*group.ids).bytes);
    unannouncedIds[spec.key] = *group.ids;
    changed.notify_all();
  }
  waitFor([&]() { return unannouncedIds.count(spec.key) > 0; });
  CommunicatorIds ids = unannouncedIds[spec.key];
  lock.unlock();
  std::lock_guard<std::mutex> issue(rank.issuing);
  communicator.request(communicator.collectives, ids.collectives);
  communicator.request(communicator.messages, ids.messages);
  communicator.complete();
}
