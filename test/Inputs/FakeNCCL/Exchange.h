//===- Exchange.h - How ranks of the fake NCCL meet -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKENCCL_EXCHANGE_H
#define BRAID_TEST_INPUTS_FAKENCCL_EXCHANGE_H

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace fakenccl {

/// Bytes under names, which members of a communicator leave for each other:
/// in this process, or as files of a folder.
class Exchange {
public:
  virtual ~Exchange() = default;

  /// Leaves bytes that `readers` members take.
  virtual void put(const std::string &name, std::string bytes, int readers) = 0;

  /// Takes bytes; waits for them until `cancelled`, and is false then.
  virtual bool take(const std::string &name, std::string &bytes,
                    const std::atomic<bool> &cancelled) = 0;
};

/// The exchange of FAKE_NCCL_DIRECTORY, or else of this process.
Exchange &exchange();

} // namespace fakenccl

#endif // BRAID_TEST_INPUTS_FAKENCCL_EXCHANGE_H
