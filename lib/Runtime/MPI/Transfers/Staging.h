//===- Staging.h - Buffers that operations borrow ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_STAGING_H
#define BRAID_RUNTIME_MPI_TRANSFERS_STAGING_H

#include <cstdint>
#include <map>
#include <memory>

namespace braid::rt {

/// Memory for data between the network and the operands. Operations reuse
/// buffers, because fresh pages cost more than a copy. The engine's mutex
/// guards this memory. A buffer may outlive the engine.
class Staging {
public:
  using Buffer = std::shared_ptr<char>;

  /// Throws std::bad_alloc.
  Buffer borrow(int64_t bytes);

private:
  struct Store {
    std::multimap<int64_t, std::unique_ptr<char[]>> kept;
    int64_t keptBytes = 0;
  };
  std::shared_ptr<Store> store = std::make_shared<Store>();
};

/// Memory of one owner, which grows and never shrinks.
class Room {
public:
  /// At least `bytes` bytes, with any content. Throws std::bad_alloc.
  char *reserve(int64_t bytes) {
    if (bytes > size) {
      memory.reset(); // Before `size`, which a failure must not exceed.
      size = 0;
      memory.reset(new char[static_cast<size_t>(bytes)]);
      size = bytes;
    }
    return memory.get();
  }

private:
  std::unique_ptr<char[]> memory;
  int64_t size = 0;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_STAGING_H
