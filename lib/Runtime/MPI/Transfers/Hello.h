//===- Hello.h - Messages before data move ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A hello is a message to one other member: the hash of the operation and, if
// the operation is small, a copy of the data for this member. So a hello that
// no rank receives does not refer to memory of the rank.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_HELLO_H
#define BRAID_RUNTIME_MPI_TRANSFERS_HELLO_H

#include "MPI/Library/Call.h"
#include "MPI/Transfers/Staging.h"

#include <cstdint>

namespace braid::rt {

class Transfer;

/// The hellos of one transfer, to and from all other members.
class Hello {
public:
  /// Whether the members of a group send hellos. A larger group uses a
  /// collective, which needs fewer messages.
  static bool suits(const Transfer &transfer);

  /// The messages are in `room` until the calls are complete.
  void post(const Transfer &transfer, uint64_t hash, MPI_Comm comm, Room &room,
            Requests &requests);

  /// Whether all other members have sent the same hash. Valid when the calls
  /// are complete.
  bool agrees() const;
  /// Whether the hellos carry the data.
  bool hasData() const { return dataBytes >= 0; }
  /// Copies or combines the data into the destinations.
  void deliver(const Transfer &transfer) const;

private:
  const char *receivedFrom(int64_t member) const;

  const char *received = nullptr;
  int64_t self = 0;
  int64_t members = 0;
  int64_t onlyPeer = -1; ///< The other member of a send or recv, else -1.
  uint64_t hash = 0;
  int64_t dataBytes = -1; ///< The data for each member; -1: not in the hello.
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_HELLO_H
