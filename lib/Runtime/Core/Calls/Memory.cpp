//===- Memory.cpp - Allocations of compiled code --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Memory.h"
#include "Core/Context.h"
#include "braid-rt/Memory.h"

using namespace braid::rt;

void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment, size_t size) {
  Context *context = Context::current();
  void *pointer = context ? context->device.memory().allocate(alignment, size)
                          : allocateBlock(alignment, size);
  if (!pointer)
    leaveOnError([&](Context &context) -> void * {
      throw Error(messagePrefix({}, context.rank) + "cannot allocate " +
                  std::to_string(size) + " bytes aligned to " +
                  std::to_string(alignment));
    });
  return pointer;
}

void *_mlir_memref_to_llvm_alloc(size_t size) {
  return _mlir_memref_to_llvm_aligned_alloc(minimumAlignment, size);
}

void _mlir_memref_to_llvm_free(void *pointer) { freeBlock(pointer); }

void *braid_rt_alloc(size_t size) {
  return allocateBlock(minimumAlignment, size);
}

void braid_rt_free(void *pointer) { freeBlock(pointer); }
