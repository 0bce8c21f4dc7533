//===- Transfer.cpp - The data of an operation ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Transfer.h"
#include "MPI/MPIEngine.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "Operations/Call.h"

#include <algorithm>

using namespace braid::rt;

int64_t Transfer::groupSize() const { return communicator.spec.size(); }
int64_t Transfer::member() const { return communicator.spec.index; }

std::vector<int32_t> Transfer::members() const {
  const std::vector<int32_t> &ranks = communicator.spec.ranks;
  if (!queue.isMessages())
    return ranks;
  int32_t self = ranks[member()], other = ranks[queue.peer];
  return queue.sends ? std::vector<int32_t>{self, other}
                     : std::vector<int32_t>{other, self};
}

bool Transfer::involves(int32_t rank) const {
  const std::vector<int32_t> &ranks = communicator.spec.ranks;
  if (queue.isMessages())
    return ranks[queue.peer] == rank;
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

OpenOperation Transfer::describe() const {
  OpenOperation result;
  // Ranks that are in other invocations meet in no operation.
  result.match = (queue.sends ? queue.id : queue.otherId) + invocation;
  result.ownQueue = result.lane = queue.id;
  result.otherQueue = queue.otherId;
  result.group = communicator.spec.name;
  result.isMessage = queue.isMessages();
  result.awaited = true;
  result.members = members();
  result.sequence = number;
  result.invocation = invocation;
  result.fingerprint = fingerprintOf(operation);
  result.text = describeOperation(operation);
  return result;
}

int64_t Transfer::lastMoveNs() const {
  return std::max(beginNs, queue.lastStepNs);
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

void Transfer::postCheck() {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15;
  own[0] = fingerprintOf(operation) ^ (static_cast<uint64_t>(invocation) * odd);
  own[1] = ~own[0];
  MPI_Comm comm = communicator.checks();
  if (queue.isMessages())
    return exchangeWith(comm, queue.peer, own,
                        queue.sends ? HashOfSender : HashOfReceiver, others,
                        queue.sends ? HashOfReceiver : HashOfSender,
                        sizeof(own[0]), requests);
  CHECK_MPI(MPI_Iallreduce(own, others, 2, MPI_UINT64_T, MPI_MAX, comm,
                           addRequest(requests)));
}

bool Transfer::advanceCheck() {
  if (requests.empty() || !testAll(requests))
    return false;
  beginNs = communicator.engine.nowNs;
  // The complement of the largest complement is the smallest hash.
  if (others[0] == (queue.isMessages() ? own[0] : ~others[1]))
    planData();
  else
    planDisagreement(*this);
  state.store(Moving, std::memory_order_release);
  return true;
}

//===----------------------------------------------------------------------===//
// The data
//===----------------------------------------------------------------------===//

void Transfer::planData() {
  switch (operation.traits().flow) {
  case BRAID_RT_FLOW_REDUCE:
    return planReduction(*this);
  case BRAID_RT_FLOW_GATHER:
    return planGather(*this);
  case BRAID_RT_FLOW_FROM_ROOT:
    return planFromRoot(*this);
  case BRAID_RT_FLOW_EXCHANGE:
    return planAllToAll(*this);
  case BRAID_RT_FLOW_PAIRS:
    return planPairs(*this);
  case BRAID_RT_FLOW_MESSAGE:
    return planMessage(*this);
  case BRAID_RT_FLOW_NONE:
    return;
  }
}

void Transfer::advance(bool mayMove) {
  if (state.load() == Checking && !advanceCheck())
    return;
  const MPIEngine &engine = communicator.engine;
  while (mayMove && nextStep < steps.size()) {
    if (!isInFlight)
      steps[nextStep].issue(communicator.data(), requests);
    isInFlight = true;
    if (!testAll(requests))
      return;
    isInFlight = false;
    queue.lastStepNs = engine.nowNs;
    // The function may add a step.
    std::function<void()> finish = std::move(steps[nextStep++].finish);
    if (finish)
      finish();
  }
  if (!mayMove)
    return;
  endNs =
      engine.environment.config.trace ? engine.environment.now() : engine.nowNs;
  state.store(Done, std::memory_order_release);
}
