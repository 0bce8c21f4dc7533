//===- Options.cpp - The command line of braid-run --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options/Options.h"
#include "braid/Support/RenamedArguments.h"
#include "braid/Support/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

using namespace braid::run;

/// Parses a number; `rest` is the text after it.
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
                          int64_t least, int64_t largest) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || next != end || value < least || value > largest)
    throw UsageError(option + ": found '" + text +
                     "', expected a number from " + std::to_string(least) +
                     " to " + std::to_string(largest));
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

/// `exact`, `auto` or a number that is not negative.
static Tolerance parseTolerance(const std::string &text) {
  if (text == "auto")
    return {Tolerance::Auto, 0};
  if (text == "exact")
    return {Tolerance::Exact, 0};
  double value = 0;
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || next != end || !std::isfinite(value) || value < 0)
    throw UsageError("--tolerance: found '" + text +
                     "', expected exact, auto or a number that is not "
                     "negative");
  return {Tolerance::Given, value};
}

/// Converts `latency:ctas=8,transport=copy` to an option of the engine:
/// `lane.latency` with the value `ctas=8,transport=copy`.
static std::pair<std::string, std::string> parseLane(const std::string &text) {
  size_t colon = text.find(':');
  bool isWhole = colon != std::string::npos && colon > 0;
  std::string value;
  for (size_t begin = colon + 1; isWhole && begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    if (part.rfind("ctas=", 0) == 0)
      parseCount(part.substr(5), "--lane: ctas", 1, 64);
    else
      isWhole = part == "transport=default" || part == "transport=symmetric" ||
                part == "transport=copy";
    value += (value.empty() ? "" : ",") + part;
    begin = end + 1;
  }
  if (!isWhole)
    throw UsageError("--lane: found '" + text +
                     "', expected NAME:ctas=NUMBER,transport=KIND with "
                     "default, symmetric or copy");
  return {"lane." + text.substr(0, colon), value};
}

static std::pair<std::string, std::string>
parseEngineOption(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--engine-option: found '" + text +
                     "', expected KEY=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

static std::string checkOneOf(const std::string &option,
                              const std::string &value,
                              std::initializer_list<const char *> words) {
  std::string expected;
  for (const char *word : words) {
    if (value == word)
      return value;
    bool isLast = word == *(words.end() - 1);
    expected += (expected.empty() ? ""
                 : isLast         ? " or "
                                  : ", ") +
                std::string(word);
  }
  throw UsageError(option + ": found '" + value + "', expected " + expected);
}

namespace {
/// An option with a value.
struct ValueOption {
  const char *name;
  void (*set)(Options &options, const std::string &name,
              const std::string &value);
};
/// An option without a value.
struct Flag {
  const char *name;
  void (*set)(Options &options);
};
} // namespace

static int64_t parseTimeout(const std::string &text, const std::string &name) {
  int64_t ns = parseDuration(text, name);
  if (ns == 0)
    throw UsageError("--timeout: a timeout must be above 0");
  return ns;
}

static int64_t parseIdleTime(const std::string &text, const std::string &name) {
  constexpr int64_t most = 60'000'000'000;
  int64_t ns = parseDuration(text, name);
  if (ns > most)
    throw UsageError(name + ": found '" + text + "', expected at most 60s");
  return ns;
}

/// A value that names something. An empty one would count as none at all.
static const std::string &checkNotEmpty(const std::string &option,
                                        const std::string &value,
                                        const char *expected) {
  if (value.empty())
    throw UsageError(option + ": the value is empty, expected " + expected);
  return value;
}

/// The name of a file, or the beginning of one.
static const std::string &checkFile(const std::string &option,
                                    const std::string &value) {
  if (value.empty())
    throw UsageError(option + ": the name of a file is missing");
  return value;
}

using Text = const std::string &;

template <std::string Options::*field>
static void setFile(Options &o, Text name, Text value) {
  o.*field = checkFile(name, value);
}

static const ValueOption valueOptions[] = {
    {"--ranks",
     [](Options &o, Text name, Text value) {
       o.ranks = static_cast<int32_t>(parseCount(value, name, 1, 4096));
     }},
    {"--target",
     [](Options &o, Text name, Text value) {
       o.target = checkOneOf(name, value, {"host", "cuda", "interpreter"});
     }},
    {"--seed",
     [](Options &o, Text name, Text value) {
       o.seed = static_cast<uint64_t>(parseCount(
           value, name, 0, std::numeric_limits<int64_t>::max() - 1000000));
       o.interpreterOption = name;
     }},
    {"--interleaving",
     [](Options &o, Text name, Text value) {
       o.isInOrder =
           checkOneOf(name, value, {"random", "in-order"}) == "in-order";
       o.interpreterOption = name;
     }},
    {"--engine",
     [](Options &o, Text name, Text value) {
       o.engine = checkNotEmpty(name, value, "an engine: inproc, mpi or cuda");
     }},
    {"--entry",
     [](Options &o, Text name, Text value) {
       o.entry = checkNotEmpty(name, value, "the name of a function");
     }},
    {"--arg", [](Options &o, Text, Text value) { o.args.push_back(value); }},
    {"--out", setFile<&Options::out>},
    {"--expect", setFile<&Options::expect>},
    {"--tolerance",
     [](Options &o, Text, Text value) { o.tolerance = parseTolerance(value); }},
    {"--interleave-with",
     [](Options &o, Text, Text value) { o.interleaved.push_back(value); }},
    {"--repeat",
     [](Options &o, Text name, Text value) {
       o.repeat = parseCount(value, name, 1, 1000000);
     }},
    {"--warmup",
     [](Options &o, Text name, Text value) {
       o.warmup = parseCount(value, name, 0, 1000000);
     }},
    {"--idle", [](Options &o, Text name,
                  Text value) { o.idleNs = parseIdleTime(value, name); }},
    {"--measurements", setFile<&Options::measurements>},
    {"--trace", setFile<&Options::trace>},
    {"--report", [](Options &o, Text, Text value) { o.report = value; }},
    {"--plans", [](Options &o, Text name,
                   Text value) { o.plans = parseCount(value, name, 1, 16); }},
    {"--tune", [](Options &o, Text name,
                  Text value) { o.tune = parseCount(value, name, 1, 100); }},
    {"--tuned-profile", setFile<&Options::tunedProfile>},
    {"--link", [](Options &o, Text, Text value) { parseLink(value, o); }},
    {"--passes",
     [](Options &o, Text name, Text value) {
       o.passes = braid::getModulePasses(
           checkNotEmpty(name, value, "a pipeline, default or none"));
     }},
    {"--pass-pipeline",
     [](Options &o, Text name, Text value) {
       o.passes = braid::getModulePasses(
           checkNotEmpty(name, value, "a pipeline, default or none"));
     }},
    {"--chip",
     [](Options &o, Text name, Text value) {
       o.chip = checkNotEmpty(name, value, "a GPU, such as sm_90");
     }},
    {"--attention",
     [](Options &o, Text name, Text value) {
       o.attention = checkOneOf(name, value, {"library", "decompose"});
     }},
    {"--convolution",
     [](Options &o, Text name, Text value) {
       o.convolution = checkOneOf(name, value, {"library", "decompose"});
     }},
    {"--verify",
     [](Options &o, Text name, Text value) {
       o.verify = checkOneOf(name, value, {"off", "warning", "error", "each"});
     }},
    {"--reductions",
     [](Options &o, Text name, Text value) {
       o.reductions = checkOneOf(name, value, {"ordered", "fast"});
     }},
    {"--timeout", [](Options &o, Text name,
                     Text value) { o.timeoutNs = parseTimeout(value, name); }},
    {"--device",
     [](Options &o, Text name, Text value) {
       o.engineOptions.emplace_back(
           "device", std::to_string(parseCount(value, name, 0, 4095)));
     }},
    {"--lane", [](Options &o, Text,
                  Text value) { o.engineOptions.push_back(parseLane(value)); }},
    {"--matmul-tuning",
     [](Options &o, Text name, Text value) {
       o.engineOptions.emplace_back(
           "matmul-tuning", checkOneOf(name, value, {"measure", "heuristic"}));
     }},
    {"--flight-recorder",
     [](Options &o, Text name, Text value) {
       o.flightRecorder = checkFile(name, value);
       o.engineOptions.emplace_back("flight-recorder", value);
     }},
    {"--analyze-dumps",
     [](Options &o, Text name, Text value) {
       if (value.empty())
         throw UsageError(name + ": the name of a folder is missing");
       o.dumps = value;
     }},
    {"--engine-option", [](Options &o, Text, Text value) {
       o.engineOptions.push_back(parseEngineOption(value));
     }}};

static const Flag flags[] = {
    {"--print", [](Options &o) { o.print = true; }},
    {"--show-binding", [](Options &o) { o.showBinding = true; }},
    {"--send-program", [](Options &o) { o.isProgramSent = true; }},
    {"--compare-results", [](Options &o) { o.compareResults = true; }},
    {"--measure-bounds", [](Options &o) { o.measureBounds = true; }},
    {"--show-overlap", [](Options &o) { o.showOverlap = true; }},
    {"--report", [](Options &o) { o.report = ""; }},
    {"--cuda-graph",
     [](Options &o) { o.engineOptions.emplace_back("cuda-graph", "1"); }}};

bool braid::run::isCompiled(const std::string &file) {
  // `libc.so.6` is no program, but no text of MLIR either.
  size_t dot = file.rfind(".so");
  if (dot == std::string::npos || dot == 0)
    return false;
  size_t rest = dot + 3;
  return rest == file.size() ||
         (file[rest] == '.' && rest + 1 < file.size() &&
          file.find_first_not_of("0123456789.", rest) == std::string::npos);
}

/// Checks combinations of options.
static void checkTogether(const Options &options) {
  bool compiled = isCompiled(options.program);
  if (compiled && options.compareResults && options.reference.empty())
    throw UsageError("--compare-results: " + options.program +
                     " is already compiled; give the program to compare with "
                     "as --compare-results=REFERENCE.so");
  if (compiled && options.passes)
    throw UsageError("--passes: " + options.program + " is already compiled");
  if (compiled && !options.chip.empty())
    throw UsageError("--chip: " + options.program + " is already compiled");
  if (compiled && !options.attention.empty())
    throw UsageError("--attention: " + options.program +
                     " is already compiled");
  if (compiled && !options.convolution.empty())
    throw UsageError("--convolution: " + options.program +
                     " is already compiled");
  if (compiled && !options.verify.empty())
    throw UsageError("--verify: " + options.program + " is already compiled");
  if (compiled && options.report)
    throw UsageError("--report: found the compiled program " + options.program +
                     ", expected the MLIR file, of which the model predicts "
                     "the times");
  if (compiled && options.tune)
    throw UsageError("--tune: found the compiled program " + options.program +
                     ", expected the MLIR file, which can be scheduled again");
  if (options.tune && options.report)
    throw UsageError("--report: found --tune, which compares every round "
                     "itself; expected one of the two");
  if (options.tune && options.passes && *options.passes != "default")
    throw UsageError("--tune: found --passes=" + *options.passes +
                     ", expected the default passes, which take the measured "
                     "costs");
  if (compiled && options.plans > 1)
    throw UsageError("--plans: found the compiled program " + options.program +
                     ", expected the MLIR file, which can be planned again");
  if (options.plans > 1 && options.passes && *options.passes != "default")
    throw UsageError("--plans: found --passes=" + *options.passes +
                     ", expected the default passes, which have plans");
  if (options.plans > 1 && options.tune)
    throw UsageError("--plans: found --tune, which chooses by measured costs; "
                     "expected one of the two");
  if (options.compareResults && !options.expect.empty())
    throw UsageError(
        "--expect: --compare-results compares with a program already");
  if (options.tolerance.kind != Tolerance::Auto && !options.compareResults &&
      options.expect.empty())
    throw UsageError("--tolerance: nothing is compared; --compare-results or "
                     "--expect=FILE.npy says with what");
  if (!options.interpreterOption.empty() && options.target != "interpreter")
    throw UsageError(options.interpreterOption +
                     ": only the target interpreter has interleavings; "
                     "--target=interpreter chooses it");
  for (const std::string &file : options.interleaved)
    if (!isCompiled(file))
      throw UsageError("--interleave-with: found '" + file +
                       "', expected a compiled program (.so)");
}

/// Spellings of the last release.
static std::vector<braid::RenamedArgument> getRenamedArguments() {
  return {// `--verify=off` and the like are about programs.
          {"--verify", "--compare-results", /*takesValue=*/false,
           [](Text text) -> std::optional<std::string> {
             bool isOld = text.empty() || text.find(".so") != std::string::npos;
             return isOld ? std::optional(text) : std::nullopt;
           }},
          {"--verify-program", "--verify", /*takesValue=*/true},
          {"--compare", "--report"},
          {"--beside", "--interleave-with", /*takesValue=*/true},
          {"--bind", "--show-binding"},
          {"--figures", "--measurements", /*takesValue=*/true},
          {"--overlap", "--show-overlap"},
          {"--bound", "--measure-bounds"},
          {"--rest", "--idle", /*takesValue=*/true,
           [](Text text) -> std::optional<std::string> {
             return braid::appendUnit(text, "ms");
           }},
          {"--engine-option", "--engine-option", /*takesValue=*/true,
           [](Text text) -> std::optional<std::string> {
             std::string present = text;
             if (text.rfind("=lane.", 0) == 0)
               std::replace(present.begin(), present.end(), ':', '=');
             return present;
           }}};
}

template <typename Table>
static auto findOption(const Table &table, const std::string &name) {
  return std::find_if(std::begin(table), std::end(table),
                      [&](const auto &known) { return name == known.name; });
}

Options braid::run::parseOptions(int argc, char **argv) {
  Options options;
  braid::PresentArguments present = braid::renameArguments(
      std::vector<std::string>(argv + 1, argv + argc), getRenamedArguments());
  options.warnings = std::move(present.warnings);
  const std::vector<std::string> &words = present.arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (word.rfind('-', 0) != 0 || word == "-") {
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
    if (name == "--version") {
      options.version = true;
      return options;
    }
    if (name == "--compare-results" && hasValue) {
      options.compareResults = true;
      options.reference = word.substr(equals + 1);
      if (options.reference.empty())
        throw UsageError(
            "--compare-results=: the name of a program is missing");
      continue;
    }
    const auto *flag = findOption(flags, name);
    if (flag != std::end(flags) && !hasValue) {
      flag->set(options);
      continue;
    }
    const auto *option = findOption(valueOptions, name);
    if (option == std::end(valueOptions))
      throw UsageError("unknown option '" + name + "'");
    if (!hasValue && i + 1 == words.size())
      throw UsageError(name + " needs a value");
    option->set(options, name, hasValue ? word.substr(equals + 1) : words[++i]);
  }
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
