//===- MutatedFilesTest.cpp - Files with changed bytes ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few thousand mutants with a fixed seed; the fuzzers of test/Fuzz search
// further.
//
//===----------------------------------------------------------------------===//

#include "Common/Failure.h"
#include "Failures/Dumps.h"
#include "Tensors/Npy.h"
#include "braid/Support/Text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <sstream>

using namespace braid::run;

namespace {

/// Replaces, removes and inserts bytes and words at random places.
class Mutator {
public:
  explicit Mutator(std::vector<std::string> words) : words(std::move(words)) {}

  std::string mutate(std::string text) {
    for (size_t i = 0, count = 1 + below(4); i < count; ++i) {
      size_t at = below(text.size() + 1);
      size_t removed = std::min(below(4), text.size() - at);
      std::string added = below(2)
                              ? words[below(words.size())]
                              : std::string(1, static_cast<char>(below(256)));
      text.replace(at, removed, below(4) ? added : "");
    }
    return text;
  }

private:
  size_t below(size_t end) { return random() % end; }

  std::mt19937 random{1};
  std::vector<std::string> words;
};

constexpr int numMutants = 3000;

TEST(MutatedFilesTest, ArraysAreRefusedOrReadAsTheyAre) {
  Tensor tensor(BRAID_RT_I32, {2, 3});
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.setInteger(i, i);
  std::string whole = formatNpy(tensor);
  Mutator mutator({"'shape'", "(2, 3)", "(6,)", "True", ">i4", "<i4", "()",
                   "99999999999", "0x2", "L", "'''", "#", "\\x69"});
  auto read = [](const std::string &bytes) {
    std::istringstream stream(bytes);
    return readNpy(stream, BRAID_RT_I32);
  };
  int numRead = 0;
  for (int i = 0; i < numMutants; ++i) {
    std::string mutant = mutator.mutate(whole);
    try {
      Tensor found = read(mutant);
      ASSERT_LE(found.bytes(), static_cast<int64_t>(mutant.size()));
      std::string written = formatNpy(found);
      ASSERT_EQ(formatNpy(read(written)), written);
      ++numRead;
    } catch (const RunError &) {
      // The answer to most of them.
    }
  }
  // Some changes are of the data or mean nothing.
  EXPECT_GT(numRead, numMutants / 50);
  EXPECT_LT(numRead, numMutants / 2);
}

TEST(MutatedFilesTest, DumpsAreRefusedOrAnalyzed) {
  const std::string whole =
      R"({"version": 2, "rank": 0, "ranks": 2, "reason": "signal 10",
 "error": "", "begun": 1, "ended": 0,
 "groups": [{"name": "tp", "key": "1", "ranks": [0, 1]}],
 "entries": [{"number": 1, "group": 0, "sequence": 7, "invocation": 1,
  "operation": "barrier", "fingerprint": "0", "site": "p.mlir:1:1",
  "state": "awaited"}]})";
  Mutator mutator({"\"rank\"", "2147483647", "-1", "{}", "[]", "null",
                   "\"from\": 0, \"to\": 1, ", "\\u001b", "\\ud83d\\ude00",
                   "finished", "started", "\x1b[31m", ", 1"});
  int numRead = 0;
  for (int i = 0; i < numMutants; ++i) {
    std::map<int32_t, Dump> dumps;
    try {
      addDump(dumps, readDump(mutator.mutate(whole), "a.json"));
    } catch (const RunError &) {
      continue;
    }
    ++numRead;
    std::string text = analyzeDumps(dumps);
    ASSERT_EQ(text, braid::makePrintable(text));
    ASSERT_THAT(text, testing::HasSubstr("dumps of 1 of"));
  }
  EXPECT_GT(numRead, numMutants / 50);
  EXPECT_LT(numRead, numMutants / 2);
}

} // namespace
