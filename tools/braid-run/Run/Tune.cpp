//===- Tune.cpp - Schedules by measured costs -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Tune.h"
#include "Run/Session.h"
#include "Tools/PassOption.h"
#include "braid/Support/OutputFile.h"

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace braid::run;

bool TuningRounds::add(const std::string &schedule, double stepMs) {
  bool isNew = true;
  for (const auto &[earlier, ms] : rounds)
    isNew &= schedule.empty() || earlier != schedule;
  rounds.emplace_back(schedule, stepMs);
  return isNew;
}

size_t TuningRounds::best() const {
  size_t fastest = 0;
  for (size_t i = 1; i < rounds.size(); ++i)
    if (rounds[i].second < rounds[fastest].second)
      fastest = i;
  return fastest;
}

static std::string readText(const std::string &file) {
  std::ifstream stream(file);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

static void writeText(const std::string &file, const std::string &text) {
  if (std::string error = braid::writeWholeFile(file, text); !error.empty())
    throw RunError(error);
}

void braid::run::tune(const Options &options,
                      const braid::rt::Launcher &launcher, Runner &runner) {
  const Processes &processes = runner.getProcesses();
  auto say = [&](const std::string &text) {
    if (!processes.isFirst())
      return;
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  };
  Options ofRound = options;
  const std::string file = options.tunedProfile.empty() ? "tuned-profile.json"
                                                        : options.tunedProfile;
  TuningRounds rounds;
  // The profile of each round; the first one has none.
  std::vector<std::string> profiles = {""};
  bool stays = false;
  while (true) {
    say("tune: round " + std::to_string(rounds.count() + 1) + " of at most " +
        std::to_string(options.tune) + "\n");
    Session session(ofRound, launcher, runner);
    session.run();
    stays = !rounds.add(session.schedule(), session.stepMs());
    if (stays || static_cast<int64_t>(rounds.count()) == options.tune)
      break;
    session.writeCosts(file);
    processes.together([&]() {
      profiles.push_back(processes.isFirst() ? readText(file) : std::string());
    });
    ofRound.profile = file;
  }
  char text[256];
  std::snprintf(text, sizeof(text),
                "tune: %s after %zu rounds; the fastest program is that of "
                "round %zu, %.3f ms",
                stays ? "the order stays" : "stopped", rounds.count(),
                rounds.best() + 1, rounds.bestMs());
  bool hasProfile = rounds.best() > 0;
  processes.together([&]() {
    if (!processes.isFirst())
      return;
    if (hasProfile)
      writeText(file, profiles[rounds.best()]);
    else if (profiles.size() > 1) // Else the file is not of this call.
      std::remove(file.c_str());
  });
  say(text +
      std::string(hasProfile ? ", with " + passOption("profile", file)
                             : ", without a profile") +
      "\n");
}
