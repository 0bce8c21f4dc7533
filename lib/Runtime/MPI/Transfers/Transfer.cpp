//===- Transfer.cpp - A started operation and its data ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Transfer.h"
#include "Base/Error.h"
#include "MPI/MPIEngine.h"
#include "MPI/Transfers/MPICommunicator.h"

#include <algorithm>

using namespace braid::rt;

namespace {
/// The most staging of the pieces in flight of one transfer.
constexpr int64_t windowBytes = int64_t(16) << 20;
/// The most pieces in flight of one transfer.
constexpr size_t windowPieces = 16;
} // namespace

Piece &TransferMemory::addPiece() {
  if (spare.empty())
    return pieces.emplace_back();
  pieces.splice(pieces.end(), spare, spare.begin());
  return pieces.back();
}

void TransferMemory::dropPiece() {
  pieces.front().clear();
  spare.splice(spare.end(), pieces, pieces.begin());
}

Transfer::Transfer(MPICommunicator &communicator, Queue &queue,
                   const Operation &operation,
                   std::unique_ptr<TransferMemory> memory)
    : communicator(communicator), queue(queue), operation(operation),
      memory(std::move(memory)) {}

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
// Moving the data
//===----------------------------------------------------------------------===//

void Transfer::add(Step &&step, int64_t stagingBytes) {
  Part &part = memory->parts.emplace_back();
  part.pieceCount = 1;
  part.bytesOfPiece = stagingBytes;
  part.only = std::move(step);
}

void Transfer::advancePiece(Piece &piece, Gate &gate) {
  bool isChecking = state.load(std::memory_order_relaxed) == Checking;
  while (!piece.isDone()) {
    if (piece.inFlight) {
      // Only the check confirms that the messages belong to this operation.
      if (isChecking || !testAll(piece.requests))
        break;
      piece.requests.clear();
      piece.inFlight = false;
      const Step &step = piece.steps[piece.next++];
      lastStepNs = communicator.engine.nowNs;
      if (step.finish)
        step.finish();
      continue;
    }
    const Step &step = piece.steps[piece.next];
    if (!gate.isOpen[step.lane] || (isChecking && !step.isMessages))
      break;
    piece.requests.tag = communicator.tagOf(hash);
    step.issue(communicator.lane(step.lane), piece.requests);
    piece.inFlight = true;
  }
  // Steps that have not been issued block their lanes for later pieces.
  for (size_t i = piece.next + (piece.inFlight ? 1 : 0); i < piece.steps.size();
       ++i)
    gate.isOpen[piece.steps[i].lane] = false;
}

bool Transfer::advancePieces(Gate &gate) {
  const std::list<Piece> &pieces = memory->pieces;
  std::vector<Part> &parts = memory->parts;
  for (Piece &piece : memory->pieces)
    advancePiece(piece, gate);
  while (true) {
    while (!pieces.empty() && pieces.front().isDone()) {
      stagedBytes -= pieces.front().bytes;
      memory->dropPiece();
    }
    if (nextPart == parts.size())
      return pieces.empty();
    Part &part = parts[nextPart];
    bool fits =
        pieces.empty() || (pieces.size() < windowPieces &&
                           stagedBytes + part.bytesOfPiece <= windowBytes);
    if (nextPiece < part.pieceCount && !fits) {
      gate.close();
      return false;
    }
    if (nextPiece < part.pieceCount) {
      Piece &piece = memory->addPiece();
      if (part.makePiece)
        piece = part.makePiece(nextPiece);
      else
        piece.steps.push_back(std::move(part.only));
      ++nextPiece;
      piece.bytes = part.bytesOfPiece;
      stagedBytes += part.bytesOfPiece;
      advancePiece(piece, gate);
    } else {
      ++nextPart;
      nextPiece = 0;
    }
  }
}

void Transfer::issueBesideCheck(Gate gate) {
  if (memory->checkRequests.empty() || groupSize() != 2 || queue.isMessages())
    return;
  if (!isPlanned)
    planData();
  advancePieces(gate);
}

bool Transfer::withdraw() {
  for (Piece &piece : memory->pieces)
    receivesLeft |= !cancelReceives(piece.requests);
  withdrawn.splice(withdrawn.end(), memory->pieces);
  memory->parts.clear();
  nextPart = 0;
  nextPiece = stagedBytes = 0;
  nextPhase = nullptr;
  return !receivesLeft;
}

void Transfer::finish() {
  const MPIEngine &engine = communicator.engine;
  endNs =
      engine.environment.config.trace ? engine.environment.now() : engine.nowNs;
  state.store(Done, std::memory_order_release);
}

void Transfer::advance(Gate &gate) {
  if (state.load() == Checking) {
    issueBesideCheck(gate);
    if (!advanceCheck())
      return gate.close();
  }
  while (true) {
    if (!advancePieces(gate)) {
      if (nextPhase)
        gate.close();
      return;
    }
    memory->parts.clear();
    nextPart = 0;
    if (!nextPhase)
      return finish();
    auto plan = std::move(nextPhase);
    nextPhase = nullptr;
    plan();
  }
}
