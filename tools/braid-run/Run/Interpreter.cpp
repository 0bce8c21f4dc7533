//===- Interpreter.cpp - The target interpreter ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Interpreter.h"
#include "Run/Program.h"
#include "Run/Runner.h"
#include "Tensors/Arguments.h"
#include "Tensors/Results.h"
#include "Tensors/Verify.h"
#include "Tools/PassOption.h"
#include "Tools/Tools.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace braid::run;

namespace {

/// The entries of a program, as the file `entries` lists them.
class EntryList {
public:
  explicit EntryList(const std::string &file);

  const braid_rt_entry &choose(const Options &options) const;

private:
  struct Entry {
    std::string name;
    /// The type of an argument or result that the interpreter does not take.
    std::string otherType;
    std::vector<std::string> names;
    std::vector<std::vector<int64_t>> sizes;
    std::vector<braid_rt_argument> arguments;
    braid_rt_entry entry{};
  };
  std::vector<std::unique_ptr<Entry>> entries;
};

} // namespace

/// The element type called `name`; -1 if the runtime has none.
static int32_t dtypeOf(const std::string &name) {
  for (int32_t dtype = 0; braid_rt_dtype_name(dtype); ++dtype)
    if (name == braid_rt_dtype_name(dtype))
      return dtype;
  return -1;
}

EntryList::EntryList(const std::string &file) {
  std::ifstream stream(file);
  std::string line, word, element;
  while (std::getline(stream, line)) {
    std::istringstream words(line);
    words >> word;
    if (word == "entry") {
      entries.push_back(std::make_unique<Entry>());
      words >> entries.back()->name;
      continue;
    }
    Entry &entry = *entries.back();
    if (word == "other") {
      std::getline(words >> std::ws, entry.otherType);
      continue;
    }
    bool isResult = word == "out";
    words >> element;
    std::vector<int64_t> sizes;
    for (int64_t size = 0; words >> size;)
      sizes.push_back(size < 0 ? BRAID_RT_DYNAMIC : size);
    auto number =
        std::count_if(entry.arguments.begin(), entry.arguments.end(),
                      [&](const braid_rt_argument &other) {
                        return (other.direction == BRAID_RT_OUT) == isResult;
                      });
    entry.names.push_back((isResult ? "result" : "arg") +
                          std::to_string(number));
    entry.sizes.push_back(sizes);
    braid_rt_argument argument{};
    argument.dtype = dtypeOf(element);
    if (argument.dtype < 0)
      entry.otherType = element;
    argument.rank = static_cast<int32_t>(sizes.size());
    argument.direction = isResult          ? BRAID_RT_OUT
                         : word == "inout" ? BRAID_RT_INOUT
                                           : BRAID_RT_IN;
    entry.arguments.push_back(argument);
  }
  for (std::unique_ptr<Entry> &entry : entries) {
    for (size_t i = 0; i < entry->arguments.size(); ++i) {
      entry->arguments[i].name = entry->names[i].c_str();
      entry->arguments[i].sizes = entry->sizes[i].data();
    }
    entry->entry.name = entry->name.c_str();
    entry->entry.argumentCount = static_cast<int64_t>(entry->arguments.size());
    entry->entry.arguments = entry->arguments.data();
  }
}

const braid_rt_entry &EntryList::choose(const Options &options) const {
  std::vector<const braid_rt_entry *> list;
  for (const std::unique_ptr<Entry> &entry : entries)
    list.push_back(&entry->entry);
  braid_rt_program program{};
  program.entryCount = static_cast<int64_t>(list.size());
  program.entries = list.data();
  char error[1024];
  const braid_rt_entry *found = braid_rt_find_entry(
      &program, options.entry.empty() ? nullptr : options.entry.c_str(), error,
      sizeof(error));
  if (!found)
    throw UsageError(options.program + ": " + error +
                     "; --entry=NAME chooses one");
  for (const std::unique_ptr<Entry> &entry : entries)
    if (&entry->entry == found && !entry->otherType.empty())
      throw RunError(options.program + ": entry '" + entry->name +
                     "' has an argument or result of type " + entry->otherType +
                     ", expected a scalar, tensor or buffer of integers, "
                     "floats or complex numbers");
  return *found;
}

/// `folder/RANK.NUMBER.kind`.
static std::string dataFile(const std::string &folder, size_t rank,
                            size_t number, const char *kind) {
  return folder + "/" + std::to_string(rank) + "." + std::to_string(number) +
         "." + kind;
}

static void writeTensor(const std::string &file, const Tensor &tensor) {
  std::ofstream stream(file, std::ios::binary);
  for (int64_t size : tensor.sizes)
    stream.write(reinterpret_cast<const char *>(&size), sizeof(size));
  stream.write(tensor.data, tensor.bytes());
  stream.close();
  if (!stream)
    throw RunError("cannot write " + file + ": " + std::strerror(errno));
}

static Tensor readTensor(const std::string &file,
                         const braid_rt_argument &argument) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<int64_t> sizes(argument.rank);
  for (int64_t &size : sizes)
    stream.read(reinterpret_cast<char *>(&size), sizeof(size));
  if (!stream)
    throw RunError("cannot read " + file);
  Tensor tensor(argument.dtype, sizes);
  stream.read(tensor.data, tensor.bytes());
  if (!stream)
    throw RunError("cannot read " + file);
  return tensor;
}

/// What the target has no use for: nothing is timed, nothing is sent.
static void checkOptions(const Options &options) {
  auto refuse = [](bool isGiven, const char *option, const char *reason) {
    if (isGiven)
      throw UsageError(std::string(option) + ": the target interpreter " +
                       reason);
  };
  refuse(isCompiled(options.program), "--target",
         "runs MLIR files, not compiled programs");
  refuse(!options.engine.empty(), "--engine", "has no engines");
  refuse(!options.reference.empty(), "--compare-results",
         "compares with the program as written alone");
  refuse(!options.interleaved.empty(), "--interleave-with", "runs one program");
  refuse(options.warmup.has_value(), "--warmup", "measures no time");
  refuse(options.plans > 1, "--plans", "measures no time");
  refuse(options.idleNs != 0, "--idle", "measures no time");
  refuse(options.measureBounds, "--measure-bounds", "measures no time");
  refuse(options.showOverlap, "--show-overlap", "measures no time");
  refuse(!options.measurements.empty(), "--measurements", "measures no time");
  refuse(!options.trace.empty(), "--trace", "measures no time");
  refuse(options.link, "--link", "measures no time");
  refuse(options.report.has_value(), "--report", "measures no time");
  refuse(options.tune != 0, "--tune", "measures no time");
  refuse(!options.tunedProfile.empty(), "--tuned-profile", "measures no time");
  refuse(options.showBinding, "--show-binding", "has all ranks in one process");
  refuse(!options.reductions.empty(), "--reductions",
         "has one kind of reductions");
  refuse(options.timeoutNs != 0, "--timeout",
         "sees at once that ranks wait for each other");
  refuse(!options.chip.empty(), "--chip", "compiles nothing");
  refuse(!options.attention.empty(), "--attention", "compiles nothing");
  refuse(!options.convolution.empty(), "--convolution", "compiles nothing");
  refuse(!options.verify.empty(), "--verify", "compiles nothing");
  refuse(!options.engineOptions.empty(), "--engine-option", "has no engines");
}

/// The passes before the interpreter, with a comma; none by default.
static std::string interpreterPasses(const Options &options) {
  if (!options.passes || *options.passes == "none")
    return "";
  if (*options.passes == "default")
    return "braid-overlap{ranks=" + std::to_string(std::max(options.ranks, 1)) +
           "},";
  return *options.passes + ",";
}

void braid::run::runInterpreter(const Options &options) {
  checkOptions(options);
  // Ranks of no engine in particular: for names and for comparisons.
  Runner runner(options, "inproc", braid::rt::Launcher());
  const Processes &processes = runner.getProcesses();
  // What braid-opt and this process exchange.
  RunFolder folder;
  std::string passes = interpreterPasses(options);
  auto interpret = [&](const std::string &before, const std::string &settings) {
    interpretProgram(options.program,
                     before + "comm-interpret{" + settings + " " +
                         passOption("data", folder.getPath()) + "}");
  };
  interpret("", "describe");
  EntryList entries(folder.at("entries"));
  const braid_rt_entry &entry = entries.choose(options);
  checkHasResults(options, entry);
  checkPattern("--out", options.out, entry, processes.worldSize());
  checkPattern("--expect", options.expect, entry, processes.worldSize());

  for (int32_t rank : processes.localRanks()) {
    std::vector<Tensor> inputs = makeInputs(entry, options.args, rank);
    for (size_t i = 0; i < inputs.size(); ++i)
      writeTensor(dataFile(folder.getPath(), rank, i, "in"), inputs[i]);
  }
  auto run = [&](const std::string &before) {
    interpret(before, passOption("entry", entry.name) +
                          " ranks=" + std::to_string(processes.worldSize()) +
                          " rounds=" + std::to_string(options.repeat) +
                          " seed=" + std::to_string(options.seed) +
                          (options.isInOrder ? " in-order" : ""));
    Results results;
    for (int32_t rank : processes.localRanks()) {
      results.emplace_back();
      for (int64_t i = 0; i < entry.argumentCount; ++i)
        if (entry.arguments[i].direction == BRAID_RT_OUT)
          results.back().push_back(readTensor(
              dataFile(folder.getPath(), rank, results.back().size(), "out"),
              entry.arguments[i]));
    }
    return results;
  };

  Results found = run(passes);
  if (options.compareResults || !options.expect.empty()) {
    Results wanted = options.compareResults
                         ? run("")
                         : readExpected(options.expect, entry, processes);
    Expectation expectation{std::nullopt, options.expect};
    // The interpreter adds in one order, whatever the op is made of.
    if (options.compareResults)
      expectation = {Numerics(), "those of the program as written"};
    Verifier verifier(entry, options.tolerance, expectation, processes);
    verifier.check("", found, wanted);
    std::printf("%s: the results of all %d ranks %s\n",
                options.compareResults ? "verify" : "expect",
                processes.worldSize(), verifier.describe().c_str());
  }
  writeResults(options, entry, [&]() { return found; }, processes);
  std::printf("interpreted: %lld %s\n", static_cast<long long>(options.repeat),
              options.isInOrder     ? "times, in order"
              : options.repeat == 1 ? "interleaving"
                                    : "interleavings with the same results");
}
