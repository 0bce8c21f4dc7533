//===- Store.h - Messages between the processes of a world ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_STORE_H
#define BRAID_RUNTIME_CUDA_PROCESSES_STORE_H

#include "CUDA/Processes/JobKey.h"
#include "CUDA/Processes/Launch.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// Receives messages and losses of other processes, on a thread of the store.
/// The store receives nothing else during a call.
class StoreListener {
public:
  /// Another process has posted bytes.
  virtual void received(int32_t process, const std::string &bytes) = 0;
  /// A process has died without announcing its end.
  virtual void lost(int32_t process) = 0;
  /// A line for the log: the store has closed a connection.
  virtual void note(const std::string &line) = 0;

protected:
  ~StoreListener() = default;
};

/// Messages between the processes of a world outside of NCCL.
class Store {
public:
  virtual ~Store() = default;

  /// Sends the bytes of every process to all processes, in the order of the
  /// processes. All processes call this function together. Throws an Error that
  /// names missing processes, or after interrupt().
  virtual std::vector<std::string> exchange(const std::string &bytes) = 0;

  /// Sends bytes to the listeners of all other processes, without waiting.
  virtual void post(const std::string &bytes) = 0;

  /// Makes present and later exchanges fail with this text.
  virtual void interrupt(const std::string &text) = 0;
};

/// The store of a launcher's processes. Rank 0 serves the store at the address
/// and port of the launch, the others connect, and all prove that they have
/// `key`. Returns when all have connected; then no other process can. Throws an
/// Error that names missing processes, or the reason why this process cannot
/// connect.
std::unique_ptr<Store> createTcpStore(const Launch &launch, const JobKey &key,
                                      int64_t timeoutNs,
                                      StoreListener &listener);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_STORE_H
