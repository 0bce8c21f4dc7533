//===- NCCL.h - The functions of NCCL ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of NCCL 2.28, and a table of its functions, which is filled in
// when a world uses the engine `cuda`. So Braid builds without NCCL. A unit
// test compares the declarations with the library's header, if CMake finds it.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_API_NCCL_H
#define BRAID_RUNTIME_CUDA_API_NCCL_H

#include "Base/Library.h"

#include <climits>
#include <cstddef>
#include <string>

struct ncclComm;
struct ncclWindow_vidmem;
struct CUstream_st;

namespace braid::rt::nccl {

using Comm = ncclComm *;
using Window = ncclWindow_vidmem *;
using Stream = CUstream_st *;

struct UniqueId {
  char internal[128];
};

enum Result : int {
  Success = 0,
  UnhandledCudaError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7
};

enum ReductionOp : int { Sum = 0, Prod = 1, Max = 2, Min = 3, Avg = 4 };

enum DataType : int {
  Int8 = 0,
  Uint8 = 1,
  Int32 = 2,
  Uint32 = 3,
  Int64 = 4,
  Uint64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  Bfloat16 = 9,
  Float8e4m3 = 10,
  Float8e5m2 = 11
};

enum ScalarResidence : int { ScalarDevice = 0, ScalarHostImmediate = 1 };

/// Flags of a window.
constexpr int windowCollSymmetric = 0x01;
/// Values of Config::ctaPolicy.
constexpr int ctaPolicyZero = 0x02;

constexpr int undefinedInt = INT_MIN;

/// The version of these declarations, and the oldest supported version.
constexpr int declaredVersion = 22809;
constexpr int leastVersion = 22800;

/// The configuration of a communicator: ncclConfig_v22800.
struct Config {
  size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef;
  unsigned int version = declaredVersion;
  int blocking = undefinedInt;
  int cgaClusterSize = undefinedInt;
  int minCTAs = undefinedInt;
  int maxCTAs = undefinedInt;
  const char *netName = nullptr;
  int splitShare = undefinedInt;
  int trafficClass = undefinedInt;
  const char *commName = nullptr;
  int collnetEnable = undefinedInt;
  int ctaPolicy = undefinedInt;
  int shrinkShare = undefinedInt;
  int nvlsCTAs = undefinedInt;
  int nChannelsPerNetPeer = undefinedInt;
  int nvlinkCentricSched = undefinedInt;
};

/// FUNCTION(member, name in nccl.h, result, parameters).
#define BRAID_NCCL_FUNCTIONS(FUNCTION)                                         \
  FUNCTION(getVersion, ncclGetVersion, Result, (int *))                        \
  FUNCTION(getErrorString, ncclGetErrorString, const char *, (Result))         \
  FUNCTION(getLastError, ncclGetLastError, const char *, (Comm))               \
  FUNCTION(getUniqueId, ncclGetUniqueId, Result, (UniqueId *))                 \
  FUNCTION(memAlloc, ncclMemAlloc, Result, (void **, size_t))                  \
  FUNCTION(memFree, ncclMemFree, Result, (void *))                             \
  FUNCTION(commInitRankConfig, ncclCommInitRankConfig, Result,                 \
           (Comm *, int, UniqueId, int, Config *))                             \
  FUNCTION(commDestroy, ncclCommDestroy, Result, (Comm))                       \
  FUNCTION(commAbort, ncclCommAbort, Result, (Comm))                           \
  FUNCTION(commGetAsyncError, ncclCommGetAsyncError, Result, (Comm, Result *)) \
  FUNCTION(commRegister, ncclCommRegister, Result,                             \
           (Comm, void *, size_t, void **))                                    \
  FUNCTION(commDeregister, ncclCommDeregister, Result, (Comm, void *))         \
  FUNCTION(commWindowRegister, ncclCommWindowRegister, Result,                 \
           (Comm, void *, size_t, Window *, int))                              \
  FUNCTION(commWindowDeregister, ncclCommWindowDeregister, Result,             \
           (Comm, Window))                                                     \
  FUNCTION(redOpCreatePreMulSum, ncclRedOpCreatePreMulSum, Result,             \
           (ReductionOp *, void *, DataType, ScalarResidence, Comm))           \
  FUNCTION(redOpDestroy, ncclRedOpDestroy, Result, (ReductionOp, Comm))        \
  FUNCTION(reduce, ncclReduce, Result,                                         \
           (const void *, void *, size_t, DataType, ReductionOp, int, Comm,    \
            Stream))                                                           \
  FUNCTION(broadcast, ncclBroadcast, Result,                                   \
           (const void *, void *, size_t, DataType, int, Comm, Stream))        \
  FUNCTION(                                                                    \
      allReduce, ncclAllReduce, Result,                                        \
      (const void *, void *, size_t, DataType, ReductionOp, Comm, Stream))     \
  FUNCTION(                                                                    \
      reduceScatter, ncclReduceScatter, Result,                                \
      (const void *, void *, size_t, DataType, ReductionOp, Comm, Stream))     \
  FUNCTION(allGather, ncclAllGather, Result,                                   \
           (const void *, void *, size_t, DataType, Comm, Stream))             \
  FUNCTION(allToAll, ncclAlltoAll, Result,                                     \
           (const void *, void *, size_t, DataType, Comm, Stream))             \
  FUNCTION(gather, ncclGather, Result,                                         \
           (const void *, void *, size_t, DataType, int, Comm, Stream))        \
  FUNCTION(scatter, ncclScatter, Result,                                       \
           (const void *, void *, size_t, DataType, int, Comm, Stream))        \
  FUNCTION(send, ncclSend, Result,                                             \
           (const void *, size_t, DataType, int, Comm, Stream))                \
  FUNCTION(recv, ncclRecv, Result,                                             \
           (void *, size_t, DataType, int, Comm, Stream))                      \
  FUNCTION(groupStart, ncclGroupStart, Result, ())                             \
  FUNCTION(groupEnd, ncclGroupEnd, Result, ())

/// The names of the library.
const LibrarySpec &librarySpec();

/// The functions, by their names without `nccl`.
class NCCL : public CheckedLibrary<NCCL> {
public:
  /// Loads the library. Throws an Error that names the missing part (the
  /// library, functions) or the version, if it is too old.
  NCCL();

#define BRAID_NCCL_MEMBER(member, name, result, parameters)                    \
  LibraryFunction<result parameters> member = {find(#name), #name};
  BRAID_NCCL_FUNCTIONS(BRAID_NCCL_MEMBER)
#undef BRAID_NCCL_MEMBER

  /// Throws an Error unless `result` is Success or InProgress: `ncclAllReduce
  /// failed: unhandled cuda error (...)`.
  void check(Result result, const char *function) const {
    if (result != Success && result != InProgress)
      fail(result, function);
  }
  [[noreturn]] void fail(Result result, const char *function) const;

  /// `unhandled cuda error (...)`, with the library's text of the last error.
  std::string describe(Result result) const;

  /// True if a collective on registered memory may crash after an exchange of
  /// the communicator: before 2.29.2, NCCL tells devices the addresses that
  /// peers have for memory only where a collective is the first to register it.
  bool losesAddresses() const { return version < 22902; }

  int version = 0; ///< 22809 for 2.28.9.
};

/// A group of calls. The destructor ends the group if an Error leaves it.
class Group {
public:
  explicit Group(const NCCL &nccl) : nccl(nccl) { nccl.call(nccl.groupStart); }
  ~Group() {
    if (!ended)
      nccl.groupEnd();
  }
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;

  /// Starts the calls of the group.
  Result end() {
    ended = true;
    return nccl.groupEnd();
  }

private:
  const NCCL &nccl;
  bool ended = false;
};

/// `2.28.9` for 22809.
std::string describeVersion(int version);

} // namespace braid::rt::nccl

#endif // BRAID_RUNTIME_CUDA_API_NCCL_H
