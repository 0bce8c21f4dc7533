//===- Call.h - Operations without addresses --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_OPERATIONS_CALL_H
#define BRAID_RUNTIME_OPERATIONS_CALL_H

#include "Operations/Operation.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace braid::rt {

/// A checked operation without addresses. All starts of one call site with the
/// same shapes share it.
struct BRAID_RT_API Call {
  Call(const Operation &operation, uint64_t fingerprint);
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  Operation operation;
  const uint64_t fingerprint; ///< Equal on members whose operations agree.

private:
  /// Copies of the site's texts, because the program may be unloaded before a
  /// failure is reported.
  std::string file, label;
};

/// A hash of the properties that must be equal on all members of an operation,
/// or on both sides of a message.
BRAID_RT_API uint64_t fingerprintOf(const Operation &operation);

/// The calls of a rank or a communicator, so that each is made and checked
/// once.
class BRAID_RT_API CallCache {
public:
  /// `check` throws an Error if a new call is not allowed.
  explicit CallCache(std::function<void(const Operation &)> check = {})
      : check(std::move(check)) {}

  /// The call of an operation.
  std::shared_ptr<const Call> find(const Operation &operation);

private:
  std::shared_ptr<const Call> findOrAdd(const Operation &operation);

  const std::function<void(const Operation &)> check;
  /// The last calls, by line and column: a hit needs no hash.
  std::array<std::shared_ptr<const Call>, 16> recent;
  std::unordered_multimap<uint64_t, std::shared_ptr<const Call>> calls;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_OPERATIONS_CALL_H
