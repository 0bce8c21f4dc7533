//===- Reduce.cpp - Reductions of buffers -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduce/ReduceKernels.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static void copyStreaming(char *destination, const char *source,
                          int64_t bytes) {
#if defined(__SSE2__)
  // Stores that bypass the caches need 16-byte alignment.
  int64_t head =
      std::min<int64_t>(bytes, -reinterpret_cast<intptr_t>(destination) & 15);
  std::memcpy(destination, source, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + 64 <= bytes; i += 64) {
    const auto *from = reinterpret_cast<const __m128i *>(source + i);
    auto *to = reinterpret_cast<__m128i *>(destination + i);
    __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1),
            c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  std::memcpy(destination + i, source + i, static_cast<size_t>(bytes - i));
  // Order these stores before later stores, which may publish the copy.
  _mm_sfence();
#else
  std::memcpy(destination, source, static_cast<size_t>(bytes));
#endif
}

void braid::rt::copyBytes(char *destination, const char *source, int64_t bytes,
                          bool streaming) {
  if (destination == source || bytes == 0)
    return;
  if (streaming)
    return copyStreaming(destination, source, bytes);
  // On some AMD processors one memcpy of 1 MiB or more takes up to four times
  // as long as several small ones.
  constexpr int64_t blockBytes = 128 * 1024;
  for (int64_t begin = 0; begin < bytes; begin += blockBytes)
    std::memcpy(destination + begin, source + begin,
                static_cast<size_t>(std::min(blockBytes, bytes - begin)));
}

#if defined(BRAID_HAS_AVX2_KERNELS)
void braid::rt::reduce(const Reduction &r) {
  static const bool hasAVX2 = __builtin_cpu_supports("avx2");
  return hasAVX2 ? reduceAVX2(r) : reduceAnyType(r);
}
#else
void braid::rt::reduce(const Reduction &r) { reduceAnyType(r); }
#endif
