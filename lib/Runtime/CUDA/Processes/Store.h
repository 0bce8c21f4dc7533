//===- Store.h - How the processes of a world talk --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_STORE_H
#define BRAID_RUNTIME_CUDA_PROCESSES_STORE_H

#include "CUDA/Processes/Launch.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// Hears what other processes do. Called on a thread of the store's, which
/// meanwhile receives nothing else.
class StoreListener {
public:
  /// Another process has posted bytes.
  virtual void received(int32_t process, const std::string &bytes) = 0;
  /// A process is gone that has not said that it ends.
  virtual void lost(int32_t process) = 0;

protected:
  ~StoreListener() = default;
};

/// How the processes of a world talk to each other beside NCCL.
class Store {
public:
  virtual ~Store();

  /// Gives every process the bytes of all, in their order. All processes call
  /// it together; throws an Error that names who does not come, or after
  /// interrupt().
  virtual std::vector<std::string> exchange(const std::string &bytes) = 0;

  /// Hands bytes to the listeners of all other processes; waits for nobody.
  virtual void post(const std::string &bytes) = 0;

  /// Has exchanges fail with this text, those that wait and later ones.
  virtual void interrupt(const std::string &text) = 0;
};

/// The store of a world with one process.
std::unique_ptr<Store> createLocalStore();

/// The store of a launcher's processes: rank 0 serves it at the address and
/// port of the launch, the others connect. Returns when all have; throws an
/// Error that names who has not, or why this process cannot.
std::unique_ptr<Store> createTcpStore(const Launch &launch, int64_t timeoutNs,
                                      StoreListener &listener);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_STORE_H
