//===- FakeSetup.h - Streams and memory of the fake driver ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_UNITTESTS_RUNTIME_CUDA_FAKESETUP_H
#define BRAID_UNITTESTS_RUNTIME_CUDA_FAKESETUP_H

#include "Setup.h"

/// Two streams of device 0 and memory, without any of the runtime's own code.
class FakeCUDATest : public CudaTest {
protected:
  FakeCUDATest() {
    // Threads run when a process dies in a death test.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    fake.devicePrimaryCtxRetain(&contexts[0], 0);
    fake.devicePrimaryCtxRetain(&contexts[1], 1);
    fake.ctxSetCurrent(contexts[0]);
    for (braid::rt::cuda::Stream *stream : {&first, &second})
      fake.streamCreateWithPriority(stream,
                                    braid::rt::cuda::STREAM_NON_BLOCKING, 0);
    fake.eventCreate(&event, braid::rt::cuda::EVENT_NO_TIMING);
    fake.memAlloc(&memory, 1024);
  }
  ~FakeCUDATest() override {
    fake.ctxSetCurrent(contexts[0]);
    if (memory)
      fake.memFree(memory);
    fake.eventDestroy(event);
    for (braid::rt::cuda::Stream stream : {first, second})
      fake.streamDestroy(stream);
    fake.devicePrimaryCtxRelease(0);
    fake.devicePrimaryCtxRelease(1);
    fake.ctxSetCurrent(nullptr);
  }

  /// Has the second stream wait for the first one.
  void order() {
    fake.eventRecord(event, first);
    fake.streamWaitEvent(second, event, 0);
  }
  braid::rt::cuda::Result copy(braid::rt::cuda::DevicePointer to,
                               braid::rt::cuda::DevicePointer from,
                               braid::rt::cuda::Stream stream) {
    return fake.memcpyDtoDAsync(to, from, 64, stream);
  }
  braid::rt::cuda::Module load(const char *image = testPtx) {
    braid::rt::cuda::Module module = nullptr;
    EXPECT_EQ(fake.moduleLoadDataEx(&module, image, 0, nullptr, nullptr),
              braid::rt::cuda::SUCCESS);
    return module;
  }

  braid::rt::cuda::Driver &fake = driver();
  braid::rt::cuda::ContextHandle contexts[2] = {};
  braid::rt::cuda::Stream first = nullptr, second = nullptr;
  braid::rt::cuda::Event event = nullptr;
  braid::rt::cuda::DevicePointer memory = 0;
};

#endif // BRAID_UNITTESTS_RUNTIME_CUDA_FAKESETUP_H
