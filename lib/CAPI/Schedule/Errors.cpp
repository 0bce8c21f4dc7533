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
  if (!error || error->struct_size < sizeof(size_t))
    return code;
  braid_error result = {};
  result.code = code;
  result.node = node;
  result.other = other;
  std::string message = text.str();
  message.copy(result.text, sizeof(result.text) - 1);
  write(result, *error);
  return code;
}

int32_t braid_schedule_api_version(void) { return BRAID_SCHEDULE_API_VERSION; }

const char *braid_schedule_version(void) { return BRAID_VERSION; }
