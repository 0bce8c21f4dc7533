//===- HostRoutines.cpp - Routines that the host runs ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/HostRoutines.h"
#include "Base/Error.h"

#include <memory>

using namespace braid::rt;
using namespace braid::rt::cuda;

void cuda::callRoutineOnHost(const RoutineCall &call, const Gpu &gpu,
                             DeviceMemory &memory) {
  if (gpu.capturing)
    throw Error(std::string(call.name()) +
                " runs on the host, which a graph cannot do (run without "
                "cuda-graph)");
  RoutineCall onHost = call;
  std::vector<std::unique_ptr<char[]>> copies;
  auto place = [&](braid_rt_view &view, bool isRead) {
    int64_t bytes = countBytes(view);
    // Zeros, because routines leave outputs that flags do not want.
    auto copy = std::make_unique<char[]>(static_cast<size_t>(bytes));
    if (isRead)
      memory.toHost(copy.get(), reinterpret_cast<DevicePointer>(view.data),
                    bytes);
    view.data = copy.get();
    copies.push_back(std::move(copy));
  };
  for (braid_rt_view &view : onHost.inputs)
    place(view, true);
  for (size_t i = 0; i != onHost.outputs.size(); ++i)
    place(onHost.outputs[i], call.readsOutput(i));
  rt::callRoutineOnHost(onHost);
  for (size_t i = 0; i != onHost.outputs.size(); ++i)
    memory.toDevice(reinterpret_cast<DevicePointer>(call.outputs[i].data),
                    onHost.outputs[i].data, countBytes(call.outputs[i]));
}
