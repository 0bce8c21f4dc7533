//===- ConformanceMain.cpp - One test program of many processes -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GoogleTest on every process of the world: rank 0 prints, a failure on one
// process is a failure on all, and all run the same tests in the same order.
// Replaces the main() of gtest_main.
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>

using namespace braid::test;

namespace {
/// Has all processes agree on the outcome of each test.
class Agreement : public testing::EmptyTestEventListener {
public:
  explicit Agreement(World *world) : world(world) {}

  void OnTestPartResult(const testing::TestPartResult &result) override {
    if (!result.failed())
      return;
    failures << (result.file_name() ? result.file_name() : "") << ":"
             << result.line_number() << ": " << result.message() << "\n";
  }

  void OnTestEnd(const testing::TestInfo &test) override {
    ++(test.result()->Skipped() ? skipped : run);
    std::string name = std::string(test.test_suite_name()) + "." + test.name();
    std::string own = failures.str();
    failures.str("");
    if (!world) {
      if (!own.empty() && !isInProcess())
        std::fprintf(stderr, "%s\n", own.c_str());
      return;
    }
    agree(name, own);
    failures.str("");
  }

  int run = 0, skipped = 0;

private:
  /// Compares names and outcomes; a failure elsewhere is one here, too.
  void agree(const std::string &name, const std::string &own) {
    std::vector<std::string> all = world->exchange(name + '\n' + own);
    for (size_t process = 0; process < all.size(); ++process) {
      size_t end = all[process].find('\n');
      std::string other = all[process].substr(0, end);
      std::string text = all[process].substr(end + 1);
      if (other != name) {
        std::fprintf(stderr, "process %zu runs %s, this one %s\n", process,
                     other.c_str(), name.c_str());
        std::_Exit(1);
      }
      // Its own failures this process has recorded already.
      if (!text.empty() && text != own)
        ADD_FAILURE() << "process " << process << ": " << text;
    }
  }

  World *world;
  std::ostringstream failures;
};
} // namespace

static int runTests(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  // Between processes a world of one test is that test's to make.
  bool shares = !isInProcess() && ownWorlds() == OwnWorlds::Usual;
  World *world = shares ? &sharedWorld(0) : nullptr;
  testing::TestEventListeners &listeners =
      testing::UnitTest::GetInstance()->listeners();
  // Rank 0 prints; in the world of one test World's destructor does.
  bool prints = isInProcess() || (world && world->isLocal(0));
  if (!prints) {
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());
  }
  auto *agreement = new Agreement(world); // belongs to GoogleTest
  listeners.Append(agreement);
  int status = RUN_ALL_TESTS();
  if (prints && ownWorlds() != OwnWorlds::List)
    std::printf("conformance: engine %s, %d tests run, %d skipped\n",
                engineName().c_str(), agreement->run, agreement->skipped);
  std::fflush(stdout);
  endSharedWorlds();
  return status;
}

int main(int argc, char **argv) {
  try {
    return runTests(argc, argv);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "conformance: error: %s\n", error.what());
    return 1;
  }
}
