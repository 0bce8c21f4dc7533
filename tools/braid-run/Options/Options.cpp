//===- Options.cpp - The command line of braid-run --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options/Options.h"
#include "Options/Values.h"
#include "braid/Support/Text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <sstream>

using namespace braid::run;

namespace {
/// Prints `--name=VALUE`, and texts in lines of 80 characters.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_usage(const CLI::App * /*app*/,
                         std::string /*name*/) const override {
    return "";
  }

  std::string make_option(const CLI::Option *option,
                          bool /*isPositional*/) const override {
    bool hasValue = option->get_items_expected_max() > 0;
    std::string line = "  " + option->get_name(false, true) +
                       (hasValue ? "=" + option->get_type_name() : "");
    constexpr size_t column = 24, width = 80;
    std::string text;
    std::istringstream words(option->get_description());
    if (line.size() + 1 > column) {
      text = line + "\n";
      line.clear();
    }
    line.resize(column, ' ');
    for (std::string word; words >> word;) {
      if (line.size() + word.size() >= width) {
        text += line + "\n";
        line.assign(column, ' ');
      }
      line += (line.size() > column ? " " : "") + word;
    }
    return text + line + "\n";
  }
};

/// The options of braid-run, with their help.
class CommandLine {
public:
  using Text = const std::string &;

  CommandLine() {
    app.formatter(std::make_shared<HelpFormatter>());
    app.set_help_flag();
    // What is left is the program, or unknown.
    app.allow_extras();
    addProgram();
    addCompilation();
    addResults();
    addMeasurements();
    addFailures();
    addInterpreter();
    addEngine();
    group = "General";
    app.set_help_flag("-h,--help", "this text")->group(group);
    addFlag("--version", o.version, "the version of Braid");
    app.footer(
        "A time has a unit: ns, us, ms or s.\n\n"
        "The environment variable BRAID_DEBUG (OFF, INFO or DETAIL) makes "
        "the runtime say\nwhat it does. SIGUSR1 makes braid-run write the "
        "last operations of each rank, to\nthe log unless there is a "
        "--flight-recorder. Exit status, of every process:\n0 success, 1 "
        "the program failed, its results differ or cannot be written, 2 "
        "bad\nusage.");
  }

  Options parse(const std::vector<std::string> &words);

private:
  /// An option with a value, which may not be empty.
  void add(const std::string &name, const char *type, const char *help,
           std::function<void(Text)> set) {
    auto check = [name, type, set = std::move(set)](Text value) {
      if (value.empty())
        throw UsageError(name + ": the value is empty, expected " + type);
      parseFor(name, [&] { set(value); });
    };
    app.add_option_function<std::string>(name, check, help)
        ->type_name(type)
        ->group(group)
        ->trigger_on_parse();
  }

  void addText(const char *name, const char *type, std::string &field,
               const char *help) {
    add(name, type, help, [&field](Text value) { field = value; });
  }

  template <typename Number>
  void addCount(const char *name, Number &field, int64_t least, int64_t largest,
                const char *help) {
    add(name, "N", help, [&field, least, largest](Text value) {
      field = static_cast<Number>(parseCount(value, least, largest));
    });
  }

  void addChoice(const char *name, std::string &field,
                 std::vector<std::string> words, const char *help) {
    add(name, "KIND", help, [&field, words = std::move(words)](Text value) {
      field = checkOneOf(value, words);
    });
  }

  void addFlag(const char *name, bool &field, const char *help) {
    app.add_flag(name, field, help)->group(group)->disable_flag_override();
  }

  /// A flag that may have a value.
  void addOptional(const char *name, const char *type, std::string &field,
                   const char *help) {
    app.add_flag(name, field, help)
        ->option_text(type)
        ->group(group)
        ->take_last();
  }

  void checkValues(const std::vector<std::string> &words) const;
  void addProgram();
  void addCompilation();
  void addResults();
  void addMeasurements();
  void addFailures();
  void addInterpreter();
  void addEngine();

  CLI::App app{
      "usage: braid-run PROGRAM [options]\n"
      "       mpirun -n N braid-run PROGRAM [options]\n"
      "       srun -n N braid-run PROGRAM [options]\n"
      "       torchrun --nproc-per-node=N --no-python braid-run PROGRAM "
      "[options]\n"
      "       braid-run --analyze-dumps=DIR\n\n"
      "Runs a program on ranks. PROGRAM is an MLIR file, which "
      "braid-compile compiles\nfirst, or a shared object that it has "
      "written (the name ends in .so). Under a\nlauncher each process is "
      "one rank; else ranks are threads of this process."};
  std::string group;
  Options o;
  /// `true` without a value.
  std::string report, reference;
  bool cudaGraph = false;
};
} // namespace

void CommandLine::addProgram() {
  group = "What runs";
  addCount("--ranks", o.ranks, 1, 4096,
           "number of ranks (1; under a launcher: what it has started)");
  add("--target", "NAME",
      "what to run on: host, cuda or interpreter (all ranks in one process, op "
      "by op, with all checks); default: what a shared object was compiled "
      "for, else host",
      [&](Text value) {
        o.target = checkOneOf(value, {"host", "cuda", "interpreter"});
      });
  addText("--engine", "NAME", o.engine,
          "what connects the ranks: inproc (threads of this process), mpi or "
          "cuda; default: as the target and the environment say");
  addText("--entry", "NAME", o.entry,
          "the function to run (\"main\", or the only one)");
  add("--arg", "VALUE",
      "one for each argument of the entry, or one for all: ones, zeros, "
      "ones+rank, iota, a number (a whole one for integers), random:SEED (the "
      "same at every run, different ranks get different values; "
      "random:SEED*0.1 multiplies them) or FILE.npy ({rank} in the name is the "
      "rank); VALUE@4x8 gives the sizes of an argument with dynamic ones (a "
      "file has its own)",
      [&](Text value) { o.args.push_back(value); });
  addFlag("--send-program", o.isProgramSent,
          "rank 0 sends its program to the other processes, which run it; else "
          "each process reads its own file, and all must have the same");
  addFlag("--show-binding", o.showBinding,
          "say which cores each rank may use and how to bind it; without "
          "PROGRAM nothing is run");
  add("--link", "latency=20us,bandwidth=10GB/s",
      "let every collective take as long as on such a link (engine inproc)",
      [&](Text value) { parseLink(value, o); });
  addChoice(
      "--reductions", o.reductions, {"ordered", "fast"},
      "engine mpi: ordered (the bits of inproc, the default) or fast (the "
      "MPI library's own reductions)");
}

void CommandLine::addCompilation() {
  group = "How the program is compiled (a shared object is compiled already)";
  auto setPasses = [&](Text value) {
    o.passes = braid::getModulePasses(value);
  };
  add("--passes", "LIST",
      "the passes between preparation and lowering, as a list or as "
      "builtin.module(LIST), or none; default: braid-overlap, for this number "
      "of ranks; none with the target interpreter, for which braid-opt runs "
      "them",
      setPasses);
  add("--pass-pipeline", "LIST", "the same, by MLIR's name of the option",
      setPasses);
  addText("--chip", "NAME", o.chip,
          "the GPU to compile for, such as sm_90, with the target cuda; "
          "default: that of the device");
  addChoice(
      "--attention", o.attention, {"library", "decompose"},
      "what computes attention, with the target cuda: library (cuDNN, "
      "where it supports the op; the default) or decompose (matmuls, sums "
      "and elementwise ops)");
  addChoice("--convolution", o.convolution, {"library", "decompose"},
            "the same for convolutions");
  addChoice("--verify", o.verify, {"off", "warning", "error", "each"},
            "what becomes of an error that comm-verify finds in the program or "
            "its schedule: error (the default), warning, off, or each (error, "
            "also after each pass)");
  addCount("--plans", o.plans, 1, 16,
           "compile the program with the N best plans of multiprocessors and "
           "engines, run all in turn, and say which one is the fastest (1)");
  addCount("--tune", o.tune, 1, 100,
           "run, schedule again with the costs that the run has had, and so "
           "on, until the order stays, at most N times; not with --report");
  addText("--tuned-profile", "FILE", o.tunedProfile,
          "where --tune writes the costs with which the fastest program was "
          "scheduled (tuned-profile.json)");
}

void CommandLine::addResults() {
  group = "Results";
  addText("--out", "FILE.npy", o.out,
          "write results; {rank} and {result} (from 0) in the name are "
          "replaced, and needed where there are several");
  addFlag("--print", o.print, "print the results of every rank");
  addOptional("--compare-results", "[=REF.so]", reference,
              "run the program as written, too, or REF.so, and compare the "
              "results that the entry returns");
  addText("--expect", "FILE.npy", o.expect,
          "compare with results of another run; {rank} and {result} as for "
          "--out");
  add("--tolerance", "KIND",
      "how: exact (bit by bit), auto (as element type and length of sums "
      "allow, with --compare-results only if sums of the program may have "
      "another order, else exact) or the largest error, relative to the "
      "largest element",
      [&](Text value) { o.tolerance = parseTolerance(value); });
}

void CommandLine::addMeasurements() {
  group = "Measurements";
  addCount("--repeat", o.repeat, 1, 1000000,
           "run N times and report the median time (1); with the target "
           "interpreter N interleavings, which must have the same results");
  addCount("--warmup", o.warmup, 0, 1000000,
           "run N times before (0; 3 for the target cuda)");
  add("--idle", "TIME",
      "do nothing for this time, such as 500ms, before the first run and "
      "before each measurement of --measure-bounds (0s)",
      [&](Text value) {
        o.idleNs = parseDuration(value);
        if (o.idleNs > 60'000'000'000)
          throw UsageError("found '" + value + "', expected at most 60s");
      });
  add("--interleave-with", "OTHER.so",
      "run this program in turn, too, any number of times; with "
      "--compare-results or --expect its results are compared as well",
      [&](Text value) { o.interleaved.push_back(value); });
  addFlag("--measure-bounds", o.measureBounds,
          "measure compute and communication alone, too");
  addFlag("--show-overlap", o.showOverlap,
          "say how much of the communication compute hides");
  addOptional("--report", "[=OPTIONS]", report,
              "compare the run with the prediction of the model, op by op, as "
              "comm-report prints it on stderr; with options of comm-report, "
              "such as \"machine=h200x8 format=html output=page.html\"");
  addText("--measurements", "FILE.json", o.measurements,
          "write the measurements of all runs");
  addText("--trace", "FILE.json", o.trace,
          "write a trace for ui.perfetto.dev; with {rank} in the name one for "
          "each rank, as trace tools want them");
}

void CommandLine::addFailures() {
  group = "Failures";
  add("--timeout", "TIME",
      "how long a wait waits for a rank that does not come (30s; engine cuda: "
      "600s)",
      [&](Text value) {
        o.timeoutNs = parseDuration(value);
        if (o.timeoutNs == 0)
          throw UsageError("a timeout must be above 0");
      });
  add("--flight-recorder", "PREFIX",
      "where a failure or SIGUSR1 leaves the last operations of each rank: "
      "PREFIX0.json, PREFIX1.json, ...",
      [&](Text value) {
        o.flightRecorder = value;
        o.engineOptions.emplace_back("flight-recorder", value);
      });
  addText("--analyze-dumps", "DIR", o.dumps,
          "read such files and say which rank is behind and what the others "
          "wait for; runs no program");
}

void CommandLine::addInterpreter() {
  group = "Target interpreter";
  add("--interleaving", "KIND",
      "which rank goes on: random (a random one, the default) or in-order (the "
      "lowest one that does not wait)",
      [&](Text value) {
        o.isInOrder = checkOneOf(value, {"random", "in-order"}) == "in-order";
        o.interpreterOption = "--interleaving";
      });
  add("--seed", "N", "of the first random interleaving (0)", [&](Text value) {
    constexpr int64_t most = std::numeric_limits<int64_t>::max() - 1000000;
    o.seed = static_cast<uint64_t>(parseCount(value, 0, most));
    o.interpreterOption = "--seed";
  });
}

void CommandLine::addEngine() {
  group = "Engine cuda";
  add("--device", "N",
      "number of this rank's GPU; default: its place among the ranks of this "
      "host",
      [&](Text value) {
        o.engineOptions.emplace_back(
            "device", std::to_string(parseCount(value, 0, 4095)));
      });
  addFlag("--cuda-graph", cudaGraph, "record a step once and replay it");
  add("--matmul-tuning", "KIND",
      "how to choose the algorithms of matmuls and convolutions: measure (in "
      "the first run, the default) or heuristic",
      [&](Text value) {
        o.engineOptions.emplace_back(
            "matmul-tuning", checkOneOf(value, {"measure", "heuristic"}));
      });
  add("--lane", "NAME:ctas=8,transport=copy",
      "how the collectives of a lane move their data; any number of times",
      [&](Text value) { o.engineOptions.push_back(parseLane(value)); });
  add("--engine-option", "KEY=VALUE",
      "an option of any engine, such as lane.NAME=ctas=8,transport=copy",
      [&](Text value) { o.engineOptions.push_back(parseEngineOption(value)); });
}

/// Refuses values where an option has none, and the other way round.
void CommandLine::checkValues(const std::vector<std::string> &words) const {
  for (const std::string &word : words) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    const CLI::Option *option = equals == std::string::npos || word[0] != '-'
                                    ? nullptr
                                    : app.get_option_no_throw(name);
    if (option && option->get_disable_flag_override())
      throw UsageError(name + ": found '" + word.substr(equals + 1) +
                       "', expected no value");
    if (option && equals + 1 == word.size() && name != "--report")
      throw UsageError(name + ": the value is empty, expected one");
  }
}

Options CommandLine::parse(const std::vector<std::string> &words) {
  checkValues(words);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp &) {
    // Groups are two lines apart.
    o.help = CLI::detail::find_and_replace(app.help(), "\n\n\n", "\n\n");
    return o;
  } catch (const CLI::ParseError &error) {
    throw UsageError(error.what());
  }
  for (const std::string &word : app.remaining()) {
    if (word.rfind('-', 0) == 0 && word != "-")
      throw UsageError("unknown option '" + word.substr(0, word.find('=')) +
                       "'");
    if (!o.program.empty())
      throw UsageError("two programs: '" + o.program + "' and '" + word + "'");
    o.program = word;
  }
  if (cudaGraph)
    o.engineOptions.emplace_back("cuda-graph", "1");
  o.compareResults = !reference.empty();
  o.reference = reference == "true" ? "" : reference;
  if (!report.empty())
    o.report = report == "true" ? "" : report;
  return o;
}

Options braid::run::parseOptions(int argc, char **argv) {
  Options options =
      CommandLine().parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.help.empty() || options.version)
    return options;
  if (!options.dumps.empty() && !options.program.empty())
    throw UsageError("--analyze-dumps runs no program, found '" +
                     options.program + "'");
  if (options.program.empty()) {
    if (options.showBinding || !options.dumps.empty())
      return options;
    throw UsageError("no program given");
  }
  checkTogether(options);
  return options;
}
