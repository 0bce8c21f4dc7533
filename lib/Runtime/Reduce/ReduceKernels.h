//===- ReduceKernels.h - The loops of the reductions ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels combine each element in the accumulator's type, source by source,
// and round the result once. So the result depends on the order of the sources,
// but not on the pieces of a buffer. One file for each instruction set compiles
// the kernels, without contraction to FMA.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_REDUCE_REDUCEKERNELS_H
#define BRAID_RUNTIME_REDUCE_REDUCEKERNELS_H

#include "Reduce/Reduce.h"
#include "Reduce/SmallFloat.h"
#include "braid-rt/Types.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

// The namespace is anonymous so that each file that includes this has a copy.
// NOLINTNEXTLINE(misc-anonymous-namespace-in-header)
namespace {
using namespace braid::rt;

//===----------------------------------------------------------------------===//
// Element types: storage and accumulator
//===----------------------------------------------------------------------===//

/// Types whose accumulator is the type itself.
template <typename T> struct Plain {
  using Storage = T;
  using Accumulator = T;
  static constexpr bool direct = true;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

struct F16 {
  using Storage = uint16_t;
  using Accumulator = float;
  static constexpr bool direct = false;
  static float load(uint16_t value) { return f16ToFloat(value); }
  static uint16_t store(float value) { return floatToF16(value); }
};

struct BF16 {
  using Storage = uint16_t;
  using Accumulator = float;
  static constexpr bool direct = false;
  static float load(uint16_t value) { return bf16ToFloat(value); }
  static uint16_t store(float value) { return floatToBf16(value); }
};

template <typename Format> struct F8 {
  using Storage = uint8_t;
  using Accumulator = float;
  static constexpr bool direct = false;
  static float load(uint8_t value) { return Format::toFloat(value); }
  static uint8_t store(float value) { return Format::fromFloat(value); }
};

/// Averages of integers. The accumulator is wider, so that the sum does not
/// wrap.
template <typename T> struct Widened {
  using Storage = T;
  using Accumulator = int64_t;
  static constexpr bool direct = false;
  static int64_t load(T value) { return value; }
  static T store(int64_t value) { return static_cast<T>(value); }
};

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Integers wrap around, which C++ guarantees only for unsigned ones.
template <typename T, typename Fn> T wrapping(T a, T b, Fn fn) {
  if constexpr (std::is_integral_v<T>) {
    // Smaller types would be promoted to int, whose product may overflow.
    using Unsigned =
        std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;
    return static_cast<T>(
        fn(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
  } else {
    return fn(a, b);
  }
}

struct Sum {
  template <typename T> static T apply(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Product {
  template <typename T> static T apply(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
/// IEEE 754's minimum and maximum: NaN if either value is NaN, and -0 is less
/// than 0. Comparisons alone leave one of two zeros to the order of operands,
/// so both orders are taken, and their bits combined: a zero has no other bit
/// than its sign.
template <bool isMax, typename T> T order(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return isMax ? std::max(a, b) : std::min(a, b);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    T one = (isMax ? a > b : a < b) ? a : b;
    T other = (isMax ? b > a : b < a) ? b : a;
    Bits bits, others;
    std::memcpy(&bits, &one, sizeof(bits));
    std::memcpy(&others, &other, sizeof(others));
    bits = isMax ? bits & others : bits | others;
    std::memcpy(&one, &bits, sizeof(one));
    return std::isunordered(a, b) ? a + b : one;
  }
}

struct Min {
  template <typename T> static T apply(T a, T b) { return order<false>(a, b); }
};
struct Max {
  template <typename T> static T apply(T a, T b) { return order<true>(a, b); }
};
struct BitAnd {
  template <typename T> static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <typename T> static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <typename T> static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The bytes of the accumulators of one piece, which fit the first-level cache.
static constexpr int64_t pieceBytes = 8192;

/// The scale of one source as an accumulator; complex numbers have two parts.
template <typename Type>
static typename Type::Accumulator scalePart(const unsigned char *scale,
                                            int part) {
  typename Type::Storage value;
  std::memcpy(&value, scale + part * sizeof(value), sizeof(value));
  return Type::load(value);
}

/// Loads a piece of one source, times its scale where there is one.
template <typename Type, bool complex>
static void loadPiece(typename Type::Accumulator *piece,
                      const typename Type::Storage *source, int64_t count,
                      const unsigned char *scale) {
  using Accumulator = typename Type::Accumulator;
  if (!scale) {
    for (int64_t i = 0; i < count; ++i)
      piece[i] = Type::load(source[i]);
    return;
  }
  Accumulator real = scalePart<Type>(scale, 0);
  if constexpr (complex) {
    Accumulator imaginary = scalePart<Type>(scale, 1);
    for (int64_t i = 0; i + 1 < count; i += 2) {
      Accumulator x = Type::load(source[i]), y = Type::load(source[i + 1]);
      piece[i] = x * real - y * imaginary;
      piece[i + 1] = x * imaginary + y * real;
    }
  } else {
    for (int64_t i = 0; i < count; ++i)
      piece[i] = Product::apply(Type::load(source[i]), real);
  }
}

/// Combines all sources of one piece into `piece`.
template <typename Type, typename Operator, bool complex>
static void combinePiece(typename Type::Accumulator *piece, const Reduction &r,
                         int64_t begin, int64_t count) {
  using Storage = typename Type::Storage;
  using Accumulator = typename Type::Accumulator;
  auto source = [&](int64_t s) {
    return reinterpret_cast<const Storage *>(r.sources[s]) + begin;
  };
  bool scaled = r.reduction == BRAID_RT_PREMUL_SUM;
  int64_t next = 1;
  if (!scaled && r.sourceCount > 1) {
    const Storage *a = source(0), *b = source(1);
    for (int64_t i = 0; i < count; ++i)
      piece[i] = Operator::apply(Type::load(a[i]), Type::load(b[i]));
    next = 2;
  } else {
    loadPiece<Type, complex>(piece, source(0), count,
                             scaled ? r.scales[0] : nullptr);
  }
  for (int64_t s = next; s < r.sourceCount; ++s) {
    if (scaled) {
      alignas(64) Accumulator operand[pieceBytes / sizeof(Accumulator)];
      loadPiece<Type, complex>(operand, source(s), count, r.scales[s]);
      for (int64_t i = 0; i < count; ++i)
        piece[i] = Operator::apply(piece[i], operand[i]);
      continue;
    }
    const Storage *b = source(s);
    for (int64_t i = 0; i < count; ++i)
      piece[i] = Operator::apply(piece[i], Type::load(b[i]));
  }
  if (r.reduction == BRAID_RT_AVG) {
    auto size = static_cast<Accumulator>(r.sourceCount);
    for (int64_t i = 0; i < count; ++i)
      piece[i] = piece[i] / size;
  }
}

template <typename Type, typename Operator, bool complex = false>
static void reduceWith(const Reduction &r) {
  using Storage = typename Type::Storage;
  using Accumulator = typename Type::Accumulator;
  constexpr auto pieceCount =
      static_cast<int64_t>(pieceBytes / sizeof(Accumulator));
  alignas(64) Accumulator piece[pieceCount];
  alignas(64) Storage narrow[Type::direct ? 1 : pieceCount];
  int64_t total = complex ? 2 * r.count : r.count;
  for (int64_t begin = 0; begin < total; begin += pieceCount) {
    int64_t count = std::min(pieceCount, total - begin);
    combinePiece<Type, Operator, complex>(piece, r, begin, count);
    const char *result = reinterpret_cast<const char *>(piece);
    if constexpr (!Type::direct) {
      for (int64_t i = 0; i < count; ++i)
        narrow[i] = Type::store(piece[i]);
      result = reinterpret_cast<const char *>(narrow);
    }
    auto size = static_cast<int64_t>(sizeof(Storage));
    for (int64_t d = 0; d < r.destinationCount; ++d)
      copyBytes(r.destinations[d] + begin * size, result, count * size,
                r.streaming);
  }
}

template <typename Type> static void reduceFloat(const Reduction &r) {
  switch (r.reduction) {
  case BRAID_RT_PRODUCT:
    return reduceWith<Type, Product>(r);
  case BRAID_RT_MIN:
    return reduceWith<Type, Min>(r);
  case BRAID_RT_MAX:
    return reduceWith<Type, Max>(r);
  default: // sum, avg, premul_sum
    return reduceWith<Type, Sum>(r);
  }
}

template <typename T> static void reduceInteger(const Reduction &r) {
  switch (r.reduction) {
  case BRAID_RT_BAND:
    return reduceWith<Plain<T>, BitAnd>(r);
  case BRAID_RT_BOR:
    return reduceWith<Plain<T>, BitOr>(r);
  case BRAID_RT_BXOR:
    return reduceWith<Plain<T>, BitXor>(r);
  case BRAID_RT_AVG:
    return reduceWith<Widened<T>, Sum>(r);
  default:
    return reduceFloat<Plain<T>>(r);
  }
}

static inline void reduceAnyType(const Reduction &r) {
  switch (r.dtype) {
  case BRAID_RT_I1:
    return reduceInteger<uint8_t>(r);
  case BRAID_RT_I8:
    return reduceInteger<int8_t>(r);
  case BRAID_RT_I16:
    return reduceInteger<int16_t>(r);
  case BRAID_RT_I32:
    return reduceInteger<int32_t>(r);
  case BRAID_RT_I64:
    return reduceInteger<int64_t>(r);
  case BRAID_RT_F16:
    return reduceFloat<F16>(r);
  case BRAID_RT_BF16:
    return reduceFloat<BF16>(r);
  case BRAID_RT_F32:
    return reduceFloat<Plain<float>>(r);
  case BRAID_RT_F64:
    return reduceFloat<Plain<double>>(r);
  case BRAID_RT_COMPLEX_F32:
    return reduceWith<Plain<float>, Sum, /*complex=*/true>(r);
  case BRAID_RT_COMPLEX_F64:
    return reduceWith<Plain<double>, Sum, /*complex=*/true>(r);
  case BRAID_RT_F8E4M3FN:
    return reduceFloat<F8<Float8E4M3FN>>(r);
  default:
    return reduceFloat<F8<Float8E5M2>>(r);
  }
}

} // namespace

#endif // BRAID_RUNTIME_REDUCE_REDUCEKERNELS_H
