//===- Reference.cpp - What collectives must compute, written simply ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Independent of the runtime's code: small floats are decoded from their
// definition and encoded by looking for the nearest code.
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace braid::test;

namespace {
struct Format {
  int width, exponentBits, mantissaBits;
  bool hasInfinity;
};
} // namespace

static const Format *smallFormat(int32_t dtype) {
  static const Format f16 = {16, 5, 10, true}, bf16 = {16, 8, 7, true},
                      e4m3 = {8, 4, 3, false}, e5m2 = {8, 5, 2, true};
  switch (dtype) {
  case BRAID_RT_F16:
    return &f16;
  case BRAID_RT_BF16:
    return &bf16;
  case BRAID_RT_F8E4M3FN:
    return &e4m3;
  case BRAID_RT_F8E5M2:
    return &e5m2;
  default:
    return nullptr;
  }
}

static double decodeCode(const Format &format, uint32_t code) {
  uint32_t mantissa = code & ((1U << format.mantissaBits) - 1);
  uint32_t exponent =
      (code >> format.mantissaBits) & ((1U << format.exponentBits) - 1);
  double sign = code >> (format.width - 1) ? -1.0 : 1.0;
  uint32_t top = (1U << format.exponentBits) - 1;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  if (format.hasInfinity && exponent == top)
    return mantissa ? NAN : sign * INFINITY;
  if (!format.hasInfinity && exponent == top &&
      mantissa == (1U << format.mantissaBits) - 1)
    return NAN;
  double fraction = std::ldexp(mantissa, -format.mantissaBits);
  if (exponent == 0)
    return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1.0 + fraction, static_cast<int>(exponent) - bias);
}

/// The code of the nearest finite value; of two the even code. Values beyond
/// the largest are not used by these tests.
static uint32_t encodeCode(int32_t dtype, double value) {
  const Format &format = *smallFormat(dtype);
  uint32_t sign = std::signbit(value) ? 1U << (format.width - 1) : 0;
  if (!std::isfinite(value)) {
    // The first code that decodes to it; NaN where there is no infinity.
    for (uint32_t code = 0; code < 1U << (format.width - 1); ++code)
      if (std::isinf(value) && std::isinf(decodeCode(format, code)))
        return sign | code;
    for (uint32_t code = 0; code < 1U << (format.width - 1); ++code)
      if (std::isnan(decodeCode(format, code)))
        return sign | code;
  }
  static std::map<int32_t, std::map<double, uint32_t>> tables;
  std::map<double, uint32_t> &table = tables[dtype];
  if (table.empty())
    for (uint32_t code = 0; code < 1U << (format.width - 1); ++code)
      if (double decoded = decodeCode(format, code); std::isfinite(decoded))
        table[decoded] = code;
  double magnitude = std::fabs(value);
  auto above = table.lower_bound(magnitude);
  if (above == table.begin() || above->first == magnitude)
    return sign | above->second;
  auto below = std::prev(above);
  double down = magnitude - below->first, up = above->first - magnitude;
  bool takeBelow = down < up || (down == up && below->second % 2 == 0);
  return sign | (takeBelow ? below->second : above->second);
}

template <typename T> static T load(const Buffer &buffer, int64_t index) {
  T value;
  std::memcpy(&value, buffer.data.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void store(Buffer &buffer, int64_t index, T value) {
  std::memcpy(buffer.data.data() + index * sizeof(T), &value, sizeof(T));
}

double braid::test::decode(const Buffer &buffer, int64_t index, int part) {
  switch (buffer.dtype) {
  case BRAID_RT_I1:
    return load<uint8_t>(buffer, index);
  case BRAID_RT_I8:
    return load<int8_t>(buffer, index);
  case BRAID_RT_I16:
    return load<int16_t>(buffer, index);
  case BRAID_RT_I32:
    return load<int32_t>(buffer, index);
  case BRAID_RT_I64:
    return static_cast<double>(load<int64_t>(buffer, index));
  case BRAID_RT_F32:
    return load<float>(buffer, index);
  case BRAID_RT_F64:
    return load<double>(buffer, index);
  case BRAID_RT_COMPLEX_F32:
    return load<float>(buffer, 2 * index + part);
  case BRAID_RT_COMPLEX_F64:
    return load<double>(buffer, 2 * index + part);
  default: {
    const Format &format = *smallFormat(buffer.dtype);
    return decodeCode(format, format.width == 16
                                  ? load<uint16_t>(buffer, index)
                                  : load<uint8_t>(buffer, index));
  }
  }
}

void braid::test::encode(Buffer &buffer, int64_t index, double real,
                         double imaginary) {
  switch (buffer.dtype) {
  case BRAID_RT_I1:
    return store<uint8_t>(buffer, index, real != 0);
  case BRAID_RT_I8:
    return store(buffer, index, static_cast<int8_t>(real));
  case BRAID_RT_I16:
    return store(buffer, index, static_cast<int16_t>(real));
  case BRAID_RT_I32:
    return store(buffer, index, static_cast<int32_t>(real));
  case BRAID_RT_I64:
    return store(buffer, index, static_cast<int64_t>(real));
  case BRAID_RT_F32:
    return store(buffer, index, static_cast<float>(real));
  case BRAID_RT_F64:
    return store(buffer, index, real);
  case BRAID_RT_COMPLEX_F32:
    store(buffer, 2 * index, static_cast<float>(real));
    return store(buffer, 2 * index + 1, static_cast<float>(imaginary));
  case BRAID_RT_COMPLEX_F64:
    store(buffer, 2 * index, real);
    return store(buffer, 2 * index + 1, imaginary);
  default: {
    uint32_t code = encodeCode(buffer.dtype, real);
    if (smallFormat(buffer.dtype)->width == 16)
      store(buffer, index, static_cast<uint16_t>(code));
    else
      store(buffer, index, static_cast<uint8_t>(code));
  }
  }
}

/// Floats: each step is rounded to T, the accumulator's type.
template <typename T>
static T reduceFloat(int32_t reduction, const std::vector<T> &values,
                     const std::vector<T> &scales) {
  T result = values[0];
  if (reduction == BRAID_RT_PREMUL_SUM)
    result = values[0] * scales[0];
  for (size_t i = 1; i < values.size(); ++i) {
    T operand = values[i];
    if (reduction == BRAID_RT_PREMUL_SUM)
      operand = values[i] * scales[i];
    switch (reduction) {
    case BRAID_RT_PRODUCT:
      result = result * operand;
      break;
    case BRAID_RT_MIN:
      result = std::min(result, operand);
      break;
    case BRAID_RT_MAX:
      result = std::max(result, operand);
      break;
    default:
      result = result + operand;
    }
  }
  if (reduction == BRAID_RT_AVG)
    result = result / static_cast<T>(values.size());
  return result;
}

/// Integers: exact, and cut to the width when they are stored.
static __int128 reduceInteger(int32_t reduction,
                              const std::vector<int64_t> &values,
                              const std::vector<int64_t> &scales) {
  bool scaled = reduction == BRAID_RT_PREMUL_SUM;
  __int128 result = scaled ? __int128(values[0]) * scales[0] : values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    __int128 operand = values[i];
    switch (reduction) {
    case BRAID_RT_PRODUCT:
      // Cut at once, which changes nothing modulo 2^64.
      result = static_cast<int64_t>(static_cast<unsigned __int128>(result) *
                                    static_cast<unsigned __int128>(operand));
      break;
    case BRAID_RT_MIN:
      result = operand < result ? operand : result;
      break;
    case BRAID_RT_MAX:
      result = operand > result ? operand : result;
      break;
    case BRAID_RT_BAND:
      result &= operand;
      break;
    case BRAID_RT_BOR:
      result |= operand;
      break;
    case BRAID_RT_BXOR:
      result ^= operand;
      break;
    default:
      result += scaled ? operand * scales[i] : operand;
    }
  }
  return reduction == BRAID_RT_AVG
             ? result / static_cast<__int128>(values.size())
             : result;
}

static int64_t loadInteger(const Buffer &buffer, int64_t index) {
  return buffer.dtype == BRAID_RT_I64
             ? load<int64_t>(buffer, index)
             : static_cast<int64_t>(decode(buffer, index));
}

static void storeInteger(Buffer &buffer, int64_t index, __int128 value) {
  auto bits = static_cast<uint64_t>(value);
  auto size = static_cast<size_t>(braid_rt_dtype_size(buffer.dtype));
  // Little endian: the low bytes are the value modulo the width.
  std::memcpy(buffer.data.data() + static_cast<size_t>(index) * size, &bits,
              size);
}

template <typename T>
static void reduceFloatElement(Buffer &result, int64_t index, int32_t reduction,
                               const std::vector<Buffer> &sources,
                               const std::vector<Buffer> &scales) {
  bool complex = result.dtype == BRAID_RT_COMPLEX_F32 ||
                 result.dtype == BRAID_RT_COMPLEX_F64;
  std::vector<T> real, imaginary, factors;
  for (size_t s = 0; s < sources.size(); ++s) {
    T x = static_cast<T>(decode(sources[s], index));
    T y = complex ? static_cast<T>(decode(sources[s], index, 1)) : T(0);
    if (complex && reduction == BRAID_RT_PREMUL_SUM) {
      T a = static_cast<T>(decode(scales[s], 0)),
        b = static_cast<T>(decode(scales[s], 0, 1));
      T xa = x * a, yb = y * b, xb = x * b, ya = y * a;
      x = xa - yb;
      y = xb + ya;
    }
    real.push_back(x);
    imaginary.push_back(y);
    factors.push_back(complex || reduction != BRAID_RT_PREMUL_SUM
                          ? T(1)
                          : static_cast<T>(decode(scales[s], 0)));
  }
  encode(result, index, reduceFloat(reduction, real, factors),
         complex ? reduceFloat(reduction, imaginary, factors) : T(0));
}

Buffer braid::test::reduceReference(int32_t reduction,
                                    const std::vector<Buffer> &sources,
                                    const std::vector<Buffer> &scales) {
  Buffer result(sources[0].dtype, sources[0].sizes);
  bool isDouble =
      result.dtype == BRAID_RT_F64 || result.dtype == BRAID_RT_COMPLEX_F64;
  for (int64_t i = 0; i < result.count(); ++i) {
    if (result.dtype < BRAID_RT_F16) {
      std::vector<int64_t> values, factors;
      for (const Buffer &source : sources)
        values.push_back(loadInteger(source, i));
      for (const Buffer &scale : scales)
        factors.push_back(loadInteger(scale, 0));
      storeInteger(result, i, reduceInteger(reduction, values, factors));
    } else if (isDouble) {
      reduceFloatElement<double>(result, i, reduction, sources, scales);
    } else {
      reduceFloatElement<float>(result, i, reduction, sources, scales);
    }
  }
  return result;
}

Buffer braid::test::zeros(int32_t dtype, const std::vector<int64_t> &sizes) {
  Buffer result(dtype, sizes);
  std::fill(result.data.begin(), result.data.end(), char(0));
  return result;
}

/// Calls fn(position in the part, position in the whole) for every element of a
/// part along a dimension.
template <typename Fn>
static void forEachOfPart(const std::vector<int64_t> &whole, int64_t dim,
                          int64_t begin, int64_t size, Fn fn) {
  std::vector<int64_t> index(whole.size(), 0);
  std::vector<int64_t> part = whole;
  part[dim] = size;
  int64_t count = 1;
  for (int64_t s : part)
    count *= s;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, position = 0;
    for (size_t d = whole.size(); d-- > 0;) {
      index[d] = rest % part[d];
      rest /= part[d];
    }
    for (size_t d = 0; d < whole.size(); ++d)
      position = position * whole[d] + index[d] +
                 (static_cast<int64_t>(d) == dim ? begin : 0);
    fn(i, position);
  }
}

Buffer braid::test::slice(const Buffer &buffer, int64_t dim, int64_t part,
                          int64_t parts) {
  std::vector<int64_t> sizes = buffer.sizes;
  sizes[dim] /= parts;
  Buffer result(buffer.dtype, sizes);
  auto size = static_cast<size_t>(braid_rt_dtype_size(buffer.dtype));
  forEachOfPart(buffer.sizes, dim, part * sizes[dim], sizes[dim],
                [&](int64_t to, int64_t from) {
                  std::memcpy(result.data.data() + to * size,
                              buffer.data.data() + from * size, size);
                });
  return result;
}

Buffer braid::test::concatenate(const std::vector<Buffer> &buffers,
                                int64_t dim) {
  std::vector<int64_t> sizes = buffers[0].sizes;
  sizes[dim] = 0;
  for (const Buffer &buffer : buffers)
    sizes[dim] += buffer.sizes[dim];
  Buffer result(buffers[0].dtype, sizes);
  auto size = static_cast<size_t>(braid_rt_dtype_size(result.dtype));
  int64_t begin = 0;
  for (const Buffer &buffer : buffers) {
    forEachOfPart(sizes, dim, begin, buffer.sizes[dim],
                  [&](int64_t from, int64_t to) {
                    std::memcpy(result.data.data() + to * size,
                                buffer.data.data() + from * size, size);
                  });
    begin += buffer.sizes[dim];
  }
  return result;
}

static std::vector<int32_t> specifiedReductions(int32_t dtype) {
  // Spelt out from the specification, not asked of the runtime.
  switch (dtype) {
  case BRAID_RT_I1:
    return {BRAID_RT_MIN, BRAID_RT_MAX, BRAID_RT_BAND, BRAID_RT_BOR,
            BRAID_RT_BXOR};
  case BRAID_RT_I8:
  case BRAID_RT_I16:
  case BRAID_RT_I32:
  case BRAID_RT_I64:
    return {BRAID_RT_SUM, BRAID_RT_PRODUCT, BRAID_RT_MIN,
            BRAID_RT_MAX, BRAID_RT_AVG,     BRAID_RT_BAND,
            BRAID_RT_BOR, BRAID_RT_BXOR,    BRAID_RT_PREMUL_SUM};
  case BRAID_RT_COMPLEX_F32:
  case BRAID_RT_COMPLEX_F64:
    return {BRAID_RT_SUM, BRAID_RT_AVG, BRAID_RT_PREMUL_SUM};
  default:
    return {BRAID_RT_SUM, BRAID_RT_PRODUCT, BRAID_RT_MIN,
            BRAID_RT_MAX, BRAID_RT_AVG,     BRAID_RT_PREMUL_SUM};
  }
}

std::vector<int32_t> braid::test::reductionsOf(int32_t dtype,
                                               int32_t groupSize) {
  std::vector<int32_t> result;
  for (int32_t reduction : specifiedReductions(dtype))
    if (whyNoReduction(reduction, dtype, groupSize).empty())
      result.push_back(reduction);
  return result;
}

std::string braid::test::whyNoReductions(int32_t dtype) {
  return reductionsOf(dtype).empty() ? std::string("the engine reduces no ") +
                                           braid_rt_dtype_name(dtype)
                                     : "";
}

/// The distance between 1 and the next value of a float type; 0 for others.
static double spacingOf(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_F16:
    return std::ldexp(1.0, -10);
  case BRAID_RT_BF16:
    return std::ldexp(1.0, -7);
  case BRAID_RT_F32:
  case BRAID_RT_COMPLEX_F32:
    return std::ldexp(1.0, -23);
  case BRAID_RT_F64:
  case BRAID_RT_COMPLEX_F64:
    return std::ldexp(1.0, -52);
  case BRAID_RT_F8E4M3FN:
    return std::ldexp(1.0, -3);
  case BRAID_RT_F8E5M2:
    return std::ldexp(1.0, -2);
  default:
    return 0;
  }
}

bool braid::test::isReduced(const Buffer &found, const Buffer &expected,
                            int64_t operands) {
  double spacing = spacingOf(expected.dtype);
  if (found.data == expected.data)
    return true;
  if (reducesInOrder() || spacing == 0 || found.sizes != expected.sizes)
    return false;
  bool isComplex = expected.dtype == BRAID_RT_COMPLEX_F32 ||
                   expected.dtype == BRAID_RT_COMPLEX_F64;
  for (int64_t i = 0; i < expected.count(); ++i)
    for (int part = 0; part <= (isComplex ? 1 : 0); ++part) {
      double a = decode(found, i, part), b = decode(expected, i, part);
      // Each operand is at most 4 here, scaled ones included; each step rounds
      // half a spacing.
      double magnitude = 4.0 * static_cast<double>(operands) + std::abs(b);
      double tolerance =
          spacing * static_cast<double>(operands) * magnitude / 2;
      if (!(std::abs(a - b) <= tolerance) && !(std::isnan(a) && std::isnan(b)))
        return false;
    }
  return true;
}
