//===- Handshake.cpp - Messages before data move ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Handshake.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "MPI/Transfers/Transfer.h"

#include <cstring>

using namespace braid::rt;

/// The largest group that uses handshakes.
static constexpr int64_t mostMembers = 4;

bool Handshake::suits(const Transfer &transfer) {
  return transfer.queue.isMessages() || transfer.groupSize() <= mostMembers;
}

void Handshake::post(const Transfer &transfer, uint64_t hash, MPI_Comm comm,
                     Room &room, Requests &requests) {
  const Queue &queue = transfer.queue;
  int64_t members = transfer.groupSize();
  constexpr int64_t bytes = sizeof(hash);
  peers = queue.isMessages() ? 1 : members - 1;
  this->hash = hash;
  char *sent = room.reserve((1 + peers) * bytes);
  std::memcpy(sent, &hash, sizeof(hash));
  char *theirs = sent + bytes;
  received = theirs;
  Tag theirTag = HandshakeOfMember, ownTag = HandshakeOfMember;
  if (queue.isMessages()) {
    theirTag = queue.sends ? HandshakeOfReceiver : HandshakeOfSender;
    ownTag = queue.sends ? HandshakeOfSender : HandshakeOfReceiver;
  }
  for (int64_t m = 0; m < members; ++m) {
    if (m == transfer.member() || (queue.isMessages() && m != queue.peer))
      continue;
    receiveMessage(comm, m, theirs, bytes, requests, theirTag);
    sendMessage(comm, m, sent, bytes, requests, ownTag);
    theirs += bytes;
  }
}

bool Handshake::agrees() const {
  for (int64_t peer = 0; peer < peers; ++peer)
    if (std::memcmp(received + peer * int64_t(sizeof(hash)), &hash,
                    sizeof(hash)) != 0)
      return false;
  return true;
}
