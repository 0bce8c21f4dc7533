//===- CallerStream.h - A stream of a program that calls Braid --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_CUDA_CALLERSTREAM_H
#define BRAID_TEST_UNIT_RUNTIME_CUDA_CALLERSTREAM_H

#include "gtest/gtest.h"

// Of the driver.
extern "C" {
unsigned cuStreamCreateWithPriority(void **stream, unsigned flags,
                                    int priority);
unsigned cuStreamDestroy_v2(void *stream);
unsigned cuStreamQuery(void *stream);
unsigned cuStreamSynchronize(void *stream);
}

namespace braid::test {

/// A stream of the GPU that is current on this thread.
class CallerStream {
public:
  CallerStream() {
    constexpr unsigned nonBlocking = 1;
    EXPECT_EQ(cuStreamCreateWithPriority(&stream, nonBlocking, 0), 0U);
  }
  ~CallerStream() { EXPECT_EQ(cuStreamDestroy_v2(stream), 0U); }
  CallerStream(const CallerStream &) = delete;
  CallerStream &operator=(const CallerStream &) = delete;

  bool hasWork() const {
    constexpr unsigned notReady = 600;
    return cuStreamQuery(stream) == notReady;
  }
  void wait() const { EXPECT_EQ(cuStreamSynchronize(stream), 0U); }

  void *stream = nullptr;
};

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_CUDA_CALLERSTREAM_H
