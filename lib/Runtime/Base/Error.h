//===- Error.h - Errors of a rank -------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_ERROR_H
#define BRAID_RUNTIME_BASE_ERROR_H

#include "braid-rt/Host.h"

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>

namespace braid::rt {

class TextSink;

/// Ends a rank's program. Thrown inside the runtime only; the C entry points
/// catch it before they leave compiled code.
class BRAID_RT_API Error : public std::runtime_error {
public:
  /// `secondary`: the rank has failed only because another rank has.
  explicit Error(const std::string &message, bool secondary = false)
      : std::runtime_error(message), secondary(secondary) {}
  // Anchors the vtable in this library, because engines in other libraries
  // throw errors.
  ~Error() override;

  bool secondary;
  /// The site of the message, if it is not the caller's.
  std::optional<braid_rt_site> site;
};

/// `prog.mlir:12:8 (ar0)`, or "" if the site is unknown.
BRAID_RT_API std::string describeSite(const braid_rt_site &site);

/// The same for a signal handler: allocates nothing.
void printSite(TextSink &text, const braid_rt_site &site);

/// `prog.mlir:12:8 (ar0): rank 1: `, the start of every message.
BRAID_RT_API std::string messagePrefix(const braid_rt_site &site, int32_t rank);

/// Copies a message into a caller's buffer, as the C ABI specifies.
inline void copyError(const std::string &message, char *error, size_t size) {
  if (error && size)
    std::snprintf(error, size, "%s", message.c_str());
}

/// Runs `body` and returns a braid_rt_status. An exception becomes the caller's
/// error.
template <typename Body>
int32_t returnErrors(char *error, size_t size, Body body) {
  try {
    body();
    return BRAID_RT_OK;
  } catch (const std::exception &caught) {
    copyError(caught.what(), error, size);
    return BRAID_RT_FAILED;
  }
}

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_ERROR_H
