//===- JsonFilesFuzzer.cpp - JSON files of the compiler -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first byte of an input chooses the reader.
//
//===----------------------------------------------------------------------===//

#include "Cost/Profile/Profile.h"
#include "Report/MeasuredTrace.h"
#include "Support/JsonFile.h"
#include "braid/Cost/Hardware/Hardware.h"

using namespace braid;

template <typename Result> static void consume(llvm::Expected<Result> result) {
  if (!result)
    llvm::consumeError(result.takeError());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  llvm::StringRef text(reinterpret_cast<const char *>(data) + 1, size - 1);
  switch (data[0] % 4) {
  case 0:
    consume(parseJson(text));
    break;
  case 1:
    consume(parseHardware(text, "file"));
    break;
  case 2:
    consume(readProfile(text));
    break;
  default:
    consume(readMeasuredRun(text));
    break;
  }
  return 0;
}
