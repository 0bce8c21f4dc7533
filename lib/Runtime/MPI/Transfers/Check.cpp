//===- Check.cpp - Check that members start equal operations ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/MPIEngine.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "MPI/Transfers/Transfer.h"

using namespace braid::rt;

/// Mixes a value into a hash.
static uint64_t mix(uint64_t hash, int64_t value) {
  hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

uint64_t Transfer::signatureHash() const {
  uint64_t hash = mix(0x243f6a8885a308d3, invocation);
  bool isMessage = operation.isPointToPoint();
  hash = mix(hash, isMessage ? BRAID_RT_SEND : operation.kind);
  hash = mix(hash, operation.reduction);
  hash = mix(hash, operation.root);
  hash = mix(hash, operation.dim);
  hash = mix(hash, static_cast<int64_t>(operation.splits));
  for (const auto *list : {&operation.matrix, &operation.pairs}) {
    hash = mix(hash, static_cast<int64_t>(list->size()));
    for (int64_t value : *list)
      hash = mix(hash, value);
  }
  for (const Operand &operand : operation.operands) {
    const Sizes &sizes = operation.kind == BRAID_RT_RECV
                             ? operand.destinationSizes
                             : operand.sourceSizes;
    hash = mix(hash, operand.dtype);
    hash = mix(hash, static_cast<int64_t>(sizes.size()));
    // With splits, ranks may differ in the size of dimension 0.
    for (size_t d = operation.splits == Splits::Equal ? 0 : 1; d < sizes.size();
         ++d)
      hash = mix(hash, sizes[d]);
  }
  return hash;
}

void Transfer::postCheck() {
  MPI_Comm comm = communicator.checkLane();
  hash = signatureHash();
  if (Handshake::suits(*this))
    return handshake.post(*this, hash, comm, memory->handshake,
                          memory->checkRequests);
  own[0] = hash;
  own[1] = ~hash;
  checkMPI(MPI_Iallreduce(own, largest, 2, MPI_UINT64_T, MPI_MAX, comm,
                          addRequest(memory->checkRequests)),
           "MPI_Iallreduce");
}

/// The complement of the largest complement is the smallest hash. All hashes
/// are equal if the largest and the smallest are.
bool Transfer::agrees() const {
  return Handshake::suits(*this) ? handshake.agrees()
                                 : largest[0] == ~largest[1];
}

void Transfer::planData() {
  isPlanned = true;
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

bool Transfer::advanceCheck() {
  if (memory->checkRequests.empty() || !testAll(memory->checkRequests))
    return false;
  memory->checkRequests.clear();
  beginNs = lastStepNs = communicator.engine.nowNs;
  if (!agrees()) {
    withdraw();
    planDisagreement(*this);
  } else if (!isPlanned) {
    planData();
  }
  state.store(Moving, std::memory_order_release);
  return true;
}
