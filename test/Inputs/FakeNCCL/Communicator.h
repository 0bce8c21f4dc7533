//===- Communicator.h - Communicators of the fake NCCL ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKENCCL_COMMUNICATOR_H
#define BRAID_TEST_INPUTS_FAKENCCL_COMMUNICATOR_H

#include "CUDA/API/NCCL.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): NCCL's own tags.

namespace fakenccl {

using namespace braid::rt::nccl;

enum class Kind {
  AllReduce,
  Reduce,
  Broadcast,
  AllGather,
  ReduceScatter,
  AlltoAll,
  Gather,
  Scatter,
  Send,
  Recv
};
extern const char *const kindNames[];

/// One call of a collective or a message. Counts are those of the call.
struct Task {
  Kind kind;
  const char *source;
  char *destination;
  size_t count;
  DataType type;
  ReductionOp op = Sum;
  std::string scale; ///< Of a premultiplied sum.
  int root = 0;      ///< The peer of a message.
  bool inWindows = false;

  size_t bytes() const;
  /// What is read and written, with this rank among `size`.
  size_t sourceBytes(int rank, int size) const;
  size_t destinationBytes(int rank, int size) const;
};

size_t sizeOf(DataType type);

/// What a group has of one communicator: a unit on its stream.
struct Batch {
  ncclComm *comm;
  Stream stream;
  std::vector<Task> tasks;
};

/// Runs on the stream's thread.
void runBatch(const Batch &batch);

/// Puts a batch into its stream.
Result enqueue(std::shared_ptr<Batch> batch);

} // namespace fakenccl

struct ncclWindow_vidmem {
  const char *begin;
  size_t bytes;
};

struct ncclComm {
  std::string id; ///< A name that no other communicator has.
  std::string name;
  int rank = 0, size = 1, device = 0;
  fakenccl::Config config;
  std::atomic<bool> aborted{false};
  std::atomic<bool> dead{false};
  std::atomic<int> running{0}; ///< Batches that have not ended.
  std::atomic<bool> inCall{false};
  std::atomic<int> error{fakenccl::Success};

  // Guarded by `mutex`.
  std::mutex mutex;
  std::vector<std::unique_ptr<ncclWindow_vidmem>> windows;
  std::vector<std::unique_ptr<const char *>>
      registrations; ///< Of ncclCommRegister.
  int64_t windowCount = 0;
  /// Memory that graphs have registered, and whether an exchange was first.
  std::map<const char *, bool> recorded;
  /// What has been begun without blocking: looks that are left until then.
  int looksLeft = 0;
  std::vector<std::shared_ptr<fakenccl::Batch>> begun;
  bool joining = false;
  std::thread joiner;

  // Used by the stream's thread alone.
  int64_t collectives = 0;
  std::map<std::pair<int, int>, int64_t> messages;
};

// NOLINTEND(readability-identifier-naming)

#endif // BRAID_TEST_INPUTS_FAKENCCL_COMMUNICATOR_H
