//===- TuningCacheTest.cpp - Algorithms that stay on disk -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CUDA/TuningCache.h"
#include "TestEngine.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace braid::rt::cuda;
using namespace braid::test;
using testing::HasSubstr;
using testing::Optional;

namespace {
class TuningCaches : public testing::Test {
protected:
  TuningCaches() {
    char name[] = "/tmp/braid-tuning-XXXXXX";
    folder = mkdtemp(name);
    file = folder + "/of a user/algorithms.txt";
  }
  ~TuningCaches() override {
    setenv("BRAID_TUNING_CACHE", "", 1);
    std::filesystem::remove_all(folder);
  }

  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  void write(const std::string &text) const {
    std::filesystem::create_directories(folder + "/of a user");
    std::ofstream(file) << text;
  }
  /// What a world of two ranks chooses where both ranks measure `measured`.
  static std::pair<int32_t, int32_t> choose(int32_t measured) {
    TestEngine engine(2);
    auto measure = [&]() { return measured; };
    int32_t first = engine.choose(0, measure);
    return {first, engine.choose(1, measure)};
  }

  std::string folder, file;
};
} // namespace

TEST_F(TuningCaches, TheVariableNamesTheFile) {
  std::map<std::string, std::string> table = {{"HOME", "/home/a"}};
  auto get = [&](const char *name) {
    auto found = table.find(name);
    return found == table.end() ? nullptr : found->second.c_str();
  };
  EXPECT_EQ(findTuningCache(get), "/home/a/.cache/braid/algorithms.txt");
  table["XDG_CACHE_HOME"] = "/cache";
  EXPECT_EQ(findTuningCache(get), "/cache/braid/algorithms.txt");
  table["XDG_CACHE_HOME"] = "not absolute";
  EXPECT_EQ(findTuningCache(get), "/home/a/.cache/braid/algorithms.txt");
  table["BRAID_TUNING_CACHE"] = "here.txt";
  EXPECT_EQ(findTuningCache(get), "here.txt");
  table["BRAID_TUNING_CACHE"] = "";
  EXPECT_EQ(findTuningCache(get), "");
  table.clear();
  EXPECT_EQ(findTuningCache(get), "");
}

TEST_F(TuningCaches, KeepTheFirstAlgorithm) {
  TuningCache cache(file);
  EXPECT_EQ(cache.find("a"), std::nullopt);
  EXPECT_EQ(cache.add("a", 3), "");
  EXPECT_EQ(cache.add("a", 4), "");
  EXPECT_EQ(cache.add("b", 0), "");
  EXPECT_EQ(read(), "braid algorithms 1\na\t3\nb\t0\n");
  TuningCache later(file);
  EXPECT_THAT(later.find("a"), Optional(3));
  EXPECT_THAT(later.find("b"), Optional(0));
}

TEST_F(TuningCaches, ReadWhatTwoProcessesBegan) {
  TuningCache one(file), other(file);
  EXPECT_EQ(one.add("a", 1), "");
  EXPECT_EQ(other.add("b", 2), "");
  TuningCache later(file);
  EXPECT_THAT(later.find("a"), Optional(1));
  EXPECT_THAT(later.find("b"), Optional(2));
}

TEST_F(TuningCaches, SkipLinesThatAreNone) {
  write("braid algorithms 1\na\nb\t\nc\t-1\nd\t1x\ne\t99999999999\nf"
        "\t2\ng\t");
  TuningCache cache(file);
  for (const char *name : {"a", "b", "c", "d", "e", "g"})
    EXPECT_EQ(cache.find(name), std::nullopt) << name;
  EXPECT_THAT(cache.find("f"), Optional(2));
}

TEST_F(TuningCaches, LeaveOtherFilesAlone) {
  write("a letter\na\t1\n");
  TuningCache cache(file);
  EXPECT_EQ(cache.find("a"), std::nullopt);
  EXPECT_EQ(cache.add("b", 1), "");
  EXPECT_EQ(read(), "a letter\na\t1\n");
}

TEST_F(TuningCaches, TellOnceThatTheFileCannotBeWritten) {
  std::ofstream(folder + "/of a user") << "no folder";
  TuningCache cache(file);
  EXPECT_THAT(cache.add("a", 1), HasSubstr("cannot write " + file + ": "));
  EXPECT_EQ(cache.add("b", 1), "");
}

TEST_F(TuningCaches, ALaterWorldDoesNotMeasure) {
  setenv("BRAID_TUNING_CACHE", file.c_str(), 1);
  EXPECT_EQ(choose(5), std::pair(5, 5));
  EXPECT_EQ(choose(7), std::pair(5, 5));
  setenv("BRAID_TUNING_CACHE", "", 1);
  EXPECT_EQ(choose(7), std::pair(7, 7));
}
