//===- DumpFuzzer.cpp - Dumps of the flight recorder ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An input is the dumps of a world, with a zero byte between them. What can be
// read can be analyzed, in text that does not control a terminal.
//
//===----------------------------------------------------------------------===//

#include "Common/Failure.h"
#include "Failures/Dumps.h"
#include "braid/Support/Text.h"

#include <cstdlib>

using namespace braid::run;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string all(reinterpret_cast<const char *>(data), size);
  std::map<int32_t, Dump> dumps;
  try {
    for (size_t begin = 0; begin <= all.size();) {
      size_t end = std::min(all.find('\0', begin), all.size());
      addDump(dumps, readDump(all.substr(begin, end - begin),
                              std::to_string(begin) + ".json"));
      begin = end + 1;
    }
  } catch (const RunError &) {
    return 0;
  }
  std::string text = analyzeDumps(dumps);
  if (text != braid::makePrintable(text))
    std::abort();
  return 0;
}
