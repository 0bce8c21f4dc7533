//===- Door.h - Where ranks come in -----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_DOOR_H
#define BRAID_RUNTIME_CUDA_PROCESSES_DOOR_H

#include "CUDA/Processes/Connection.h"
#include "CUDA/Processes/Introduction.h"
#include "CUDA/Processes/Launch.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// Accepts connections for rank 0 and authenticates each peer. A peer without
/// the job's key gets nothing but a challenge and cannot end, delay or enlarge
/// the job: the time, the memory and the number of unauthenticated connections
/// are limited. A connection above that number closes the oldest one.
class Door {
public:
  using Log = std::function<void(const std::string &line)>;
  /// Why a rank that has the job's key does not belong to the world; empty: the
  /// rank belongs to it.
  using Admit = std::function<std::string(const Greeting &greeting)>;
  /// Takes the connection of a rank that belongs to the world.
  using Enter = std::function<void(std::unique_ptr<Connection> connection)>;

  /// The time for an introduction. A rank that a busy host has delayed tries
  /// again.
  static constexpr int64_t usualNs = int64_t(10) * 1000 * 1000 * 1000;

  /// Listens at the address of the launch. Throws an Error with the reason if
  /// this fails.
  Door(const Launch &launch, const HmacKey &key, Log log,
       int64_t introductionNs = usualNs);
  ~Door();
  Door(const Door &) = delete;
  Door &operator=(const Door &) = delete;

  /// Adds the sockets to wait for.
  void addSockets(std::vector<pollfd> &sockets) const;

  /// Accepts, reads and answers, without waiting.
  void serve(const Admit &admit, const Enter &enter);

private:
  /// A connection that is not yet that of a rank of the world.
  struct Visitor {
    std::unique_ptr<Connection> connection;
    std::string peer;
    std::string challenge, handshake;
    int64_t sinceNs = 0;
    bool isAdmitted = false;
  };

  void acceptAll();
  bool makeRoom();
  void hear(Visitor &visitor, const Admit &admit, Frame &&frame);
  void prove(Visitor &visitor, const Admit &admit, const Frame &frame);
  void report(const Visitor &visitor, const std::string &why);

  const HmacKey key;
  const size_t mostVisitors;
  const int64_t introductionNs;
  const Log log;
  std::vector<int> listeners;
  std::deque<Visitor> visitors; ///< The oldest is in front.
  int64_t pausedUntilNs = 0;    ///< No descriptor is left.
  int64_t reports = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_DOOR_H
