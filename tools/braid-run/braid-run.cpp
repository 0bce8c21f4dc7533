//===- braid-run.cpp - Runs programs on ranks -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Npy.h"
#include "Options.h"
#include "Runner.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace braid::run;

/// The names of an entry's results.
static std::vector<std::string> resultNames(const braid_rt_entry &entry) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < entry.argumentCount; ++i)
    if (entry.arguments[i].direction == BRAID_RT_OUT)
      names.emplace_back(entry.arguments[i].name);
  return names;
}

/// Files for several ranks or results must have different names.
static void checkOutPattern(const Options &options,
                            const braid_rt_entry &entry) {
  if (options.out.empty())
    return;
  size_t results = resultNames(entry).size();
  for (auto [mark, count] :
       {std::pair<const char *, size_t>{"{rank}", options.ranks},
        std::pair<const char *, size_t>{"{result}", results}})
    if (count > 1 && options.out.find(mark) == std::string::npos)
      throw UsageError("--out: there are " + std::to_string(count) +
                       (mark[3] == 'a' ? " ranks" : " results") + ", but '" +
                       options.out + "' has no " + mark);
}

/// `[1, 2]`: the position of element `index`.
static std::string positionText(const std::vector<int64_t> &sizes,
                                int64_t index) {
  std::string text;
  for (size_t i = sizes.size(); i-- > 0;) {
    text = std::to_string(index % sizes[i]) + (text.empty() ? "" : ", ") + text;
    index /= sizes[i];
  }
  return "[" + text + "]";
}

/// Compares bit by bit; returns what differs first, "" when nothing does.
static std::string compare(const Tensor &found, const Tensor &expected) {
  if (found.sizes != expected.sizes || found.dtype != expected.dtype)
    return "is " + found.typeName() + ", as written " + expected.typeName();
  auto bytes = static_cast<size_t>(found.bytes());
  if (bytes == 0 || std::memcmp(found.data, expected.data, bytes) == 0)
    return "";
  int64_t size = braid_rt_dtype_size(found.dtype);
  int64_t first = -1, different = 0;
  for (int64_t i = 0; i < found.count(); ++i)
    if (std::memcmp(found.data + i * size, expected.data + i * size,
                    static_cast<size_t>(size)) != 0) {
      first = first < 0 ? i : first;
      ++different;
    }
  return "differs at " + positionText(found.sizes, first) + ": " +
         found.element(first) + ", as written " + expected.element(first) +
         " (" + std::to_string(different) + " of " +
         std::to_string(found.count()) + " elements differ)";
}

/// Throws a RunError that names the first difference of each rank.
static void checkResults(const braid_rt_entry &entry, const Results &found,
                         const Results &expected) {
  std::vector<std::string> names = resultNames(entry);
  std::string text;
  for (size_t rank = 0; rank < found.size(); ++rank) {
    if (found[rank].size() != expected[rank].size())
      throw RunError(std::string(entry.name) + " has " +
                     std::to_string(found[rank].size()) +
                     " results, as written " +
                     std::to_string(expected[rank].size()));
    for (size_t i = 0; i < names.size(); ++i) {
      std::string difference = compare(found[rank][i], expected[rank][i]);
      if (difference.empty())
        continue;
      text += (text.empty() ? "" : "\n") + std::string(entry.name) + ": rank " +
              std::to_string(rank) + ": result " + std::to_string(i) + " (" +
              names[i] + ") " + difference;
      break;
    }
  }
  if (!text.empty())
    throw RunError(text);
}

/// Both programs must take the same arguments and give the same results.
static void checkSameArguments(const braid_rt_entry &entry,
                               const braid_rt_entry &reference) {
  bool same = entry.argumentCount == reference.argumentCount;
  for (int64_t i = 0; same && i < entry.argumentCount; ++i) {
    const braid_rt_argument &a = entry.arguments[i];
    const braid_rt_argument &b = reference.arguments[i];
    same = a.dtype == b.dtype && a.rank == b.rank && a.passing == b.passing &&
           (a.direction == BRAID_RT_OUT) == (b.direction == BRAID_RT_OUT) &&
           std::equal(a.sizes, a.sizes + a.rank, b.sizes);
  }
  if (!same)
    throw UsageError("--verify: " + std::string(entry.name) +
                     " of the two programs has different arguments or results");
}

static double medianMs(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  double ns =
      values.size() % 2
          ? static_cast<double>(values[middle])
          : static_cast<double>(values[middle - 1] + values[middle]) / 2;
  return ns / 1e6;
}

static void writeResults(const Options &options, const braid_rt_entry &entry,
                         const Results &results) {
  std::vector<std::string> names = resultNames(entry);
  for (size_t rank = 0; rank < results.size(); ++rank)
    for (size_t i = 0; i < results[rank].size(); ++i) {
      const Tensor &tensor = results[rank][i];
      if (options.print)
        std::printf("rank %zu: %s: %s = %s\n", rank, names[i].c_str(),
                    tensor.typeName().c_str(), tensor.text().c_str());
      if (!options.out.empty())
        writeNpy(expandPattern(expandPattern(options.out, "rank",
                                             static_cast<int64_t>(rank)),
                               "result", static_cast<int64_t>(i)),
                 tensor);
    }
}

/// What one program's runs took.
struct Timing {
  std::vector<int64_t> elapsedNs;
  int64_t peakBytes = 0;
  int64_t waitNs = 0;

  void add(Runner &runner) {
    elapsedNs.push_back(runner.elapsedNs());
    int64_t peak = 0, wait = 0;
    runner.takeStatistics(peak, wait);
    peakBytes = std::max(peakBytes, peak);
    waitNs += wait;
  }

  void print(const char *what) const {
    auto runs = static_cast<double>(elapsedNs.size());
    std::printf("%s: %.3f ms (median of %zu), of which at most %.3f ms "
                "waiting on average; peak memory of a rank %lld bytes\n",
                what, medianMs(elapsedNs), elapsedNs.size(),
                static_cast<double>(waitNs) / 1e6 / runs,
                static_cast<long long>(peakBytes));
  }
};

static void runProgram(const Options &options) {
  Runner runner(options);
  Program program(options.program, options.passes);
  const braid_rt_entry &entry = program.entry(options.entry);
  checkOutPattern(options, entry);
  std::vector<std::vector<Tensor>> inputs;
  for (int32_t rank = 0; rank < options.ranks; ++rank)
    inputs.push_back(makeInputs(entry, options.args, rank));

  std::optional<Program> reference;
  const braid_rt_entry *referenceEntry = nullptr;
  if (options.verify) {
    if (options.reference.empty())
      reference.emplace(options.program, "none");
    else
      reference.emplace(options.reference, std::nullopt);
    referenceEntry = &reference->entry(entry.name);
    checkSameArguments(entry, *referenceEntry);
  }

  Timing timing, referenceTiming;
  Results results;
  for (int64_t round = 0; round < options.repeat; ++round) {
    Results expected;
    if (reference) {
      try {
        expected = runner.run(*referenceEntry, inputs);
      } catch (const RunError &error) {
        throw RunError("the program as written failed: " +
                       std::string(error.what()));
      }
      referenceTiming.add(runner);
    }
    results = runner.run(entry, inputs);
    timing.add(runner);
    if (reference)
      checkResults(entry, results, expected);
  }

  writeResults(options, entry, results);
  if (!options.trace.empty())
    runner.writeTrace(options.trace);
  if (reference) {
    std::printf("verify: the results of all %d ranks are the same, bit for "
                "bit, as those of the program as written\n",
                options.ranks);
  }
  // A single run is mostly warming up: no figures.
  if (options.repeat == 1)
    return;
  if (reference)
    referenceTiming.print("as written");
  timing.print(reference ? "reordered" : "time");
  if (reference)
    std::printf("speedup: %.2f\n", medianMs(referenceTiming.elapsedNs) /
                                       medianMs(timing.elapsedNs));
}

/// Says what a compiled program has done, with functions that a signal handler
/// may call, and ends braid-run as a program that failed.
static void reportCrash(int signal) {
  const char *what = signal == SIGFPE
                         ? ": the program divided an integer by zero (SIGFPE)\n"
                         : ": the program touched memory that is not its own "
                           "(SIGSEGV)\n";
  char text[160] = "braid-run: error: ";
  size_t length = std::strlen(text);
  int32_t rank = braid_rt_current_rank();
  if (rank >= 0) {
    length += static_cast<size_t>(
        std::snprintf(text + length, 32, "rank %d", static_cast<int>(rank)));
    std::memcpy(text + length, what, std::strlen(what));
    length += std::strlen(what);
    // There is nothing to do about a message that cannot be written.
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, length);
    _exit(1);
  }
  // Not a rank's doing: a crash of our own is to be seen as one.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int main(int argc, char **argv) {
  std::signal(SIGFPE, reportCrash);
  std::signal(SIGSEGV, reportCrash);
  try {
    Options options = parseOptions(argc, argv);
    if (options.help) {
      std::fputs(helpText, stdout);
      return 0;
    }
    runProgram(options);
    return 0;
  } catch (const UsageError &error) {
    std::fprintf(stderr,
                 "braid-run: error: %s\n(braid-run --help lists the "
                 "options)\n",
                 error.what());
    return 2;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "braid-run: error: %s\n", error.what());
    return 1;
  }
}
