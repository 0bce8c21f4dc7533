//===- Errors.cpp - Errors of the C interface -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"

using namespace braid;

int32_t braid::fail(braid_error *error, braid_code code,
                    const llvm::Twine &text, int64_t node, int64_t other) {
  if (!error)
    return code;
  error->code = code;
  error->node = node;
  error->other = other;
  std::string message = text.str();
  size_t length = std::min(message.size(), sizeof(error->text) - 1);
  std::memcpy(error->text, message.data(), length);
  error->text[length] = '\0';
  return code;
}

int32_t braid_schedule_api_version(void) { return BRAID_SCHEDULE_API_VERSION; }

const char *braid_schedule_version(void) { return BRAID_VERSION; }
