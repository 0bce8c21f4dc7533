//===- StackGuard.cpp - Stacks of the threads of ranks --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/StackGuard.h"

#include <csignal>
#include <cstdint>
#include <pthread.h>

using namespace braid::rt;

/// The addresses whose access means that the calling thread's stack is used up.
static thread_local struct {
  uintptr_t begin, end;
} stackEnd = {0, 0};

/// The addresses around the guard pages. Frames that are not probed page by
/// page may pass the guard by some KiB.
static void findStackEnd() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  void *lowest = nullptr;
  size_t bytes = 0, guardBytes = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0 &&
      pthread_attr_getguardsize(&attributes, &guardBytes) == 0) {
    constexpr uintptr_t passedBytes = 64 * 1024;
    // Versions of the C library differ in whether the guard is a part of the
    // stack.
    auto address = reinterpret_cast<uintptr_t>(lowest);
    stackEnd = {address - guardBytes - passedBytes, address + guardBytes};
  }
  pthread_attr_destroy(&attributes);
}

StackGuard::StackGuard() {
  findStackEnd();
  stack_t before = {};
  if (sigaltstack(nullptr, &before) != 0 || !(before.ss_flags & SS_DISABLE))
    return;
  // Handlers write messages and wait for dumps.
  constexpr size_t bytes = 64 * 1024;
  memory = std::make_unique<char[]>(bytes);
  stack_t own = {};
  own.ss_sp = memory.get();
  own.ss_size = bytes;
  if (sigaltstack(&own, nullptr) != 0)
    memory.reset();
}

StackGuard::~StackGuard() {
  stackEnd = {0, 0};
  if (!memory)
    return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

bool braid::rt::overflowsStack(const void *address) {
  auto number = reinterpret_cast<uintptr_t>(address);
  return number >= stackEnd.begin && number < stackEnd.end;
}
