//===- Results.cpp - Printed and written results --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Results.h"
#include "Tensors/Arguments.h"
#include "Tensors/Npy.h"
#include "Tensors/Verify.h"

using namespace braid::run;

void braid::run::checkHasResults(const Options &options,
                                 const braid_rt_entry &entry) {
  if (!resultNames(entry).empty())
    return;
  for (auto [option, isGiven] :
       {std::pair{"--compare-results", options.compareResults},
        std::pair{"--expect", !options.expect.empty()},
        std::pair{"--out", !options.out.empty()}})
    if (isGiven)
      throw UsageError(std::string(option) + ": found " + entry.name +
                       " without results, expected an entry with results; "
                       "arguments that the program overwrites are none");
}

void braid::run::checkPattern(const std::string &option,
                              const std::string &pattern,
                              const braid_rt_entry &entry, int32_t ranks) {
  if (pattern.empty())
    return;
  size_t results = resultNames(entry).size();
  for (auto [mark, count] :
       {std::pair<const char *, size_t>{"{rank}", ranks},
        std::pair<const char *, size_t>{"{result}", results}})
    if (count > 1 && pattern.find(mark) == std::string::npos)
      throw UsageError(option + ": there are " + std::to_string(count) +
                       (mark[2] == 'a' ? " ranks" : " results") + ", but '" +
                       pattern + "' has no " + mark);
}

void braid::run::writeResults(const Options &options,
                              const braid_rt_entry &entry,
                              const std::function<Results()> &getResults,
                              const Processes &processes) {
  std::vector<std::string> names = resultNames(entry);
  std::string text;
  processes.together([&]() {
    Results results = getResults();
    for (size_t r = 0; r < results.size(); ++r)
      for (size_t i = 0; i < results[r].size(); ++i) {
        const Tensor &tensor = results[r][i];
        int32_t rank = processes.localRanks()[r];
        if (options.print)
          text += "rank " + std::to_string(rank) + ": " + names[i] + ": " +
                  tensor.typeName() + " = " + tensor.text() + "\n";
        if (!options.out.empty())
          writeNpy(expandPattern(expandPattern(options.out, "rank", rank),
                                 "result", static_cast<int64_t>(i)),
                   tensor);
      }
  });
  if (options.print)
    processes.printInOrder(text);
}
