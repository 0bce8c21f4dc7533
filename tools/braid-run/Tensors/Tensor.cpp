//===- Tensor.cpp - Values of any element type ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Tensor.h"
#include "Options/Options.h"
// The conversions of small floats; they need nothing of the library.
#include "Reduce/SmallFloat.h"

#include <charconv>
#include <cstring>

using namespace braid::run;

Tensor::Tensor(int32_t dtype, std::vector<int64_t> sizes)
    : dtype(dtype), sizes(std::move(sizes)) {
  int64_t total = braid_rt_dtype_size(dtype);
  for (int64_t size : this->sizes)
    if (__builtin_mul_overflow(total, size, &total))
      throw RunError(typeName() + " is too large");
  owner.reset(braid_rt_alloc(static_cast<size_t>(bytes())), braid_rt_free);
  data = static_cast<char *>(owner.get());
  if (!data)
    throw RunError("out of memory for " + typeName());
}

Tensor::Tensor(int32_t dtype, std::vector<int64_t> sizes, void *allocated,
               void *data)
    : dtype(dtype), sizes(std::move(sizes)), data(static_cast<char *>(data)),
      owner(allocated, braid_rt_free) {}

int64_t Tensor::count() const {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

std::string Tensor::typeName(int32_t dtype, const std::vector<int64_t> &sizes) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  const char *name = braid_rt_dtype_name(dtype);
  return text + (name ? name : "?") + ">";
}

namespace {
template <typename T> T load(const char *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <typename T> void store(char *data, int64_t index, T value) {
  std::memcpy(data + index * static_cast<int64_t>(sizeof(T)), &value,
              sizeof(T));
}

template <typename T> std::string numberText(T value) {
  char buffer[64];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

template <typename T> std::string complexText(const char *data, int64_t index) {
  return "(" + numberText(load<T>(data, 2 * index)) + ", " +
         numberText(load<T>(data, 2 * index + 1)) + ")";
}
} // namespace

std::string Tensor::element(int64_t index) const {
  switch (dtype) {
  case BRAID_RT_I1:
    return load<uint8_t>(data, index) ? "true" : "false";
  case BRAID_RT_I8:
    return numberText(static_cast<int>(load<int8_t>(data, index)));
  case BRAID_RT_I16:
    return numberText(load<int16_t>(data, index));
  case BRAID_RT_I32:
    return numberText(load<int32_t>(data, index));
  case BRAID_RT_I64:
    return numberText(load<int64_t>(data, index));
  case BRAID_RT_F16:
    return numberText(rt::f16ToFloat(load<uint16_t>(data, index)));
  case BRAID_RT_BF16:
    return numberText(rt::bf16ToFloat(load<uint16_t>(data, index)));
  case BRAID_RT_F32:
    return numberText(load<float>(data, index));
  case BRAID_RT_F64:
    return numberText(load<double>(data, index));
  case BRAID_RT_COMPLEX_F32:
    return complexText<float>(data, index);
  case BRAID_RT_COMPLEX_F64:
    return complexText<double>(data, index);
  case BRAID_RT_F8E4M3FN:
    return numberText(rt::Float8E4M3FN::toFloat(load<uint8_t>(data, index)));
  default:
    return numberText(rt::Float8E5M2::toFloat(load<uint8_t>(data, index)));
  }
}

double Tensor::number(int64_t index) const {
  switch (dtype) {
  case BRAID_RT_I1:
  case BRAID_RT_I8:
    return load<int8_t>(data, index);
  case BRAID_RT_I16:
    return load<int16_t>(data, index);
  case BRAID_RT_I32:
    return load<int32_t>(data, index);
  case BRAID_RT_I64:
    return static_cast<double>(load<int64_t>(data, index));
  case BRAID_RT_F16:
    return rt::f16ToFloat(load<uint16_t>(data, index));
  case BRAID_RT_BF16:
    return rt::bf16ToFloat(load<uint16_t>(data, index));
  case BRAID_RT_F32:
    return load<float>(data, index);
  case BRAID_RT_F64:
    return load<double>(data, index);
  case BRAID_RT_F8E4M3FN:
    return rt::Float8E4M3FN::toFloat(load<uint8_t>(data, index));
  default:
    return rt::Float8E5M2::toFloat(load<uint8_t>(data, index));
  }
}

void Tensor::setElement(int64_t index, double value) {
  auto narrow = static_cast<float>(value);
  auto integer = static_cast<int64_t>(value);
  switch (dtype) {
  case BRAID_RT_I1:
    return store<uint8_t>(data, index, value != 0);
  case BRAID_RT_I8:
    return store(data, index, static_cast<int8_t>(integer));
  case BRAID_RT_I16:
    return store(data, index, static_cast<int16_t>(integer));
  case BRAID_RT_I32:
    return store(data, index, static_cast<int32_t>(integer));
  case BRAID_RT_I64:
    return store(data, index, integer);
  case BRAID_RT_F16:
    return store(data, index, rt::floatToF16(narrow));
  case BRAID_RT_BF16:
    return store(data, index, rt::floatToBf16(narrow));
  case BRAID_RT_F32:
    return store(data, index, narrow);
  case BRAID_RT_F64:
    return store(data, index, value);
  case BRAID_RT_COMPLEX_F32:
    store(data, 2 * index, narrow);
    return store(data, 2 * index + 1, 0.0F);
  case BRAID_RT_COMPLEX_F64:
    store(data, 2 * index, value);
    return store(data, 2 * index + 1, 0.0);
  case BRAID_RT_F8E4M3FN:
    return store(data, index, rt::Float8E4M3FN::fromFloat(narrow));
  default:
    return store(data, index, rt::Float8E5M2::fromFloat(narrow));
  }
}

void Tensor::setInteger(int64_t index, int64_t value) {
  if (dtype == BRAID_RT_I64)
    return store(data, index, value);
  setElement(index, static_cast<double>(value));
}

static void appendText(const Tensor &tensor, size_t dim, int64_t begin,
                       int64_t count, bool shorten, std::string &text) {
  if (dim == tensor.sizes.size()) {
    text += tensor.element(begin);
    return;
  }
  constexpr int64_t edge = 3;
  int64_t size = tensor.sizes[dim];
  int64_t part = size ? count / size : 0;
  text += '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i)
      text += ", ";
    if (shorten && size > 2 * edge && i == edge) {
      text += "...";
      i = size - edge - 1;
      continue;
    }
    appendText(tensor, dim + 1, begin + i * part, part, shorten, text);
  }
  text += ']';
}

std::string Tensor::text() const {
  std::string result;
  appendText(*this, 0, 0, count(), /*shorten=*/count() > 1000, result);
  return result;
}
