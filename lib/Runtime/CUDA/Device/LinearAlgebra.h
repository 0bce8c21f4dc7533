//===- LinearAlgebra.h - Linear algebra with cuSOLVER -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_LINEARALGEBRA_H
#define BRAID_RUNTIME_CUDA_DEVICE_LINEARALGEBRA_H

#include "CUDA/API/Cusolver.h"
#include "CUDA/Device/Matmuls.h"
#include "Engine/Routine.h"

#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace braid::rt::cuda {

/// Factors, solutions, eigenvalues and singular values on the compute stream.
/// The first one loads cuSOLVER. What a recording refers to is kept: the
/// memory for the library's work, and arrays of addresses.
class LinearAlgebra {
public:
  /// cuBLAS has the workspace of `matmuls`.
  LinearAlgebra(const Gpu &gpu, DeviceMemory &memory, const Matmuls &matmuls)
      : gpu(gpu), memory(memory), matmuls(matmuls) {}
  ~LinearAlgebra();
  LinearAlgebra(const LinearAlgebra &) = delete;
  LinearAlgebra &operator=(const LinearAlgebra &) = delete;

  /// Whether `run` has the routine. Reports a missing cuSOLVER once.
  bool canRun(const RoutineCall &call);

  /// Throws an Error if cuSOLVER does, or if a recording asks for something
  /// that no invocation before it has used.
  void run(const RoutineCall &call);

  /// Memory for the work of one call.
  struct Work {
    int *info; ///< For routines whose info the program does not want.
    void *data;
    int count; ///< The elements of `data`.
  };

  /// Memory for the call with this signature. `query` gives the number of
  /// elements that the library wants.
  Work getWork(const RoutineCall &call,
               const std::function<void(int *)> &query);

  /// An array, in device memory, of the addresses of all matrices of an
  /// operand; null if there are too many such arrays.
  void **getAddresses(const RoutineCall &call, const braid_rt_view &view);

  const Gpu &gpu;
  DeviceMemory &memory;
  std::unique_ptr<cusolver::Cusolver> library;
  cusolver::Handle handle = nullptr;
  cusolver::BlasHandle blas = nullptr;
  cusolver::Params params = nullptr;
  cusolver::EigenOptions eigenOptions = nullptr;
  cusolver::SingularOptions singularOptions = nullptr;
  std::vector<char> hostWork; ///< For the library's work on the host.

private:
  void load();
  void unload();
  void refuseInRecording(const char *what) const;

  /// The most arrays of addresses. Programs whose buffers stay where they are
  /// have few.
  static constexpr size_t mostArrays = 1024;

  const Matmuls &matmuls;
  bool hasFailed = false;
  std::map<std::vector<int64_t>, int> counts; ///< By signature.
  std::vector<DevicePointer> works;           ///< The last one is in use.
  int64_t workBytes = 0;
  /// By the first address, the distance and the number.
  std::map<std::tuple<const void *, int64_t, int64_t>, DevicePointer> arrays;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_LINEARALGEBRA_H
