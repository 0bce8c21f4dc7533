//===- Session.h - A session of braid-run -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUN_SESSION_H
#define BRAID_TOOLS_BRAID_RUN_RUN_SESSION_H

#include "Base/Launcher.h"
#include "Run/Program.h"
#include "Run/Runner.h"
#include "Tensors/Verify.h"
#include "Timing/Figures.h"

#include <optional>
#include <string>
#include <vector>

namespace braid::run {

/// The times of the runs of one program.
struct Timing {
  std::vector<Measurement> runs;

  /// The median of one measurement, in ms.
  double median(int64_t Measurement::*figure) const;
  double stepMs() const;
  int64_t peakBytes() const;
  int64_t waitNs() const;
  bool hasDevice() const;
};

/// One of the programs that run in turn.
struct Subject {
  Subject(std::string name, const std::string &file,
          const CompileRequest &compile, const Processes &processes)
      : name(std::move(name)), program(file, compile, processes) {}

  /// The hash of the program's schedule; empty if it has none.
  std::string schedule() const {
    const char *hash = program.table().schedule;
    return hash ? hash : "";
  }

  std::string name; ///< The file name, without folder and extension.
  Program program;
  const braid_rt_entry *entry = nullptr;
  std::optional<Call> call;
  bool isCompared = false;
  Numerics numerics; ///< Against the program as written.
  /// The verifier of the results, one of the session's; -1: none.
  int verifier = -1;
  /// The passes that have compiled it, of a program with an alternative plan.
  std::string passes;
  Timing timing;
  std::optional<double> computeAloneMs, communicationAloneMs;
  std::optional<Recording> recording; ///< Of the last run.
};

/// Loads the programs, runs them in turn, compares, and reports. All processes
/// of the world create a session with the same options.
class Session {
public:
  Session(const Options &options, const rt::Launcher &launcher, Runner &runner);

  void run();

  /// The time of a step of the program, after `run`.
  double stepMs() const { return subjects.front().timing.stepMs(); }
  /// The hash of the program's schedule; empty if it has none.
  std::string schedule() const { return subjects.front().schedule(); }
  /// Writes the costs that the ops have had in the last run to `profile`.
  void writeCosts(const std::string &profile);

private:
  void load();
  void checkLanes() const;
  void warnOfOtherMachine() const;
  void addSubject(const std::string &file, const CompileRequest &compile);
  void prepare(Subject &subject);
  void addPlans();
  void runSubject(Subject &subject, bool isTimed, bool isLast);
  void runRound(int64_t round);
  void addVerifiers();
  void checkResults();
  std::string describeVerification() const;
  /// Rounds below 0 come before the rest: they load kernels, choose algorithms
  /// and record graphs.
  int64_t firstRound() const;
  void rest() const;
  /// The program as written, if there is one, and all subjects.
  std::vector<Subject *> allPrograms();
  void measureBounds();
  void measureAlone(Subject &subject, braid_rt_skip skip,
                    std::optional<double> &resultMs);
  void writeResults();
  void compareWithPrediction(const std::string &reportOptions);
  void report();
  int64_t warmup() const;

  const Options &options;
  const rt::Launcher &launcher;
  Runner &runner;
  const Processes &processes;
  CompileRequest compile; ///< Of the program.
  std::optional<Subject> reference;
  std::vector<Subject> subjects; ///< The program, then those beside it.
  std::optional<Results> expected;
  std::vector<Verifier> verifiers; ///< One for each expectation.
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_SESSION_H
