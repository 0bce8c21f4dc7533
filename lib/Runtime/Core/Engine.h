//===- Engine.h - What an engine does for the runtime's core ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The core checks operations, counts requests, keeps memory, records traces and
// turns errors into messages; an engine finds the ranks and moves the data.
// Nothing outside an engine's folder knows which one runs.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_ENGINE_H
#define BRAID_RUNTIME_CORE_ENGINE_H

#include "Core/Operation.h"

#include <memory>
#include <string>
#include <vector>

namespace braid::rt {

/// The ranks that run collectives together: one list of a group.
class Communicator {
public:
  Communicator(std::string name, std::vector<int32_t> ranks)
      : name(std::move(name)), ranks(std::move(ranks)) {}
  virtual ~Communicator() = default;

  int64_t size() const { return static_cast<int64_t>(ranks.size()); }

  const std::string name;           ///< The group's name.
  const std::vector<int32_t> ranks; ///< World ranks, in the group's order.
};

/// A started operation of one rank, which no one but the rank destroys.
class EngineRequest {
public:
  explicit EngineRequest(Operation operation)
      : operation(std::move(operation)) {}
  virtual ~EngineRequest() = default;

  const Operation operation;
  /// When the data began and ended to travel, in ns since the world was
  /// created; valid after a wait.
  int64_t beginNs = 0;
  int64_t endNs = 0;
  int64_t sequence = 0; ///< Its number in its communicator, from 1.
};

/// Where collectives happen. All functions but the constructor and reset are
/// called by the rank's own thread; they throw Error.
class Engine {
public:
  virtual ~Engine() = default;

  /// The communicator with this key, which is made when the first rank asks.
  /// Equal keys have equal names and ranks. It lives as long as the engine.
  virtual Communicator &communicator(const std::string &key,
                                     const std::string &name,
                                     const std::vector<int32_t> &ranks) = 0;

  /// The rank enters its program.
  virtual void beginInvocation(int32_t rank) = 0;

  /// The rank has ended its program and awaited all its requests.
  virtual void endInvocation(int32_t rank) = 0;

  /// The rank has failed. On return no other thread touches memory that the
  /// rank's requests refer to; all who wait for the rank get an error.
  virtual void failInvocation(int32_t rank, const std::string &message) = 0;

  /// Starts a checked operation of member `member` of the communicator.
  virtual std::unique_ptr<EngineRequest> start(int32_t rank,
                                               Communicator &communicator,
                                               int64_t member,
                                               Operation operation) = 0;

  /// Returns when the operation has ended.
  virtual void wait(int32_t rank, EngineRequest &request) = 0;

  /// The number of collectives that a member has started.
  virtual int64_t sequenceNumber(const Communicator &communicator,
                                 int64_t member) const = 0;

  /// Forgets failures and counts; no rank is running.
  virtual void reset() = 0;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_ENGINE_H
