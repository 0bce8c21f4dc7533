//===- CompilerSupport.cpp - Functions that code generators call ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Debian 12's libgcc has the conversions of f16 but not those of bf16.
//
//===----------------------------------------------------------------------===//

#include "braid-rt/Memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

/// On x86-64 and AArch64 a bf16 is passed in the low 16 bits of the register of
/// a float. So compilers without a bf16 type can build this file.
static float asBf16Register(uint16_t bits) {
  uint32_t wide = bits;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

static uint16_t roundToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

extern "C" {
BRAID_RT_API float __truncsfbf2(float value);
BRAID_RT_API float __truncdfbf2(double value);
}

float __truncsfbf2(float value) { return asBf16Register(roundToBf16(value)); }

float __truncdfbf2(double value) {
  // The first rounding, to float, must not create a tie for the second one.
  // Rounding to odd keeps the information about the discarded bits.
  auto narrow = static_cast<float>(value);
  double back = narrow;
  if (!std::isnan(value) && back != value && std::isfinite(narrow)) {
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    if (std::fabs(back) > std::fabs(value))
      --bits;
    bits |= 1;
    std::memcpy(&narrow, &bits, sizeof(bits));
  }
  return asBf16Register(roundToBf16(narrow));
}

//===----------------------------------------------------------------------===//
// memrefCopy
//===----------------------------------------------------------------------===//

namespace {
struct Dimension {
  int64_t size, sourceStride, destinationStride; // strides in bytes
};

struct Strided {
  char *data;
  const int64_t *sizes;
  const int64_t *strides;
};
} // namespace

static Strided openMemref(const braid_rt_unranked_memref &memref,
                          int64_t elementSize) {
  auto *head = static_cast<braid_rt_memref *>(memref.descriptor);
  const auto *sizes = reinterpret_cast<const int64_t *>(head + 1);
  return {static_cast<char *>(head->aligned) + head->offset * elementSize,
          sizes, sizes + memref.rank};
}

template <typename T>
static void copyElements(const char *source, char *destination,
                         const Dimension &dim) {
  for (int64_t i = 0; i < dim.size; ++i)
    std::memcpy(destination + i * dim.destinationStride,
                source + i * dim.sourceStride, sizeof(T));
}

/// Copies along the innermost dimension.
static void copyInner(const char *source, char *destination,
                      const Dimension &dim, int64_t elementSize) {
  struct Wide {
    char bytes[16];
  };
  if (dim.sourceStride == elementSize && dim.destinationStride == elementSize) {
    std::memmove(destination, source,
                 static_cast<size_t>(dim.size * elementSize));
    return;
  }
  switch (elementSize) {
  case 1:
    return copyElements<char>(source, destination, dim);
  case 2:
    return copyElements<int16_t>(source, destination, dim);
  case 4:
    return copyElements<int32_t>(source, destination, dim);
  case 8:
    return copyElements<int64_t>(source, destination, dim);
  case 16:
    return copyElements<Wide>(source, destination, dim);
  default:
    for (int64_t i = 0; i < dim.size; ++i)
      std::memcpy(destination + i * dim.destinationStride,
                  source + i * dim.sourceStride,
                  static_cast<size_t>(elementSize));
  }
}

static void copyDimensions(const char *source, char *destination,
                           const Dimension *dims, size_t count,
                           int64_t elementSize) {
  if (count == 1)
    return copyInner(source, destination, dims[0], elementSize);
  for (int64_t i = 0; i < dims[0].size; ++i)
    copyDimensions(source + i * dims[0].sourceStride,
                   destination + i * dims[0].destinationStride, dims + 1,
                   count - 1, elementSize);
}

/// Copies in tiles, because a transposition reads or writes with a large
/// stride. In tiles every accessed cache line is used completely.
static void copyTiled(const char *source, char *destination,
                      const Dimension &outer, const Dimension &inner,
                      int64_t elementSize) {
  constexpr int64_t tile = 32;
  for (int64_t i = 0; i < outer.size; i += tile)
    for (int64_t j = 0; j < inner.size; j += tile) {
      Dimension part = inner;
      part.size = std::min(tile, inner.size - j);
      for (int64_t k = i; k < std::min(i + tile, outer.size); ++k)
        copyInner(source + k * outer.sourceStride + j * inner.sourceStride,
                  destination + k * outer.destinationStride +
                      j * inner.destinationStride,
                  part, elementSize);
    }
}

static void copyStrided(const char *source, char *destination,
                        const Dimension *dims, size_t count,
                        int64_t elementSize) {
  bool transposes = count == 2 && (dims[1].sourceStride != elementSize ||
                                   dims[1].destinationStride != elementSize);
  if (transposes)
    return copyTiled(source, destination, dims[0], dims[1], elementSize);
  if (count <= 2)
    return copyDimensions(source, destination, dims, count, elementSize);
  for (int64_t i = 0; i < dims[0].size; ++i)
    copyStrided(source + i * dims[0].sourceStride,
                destination + i * dims[0].destinationStride, dims + 1,
                count - 1, elementSize);
}

void memrefCopy(int64_t elementSize, const braid_rt_unranked_memref *source,
                const braid_rt_unranked_memref *destination) {
  Strided from = openMemref(*source, elementSize);
  Strided to = openMemref(*destination, elementSize);
  std::vector<Dimension> dims;
  for (int64_t i = 0; i < source->rank; ++i) {
    Dimension dim = {from.sizes[i], from.strides[i] * elementSize,
                     to.strides[i] * elementSize};
    if (dim.size == 0)
      return;
    if (dim.size == 1)
      continue;
    // Merge dimensions that are contiguous.
    if (!dims.empty() &&
        dims.back().sourceStride == dim.size * dim.sourceStride &&
        dims.back().destinationStride == dim.size * dim.destinationStride) {
      dim.size *= dims.back().size;
      dims.pop_back();
    }
    dims.push_back(dim);
  }
  if (dims.empty())
    dims.push_back({1, elementSize, elementSize});
  copyStrided(from.data, to.data, dims.data(), dims.size(), elementSize);
}
