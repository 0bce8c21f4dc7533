//===- Strided.cpp - Parts of a tensor along one dimension ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Strided.h"
#include "Reduce/Reduce.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace braid::rt;

/// The product of sizes [begin, end).
static int64_t product(const Sizes &sizes, int64_t begin, int64_t end) {
  return std::accumulate(sizes.begin() + begin, sizes.begin() + end, int64_t(1),
                         std::multiplies<>());
}

Strided::Strided(const Sizes &part, int64_t dim, int64_t parts,
                 int64_t elementBytes)
    : parts(parts), rows(product(part, 0, dim)),
      rowBytes(product(part, dim, static_cast<int64_t>(part.size())) *
               elementBytes) {}

template <typename Copy>
void Strided::forEachStretch(int64_t part, int64_t begin, int64_t end,
                             Copy copy) const {
  for (int64_t position = begin; position < end;) {
    int64_t row = position / rowBytes, within = position % rowBytes;
    int64_t bytes = std::min(end - position, rowBytes - within);
    copy(position - begin, (row * parts + part) * rowBytes + within, bytes);
    position += bytes;
  }
}

void Strided::pack(const char *whole, int64_t part, int64_t begin, int64_t end,
                   char *packed) const {
  forEachStretch(part, begin, end,
                 [&](int64_t here, int64_t there, int64_t bytes) {
                   copyBytes(packed + here, whole + there, bytes, false);
                 });
}

void Strided::unpack(const char *packed, int64_t part, int64_t begin,
                     int64_t end, char *whole) const {
  forEachStretch(part, begin, end,
                 [&](int64_t here, int64_t there, int64_t bytes) {
                   copyBytes(whole + there, packed + here, bytes, false);
                 });
}
