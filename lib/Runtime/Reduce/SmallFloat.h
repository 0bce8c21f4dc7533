//===- SmallFloat.h - Conversions of 16- and 8-bit floats -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversions round to nearest, ties to even. Those in loops have no
// branches, so that compilers vectorize them. Each file that includes this has
// a private copy, compiled for the instructions of that file.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_REDUCE_SMALLFLOAT_H
#define BRAID_RUNTIME_REDUCE_SMALLFLOAT_H

#include <cstdint>
#include <cstring>

namespace braid::rt {

static inline uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static inline float floatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static inline float bf16ToFloat(uint16_t half) {
  return floatOfBits(static_cast<uint32_t>(half) << 16);
}

static inline uint16_t floatToBf16(float value) {
  uint32_t bits = floatBits(value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t quiet = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet
                                                                : rounded);
}

/// For normal numbers, shifts exponent and mantissa and corrects the exponent
/// by a multiplication. For subnormal numbers, inserts the mantissa into a
/// number of known exponent and subtracts this number.
static inline float f16ToFloat(uint16_t half) {
  uint32_t wide = static_cast<uint32_t>(half) << 16;
  uint32_t sign = wide & 0x80000000;
  uint32_t twice = wide + wide;
  float normal = floatOfBits((twice >> 4) + (0xe0U << 23)) * 0x1.0p-112F;
  float subnormal = floatOfBits((twice >> 17) | (126U << 23)) - 0.5F;
  uint32_t magnitude =
      twice < (1U << 27) ? floatBits(subnormal) : floatBits(normal);
  return floatOfBits(sign | magnitude);
}

/// Lets the hardware round by adding a number of the right exponent.
static inline uint16_t floatToF16(float value) {
  uint32_t bits = floatBits(value);
  uint32_t sign = bits & 0x80000000;
  uint32_t twice = bits + bits;
  float base = (floatOfBits(bits & 0x7fffffff) * 0x1.0p+112F) * 0x1.0p-110F;
  uint32_t bias = twice & 0xff000000;
  bias = bias < 0x71000000 ? 0x71000000 : bias;
  base = floatOfBits((bias >> 1) + 0x07800000) + base;
  uint32_t sum = floatBits(base);
  uint32_t magnitude = ((sum >> 13) & 0x7c00) + (sum & 0xfff);
  return static_cast<uint16_t>((sign >> 16) |
                               (twice > 0xff000000 ? 0x7e00 : magnitude));
}

/// The two 8-bit formats of the OCP specification: E4M3FN has no infinity and
/// overflows to NaN, E5M2 is a shortened f16.
// The namespace is anonymous so that each file that includes this has a copy.
// NOLINTNEXTLINE(misc-anonymous-namespace-in-header)
namespace {
template <int mantissaBits, int bias, bool hasInfinity> struct Float8 {
  static constexpr uint32_t nan = hasInfinity ? 0x7e : 0x7f;
  static constexpr uint32_t overflow = hasInfinity ? 0x7c : 0x7f;
  static constexpr int smallestExponent = 1 - bias;

  /// Converts through the f16 with the same fields, whose bias is 15.
  static float toFloat(uint8_t code) {
    uint32_t magnitude = code & 0x7f;
    auto half = static_cast<uint16_t>((code & 0x80) << 8 |
                                      magnitude << (10 - mantissaBits));
    float value = f16ToFloat(half) * static_cast<float>(1 << (15 - bias));
    uint32_t bits = floatBits(value);
    if constexpr (!hasInfinity)
      bits = magnitude == 0x7f ? 0x7fc00000 | (bits & 0x80000000) : bits;
    return floatOfBits(bits);
  }

  static uint8_t fromFloat(float value) {
    uint32_t bits = floatBits(value);
    uint32_t sign = (bits >> 24) & 0x80;
    uint32_t magnitude = bits & 0x7fffffff;
    // The last bit of this constant is the last bit of a subnormal result.
    constexpr uint32_t aligner =
        static_cast<uint32_t>(127 + smallestExponent - mantissaBits + 23) << 23;
    constexpr uint32_t smallestNormal =
        static_cast<uint32_t>(127 + smallestExponent) << 23;
    uint32_t small = magnitude < smallestNormal ? magnitude : 0;
    uint32_t subnormal =
        floatBits(floatOfBits(small) + floatOfBits(aligner)) - aligner;
    // Round the mantissa, which may carry into the exponent, and rebias it.
    constexpr uint32_t cut = 23 - mantissaBits;
    uint32_t rounded =
        magnitude + ((1U << (cut - 1)) - 1) + ((magnitude >> cut) & 1);
    uint32_t normal =
        (rounded >> cut) - (static_cast<uint32_t>(127 - bias) << mantissaBits);
    normal = normal > overflow ? overflow : normal;
    uint32_t code = magnitude < smallestNormal ? subnormal : normal;
    code = magnitude > 0x7f800000 ? nan : code;
    return static_cast<uint8_t>(sign | code);
  }
};

using Float8E4M3FN = Float8<3, 7, false>;
using Float8E5M2 = Float8<2, 15, true>;
} // namespace

} // namespace braid::rt

#endif // BRAID_RUNTIME_REDUCE_SMALLFLOAT_H
