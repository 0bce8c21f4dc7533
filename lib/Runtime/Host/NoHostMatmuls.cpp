//===- NoHostMatmuls.cpp - A runtime without OpenBLAS ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces HostMatmuls.cpp in bundles for machines whose devices multiply
// matrices.
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "Engine/Routine.h"
#include "Host/HostDevice.h"

using namespace braid::rt;

void braid::rt::setBlasThreads(int32_t) {}

bool braid::rt::wantsBlasThreads(const RoutineCall &) { return false; }

void braid::rt::callLapack(const RoutineCall &call, const RunParts &) {
  throw Error(std::string(call.name()) +
              ": this runtime comes without OpenBLAS, which has the routine; "
              "install Braid");
}

void HostDevice::multiply(const Matmul &, const void *, const void *, void *) {
  throw Error("matmul: this runtime comes without OpenBLAS, which multiplies "
              "matrices on the host; install Braid, or run the program on a "
              "device");
}
