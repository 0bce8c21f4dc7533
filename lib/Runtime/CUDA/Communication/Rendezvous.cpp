//===- Rendezvous.cpp - State of the local members of a group -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/Rendezvous.h"
#include "Base/Bytes.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

Rendezvous::Rendezvous(const CommunicatorSpec &spec)
    : name(spec.name), id(hashText(spec.key)), ranks(spec.ranks),
      slots(slotCount) {}

bool Rendezvous::meet(int64_t sequence, uint64_t fingerprint) {
  auto number = static_cast<uint32_t>(sequence);
  uint64_t own = (uint64_t(number) << 32) |
                 static_cast<uint32_t>(fingerprint ^ (fingerprint >> 32));
  std::atomic<uint64_t> &slot =
      slots[static_cast<size_t>(sequence) % slotCount];
  uint64_t found = slot.load(std::memory_order_relaxed);
  while (true) {
    auto foundNumber = static_cast<uint32_t>(found >> 32);
    if (foundNumber == number)
      return found == own;
    // A faster member has already reused the slot for a later operation.
    if (static_cast<int32_t>(number - foundNumber) < 0)
      return true;
    if (slot.compare_exchange_weak(found, own, std::memory_order_relaxed))
      return true;
  }
}

std::optional<Rendezvous::Side> Rendezvous::meetMessage(int32_t from,
                                                        int32_t to,
                                                        int64_t sequence,
                                                        const Side &side) {
  std::lock_guard<std::mutex> lock(mutex);
  std::map<int64_t, Side> &waiting = sides[{from, to}];
  auto found = waiting.find(sequence);
  if (found == waiting.end()) {
    waiting.emplace(sequence, side);
    return std::nullopt;
  }
  Side other = found->second;
  waiting.erase(found);
  if (other.call->fingerprint == side.call->fingerprint)
    return std::nullopt;
  return other;
}
