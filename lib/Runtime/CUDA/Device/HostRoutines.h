//===- HostRoutines.h - Routines that the host runs -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_HOSTROUTINES_H
#define BRAID_RUNTIME_CUDA_DEVICE_HOSTROUTINES_H

#include "CUDA/Device/Memory.h"
#include "Engine/Routine.h"

namespace braid::rt::cuda {

/// Runs a routine, whose operands are in the memory of `gpu`, on the host:
/// copies what it reads to the host and its outputs back, in the order of the
/// compute stream. Returns when the outputs are there. Throws an Error in a
/// recording.
void callRoutineOnHost(const RoutineCall &call, const Gpu &gpu,
                       DeviceMemory &memory);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_HOSTROUTINES_H
