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

namespace braid {

/// Fills `error`, which may be null, and returns `code`.
int32_t fail(braid_error *error, braid_code code, const llvm::Twine &text,
             int64_t node = -1, int64_t other = -1);

/// Fails if the caller's structure has no size of its own.
template <typename T>
bool hasSize(const T *given, const char *name, braid_error *error) {
  if (given && given->struct_size >= sizeof(size_t))
    return true;
  fail(error, BRAID_INVALID_ARGUMENT,
       llvm::Twine(name) + " is null or has no struct_size");
  return false;
}

/// What the caller gave; fields that it does not know are 0.
template <typename T> T read(const T &given) {
  T result = {};
  std::memcpy(&result, &given, std::min(given.struct_size, sizeof(T)));
  return result;
}

/// Hands the caller the fields that it knows.
template <typename T> void write(T result, T &target) {
  result.struct_size = std::min(target.struct_size, sizeof(T));
  std::memcpy(&target, &result, result.struct_size);
}

} // namespace braid

#endif // BRAID_LIB_CAPI_SCHEDULE_ERRORS_H
