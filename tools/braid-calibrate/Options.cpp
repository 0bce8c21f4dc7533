//===- Options.cpp - What braid-calibrate measures ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "braid-c/Version.h"
#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace braid;
using namespace braid::calibrate;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory fileCategory("Files and the machine");
cl::OptionCategory shapeCategory("What is measured");
cl::OptionCategory timeCategory("How long it takes");

cl::opt<int64_t> ranks("ranks", cl::desc("The GPUs of this machine to measure"),
                       cl::value_desc("N"), cl::cat(fileCategory));
cl::opt<std::string> output("o", cl::desc("Where to write the profile"),
                            cl::value_desc("file"), cl::init("profile.json"),
                            cl::cat(fileCategory));
cl::opt<std::string> page("page",
                          cl::desc("Where to write a page with the curves"),
                          cl::value_desc("file.html"), cl::cat(fileCategory));
cl::opt<std::string> show("show",
                          cl::desc("Measure nothing; the page shows this "
                                   "profile"),
                          cl::value_desc("profile.json"),
                          cl::cat(fileCategory));
cl::opt<std::string>
    machine("machine",
            cl::desc("The name of the machine (default: by the GPU's name)"),
            cl::value_desc("h200x8"), cl::cat(fileCategory));
cl::opt<std::string>
    limit("limit",
          cl::desc("The time after which nothing new begins; the profile names "
                   "what is missing (default: 170s, so that a run ends within "
                   "three minutes; two GPUs need 95 to 130s for everything)"),
          cl::value_desc("time"), cl::init("170s"), cl::cat(timeCategory));
cl::list<std::string>
    programs("programs",
             cl::desc("Measure the matmuls and collectives of these programs "
                      "only: reports of comm-report (format=json), or "
                      "programs that braid-opt reads"),
             cl::value_desc("FILE,..."), cl::CommaSeparated,
             cl::cat(shapeCategory));
cl::list<std::string>
    matmuls("matmuls",
            cl::desc("The matmuls: rows x columns x depth, in bf16 or in the "
                     "type that follows, with the left, right or both "
                     "operands stored transposed"),
            cl::value_desc("4096x4096x8192xbf16,..."), cl::CommaSeparated,
            cl::cat(shapeCategory));
cl::list<int64_t> spared("spare",
                         cl::desc("The multiprocessors that matmuls leave to "
                                  "collectives (default: 4,8,12,16,24)"),
                         cl::value_desc("N,..."), cl::CommaSeparated,
                         cl::cat(shapeCategory));
cl::list<std::string>
    collectives("collectives",
                cl::desc("The kinds of collectives (default: all_reduce, "
                         "all_gather, reduce_scatter, all_to_all)"),
                cl::value_desc("kind,..."), cl::CommaSeparated,
                cl::cat(shapeCategory));
cl::list<std::string>
    lanes("lanes",
          cl::desc("The lanes beside the default one: ctas-N, symmetric-N and "
                   "copy (default: symmetric-8, copy, symmetric-4, "
                   "symmetric-16, ctas-8, ctas-16, ctas-4)"),
          cl::value_desc("lane,..."), cl::CommaSeparated,
          cl::cat(shapeCategory));
cl::list<int64_t>
    groups("groups",
           cl::desc("Also measure groups of so many ranks, all of the machine "
                    "at once: neighbours, and ranks as far apart as possible "
                    "(default: half of the ranks, and 2; 0: none)"),
           cl::value_desc("N,..."), cl::CommaSeparated, cl::cat(shapeCategory));
cl::opt<std::string>
    bytes("bytes", cl::desc("The sizes of collectives (default: 4KiB:256MiB)"),
          cl::value_desc("least:most"), cl::init("4KiB:256MiB"),
          cl::cat(shapeCategory));
cl::opt<std::string>
    preheat("preheat",
            cl::desc("The time under load before a matmul is measured "
                     "(default: 300ms; at full load clocks fall once after "
                     "some 40ms and are constant for half a second then)"),
            cl::value_desc("time"), cl::init("300ms"), cl::cat(timeCategory));
cl::opt<std::string>
    idle("idle",
         cl::desc("The time without load before that (default: 400ms; with "
                  "less, the mean power of a second reaches the GPU's limit, "
                  "and clocks fall again during a measurement)"),
         cl::value_desc("time"), cl::init("400ms"), cl::cat(timeCategory));
cl::opt<std::string>
    block("block",
          cl::desc("The time of one of five blocks of repetitions (default: "
                   "15ms, so that all five end while clocks are constant)"),
          cl::value_desc("time"), cl::init("15ms"), cl::cat(timeCategory));
} // namespace

static Error makeOptionError(StringRef option, const llvm::Twine &found,
                             const llvm::Twine &expected) {
  return llvm::createStringError("--" + option + ": found " + found +
                                 ", expected " + expected);
}

/// Reads the part of a matmul behind its sizes: the type of its elements or
/// the operands that are stored transposed. Returns whether it is one of these.
static bool parseProperty(StringRef text, MatmulCall &matmul) {
  for (int32_t dtype : {BRAID_RT_BF16, BRAID_RT_F16, BRAID_RT_F32})
    if (text == braid_rt_dtype_name(dtype)) {
      matmul.dtype = dtype;
      return true;
    }
  for (TransposedOperands transposed :
       {TransposedOperands::Left, TransposedOperands::Right,
        TransposedOperands::Both})
    if (text == transposedOperandNames[size_t(transposed)]) {
      matmul.transposed = transposed;
      return true;
    }
  return false;
}

static Expected<MatmulCall> parseMatmul(StringRef text) {
  MatmulCall matmul;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, 'x');
  Error error = makeOptionError(
      "matmuls", "'" + text + "'",
      "rows x columns x depth from 1 to 1048576, bf16, f16 or f32, and left, "
      "right or both if operands are stored transposed, such as "
      "4096x4096x8192xbf16 or 4096x4096x2048xbf16xleft");
  constexpr size_t numSizes = 3, mostParts = 5;
  if (parts.size() < numSizes || parts.size() > mostParts)
    return error;
  int64_t *sizes[] = {&matmul.rows, &matmul.columns, &matmul.depth};
  for (auto [part, size] : llvm::zip(parts, sizes))
    if (part.getAsInteger(10, *size) || *size < 1 || *size > (1 << 20))
      return error;
  for (StringRef part : llvm::drop_begin(parts, numSizes))
    if (!parseProperty(part, matmul))
      return error;
  llvm::consumeError(std::move(error));
  return matmul;
}

static Expected<Lane> parseLane(StringRef text) {
  if (text == "copy")
    return Lane{LaneTransport::Copy, 0};
  Lane lane;
  StringRef rest = text;
  if (rest.consume_front("symmetric-"))
    lane.transport = LaneTransport::Symmetric;
  else if (!rest.consume_front("ctas-"))
    rest = "";
  constexpr int64_t mostCtas = 64;
  if (rest.getAsInteger(10, lane.ctas) || lane.ctas < 1 || lane.ctas > mostCtas)
    return makeOptionError(
        "lanes", "'" + text + "'",
        "copy, or ctas-N or symmetric-N with N from 1 to 64");
  return lane;
}

/// Sizes from `least` to `most`: by factors of four while the latency counts
/// most, then of two.
static std::vector<int64_t> makeSizes(int64_t least, int64_t most) {
  constexpr int64_t large = int64_t(1) << 20;
  std::vector<int64_t> sizes;
  for (int64_t size = least; size < most; size *= size < large ? 4 : 2)
    sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

static Error readCollectives(Options &options) {
  auto [leastText, mostText] = StringRef(bytes).split(':');
  std::optional<int64_t> least = parseBytes(leastText),
                         most = parseBytes(mostText);
  int64_t unit = bytesPerRank * options.ranks;
  constexpr int64_t largest = int64_t(1) << 30;
  if (!least || !most || *least < 1 || *most < 2 * *least || *most > largest)
    return makeOptionError(
        "bytes", "'" + bytes + "'",
        "two sizes up to 1GiB of which the second is at least "
        "twice the first, such as 4KiB:256MiB");
  options.elementwiseBytes =
      std::max<int64_t>(4096, std::min<int64_t>(*most, 64 << 20) / 4096 * 4096);
  options.pairBytes = llvm::alignTo(std::min<int64_t>(*most, 32 << 20), unit);
  std::vector<std::string> kinds(collectives.begin(), collectives.end());
  if (kinds.empty())
    kinds = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
  for (const std::string &name : kinds) {
    std::optional<int32_t> kind = findKind(name);
    if (!kind)
      return makeOptionError(
          "collectives", "'" + name + "'",
          "all_reduce, all_gather, reduce_scatter, all_to_all, "
          "broadcast or reduce");
    for (int64_t size : makeSizes(*least, *most)) {
      int64_t aligned = llvm::alignTo(size, unit);
      std::vector<int64_t> &sizes = options.collectives[*kind];
      if (sizes.empty() || sizes.back() < aligned)
        sizes.push_back(aligned);
    }
  }
  return Error::success();
}

/// Measures the sizes of programs, and what a curve needs around them.
static Error readPrograms(Options &options) {
  ProgramShapes shapes;
  for (const std::string &path : programs)
    if (Error error = readShapes(path, options.ranks, shapes))
      return error;
  if (shapes.matmuls.empty() && shapes.collectives.empty())
    return makeOptionError("programs",
                           "no matmul and no collective of " +
                               llvm::Twine(options.ranks) + " ranks",
                           "at least one");
  options.matmuls = shapes.matmuls;
  options.collectives.clear();
  int64_t unit = bytesPerRank * options.ranks;
  for (const auto &[kind, sizes] : shapes.collectives) {
    std::set<int64_t> aligned;
    for (int64_t size : sizes)
      aligned.insert(llvm::alignTo(size, unit));
    // A curve has two points, and a plan may ask for halves.
    aligned.insert(llvm::alignTo(*aligned.begin() / 2, unit));
    aligned.insert(2 * *aligned.rbegin());
    options.collectives[kind].assign(aligned.begin(), aligned.end());
  }
  return Error::success();
}

static Error readMatmuls(Options &options) {
  std::vector<std::string> texts(matmuls.begin(), matmuls.end());
  if (texts.empty() && programs.empty())
    // Cubes, and what layers of N = 4096 and 8192 multiply on two ranks.
    texts = {
        "4096x4096x4096",       "8192x8192x8192",      "2048x8192x4096",
        "2048x4096x8192",       "4096x4096x2048xleft", "2048x4096x4096xright",
        "4096x16384x8192",      "4096x8192x16384",     "8192x8192x4096xleft",
        "4096x8192x8192xright", "2048x2048x2048",      "1024x1024x1024",
        "4096x4096x4096xf16",   "4096x4096x4096xf32"};
  for (const std::string &text : texts) {
    Expected<MatmulCall> matmul = parseMatmul(text);
    if (!matmul)
      return matmul.takeError();
    addMatmul(*matmul, options.matmuls);
  }
  options.spared.assign(spared.begin(), spared.end());
  if (options.spared.empty())
    options.spared = {8, 4, 16, 24, 12};
  for (int64_t number : options.spared)
    if (number < 1 || number > 1024)
      return makeOptionError("spare", llvm::Twine(number), "1 to 1024");
  return Error::success();
}

static Error readLanes(Options &options) {
  std::vector<std::string> texts(lanes.begin(), lanes.end());
  if (texts.empty())
    texts = {"symmetric-8", "copy",    "symmetric-4", "symmetric-16",
             "ctas-8",      "ctas-16", "ctas-4"};
  options.lanes = {Lane()};
  for (const std::string &text : texts) {
    Expected<Lane> lane = parseLane(text);
    if (!lane)
      return lane.takeError();
    if (!llvm::is_contained(options.lanes, *lane))
      options.lanes.push_back(*lane);
  }
  return Error::success();
}

static Error readGroups(Options &options) {
  std::vector<int64_t> sizes(groups.begin(), groups.end());
  // With programs, their own sizes of groups are a matter of other runs.
  if (sizes.empty() && programs.empty())
    for (int64_t size : {options.ranks / 2, int64_t(2)})
      if (size > 1 && size < options.ranks && options.ranks % size == 0)
        sizes.push_back(size);
  for (int64_t size : sizes) {
    if (size == 0)
      continue;
    if (size < 2 || size >= options.ranks || options.ranks % size != 0)
      return makeOptionError("groups", llvm::Twine(size),
                             "a divisor of the " + llvm::Twine(options.ranks) +
                                 " ranks, from 2 to less than all, or 0");
    for (int64_t stride : {int64_t(1), options.ranks / size})
      if (Grouping added{size, stride};
          !llvm::is_contained(options.groupings, added))
        options.groupings.push_back(added);
  }
  return Error::success();
}

/// Reads the nanoseconds of the option `name`, at least `least` and at most a
/// minute, or an hour for the limit of all measurements.
static Error readTime(StringRef name, StringRef text, double &ns) {
  std::optional<double> time = parseDurationNs(text);
  bool isLimit = name == limit.ArgStr;
  double most = isLimit ? 3600e9 : 60e9;
  if (!time || *time > most || (isLimit && *time == 0.0))
    return makeOptionError(
        name, "'" + text + "'",
        isLimit ? "a time above 0s and of at most 3600s, such as 170s"
                : "a time of at most 60s with unit ns, us, ms or "
                  "s, such as 400ms");
  ns = *time;
  return Error::success();
}

static Error readTimes(Options &options) {
  Durations &durations = options.durations;
  double limitNs;
  std::tuple<const cl::opt<std::string> *, double *> times[] = {
      {&limit, &limitNs},
      {&preheat, &durations.matmulWarmNs},
      {&idle, &durations.idleNs},
      {&block, &durations.blockNs}};
  for (auto [option, ns] : times)
    if (Error error = readTime(option->ArgStr, option->getValue(), *ns))
      return error;
  options.limitSeconds = limitNs * 1e-9;
  constexpr double mostForOthersNs = 5e6;
  durations.otherWarmNs = std::min(mostForOthersNs, durations.matmulWarmNs);
  return Error::success();
}

Expected<Options> braid::calibrate::parseOptions(int argc, char **argv) {
  cl::HideUnrelatedOptions({&fileCategory, &shapeCategory, &timeCategory});
  cl::AddExtraVersionPrinter([](llvm::raw_ostream &stream) {
    stream << "Braid version " BRAID_VERSION_STRING "\n";
  });
  cl::ParseCommandLineOptions(
      argc, argv,
      "Measures this machine's GPUs, and writes a profile that the cost model "
      "reads\n");
  Options options;
  options.ranks = ranks;
  options.output = output;
  options.page = page;
  options.shown = show;
  options.machine = machine;
  if (!options.shown.empty()) {
    if (options.page.empty())
      return makeOptionError("page", "no file", "one for what --show names");
    return options;
  }
  if (options.ranks < 1 || options.ranks > 64)
    return makeOptionError("ranks", llvm::Twine(options.ranks), "1 to 64");
  if (Error error = readTimes(options))
    return error;
  if (!options.machine.empty() && !lookupHardware(options.machine))
    return makeOptionError("machine", "'" + options.machine + "'",
                           "one of: " + joinHardwareNames());
  if (Error error = readCollectives(options))
    return error;
  if (!programs.empty())
    if (Error error = readPrograms(options))
      return error;
  if (Error error = readMatmuls(options))
    return error;
  if (Error error = readLanes(options))
    return error;
  if (Error error = readGroups(options))
    return error;
  return options;
}
