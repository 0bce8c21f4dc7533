//===- Failure.cpp - Errors that end braid-run ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Failure.h"

#include "braid/Support/Text.h"

#include <cstdio>

using namespace braid::run;

void braid::run::printError(int status, const std::string &text) {
  // The text may quote files and names of users.
  std::fprintf(stderr, "braid-run: error: %s\n%s", makePrintable(text).c_str(),
               status == 2 ? "(braid-run --help lists the options)\n" : "");
}
