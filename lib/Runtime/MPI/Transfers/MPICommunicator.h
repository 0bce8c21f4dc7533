//===- MPICommunicator.h - A member of a communicator over MPI --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_MPICOMMUNICATOR_H
#define BRAID_RUNTIME_MPI_TRANSFERS_MPICOMMUNICATOR_H

#include "MPI/Transfers/Transfer.h"

#include <map>

namespace braid::rt {

class MPIEngine;

/// The engine's mutex guards all members, except in start, wait and
/// sequenceNumber, which the rank's own thread calls.
class MPICommunicator final : public Communicator {
public:
  MPICommunicator(MPIEngine &engine, CommunicatorSpec spec);

  std::unique_ptr<EngineRequest> start(Operation &&operation) override;
  void wait(EngineRequest &request) override;
  int64_t sequenceNumber() const override;

  bool isMade() const { return made; }
  MPI_Comm checks() const { return check; }
  MPI_Comm data() const { return moves; }

  /// Takes a communicator of the members, duplicates it for the data, and
  /// starts the checks of the transfers that are open.
  void make(MPI_Comm comm);
  /// Frees the communicators. No transfer may be under way.
  void free();

  /// Advances the queue; throws nothing.
  void advance(Queue &queue);

  /// All queues: of collectives, and of messages by peer and direction.
  template <typename Fn> void forEachQueue(Fn fn) {
    fn(collectives);
    for (auto &entry : messages)
      fn(entry.second);
  }

  MPIEngine &engine;
  const uint64_t id;      ///< Equal on all members.
  bool requested = false; ///< This member has asked rank 0 for the group.

private:
  Queue &queueOf(const Operation &operation);

  bool made = false;
  MPI_Comm check = MPI_COMM_NULL, moves = MPI_COMM_NULL;
  Queue collectives;
  std::map<std::pair<int64_t, bool>, Queue> messages;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_MPICOMMUNICATOR_H
