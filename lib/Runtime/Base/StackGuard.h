//===- StackGuard.h - Stacks of the threads of ranks -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_STACKGUARD_H
#define BRAID_RUNTIME_BASE_STACKGUARD_H

#include <memory>

namespace braid::rt {

/// Gives the calling thread, for the lifetime of this object, a second stack on
/// which signal handlers run when the program has used up the first one, unless
/// the thread has a second stack already. Lets overflowsStack tell such faults
/// from others.
class StackGuard {
public:
  StackGuard();
  ~StackGuard();
  StackGuard(const StackGuard &) = delete;
  StackGuard &operator=(const StackGuard &) = delete;

private:
  std::unique_ptr<char[]> memory; ///< Null if the thread had a second stack.
};

/// True if the calling thread has a StackGuard and `address` is at the end of
/// its stack. Signal handlers may call this function.
bool overflowsStack(const void *address);

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_STACKGUARD_H
