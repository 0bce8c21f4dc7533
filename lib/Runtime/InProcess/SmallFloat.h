//===- SmallFloat.h - Conversions of 16- and 8-bit floats -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Branch-free where that lets loops vectorize; all round to nearest, ties to
// even.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_INPROCESS_SMALLFLOAT_H
#define BRAID_RUNTIME_INPROCESS_SMALLFLOAT_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace braid::rt {

inline uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float floatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float bf16ToFloat(uint16_t half) {
  return floatOfBits(static_cast<uint32_t>(half) << 16);
}

inline uint16_t floatToBf16(float value) {
  uint32_t bits = floatBits(value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t quiet = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet
                                                                : rounded);
}

/// Normal numbers: exponent and mantissa are moved into place and the exponent
/// is corrected by a multiplication. Subnormal ones: the mantissa becomes that
/// of a number of known exponent, which is subtracted.
inline float f16ToFloat(uint16_t half) {
  uint32_t wide = static_cast<uint32_t>(half) << 16;
  uint32_t sign = wide & 0x80000000;
  uint32_t twice = wide + wide;
  float normal = floatOfBits((twice >> 4) + (0xe0U << 23)) * 0x1.0p-112F;
  float subnormal = floatOfBits((twice >> 17) | (126U << 23)) - 0.5F;
  uint32_t magnitude =
      twice < (1U << 27) ? floatBits(subnormal) : floatBits(normal);
  return floatOfBits(sign | magnitude);
}

/// The addition of a number of the right exponent lets the hardware round.
inline uint16_t floatToF16(float value) {
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
template <int mantissaBits, int bias, bool hasInfinity> struct Float8 {
  static constexpr uint32_t nan = hasInfinity ? 0x7e : 0x7f;
  static constexpr uint32_t overflow = hasInfinity ? 0x7c : 0x7f;
  static constexpr int smallestExponent = 1 - bias;

  static float toFloat(uint8_t code) {
    uint32_t exponent = (code & 0x7f) >> mantissaBits;
    uint32_t mantissa = code & ((1U << mantissaBits) - 1);
    float magnitude;
    if (hasInfinity ? exponent == 31 : (code & 0x7f) == 0x7f)
      magnitude = hasInfinity && mantissa == 0 ? INFINITY : NAN;
    else if (exponent == 0)
      magnitude = std::ldexp(static_cast<float>(mantissa),
                             smallestExponent - mantissaBits);
    else
      magnitude =
          std::ldexp(static_cast<float>(mantissa + (1U << mantissaBits)),
                     static_cast<int>(exponent) - bias - mantissaBits);
    return code & 0x80 ? -magnitude : magnitude;
  }

  static uint8_t fromFloat(float value) {
    uint32_t bits = floatBits(value);
    uint32_t sign = (bits >> 24) & 0x80;
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
      return static_cast<uint8_t>(sign | nan);
    constexpr uint32_t smallestNormal =
        static_cast<uint32_t>(127 + smallestExponent) << 23;
    uint32_t code;
    if (magnitude < smallestNormal) {
      // The last bit of this constant is the last bit of a subnormal result.
      constexpr uint32_t aligner =
          static_cast<uint32_t>(127 + smallestExponent - mantissaBits + 23)
          << 23;
      code = floatBits(floatOfBits(magnitude) + floatOfBits(aligner)) - aligner;
    } else {
      constexpr uint32_t cut = 23 - mantissaBits;
      uint32_t odd = (magnitude >> cut) & 1;
      uint32_t rounded = magnitude + ((1U << (cut - 1)) - 1) + odd;
      code = (rounded >> cut) -
             (static_cast<uint32_t>(127 - bias) << mantissaBits);
      if (code > overflow)
        code = overflow;
    }
    return static_cast<uint8_t>(sign | code);
  }
};

using Float8E4M3FN = Float8<3, 7, false>;
using Float8E5M2 = Float8<2, 15, true>;

} // namespace braid::rt

#endif // BRAID_RUNTIME_INPROCESS_SMALLFLOAT_H
