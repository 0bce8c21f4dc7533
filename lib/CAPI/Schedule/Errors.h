//===- Errors.h - Errors and structures that grow ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CAPI_SCHEDULE_ERRORS_H
#define BRAID_LIB_CAPI_SCHEDULE_ERRORS_H

#include "braid-c/Schedule.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace braid {

/// Fills `error`, which may be null or without a size, and returns `code`.
int32_t fail(braid_error *error, braid_code code, const llvm::Twine &text,
             int64_t node = -1, int64_t other = -1);

/// Fails if the caller gave no `name`, a handle or an array.
template <typename T>
bool isGiven(const T *given, const char *name, braid_error *error) {
  if (given)
    return true;
  fail(error, BRAID_INVALID_ARGUMENT, llvm::Twine(name) + " is null");
  return false;
}

/// Fails if the caller's structure, or the first one of an array, has no size
/// of its own.
template <typename T>
bool hasSize(const T *given, const char *name, braid_error *error) {
  if (given && given->struct_size >= sizeof(size_t))
    return true;
  fail(error, BRAID_INVALID_ARGUMENT,
       llvm::Twine(name) + " is null or has no struct_size");
  return false;
}

/// Copies `given`, of which the caller's version has `size` bytes; fields that
/// the caller's version lacks are 0.
template <typename T> T read(const T *given, size_t size) {
  T result = {};
  std::memcpy(&result, given, std::min(size, sizeof(T)));
  return result;
}
template <typename T> T read(const T &given) {
  return read(&given, given.struct_size);
}

/// Copies to `target` the fields that the caller's version, of `size` bytes,
/// has.
template <typename T> void write(T result, T *target, size_t size) {
  result.struct_size = std::min(size, sizeof(T));
  std::memcpy(target, &result, result.struct_size);
}
template <typename T> void write(T result, T &target) {
  write(result, &target, target.struct_size);
}

/// Element `index` of an array whose elements are `size` bytes apart.
template <typename T> T *getElement(T *array, size_t size, size_t index) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T *>(reinterpret_cast<Byte *>(array) + size * index);
}

} // namespace braid

#endif // BRAID_LIB_CAPI_SCHEDULE_ERRORS_H
