//===- Hello.cpp - Messages before data move --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Hello.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "MPI/Transfers/SmallData.h"
#include "MPI/Transfers/Transfer.h"

#include <cstring>

using namespace braid::rt;

namespace {
/// The largest group that uses hellos.
constexpr int64_t mostMembers = 4;
/// The size of a receive buffer. Another member may have started another
/// operation, so the buffer has room for any hello.
constexpr int64_t mostBytes = sizeof(uint64_t) + mostSmallBytes;
} // namespace

bool Hello::suits(const Transfer &transfer) {
  return transfer.queue.isMessages() || transfer.groupSize() <= mostMembers;
}

const char *Hello::receivedFrom(int64_t member) const {
  int64_t place = onlyPeer >= 0 ? 0 : member - (member > self ? 1 : 0);
  return received + place * mostBytes;
}

void Hello::post(const Transfer &transfer, uint64_t hash, MPI_Comm comm,
                 Room &room, Requests &requests) {
  const Queue &queue = transfer.queue;
  self = transfer.member();
  members = transfer.groupSize();
  onlyPeer = queue.peer;
  this->hash = hash;
  std::optional<int64_t> bytes = smallDataBytes(transfer);
  dataBytes = bytes.value_or(-1);
  int64_t peers = queue.isMessages() ? 1 : members - 1;
  int64_t ownBytes = sizeof(hash) + bytes.value_or(0);
  char *theirData = room.reserve(peers * (mostBytes + ownBytes));
  char *sent = theirData + peers * mostBytes;
  received = theirData;
  Tag theirs = HelloOfMember, own = HelloOfMember;
  if (queue.isMessages()) {
    theirs = queue.sends ? HelloOfReceiver : HelloOfSender;
    own = queue.sends ? HelloOfSender : HelloOfReceiver;
  }
  for (int64_t m = 0; m < members; ++m) {
    if (m == self || (onlyPeer >= 0 && m != onlyPeer))
      continue;
    receiveMessage(comm, m, theirData, mostBytes, requests, theirs);
    std::memcpy(sent, &hash, sizeof(hash));
    int64_t size = sizeof(hash);
    if (bytes)
      size += packSmallData(transfer, m, sent + sizeof(hash));
    sendMessage(comm, m, sent, size, requests, own);
    theirData += mostBytes;
    sent += ownBytes;
  }
}

bool Hello::agrees() const {
  for (int64_t m = 0; m < members; ++m)
    if (m != self && (onlyPeer < 0 || m == onlyPeer) &&
        std::memcmp(receivedFrom(m), &hash, sizeof(hash)) != 0)
      return false;
  return true;
}

void Hello::deliver(const Transfer &transfer) const {
  std::vector<const char *> from(static_cast<size_t>(members), nullptr);
  for (int64_t m = 0; m < members; ++m)
    if (m != self && (onlyPeer < 0 || m == onlyPeer))
      from[m] = receivedFrom(m) + sizeof(hash);
  deliverSmallData(transfer, from);
}
