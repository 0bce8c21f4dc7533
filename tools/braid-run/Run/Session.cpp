//===- Session.cpp - A session of braid-run ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Session.h"
#include "Run/Measurements.h"
#include "Run/Report.h"
#include "Tensors/Arguments.h"
#include "Tensors/Results.h"
#include "Timing/Trace.h"
#include "Tools/PassOption.h"
#include "Tools/ProfiledMachine.h"
#include "Tools/Tools.h"
#include "braid/Support/Text.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

using namespace braid::run;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The passes for braid-compile. The default passes get the number of ranks,
/// and the ranks per node if the launcher sets them.
static std::string passesFor(const Options &options, int32_t ranks,
                             int32_t ranksPerNode, int64_t alternative = 0) {
  if (options.passes && *options.passes != "default")
    return *options.passes;
  std::string perNode =
      ranksPerNode ? " ranks-per-node=" + std::to_string(ranksPerNode) : "";
  std::string profile = options.profile.empty()
                            ? ""
                            : " " + passOption("profile", options.profile);
  std::string plan = alternative ? " plan=" + std::to_string(alternative) : "";
  return "braid-overlap{ranks=" + std::to_string(ranks) + perNode + profile +
         plan + "}";
}

/// `seed` of `build/seed.so`.
static std::string nameOf(const std::string &file) {
  size_t slash = file.rfind('/');
  std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  return name.substr(0, name.rfind('.'));
}

/// Refuses a program that reads its own results on the host. Without compute
/// such a program would take other branches, or never end.
static void checkBound(const Program &program) {
  const braid_rt_device_program *device = program.table().device;
  if (device && device->hostReadCount > 0)
    throw UsageError(
        "--measure-bounds: the program reads results of kernels at " +
        std::to_string(device->hostReadCount) +
        " places (conditions, sizes), and cannot run without kernels");
}

Session::Session(const Options &options, const braid::rt::Launcher &launcher,
                 Runner &runner)
    : options(options), launcher(launcher), runner(runner),
      processes(runner.getProcesses()) {}

void Session::addSubject(const std::string &file,
                         const CompileRequest &compile) {
  subjects.emplace_back(nameOf(file), file, compile, processes);
  prepare(subjects.back());
}

void Session::prepare(Subject &subject) {
  bool isMain = subjects.size() == 1;
  processes.together([&]() {
    subject.entry = &subject.program.entry(options.entry);
    if (isMain) {
      checkHasResults(options, *subject.entry);
      for (auto [option, pattern] : {std::pair{"--out", &options.out},
                                     std::pair{"--expect", &options.expect}})
        checkPattern(option, *pattern, *subject.entry, processes.worldSize());
    }
    if (options.measureBounds)
      checkBound(subject.program);
  });
  runner.prepare(subject.program.table());
}

/// Adds the program with other plans. A plan that another one equals is left
/// out: there may be fewer plans than are asked for.
void Session::addPlans() {
  subjects.front().passes = compile.passes;
  for (int64_t number = 1; number < options.plans; ++number) {
    CompileRequest request = compile;
    request.passes =
        passesFor(options, processes.worldSize(), launcher.localSize, number);
    std::vector<std::string> known;
    for (const Subject &subject : subjects)
      known.push_back(subject.schedule());
    Subject &other = subjects.emplace_back("plan " + std::to_string(number),
                                           options.program, request, processes);
    if (std::find(known.begin(), known.end(), other.schedule()) !=
        known.end()) {
      subjects.pop_back();
      continue;
    }
    other.passes = request.passes;
    prepare(other);
  }
}

/// Refuses the settings of a lane that no program has. Later rounds of --tune
/// may plan other lanes.
void Session::checkLanes() const {
  if (options.tune)
    return;
  std::set<std::string> lanes;
  std::string known;
  for (const Subject &subject : subjects) {
    const braid_rt_program &table = subject.program.table();
    for (int64_t i = 0; i < table.groupCount; ++i)
      if (const braid_rt_lane *lane = table.groups[i]->lane)
        if (lanes.insert(lane->name).second)
          known += (known.empty() ? "" : ", ") + std::string(lane->name);
  }
  const std::string prefix = "lane.";
  for (const auto &[key, value] : options.engineOptions)
    if (key.rfind(prefix, 0) == 0 && !lanes.count(key.substr(prefix.size())))
      throw Failure(2,
                    "--lane: found '" + key.substr(prefix.size()) +
                        "', expected a lane of the program" +
                        (known.empty() ? ", which has none" : ": " + known),
                    /*everywhere=*/true);
}

/// Says so if the passes take their costs from a profile of other GPUs.
void Session::warnOfOtherMachine() const {
  std::string file = findProfile(compile.passes), gpu = runner.gpu();
  if (file.empty() || gpu.empty() || !processes.isFirst())
    return;
  std::ifstream stream(file);
  std::string measured =
      findProfiledGpu(std::string(std::istreambuf_iterator<char>(stream), {}));
  if (!measured.empty() && measured != gpu)
    std::fprintf(stderr,
                 "warning: the profile %s was measured on %s, found %s here; "
                 "braid-calibrate measures this machine\n",
                 makePrintable(file).c_str(), makePrintable(measured).c_str(),
                 gpu.c_str());
}

void Session::load() {
  compile = {passesFor(options, processes.worldSize(), launcher.localSize),
             options.target,
             options.chip,
             options.attention,
             options.convolution,
             options.verify,
             processes.worldSize(),
             options.isProgramSent};
  if (compile.target == "cuda" && compile.chip.empty())
    compile.chip = runner.chip();
  warnOfOtherMachine();
  // Calls refer to programs, so programs must not move.
  subjects.reserve(static_cast<size_t>(options.plans) +
                   options.interleaved.size());
  addSubject(options.program, compile);
  if (options.plans > 1)
    addPlans();
  for (const std::string &file : options.interleaved)
    addSubject(file, compile);
  checkLanes();
  Subject &main = subjects.front();
  if (options.compareResults) {
    CompileRequest asWritten = compile;
    asWritten.passes = "none";
    bool isGiven = !options.reference.empty();
    const std::string &file = isGiven ? options.reference : options.program;
    reference.emplace("as written", file, asWritten, processes);
    processes.together([&]() {
      reference->entry = &reference->program.entry(main.entry->name);
      if (!haveSameArguments(*main.entry, *reference->entry))
        throw UsageError("--compare-results: " + std::string(main.entry->name) +
                         " of the two programs has different arguments or "
                         "results");
    });
    runner.prepare(reference->program.table());
  }

  std::vector<std::vector<std::vector<Tensor>>> inputs;
  for (Subject &subject : subjects) {
    // Equal arguments get the same tensors.
    subject.isCompared = haveSameArguments(*main.entry, *subject.entry);
    if (!subject.isCompared || inputs.empty()) {
      inputs.emplace_back();
      processes.together([&]() {
        for (int32_t rank : processes.localRanks())
          inputs.back().push_back(
              makeInputs(*subject.entry, options.args, rank));
      });
    }
    subject.call.emplace(runner.makeCall(
        *subject.entry, subject.isCompared ? inputs.front() : inputs.back()));
  }
  if (reference)
    reference->call.emplace(runner.makeCall(*reference->entry, inputs.front()));
  if (!options.expect.empty())
    expected = readExpected(options.expect, *main.entry, processes);
  addVerifiers();
}

/// Programs whose results are compared alike share a verifier.
void Session::addVerifiers() {
  for (Subject *subject : allPrograms())
    subject->numerics =
        numericsOf(runner.getWorld(), subject->program.numerics());
  std::vector<std::optional<Numerics>> known;
  for (Subject &subject : subjects) {
    if (!subject.isCompared || (!reference && !expected))
      continue;
    Expectation expectation{std::nullopt, options.expect};
    if (reference)
      expectation = {numericsBetween(subject.numerics, reference->numerics),
                     "those of the program as written"};
    std::optional<Numerics> key;
    if (options.tolerance.kind == Tolerance::Auto)
      key = expectation.numerics;
    auto place = std::find(known.begin(), known.end(), key);
    subject.verifier = static_cast<int>(place - known.begin());
    if (place != known.end())
      continue;
    known.push_back(key);
    verifiers.emplace_back(*subjects.front().entry, options.tolerance,
                           std::move(expectation), processes);
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::vector<Subject *> Session::allPrograms() {
  std::vector<Subject *> all;
  if (reference)
    all.push_back(&*reference);
  for (Subject &subject : subjects)
    all.push_back(&subject);
  return all;
}

int64_t Session::warmup() const {
  if (options.warmup)
    return *options.warmup;
  return runner.isHostMemory() || options.repeat == 1 ? 0 : 3;
}

void Session::runSubject(Subject &subject, bool isTimed, bool isLast) {
  runner.run(*subject.call);
  if (isTimed)
    subject.timing.runs.push_back(runner.lastRun());
  if (!isLast || !options.records())
    return;
  subject.recording = runner.recording();
  nameGroups(*subject.recording, subject.program.table());
}

/// Every other round runs the programs backwards: the clock of a GPU at its
/// power limit follows what ran before, so that one and the same program takes
/// some percent longer at the end of a round.
void Session::runRound(int64_t round) {
  bool isTimed = round >= warmup();
  bool isLast = round + 1 == warmup() + options.repeat;
  std::vector<Subject *> all = allPrograms();
  if (round % 2 != 0)
    std::reverse(all.begin(), all.end());
  for (Subject *subject : all)
    try {
      runSubject(*subject, isTimed, isLast);
    } catch (const Failure &error) {
      if (!reference || subject != &*reference)
        throw;
      throw Failure(error.status,
                    "the program as written failed: " +
                        std::string(error.what()),
                    error.everywhere);
    }
  // Reading the results of a device takes longer than most steps.
  if (!verifiers.empty() && (runner.isHostMemory() || round == 0 || isLast))
    checkResults();
}

void Session::checkResults() {
  Results wanted;
  processes.together(
      [&]() { wanted = reference ? reference->call->results() : *expected; });
  for (Subject &subject : subjects) {
    if (subject.verifier < 0)
      continue;
    Results found;
    processes.together([&]() { found = subject.call->results(); });
    verifiers[static_cast<size_t>(subject.verifier)].check(
        subjects.size() > 1 ? subject.name + ": " : "", found, wanted);
  }
}

int64_t Session::firstRound() const {
  constexpr int64_t beforeIdle = 3;
  return options.idleNs ? -beforeIdle : 0;
}

/// Clocks depend on what a device has done before. After a rest all
/// measurements begin with the same clocks.
void Session::rest() const {
  std::this_thread::sleep_for(std::chrono::nanoseconds(options.idleNs));
}

void Session::measureAlone(Subject &subject, braid_rt_skip skip,
                           std::optional<double> &resultMs) {
  runner.skip(skip);
  // With rests the device works as long as for the programs in turn.
  auto numPrograms = static_cast<int64_t>(subjects.size()) + bool(reference);
  int64_t times = options.idleNs ? numPrograms : 1;
  Timing timing;
  for (int64_t i = firstRound(); i < times * (warmup() + options.repeat); ++i) {
    if (i == 0)
      rest();
    runner.run(*subject.call);
    if (i >= times * warmup())
      timing.runs.push_back(runner.lastRun());
  }
  resultMs = timing.stepMs();
  runner.skip(BRAID_RT_SKIP_NOTHING);
}

void Session::measureBounds() {
  for (Subject *subject : allPrograms()) {
    measureAlone(*subject, BRAID_RT_SKIP_COMMUNICATION,
                 subject->computeAloneMs);
    if (!runner.isHostMemory())
      measureAlone(*subject, BRAID_RT_SKIP_COMPUTE,
                   subject->communicationAloneMs);
  }
}

void Session::run() {
  load();
  for (int64_t round = firstRound(); round < warmup() + options.repeat;
       ++round) {
    if (round == 0)
      rest();
    runRound(round);
  }
  writeResults();
  if (options.measureBounds)
    measureBounds();
  if (!options.trace.empty())
    writeTrace(options.trace, *subjects.front().recording, processes);
  report();
  if (options.report)
    compareWithPrediction(*options.report);
}

void Session::writeCosts(const std::string &profile) {
  // The report itself is not for this user.
  compareWithPrediction("output=/dev/null " +
                        passOption("measured-profile", profile));
}

void Session::compareWithPrediction(const std::string &reportOptions) {
  std::string withRanks = reportOptions;
  if (reportOptions.find("ranks=") == std::string::npos)
    withRanks += (withRanks.empty() ? "" : " ") +
                 ("ranks=" + std::to_string(processes.worldSize()));
  // Only the first process writes the file with all ranks.
  std::optional<RunFolder> folder;
  std::string trace;
  processes.together([&]() {
    if (processes.isFirst())
      trace = folder.emplace().at("trace.json");
  });
  writeTrace(trace, *subjects.front().recording, processes);
  processes.together([&]() {
    if (processes.isFirst())
      compareWithModel(options.program, compile, trace, withRanks);
  });
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

void Session::writeResults() {
  if (!options.print && options.out.empty())
    return;
  Subject &main = subjects.front();
  braid::run::writeResults(
      options, *main.entry, [&]() { return main.call->results(); }, processes);
}

/// Which plan is the fastest, and the passes that make it.
static std::string describePlans(const Subject &main, const Subject &fastest) {
  char text[512];
  double ms = fastest.timing.stepMs(), mainMs = main.timing.stepMs();
  if (&fastest == &main)
    std::snprintf(text, sizeof(text),
                  "plans: the model's best is the fastest, %.3f ms", ms);
  else
    std::snprintf(text, sizeof(text),
                  "plans: %s is the fastest, %.3f of the model's best",
                  fastest.name.c_str(), ms / std::max(mainMs, 1e-9));
  return std::string(text) + ": --passes='" + fastest.passes + "'\n";
}

/// A line for each verifier, with the names of its programs if there are
/// several verifiers.
std::string Session::describeVerification() const {
  std::string text;
  for (size_t i = 0; i < verifiers.size(); ++i) {
    std::string names;
    for (const Subject &subject : subjects)
      if (subject.verifier == static_cast<int>(i))
        names += (names.empty() ? "" : ", ") + subject.name;
    text += std::string(options.compareResults ? "verify: " : "expect: ") +
            (verifiers.size() > 1 ? names + ": " : "") + "the results of all " +
            std::to_string(processes.worldSize()) + " ranks " +
            verifiers[i].describe() + "\n";
  }
  return text;
}

void Session::report() {
  std::string text = describeVerification();
  Measurements measurements;
  auto add = [&](const std::string &what, const std::string &role,
                 const Subject &subject) {
    text += describeSubject(what, subject);
    const Verifier *verifier =
        subject.verifier < 0
            ? nullptr
            : &verifiers[static_cast<size_t>(subject.verifier)];
    measurements.programs.push_back({role, &subject, verifier});
  };
  const Subject &main = subjects.front();
  if (reference)
    add("as written", "reference", *reference);
  add(reference ? "reordered" : "time", "program", main);
  if (reference && options.repeat > 1) {
    char speedup[64];
    std::snprintf(speedup, sizeof(speedup), "speedup: %.2f\n",
                  reference->timing.stepMs() / main.timing.stepMs());
    text += speedup;
  }
  const Subject *fastest = &main;
  for (size_t i = 1; i < subjects.size(); ++i) {
    const Subject &subject = subjects[i];
    bool isPlan = !subject.passes.empty();
    add((isPlan ? "" : "beside, ") + subject.name, isPlan ? "plan" : "beside",
        subject);
    if (isPlan && subject.timing.stepMs() < fastest->timing.stepMs())
      fastest = &subject;
  }
  if (options.plans > 1)
    text += describePlans(main, *fastest);
  measurements.replacements = runner.replacements();
  text += describe(measurements.replacements, processes.worldSize());
  measurements.ranks = processes.worldSize();
  measurements.repeat = options.repeat;
  measurements.warmup = warmup();
  for (const Verifier &verifier : verifiers)
    measurements.largestError = std::max(measurements.largestError.value_or(0),
                                         verifier.largestError());
  processes.together([&]() {
    if (!options.measurements.empty() && processes.isFirst())
      writeMeasurements(options.measurements, measurements);
  });
  if (processes.isFirst())
    std::fputs(text.c_str(), stdout);
}
