//===- Transforms.cpp - Fourier transforms with cuFFT ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Transforms.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

static DataType getTransformedType(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_F32:
    return R_32F;
  case BRAID_RT_F64:
    return R_64F;
  case BRAID_RT_COMPLEX_F32:
    return C_32F;
  default:
    return C_64F;
  }
}

/// Whether cuFFT can read or write the elements in place: it moves pairs of
/// numbers, also those of real arrays.
static bool isAligned(const braid_rt_view &view, int32_t complexType) {
  return reinterpret_cast<uintptr_t>(view.data) %
             static_cast<uintptr_t>(braid_rt_dtype_size(complexType)) ==
         0;
}

Transforms::~Transforms() {
  for (auto &[key, plan] : plans) {
    library->destroy(plan.handle);
    memory.freePrivate(plan.work);
    memory.freePrivate(plan.copy);
  }
}

void Transforms::refuseInRecording() const {
  if (gpu.capturing)
    throw Error("a recording cannot make a plan of cuFFT, which allocates "
                "memory; run the program once before");
}

void Transforms::make(const RoutineCall &call, Plan &plan) {
  const braid_rt_view &in = call.inputs[0], &out = call.outputs[0];
  std::vector<int64_t> known = call.transformSizes();
  std::vector<long long> sizes(known.begin(), known.end());
  size_t workBytes = 0;
  library->call(library->setAutoAllocation, plan.handle, 0);
  // Without embedding sizes arrays are contiguous, one behind the other.
  library->call(library->makePlan, plan.handle, static_cast<int>(sizes.size()),
                sizes.data(), nullptr, 1, countElements(in, call.dimensions),
                getTransformedType(in.dtype), nullptr, 1,
                countElements(out, call.dimensions),
                getTransformedType(out.dtype), call.batch(), &workBytes,
                getTransformedType(call.shape.dtype));
  if (workBytes) {
    plan.work = memory.allocatePrivate(static_cast<int64_t>(workBytes),
                                       "the work of a Fourier transform");
    library->call(library->setWorkArea, plan.handle,
                  reinterpret_cast<void *>(plan.work));
  }
  library->call(library->setStream, plan.handle, gpu.stream);
}

Transforms::Plan &Transforms::find(const RoutineCall &call) {
  Key key = {call.routine, call.shape.dtype, call.dimensions};
  for (const braid_rt_view *view : {&call.inputs[0], &call.outputs[0]})
    key.insert(key.end(), view->sizes, view->sizes + view->rank);
  auto found = plans.find(key);
  if (found != plans.end())
    return found->second;
  refuseInRecording();
  if (!library)
    library = std::make_unique<cufft::Cufft>();
  cufft::Handle handle = -1;
  library->call(library->create, &handle);
  found = plans.emplace(std::move(key), Plan{handle}).first;
  try {
    make(call, found->second);
  } catch (const Error &) {
    library->destroy(handle);
    memory.freePrivate(found->second.work);
    plans.erase(found);
    throw;
  }
  return found->second;
}

/// Copies the input to memory of the plan.
void *Transforms::copyInput(const RoutineCall &call, Plan &plan) {
  const braid_rt_view &in = call.inputs[0];
  int64_t bytes = countBytes(in);
  if (!plan.copy) {
    refuseInRecording();
    plan.copy =
        memory.allocatePrivate(bytes, "the input of a Fourier transform");
  }
  memory.copy(plan.copy, reinterpret_cast<DevicePointer>(in.data), bytes);
  return reinterpret_cast<void *>(plan.copy);
}

void Transforms::transform(const RoutineCall &call) {
  const braid_rt_view &in = call.inputs[0], &out = call.outputs[0];
  if (countBytes(in) == 0 || countBytes(out) == 0)
    return;
  gpu.hooks.enqueues();
  try {
    if (!isAligned(out, call.shape.dtype))
      throw Error("the address of the output is no multiple of the size of a "
                  "complex number");
    Plan &plan = find(call);
    // Transforms to real numbers of several dimensions overwrite their input.
    bool isCopied = !isAligned(in, call.shape.dtype) || call.givesRealNumbers();
    void *input = isCopied ? copyInput(call, plan) : in.data;
    library->call(library->execute, plan.handle, input, out.data,
                  call.isForward() ? cufft::FORWARD : cufft::INVERSE);
  } catch (const Error &error) {
    throw Error(std::string(call.name()) + " on " + gpu.name + ": " +
                error.what());
  }
  gpu.checkCapture("a Fourier transform");
}
