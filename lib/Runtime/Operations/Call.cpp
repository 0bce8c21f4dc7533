//===- Call.cpp - Operations without addresses ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations/Call.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;

namespace {
/// A hash of numbers.
class Hash {
public:
  void add(uint64_t value) {
    value *= 0x9e3779b97f4a7c15;
    value ^= value >> 32;
    hash = (hash ^ value) * 0x100000001b3;
  }
  void add(const std::vector<int64_t> &values, size_t first = 0) {
    add(values.size());
    for (size_t i = first; i < values.size(); ++i)
      add(static_cast<uint64_t>(values[i]));
  }
  uint64_t hash = 0xcbf29ce484222325;
};
} // namespace

uint64_t braid::rt::fingerprintOf(const Operation &operation) {
  Hash hash;
  bool isMessage = operation.isPointToPoint();
  hash.add(static_cast<uint64_t>(
      isMessage ? std::min(BRAID_RT_SEND, BRAID_RT_RECV) : operation.kind));
  hash.add(static_cast<uint64_t>(operation.reduction));
  hash.add(static_cast<uint64_t>(operation.root));
  hash.add(static_cast<uint64_t>(operation.dim));
  hash.add(static_cast<uint64_t>(operation.splits));
  hash.add(operation.matrix);
  hash.add(operation.pairs);
  hash.add(operation.operands.size());
  for (const Operand &operand : operation.operands) {
    hash.add(static_cast<uint64_t>(operand.dtype));
    // With splits the sizes of dimension 0 may differ between ranks.
    hash.add(operation.kind == BRAID_RT_RECV ? operand.destinationSizes
                                             : operand.sourceSizes,
             operation.splits == Splits::Equal ? 0 : 1);
  }
  return hash.hash;
}

Call::Call(const Operation &operation, uint64_t fingerprint)
    : operation(operation), fingerprint(fingerprint) {
  for (Operand &operand : this->operation.operands) {
    operand.source = nullptr;
    operand.destination = nullptr;
  }
  braid_rt_site &site = this->operation.site;
  if (site.file)
    site.file = (file = site.file).c_str();
  if (site.label)
    site.label = (label = site.label).c_str();
}

static uint64_t hashCall(const Operation &operation) {
  Hash hash;
  hash.add(fingerprintOf(operation));
  hash.add(static_cast<uint64_t>(operation.kind));
  hash.add(static_cast<uint64_t>(operation.peer));
  hash.add(static_cast<uint64_t>(operation.site.line));
  hash.add(static_cast<uint64_t>(operation.site.column));
  return hash.hash;
}

static bool isSameText(const char *a, const char *b) {
  return a && b ? std::strcmp(a, b) == 0 : a == b;
}

static bool isSameCall(const Operation &a, const Operation &b) {
  auto sameOperand = [](const Operand &x, const Operand &y) {
    return x.dtype == y.dtype && x.sourceSizes == y.sourceSizes &&
           x.destinationSizes == y.destinationSizes;
  };
  return isSameText(a.site.file, b.site.file) &&
         isSameText(a.site.label, b.site.label) && a.site.line == b.site.line &&
         a.site.column == b.site.column && a.kind == b.kind &&
         a.reduction == b.reduction && a.root == b.root && a.dim == b.dim &&
         a.peer == b.peer && a.splits == b.splits &&
         a.sourceSplits == b.sourceSplits &&
         a.destinationSplits == b.destinationSplits && a.matrix == b.matrix &&
         a.pairs == b.pairs &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(),
                    b.operands.end(), sameOperand);
}

std::shared_ptr<const Call> CallCache::find(const Operation &operation) {
  auto place =
      static_cast<size_t>(7 * operation.site.line + operation.site.column) %
      recent.size();
  std::shared_ptr<const Call> &call = recent[place];
  if (!call || !isSameCall(call->operation, operation))
    call = findOrAdd(operation);
  return call;
}

std::shared_ptr<const Call> CallCache::findOrAdd(const Operation &operation) {
  uint64_t hash = hashCall(operation);
  auto range = calls.equal_range(hash);
  for (auto it = range.first; it != range.second; ++it)
    if (isSameCall(it->second->operation, operation))
      return it->second;
  if (check)
    check(operation);
  // Bounds the cache for programs whose shapes keep changing.
  constexpr size_t most = 4096;
  if (calls.size() >= most)
    calls.clear();
  auto call = std::make_shared<const Call>(operation, fingerprintOf(operation));
  calls.emplace(hash, call);
  return call;
}
