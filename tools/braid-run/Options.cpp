//===- Options.cpp - The command line of braid-run --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

using namespace braid::run;

const char *const braid::run::helpText =
    R"(usage: braid-run PROGRAM [options]
       mpirun -n N braid-run PROGRAM [options]
       srun -n N braid-run PROGRAM [options]

Runs a program on ranks. PROGRAM is an MLIR file, which braid-compile compiles
first, or a shared object that it has written (the name ends in .so). Under
mpirun or srun each process is one rank; else ranks are threads of this process.

  --ranks=N             number of ranks (1; under mpirun or srun: what these
                        have started)
  --engine=NAME         what connects the ranks: inproc (threads of this
                        process) or mpi; default: as the environment says
  --entry=NAME          the function to run ("main", or the only one)
  --arg=VALUE           one for each argument of the entry, or one for all:
                          ones, zeros, ones+rank, iota, a number,
                          random:SEED   the same at every run, different ranks
                                        get different values
                          FILE.npy      {rank} in the name is the rank
                        VALUE@4x8 gives the sizes of an argument with dynamic
                        ones (a file has its own)
  --out=FILE.npy        write results; {rank} and {result} (from 0) in the name
                        are replaced, and needed where there are several
  --print               print the results of every rank
  --verify              run the program as written, too, and compare the results
                        bit by bit
  --verify=REF.so       compare with this program instead
  --repeat=N            run N times and report the median time (1)
  --trace=FILE.json     write a trace for chrome://tracing or ui.perfetto.dev
  --link=latency=20us,bandwidth=10GB/s
                        let every collective take as long as on such a link
                        (engine inproc)
  --reductions=KIND     engine mpi: ordered (the bits of inproc, the default) or
                        fast (the MPI library's own reductions)
  --bind                say which cores each rank may use and how to bind it;
                        without PROGRAM nothing is run
  --timeout=30s         how long a wait waits for a rank that does not come
  --passes=LIST         handed to braid-compile; default: braid-overlap, for
                        this number of ranks
  --target=host         what to run on
  --help                this text

The environment variable BRAID_DEBUG (OFF, INFO or DETAIL) makes the runtime say
what it does. Exit status, of every process: 0 success, 1 the program failed or
its results differ, 2 bad usage.
)";

/// A number with the rest of the text after it.
static double parseNumber(const std::string &text, std::string &rest,
                          const std::string &option) {
  double value = 0;
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || !std::isfinite(value) || value < 0)
    throw UsageError(option + ": '" + text +
                     "' does not start with a number that is not negative");
  rest.assign(next, end);
  return value;
}

namespace {
struct Unit {
  const char *name;
  double factor;
};
} // namespace

template <size_t count>
static double parseWithUnit(const std::string &text, const std::string &option,
                            const Unit (&units)[count]) {
  std::string rest, known;
  double value = parseNumber(text, rest, option);
  for (const Unit &unit : units) {
    if (rest == unit.name)
      return value * unit.factor;
    known += (known.empty() ? "" : ", ") + std::string(unit.name);
  }
  throw UsageError(option + ": '" + text + "' has " +
                   (rest.empty() ? "no unit" : "the unit '" + rest + "'") +
                   ", expected one of " + known);
}

int64_t braid::run::parseDuration(const std::string &text,
                                  const std::string &option) {
  static constexpr Unit units[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  double ns = parseWithUnit(text, option, units);
  if (ns > 1e18)
    throw UsageError(option + ": '" + text + "' is too long");
  return static_cast<int64_t>(ns + 0.5);
}

double braid::run::parseBandwidth(const std::string &text,
                                  const std::string &option) {
  static constexpr Unit units[] = {{"B/s", 1},     {"kB/s", 1e3},
                                   {"MB/s", 1e6},  {"GB/s", 1e9},
                                   {"TB/s", 1e12}, {"Gbit/s", 1.25e8}};
  double rate = parseWithUnit(text, option, units);
  if (rate == 0)
    throw UsageError(option + ": a link needs a bandwidth above 0");
  return rate;
}

static int64_t parseCount(const std::string &text, const std::string &option,
                          int64_t largest) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || next != end || value < 1 || value > largest)
    throw UsageError(option + ": found '" + text +
                     "', expected a number from 1 to " +
                     std::to_string(largest));
  return value;
}

/// `latency=20us,bandwidth=10GB/s`, in any order, either may be left out.
static void parseLink(const std::string &text, Options &options) {
  options.link = true;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    size_t equals = part.find('=');
    std::string key = part.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : part.substr(equals + 1);
    if (key == "latency")
      options.linkLatencyNs = parseDuration(value, "--link=latency");
    else if (key == "bandwidth")
      options.linkBandwidth = parseBandwidth(value, "--link=bandwidth");
    else
      throw UsageError("--link: found '" + part +
                       "', expected latency=TIME or bandwidth=RATE");
    begin = end + 1;
  }
}

static void setOption(Options &options, const std::string &name,
                      const std::string &value) {
  if (name == "--ranks")
    options.ranks = static_cast<int32_t>(parseCount(value, name, 4096));
  else if (name == "--engine")
    options.engine = value;
  else if (name == "--entry")
    options.entry = value;
  else if (name == "--arg")
    options.args.push_back(value);
  else if (name == "--out")
    options.out = value;
  else if (name == "--repeat")
    options.repeat = parseCount(value, name, 1000000);
  else if (name == "--trace")
    options.trace = value;
  else if (name == "--link")
    parseLink(value, options);
  else if (name == "--passes")
    options.passes = value;
  else if (name == "--reductions") {
    if (value != "ordered" && value != "fast")
      throw UsageError("--reductions: found '" + value +
                       "', expected ordered or fast");
    options.reductions = value;
  } else if (name == "--timeout") {
    options.timeoutNs = parseDuration(value, name);
    if (options.timeoutNs == 0)
      throw UsageError("--timeout: a timeout must be above 0");
  } else if (name == "--target") {
    if (value != "host")
      throw UsageError("--target: found '" + value +
                       "', this build can run 'host'");
  } else {
    throw UsageError("unknown option '" + name + "'");
  }
}

Options braid::run::parseOptions(int argc, char **argv) {
  Options options;
  std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (word.rfind("-", 0) != 0 || word == "-") {
      if (!options.program.empty())
        throw UsageError("two programs: '" + options.program + "' and '" +
                         word + "'");
      options.program = word;
      continue;
    }
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    bool hasValue = equals != std::string::npos;
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name == "--print" && !hasValue) {
      options.print = true;
    } else if (name == "--bind" && !hasValue) {
      options.bind = true;
    } else if (name == "--verify") {
      options.verify = true;
      options.reference = hasValue ? word.substr(equals + 1) : "";
      if (hasValue && options.reference.empty())
        throw UsageError("--verify=: the name of a program is missing");
    } else if (hasValue) {
      setOption(options, name, word.substr(equals + 1));
    } else {
      // The value may be the next word, but the option has to exist.
      bool takesValue = false;
      for (const char *known :
           {"--ranks", "--engine", "--entry", "--arg", "--out", "--repeat",
            "--trace", "--link", "--reductions", "--passes", "--timeout",
            "--target"})
        takesValue |= name == known;
      if (!takesValue)
        throw UsageError("unknown option '" + name + "'");
      if (i + 1 == words.size())
        throw UsageError(name + " needs a value");
      setOption(options, name, words[++i]);
    }
  }
  if (options.program.empty()) {
    if (options.bind)
      return options;
    throw UsageError("no program given");
  }
  bool isCompiled = options.program.size() > 3 &&
                    options.program.substr(options.program.size() - 3) == ".so";
  if (isCompiled && options.verify && options.reference.empty())
    throw UsageError("--verify: " + options.program +
                     " is already compiled; give the program to compare with "
                     "as --verify=REFERENCE.so");
  if (isCompiled && options.passes)
    throw UsageError("--passes: " + options.program + " is already compiled");
  return options;
}
