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

namespace braid::rt {

/// The host as a device: the rank's thread is the compute stream, OpenBLAS
/// multiplies matrices.
class BRAID_RT_API HostDevice final : public Device {
public:
  /// `blasThreads`: the threads of the BLAS library for this process; 0 leaves
  /// the library's own setting (OPENBLAS_NUM_THREADS).
  /// `isAlone`: whether no other rank of this process uses the library.
  HostDevice(int32_t blasThreads, bool isAlone)
      : blasThreads(blasThreads), isAlone(isAlone) {}

  bool beginInvocation(const braid_rt_entry &entry, void **args) override;
  MemoryPool &memory() override { return pool; }
  void multiply(const Matmul &matmul, const void *a, const void *b,
                void *c) override;
  void callRoutine(const RoutineCall &call) override;

private:
  const int32_t blasThreads;
  const bool isAlone;
  MemoryPool pool;
};

/// Runs a transform of FFTW's.
void transform(const RoutineCall &call);

/// Runs a routine of LAPACK's.
void callLapack(const RoutineCall &call);

/// Sets the threads of the BLAS library for this process.
void setBlasThreads(int32_t threads);

/// The default threads of the BLAS library for a process with this many local
/// ranks: `configured` unless it is 0; 0 if the user has set
/// OPENBLAS_NUM_THREADS; else an equal share of the host's cores.
BRAID_RT_API int32_t chooseBlasThreads(int32_t configured, int32_t ranksOfHost);

} // namespace braid::rt

#endif // BRAID_RUNTIME_HOST_HOSTDEVICE_H
