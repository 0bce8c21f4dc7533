//===- Arguments.cpp - The arguments of --arg -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Arguments.h"
#include "Common/Parallel.h"
#include "Options/Options.h"
#include "Tensors/Npy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

using namespace braid::run;

std::string braid::run::expandPattern(std::string pattern,
                                      const std::string &key, int64_t value) {
  std::string mark = "{" + key + "}";
  std::string text = std::to_string(value);
  for (size_t at = pattern.find(mark); at != std::string::npos;
       at = pattern.find(mark, at + text.size()))
    pattern.replace(at, mark.size(), text);
  return pattern;
}

/// SplitMix64: hashes its argument.
static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// A random float from -1 to 1, integer from -8 to 8, or boolean.
static double randomValue(uint64_t bits, int32_t dtype) {
  if (dtype == BRAID_RT_I1)
    return static_cast<double>(bits & 1);
  if (dtype >= BRAID_RT_I8 && dtype <= BRAID_RT_I64)
    return static_cast<double>(bits % 17) - 8.0;
  return static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0;
}

static void fillRandom(Tensor &tensor, uint64_t seed, double scale,
                       size_t argument, int32_t rank) {
  uint64_t state = mix(mix(mix(seed) + argument) + static_cast<uint64_t>(rank));
  bool complex = tensor.dtype == BRAID_RT_COMPLEX_F32 ||
                 tensor.dtype == BRAID_RT_COMPLEX_F64;
  Tensor parts = tensor;
  if (complex) {
    // Both parts are random: fill them as twice as many real numbers.
    parts.dtype =
        tensor.dtype == BRAID_RT_COMPLEX_F32 ? BRAID_RT_F32 : BRAID_RT_F64;
    parts.sizes.push_back(2);
  }
  forEachPiece(parts.count(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      parts.setElement(i, scale *
                              randomValue(mix(state + static_cast<uint64_t>(i)),
                                          parts.dtype));
  });
}

template <typename T>
static bool parseWhole(const std::string &text, T &value) {
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && next == end && !text.empty();
}

/// The least and the largest element of an integer type, i1 included; nothing
/// for other types.
static std::optional<std::pair<int64_t, int64_t>> rangeOf(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_I1:
    return std::pair<int64_t, int64_t>(0, 1);
  case BRAID_RT_I8:
  case BRAID_RT_I16:
  case BRAID_RT_I32:
  case BRAID_RT_I64: {
    int64_t largest = std::numeric_limits<int64_t>::max() >>
                      (64 - 8 * braid_rt_dtype_size(dtype));
    return std::pair(-largest - 1, largest);
  }
  default:
    return std::nullopt;
  }
}

/// Whether `text` is a whole number, which may also be written as 2.0 or 1e3.
static bool parseInteger(const std::string &text, int64_t &value) {
  if (parseWhole(text, value))
    return true;
  // Doubles from here on may be roundings of other numbers.
  constexpr double limit = 0x1p53;
  double number = 0;
  if (!parseWhole(text, number) || !(std::abs(number) < limit) ||
      number != std::trunc(number))
    return false;
  value = static_cast<int64_t>(number);
  return true;
}

/// Fills a tensor with the value of the option. Throws if the value is invalid.
static void fill(Tensor &tensor, const std::string &value, size_t argument,
                 int32_t rank) {
  int64_t count = tensor.count();
  double number = 0;
  uint64_t seed = 0;
  if (value == "iota") {
    for (int64_t i = 0; i < count; ++i)
      tensor.setElement(
          i, static_cast<double>(tensor.dtype == BRAID_RT_I1 ? i % 2 : i));
    return;
  }
  if (value.rfind("random:", 0) == 0) {
    size_t star = std::min(value.find('*'), value.size());
    if (!parseWhole(value.substr(7, star - 7), seed))
      throw UsageError("--arg: the seed in '" + value +
                       "' is not a whole number");
    number = 1;
    if (star < value.size() && !parseWhole(value.substr(star + 1), number))
      throw UsageError("--arg: the factor in '" + value + "' is no number");
    return fillRandom(tensor, seed, number, argument, rank);
  }
  if (value == "ones")
    number = 1;
  else if (value == "ones+rank")
    number = 1 + rank;
  else if (value != "zeros" && !parseWhole(value, number))
    throw UsageError("--arg: found '" + value +
                     "', expected ones, zeros, ones+rank, iota, a number, "
                     "random:SEED or FILE.npy");
  auto range = rangeOf(tensor.dtype);
  int64_t integer = 0;
  if (range && parseWhole(value, number)) {
    // The digits count, not the double.
    if (!parseInteger(value, integer) || integer < range->first ||
        integer > range->second)
      throw UsageError("--arg: found '" + value + "' for argument " +
                       std::to_string(argument) + " of element type " +
                       braid_rt_dtype_name(tensor.dtype) +
                       ", expected a whole number from " +
                       std::to_string(range->first) + " to " +
                       std::to_string(range->second));
    for (int64_t i = 0; i < count; ++i)
      tensor.setInteger(i, integer);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    tensor.setElement(i, number);
}

/// The sizes after the @, `4x8`.
static std::vector<int64_t> parseSizes(const std::string &text) {
  std::vector<int64_t> sizes;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find('x', begin), text.size());
    int64_t size = 0;
    if (!parseWhole(text.substr(begin, end - begin), size) || size < 0)
      throw UsageError("--arg: '@" + text + "' are no sizes like @4x8");
    sizes.push_back(size);
    begin = end + 1;
  }
  return sizes;
}

static void checkSizes(const braid_rt_entry &entry,
                       const braid_rt_argument &argument,
                       const std::vector<int64_t> &sizes,
                       const std::string &value) {
  std::vector<int64_t> expected(argument.sizes, argument.sizes + argument.rank);
  bool fits = sizes.size() == expected.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = expected[i] == BRAID_RT_DYNAMIC || expected[i] == sizes[i];
  if (!fits)
    throw UsageError("--arg: " + value + " is " +
                     Tensor::typeName(argument.dtype, sizes) + ", but " +
                     argument.name + " of " + entry.name + " is " +
                     Tensor::typeName(argument.dtype, expected));
}

static Tensor makeInput(const braid_rt_entry &entry,
                        const braid_rt_argument &argument,
                        const std::string &option, size_t index, int32_t rank) {
  bool isFile = option.size() > 4 && option.substr(option.size() - 4) == ".npy";
  if (isFile) {
    std::string file = expandPattern(option, "rank", rank);
    Tensor tensor = readNpy(file, argument.dtype);
    checkSizes(entry, argument, tensor.sizes, file);
    return tensor;
  }
  size_t at = option.find('@');
  std::vector<int64_t> sizes(argument.sizes, argument.sizes + argument.rank);
  bool isDynamic = std::count(sizes.begin(), sizes.end(), BRAID_RT_DYNAMIC) > 0;
  if (at != std::string::npos && (isDynamic || argument.rank > 0)) {
    std::vector<int64_t> given = parseSizes(option.substr(at + 1));
    checkSizes(entry, argument, given, option);
    sizes = given;
  } else if (isDynamic) {
    throw UsageError(std::string("--arg: ") + argument.name + " of " +
                     entry.name + " is " +
                     Tensor::typeName(argument.dtype, sizes) +
                     ": give its sizes, as in " + option + "@4x8, or a file");
  }
  Tensor tensor(argument.dtype, sizes);
  fill(tensor, option.substr(0, at), index, rank);
  return tensor;
}

std::vector<Tensor>
braid::run::makeInputs(const braid_rt_entry &entry,
                       const std::vector<std::string> &values, int32_t rank) {
  std::vector<const braid_rt_argument *> arguments;
  for (int64_t i = 0; i < entry.argumentCount; ++i)
    if (entry.arguments[i].direction != BRAID_RT_OUT)
      arguments.push_back(&entry.arguments[i]);
  if (values.size() != arguments.size() &&
      (values.size() != 1 || arguments.empty())) {
    std::string types;
    for (const braid_rt_argument *argument : arguments)
      types +=
          (types.empty() ? "" : ", ") + std::string(argument->name) + ": " +
          Tensor::typeName(argument->dtype,
                           {argument->sizes, argument->sizes + argument->rank});
    throw UsageError(
        std::string(entry.name) + " has " + std::to_string(arguments.size()) +
        (arguments.size() == 1 ? " argument (" : " arguments (") + types +
        "), found " + std::to_string(values.size()) + " --arg options");
  }
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < arguments.size(); ++i)
    inputs.push_back(makeInput(entry, *arguments[i],
                               values.size() == 1 ? values[0] : values[i], i,
                               rank));
  return inputs;
}
