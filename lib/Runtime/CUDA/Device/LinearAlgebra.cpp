//===- LinearAlgebra.cpp - Linear algebra with cuSOLVER -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/LinearAlgebra.h"
#include "Base/Error.h"
#include "CUDA/Device/SolverRoutines.h"

#include <algorithm>
#include <climits>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// What allocations are aligned to.
static constexpr int64_t alignment = 256;

LinearAlgebra::~LinearAlgebra() {
  unload();
  for (DevicePointer work : works)
    memory.freePrivate(work);
  for (auto &[key, array] : arrays)
    memory.freePrivate(array);
}

void LinearAlgebra::refuseInRecording(const char *what) const {
  if (gpu.capturing)
    throw Error(std::string("a recording cannot have ") + what +
                "; run the program once before");
}

void LinearAlgebra::load() {
  refuseInRecording("the first routine of cuSOLVER");
  library = std::make_unique<cusolver::Cusolver>();
  try {
    library->call(library->create, &handle);
    library->call(library->setStream, handle, gpu.stream);
    library->call(library->createParams, &params);
    library->call(library->createEigenOptions, &eigenOptions);
    library->call(library->createSingularOptions, &singularOptions);
    library->call(library->createBlas, &blas);
    library->call(library->setBlasStream, blas, gpu.stream);
    // Without a workspace cuBLAS allocates in recordings. A stream that is set
    // takes the library's own one again.
    library->call(library->setBlasWorkspace, blas,
                  reinterpret_cast<void *>(matmuls.sharedWorkspace()),
                  static_cast<size_t>(Matmuls::workspaceBytes));
  } catch (const Error &) {
    unload();
    throw;
  }
}

void LinearAlgebra::unload() {
  if (blas)
    library->destroyBlas(blas);
  if (singularOptions)
    library->destroySingularOptions(singularOptions);
  if (eigenOptions)
    library->destroyEigenOptions(eigenOptions);
  if (params)
    library->destroyParams(params);
  if (handle)
    library->destroy(handle);
  library.reset();
}

/// Whether cuSOLVER takes the sizes: it has 32-bit integers and no empty
/// matrices.
static bool hasUsualSizes(const RoutineCall &call) {
  auto isEmpty = [](const braid_rt_view &view) {
    return countBytes(view) == 0;
  };
  auto isLarge = [](int64_t size) { return size > INT_MAX; };
  return std::none_of(call.inputs.begin(), call.inputs.end(), isEmpty) &&
         !isEmpty(call.outputs[0]) && !isLarge(call.batch()) &&
         std::none_of(call.shape.sizes.begin(), call.shape.sizes.end(),
                      isLarge);
}

bool LinearAlgebra::canRun(const RoutineCall &call) {
  if (hasFailed || !findSolverRoutine(call.routine) || !hasUsualSizes(call))
    return false;
  if (library)
    return true;
  try {
    load();
  } catch (const Error &error) {
    if (gpu.capturing)
      throw;
    hasFailed = true;
    gpu.hooks.replaces({"linear algebra", "cuSOLVER", error.what(),
                        "LAPACK on the host, for which the GPU waits"});
  }
  return !hasFailed;
}

LinearAlgebra::Work
LinearAlgebra::getWork(const RoutineCall &call,
                       const std::function<void(int *)> &query) {
  std::vector<int64_t> key = {call.routine, call.shape.dtype, call.batch()};
  key.insert(key.end(), call.flags.begin(), call.flags.end());
  key.insert(key.end(), call.shape.sizes.begin(), call.shape.sizes.end());
  auto [count, isNew] = counts.try_emplace(std::move(key), 0);
  if (isNew) {
    try {
      refuseInRecording("a routine of sizes that are new to cuSOLVER");
      query(&count->second);
    } catch (const Error &) {
      counts.erase(count);
      throw;
    }
  }
  int64_t wanted =
      alignment + count->second * braid_rt_dtype_size(call.shape.dtype);
  if (wanted > workBytes) {
    refuseInRecording("more memory for cuSOLVER's work");
    // Recordings use what was allocated before; all of it together is smaller
    // than this.
    wanted = std::max(wanted, 2 * workBytes);
    works.push_back(
        memory.allocatePrivate(wanted, "the work of linear algebra"));
    workBytes = wanted;
  }
  auto *base = reinterpret_cast<char *>(works.back());
  return {reinterpret_cast<int *>(base), base + alignment, count->second};
}

void **LinearAlgebra::getAddresses(const RoutineCall &call,
                                   const braid_rt_view &view) {
  auto *base = static_cast<char *>(view.data);
  int64_t batch = call.batch(), distance = countBytes(view) / batch;
  auto [array, isNew] = arrays.try_emplace({base, distance, batch}, 0);
  if (isNew) {
    try {
      if (arrays.size() > mostArrays) {
        arrays.erase(array);
        return nullptr;
      }
      refuseInRecording("a batch whose place in memory is new");
      std::vector<char *> addresses;
      for (int64_t number = 0; number != batch; ++number)
        addresses.push_back(base + number * distance);
      auto bytes = static_cast<int64_t>(addresses.size() * sizeof(char *));
      array->second = memory.allocatePrivate(bytes, "addresses of matrices");
      memory.toDevice(array->second, addresses.data(), bytes);
    } catch (const Error &) {
      memory.freePrivate(array->second);
      arrays.erase(array);
      throw;
    }
  }
  return reinterpret_cast<void **>(array->second);
}

void LinearAlgebra::run(const RoutineCall &call) {
  gpu.hooks.enqueues();
  try {
    if (call.place() != braid::RoutinePlace::Device)
      refuseInRecording("a routine for which the host waits");
    runSolverRoutine(*findSolverRoutine(call.routine), call, *this);
  } catch (const Error &error) {
    throw Error(std::string(call.name()) + " on " + gpu.name + ": " +
                error.what());
  }
  gpu.checkCapture(call.name());
}
