//===- HostDevice.h - A rank that computes on the host ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_HOST_HOSTDEVICE_H
#define BRAID_RUNTIME_HOST_HOSTDEVICE_H

#include "Engine/Device.h"
#include "Engine/Memory.h"
#include "Host/ThreadPool.h"

namespace braid::rt {

inline int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The host as a device: the rank's thread is the compute stream, OpenBLAS
/// multiplies matrices. Large work is divided among the rank's threads in parts
/// that depend on its size alone, so that bits do not depend on the threads.
class BRAID_RT_API HostDevice final : public Device {
public:
  /// `threads`: those of this rank, at least 1.
  /// `isAlone`: whether no other rank of this process uses OpenBLAS.
  HostDevice(int32_t threads, bool isAlone);

  bool beginInvocation(const braid_rt_entry &entry, void **args) override;
  MemoryPool &memory() override { return pool; }
  void multiply(const Matmul &matmul, const void *a, const void *b,
                void *c) override;
  void runParts(int64_t parts,
                const std::function<void(int64_t)> &body) override;
  void callRoutine(const RoutineCall &call) override;

private:
  const int32_t threads;
  const bool isAlone;
  MemoryPool pool;
  const std::shared_ptr<ThreadPool> workers = ThreadPool::ofProcess();
};

/// Runs a transform of FFTW's.
void transform(const RoutineCall &call);

/// Runs `body` on the numbers of parts, as Device::runParts.
using RunParts = std::function<void(int64_t parts,
                                    const std::function<void(int64_t)> &body)>;

/// Runs a routine of LAPACK's, in parts of its batch or of its right sides.
void callLapack(const RoutineCall &call, const RunParts &runParts);

/// Whether a matrix of the call is so large that OpenBLAS's own threads gain.
bool wantsBlasThreads(const RoutineCall &call);

/// Sets the threads of OpenBLAS's own for this process.
void setBlasThreads(int32_t threads);

/// The threads of a rank on a host with this many ranks: `configured` unless it
/// is 0, else OPENBLAS_NUM_THREADS, else an equal share of the host's cores.
BRAID_RT_API int32_t chooseThreads(int32_t configured, int32_t ranksOfHost);

} // namespace braid::rt

#endif // BRAID_RUNTIME_HOST_HOSTDEVICE_H
