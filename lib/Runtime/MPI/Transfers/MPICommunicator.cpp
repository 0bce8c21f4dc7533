//===- MPICommunicator.cpp - A member of a communicator over MPI *- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/MPICommunicator.h"
#include "Base/Bytes.h"
#include "Base/Error.h"
#include "MPI/MPIEngine.h"

#include <algorithm>
#include <climits>
#include <new>

using namespace braid::rt;

MPICommunicator::MPICommunicator(MPIEngine &engine, CommunicatorSpec spec)
    : Communicator(std::move(spec)), engine(engine),
      id(hashText(this->spec.key)) {
  collectives.id = collectives.otherId = id;
}

int64_t MPICommunicator::sequenceNumber() const { return collectives.started; }

void MPICommunicator::make(MPI_Comm comm) {
  check = comm;
  CHECK_MPI(MPI_Comm_dup(comm, &moves));
  for (MPI_Comm each : {check, moves})
    CHECK_MPI(MPI_Comm_set_errhandler(each, MPI_ERRORS_RETURN));
  made = true;
  engine.logCommunicator(spec);
  forEachQueue([&](Queue &queue) {
    for (const std::shared_ptr<Transfer> &transfer : queue.open)
      transfer->postCheck();
  });
}

void MPICommunicator::free() {
  if (!made)
    return;
  for (MPI_Comm *each : {&moves, &check})
    MPI_Comm_free(each);
  made = false;
}

Queue &MPICommunicator::queueOf(const Operation &operation) {
  if (!operation.isPointToPoint())
    return collectives;
  bool sends = operation.kind == BRAID_RT_SEND;
  auto inserted = messages.try_emplace({operation.peer, sends});
  Queue &queue = inserted.first->second;
  if (inserted.second) {
    queue.peer = operation.peer;
    queue.sends = sends;
    int64_t from = sends ? spec.index : operation.peer;
    int64_t to = sends ? operation.peer : spec.index;
    std::string pair =
        spec.key + '\n' + std::to_string(from) + " to " + std::to_string(to);
    uint64_t sender = hashText(pair + " sent");
    uint64_t receiver = hashText(pair + " received");
    queue.id = sends ? sender : receiver;
    queue.otherId = sends ? receiver : sender;
  }
  return queue;
}

std::unique_ptr<EngineRequest> MPICommunicator::start(Operation &&operation) {
  auto request = std::make_unique<MPIRequest>(std::move(operation));
  const Operation &started = request->operation;
  if (spec.size() == 1) {
    request->sequence = ++collectives.started;
    request->beginNs = engine.environment.now();
    runAlone(started);
    request->endNs = engine.environment.now();
    return request;
  }
  for (const Operand &operand : started.operands)
    if (std::max(elementCount(operand.sourceSizes),
                 elementCount(operand.destinationSizes)) > INT_MAX)
      throw Error(started.signature() + ": engine mpi moves at most " +
                  std::to_string(INT_MAX) + " elements of a tensor");
  MPIEngine::Lock lock(engine.mutex);
  Queue &queue = queueOf(started);
  request->transfer = std::make_shared<Transfer>(*this, queue, started);
  Transfer &transfer = *request->transfer;
  transfer.number = queue.started + 1;
  transfer.invocation = engine.begun;
  transfer.startedNs = engine.environment.now();
  engine.refuseStart(transfer);
  ++queue.started;
  queue.open.push_back(request->transfer);
  request->sequence = queue.isMessages() ? 0 : transfer.number;
  if (made)
    transfer.postCheck();
  else
    engine.requestCommunicator(*this);
  engine.addBusy(queue, *this, transfer);
  request->startedNs = transfer.startedNs;
  return request;
}

void MPICommunicator::wait(EngineRequest &base) {
  auto &request = static_cast<MPIRequest &>(base);
  if (!request.transfer)
    return;
  engine.wait(*request.transfer, request.awaitedNs);
  request.beginNs = request.transfer->beginNs;
  request.endNs = request.transfer->endNs;
}

void MPICommunicator::advance(Queue &queue) {
  bool mayMove = true;
  for (const std::shared_ptr<Transfer> &transfer : queue.open) {
    if (transfer->state.load() == Transfer::Broken)
      break;
    std::string problem;
    try {
      if (transfer->isUnderWay())
        transfer->advance(mayMove);
    } catch (const Error &error) {
      problem = error.what();
    } catch (const std::bad_alloc &) {
      problem = "out of memory for " + transfer->operation.signature();
    }
    if (!problem.empty()) {
      if (transfer->state.load() != Transfer::Refused)
        transfer->state.store(Transfer::Broken);
      engine.failTransfer(*transfer, problem, /*secondary=*/false);
    }
    if (transfer->state.load() == Transfer::Checking)
      break;
    mayMove &= !transfer->isUnderWay();
  }
  while (!queue.open.empty() &&
         (queue.open.front()->state.load() == Transfer::Done ||
          queue.open.front()->state.load() == Transfer::Refused))
    queue.open.pop_front();
}
