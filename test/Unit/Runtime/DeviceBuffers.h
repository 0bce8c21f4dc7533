//===- DeviceBuffers.h - Operands of tests in device memory -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bodies of the tests hand over memory of the host. Where an engine's
// compiled code has its buffers elsewhere, the calls of this test program go
// through DeviceBuffers.cpp (the linker's --wrap), which copies operands to
// the rank's device before a start, and back after its first wait. So every
// test is one of device memory, too.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_DEVICEBUFFERS_H
#define BRAID_TEST_UNIT_RUNTIME_DEVICEBUFFERS_H

#include "braid-rt/braid-rt.h"

#include <cstddef>

namespace braid::test {

/// Device memory of a rank for the operands of one run.
struct DeviceBuffers {
  static constexpr size_t bytes = size_t(64) << 20;

  braid_rt_context *context;
  char *memory = nullptr;
  size_t used = 0;
};

/// Has the calling thread, which runs a rank, put operands there; nullptr: they
/// stay where they are.
void useDeviceBuffers(DeviceBuffers *buffers);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_DEVICEBUFFERS_H
