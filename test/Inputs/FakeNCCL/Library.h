//===- Library.h - The state of the fake NCCL -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKENCCL_LIBRARY_H
#define BRAID_TEST_INPUTS_FAKENCCL_LIBRARY_H

#include "Communicator.h"
#include "FakeCUDA.h"

#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>

namespace fakenccl {

struct Failure {
  int result, skipped;
};

struct Library {
  std::mutex mutex;
  std::map<std::string, Failure> failures;
  std::map<int, int> broken; ///< Results by device.
  std::string refused;       ///< Words of fake_nccl_refuse.
  std::string log, shownLog;
  std::set<ncclComm *> live;
  std::map<const char *, size_t> allocations;
  std::map<int, std::string> scales; ///< By premultiplied operator.
  int nextOp = Avg + 1;
  int nextId = 0;
  std::mt19937 random{1};
};

Library &library();

/// What ncclGetLastError says to this thread.
extern thread_local std::string lastError;

/// Whether a call was asked to fail.
bool failsNow(const char *function, Result &result);
#define FAKE_NCCL_ENTER(name)                                                  \
  Result injected = Success;                                                   \
  if (failsNow(name, injected))                                                \
    return injected;

Result refuse(Result result, const std::string &why);

/// Whether this rank of a communicator was asked to refuse `what`.
bool refuses(const std::string &what, int rank);

/// Runs a collective registration, now or at the end of the thread's group.
Result registerInGroup(const std::function<Result()> &registration);

/// A call of a communicator: the only one at a time.
class Call {
public:
  Call(const char *name, ncclComm *comm) : comm(comm) {
    if (!comm || comm->dead)
      fake_cuda_abort(name, "the communicator is gone");
    if (comm->inCall.exchange(true))
      fake_cuda_abort(name, "two threads call one communicator at once");
  }
  ~Call() { comm->inCall = false; }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

private:
  ncclComm *comm;
};

/// Ends the process if an earlier call of the communicator is in progress.
void checkIdle(const char *name, ncclComm *comm);

} // namespace fakenccl

#endif // BRAID_TEST_INPUTS_FAKENCCL_LIBRARY_H
