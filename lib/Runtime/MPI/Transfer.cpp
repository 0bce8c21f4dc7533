//===- Transfer.cpp - A started operation and its data ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfer.h"
#include "Core/Error.h"
#include "MPI/MPICommunicator.h"
#include "MPI/MPIEngine.h"

#include <algorithm>

using namespace braid::rt;

namespace {
/// What the pieces in flight of one transfer may stage together.
constexpr int64_t windowBytes = int64_t(16) << 20;
/// How many pieces are in flight at most.
constexpr size_t windowPieces = 16;
} // namespace

Transfer::Transfer(MPICommunicator &communicator, Queue &queue,
                   const Operation &operation)
    : communicator(communicator), queue(queue), operation(operation) {}

Staging &Transfer::staging() const { return communicator.engine.staging; }
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

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

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
    // With splits dimension 0 is each rank's own affair.
    for (size_t d = operation.splits == Splits::Equal ? 0 : 1; d < sizes.size();
         ++d)
      hash = mix(hash, sizes[d]);
  }
  return hash;
}

void Transfer::postCheck() {
  own[0] = signatureHash();
  own[1] = ~own[0];
  lastStepNs = communicator.engine.environment.now();
  if (!queue.isMessages()) {
    checkMPI(MPI_Iallreduce(own, others, 2, MPI_UINT64_T, MPI_MAX,
                            communicator.checkLane(),
                            addRequest(checkRequests)),
             "MPI_Iallreduce");
    return;
  }
  MPI_Comm comm = communicator.lane(FirstLane);
  int peer = static_cast<int>(queue.peer);
  checkMPI(MPI_Irecv(others, 2, MPI_UINT64_T, peer,
                     queue.sends ? HelloOfReceiver : HelloOfSender, comm,
                     addRequest(checkRequests)),
           "MPI_Irecv");
  checkMPI(MPI_Isend(own, 2, MPI_UINT64_T, peer,
                     queue.sends ? HelloOfSender : HelloOfReceiver, comm,
                     addRequest(checkRequests)),
           "MPI_Isend");
}

/// The largest hash and the largest complement of a hash belong to one hash
/// only where all are equal.
bool Transfer::agrees() const {
  return queue.isMessages() ? others[0] == own[0] : others[0] == ~others[1];
}

static bool testAll(Requests &requests) {
  if (requests.empty())
    return true;
  int done = 0;
  checkMPI(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                       &done, MPI_STATUSES_IGNORE),
           "MPI_Testall");
  return done != 0;
}

bool Transfer::advanceCheck() {
  if (checkRequests.empty() || !testAll(checkRequests))
    return false;
  checkRequests.clear();
  beginNs = lastStepNs = communicator.engine.environment.now();
  if (!agrees()) {
    planDisagreement(*this);
  } else {
    switch (operation.kind) {
    case BRAID_RT_ALL_REDUCE:
    case BRAID_RT_REDUCE:
    case BRAID_RT_REDUCE_SCATTER:
      planReduction(*this);
      break;
    case BRAID_RT_ALL_GATHER:
    case BRAID_RT_GATHER:
      planGather(*this);
      break;
    case BRAID_RT_BROADCAST:
    case BRAID_RT_SCATTER:
      planFromRoot(*this);
      break;
    case BRAID_RT_ALL_TO_ALL:
      planAllToAll(*this);
      break;
    case BRAID_RT_PERMUTE:
      planPermute(*this);
      break;
    case BRAID_RT_BARRIER:
      break;
    default:
      planMessage(*this);
    }
  }
  state.store(Moving, std::memory_order_release);
  return true;
}

//===----------------------------------------------------------------------===//
// Moving the data
//===----------------------------------------------------------------------===//

void Transfer::add(std::vector<Step> steps, int64_t stagingBytes) {
  auto shared = std::make_shared<std::vector<Step>>(std::move(steps));
  add(Part{1, stagingBytes, [shared](int64_t) {
             Piece piece;
             piece.steps = std::move(*shared);
             return piece;
           }});
}

void Transfer::advancePiece(Piece &piece, Gate &gate) {
  while (!piece.isDone()) {
    if (piece.inFlight) {
      if (!testAll(piece.requests))
        break;
      piece.requests.clear();
      piece.inFlight = false;
      const Step &step = piece.steps[piece.next++];
      lastStepNs = communicator.engine.environment.now();
      if (step.finish)
        step.finish();
      continue;
    }
    const Step &step = piece.steps[piece.next];
    if (!gate.isOpen[step.lane])
      break;
    step.issue(communicator.lane(step.lane), piece.requests);
    piece.inFlight = true;
  }
  // What has been issued no longer keeps others from the lane.
  for (size_t i = piece.next + (piece.inFlight ? 1 : 0); i < piece.steps.size();
       ++i)
    gate.isOpen[piece.steps[i].lane] = false;
}

bool Transfer::advancePieces(Gate &gate) {
  for (Piece &piece : pieces)
    advancePiece(piece, gate);
  while (true) {
    while (!pieces.empty() && pieces.front().isDone()) {
      stagedBytes -= pieces.front().bytes;
      pieces.pop_front();
    }
    if (nextPart == parts.size())
      return pieces.empty();
    const Part &part = parts[nextPart];
    bool fits =
        pieces.empty() || (pieces.size() < windowPieces &&
                           stagedBytes + part.bytesOfPiece <= windowBytes);
    if (nextPiece < part.pieceCount && !fits) {
      gate.close();
      return false;
    }
    if (nextPiece < part.pieceCount) {
      pieces.push_back(part.makePiece(nextPiece++));
      pieces.back().bytes = part.bytesOfPiece;
      stagedBytes += part.bytesOfPiece;
      advancePiece(pieces.back(), gate);
    } else {
      ++nextPart;
      nextPiece = 0;
    }
  }
}

void Transfer::finish() {
  endNs = communicator.engine.environment.now();
  state.store(Done, std::memory_order_release);
}

void Transfer::advance(Gate &gate) {
  if (state.load() == Checking && !advanceCheck()) {
    gate.close();
    return;
  }
  while (true) {
    if (!advancePieces(gate)) {
      if (nextPhase)
        gate.close();
      return;
    }
    parts.clear();
    nextPart = 0;
    if (!nextPhase)
      return finish();
    auto plan = std::move(nextPhase);
    nextPhase = nullptr;
    plan();
  }
}
