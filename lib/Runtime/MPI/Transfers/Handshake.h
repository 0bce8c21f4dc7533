//===- Handshake.h - Messages before data move ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A handshake is a message to one other member: the hash of the operation. So a
// handshake that no rank receives does not refer to memory of a program.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_HANDSHAKE_H
#define BRAID_RUNTIME_MPI_TRANSFERS_HANDSHAKE_H

#include "MPI/Library/Call.h"
#include "MPI/Transfers/Staging.h"

#include <cstdint>

namespace braid::rt {

class Transfer;

/// The handshakes of one transfer, to and from all other members.
class Handshake {
public:
  /// Whether the members of a group send handshakes. A larger group uses a
  /// collective, which needs fewer messages.
  static bool suits(const Transfer &transfer);

  /// The messages are in `room` until the calls are complete.
  void post(const Transfer &transfer, uint64_t hash, MPI_Comm comm, Room &room,
            Requests &requests);

  /// Whether all other members have sent the same hash. Valid when the calls
  /// are complete.
  bool agrees() const;

private:
  const char *received = nullptr;
  int64_t peers = 0;
  uint64_t hash = 0;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_HANDSHAKE_H
