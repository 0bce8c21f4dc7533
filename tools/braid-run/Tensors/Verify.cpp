//===- Verify.cpp - Comparing the results of all ranks ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Verify.h"
#include "Bytes.h"
#include "Tensors/Arguments.h"
#include "Tensors/Npy.h"

#include <algorithm>
#include <cstring>

using namespace braid::run;

std::vector<std::string> braid::run::resultNames(const braid_rt_entry &entry) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < entry.argumentCount; ++i)
    if (entry.arguments[i].direction == BRAID_RT_OUT)
      names.emplace_back(entry.arguments[i].name);
  return names;
}

bool braid::run::haveSameArguments(const braid_rt_entry &entry,
                                   const braid_rt_entry &reference) {
  bool same = entry.argumentCount == reference.argumentCount;
  for (int64_t i = 0; same && i < entry.argumentCount; ++i) {
    const braid_rt_argument &a = entry.arguments[i];
    const braid_rt_argument &b = reference.arguments[i];
    same = a.dtype == b.dtype && a.rank == b.rank && a.passing == b.passing &&
           (a.direction == BRAID_RT_OUT) == (b.direction == BRAID_RT_OUT) &&
           std::equal(a.sizes, a.sizes + a.rank, b.sizes);
  }
  return same;
}

static std::vector<Allowance> allowancesOf(const braid_rt_entry &entry,
                                           const Tolerance &tolerance,
                                           bool isSameProgram, int64_t depth) {
  std::vector<Allowance> result;
  for (int64_t i = 0; i < entry.argumentCount; ++i) {
    const braid_rt_argument &argument = entry.arguments[i];
    if (argument.direction != BRAID_RT_OUT)
      continue;
    if (tolerance.kind == Tolerance::Given)
      result.push_back({false, tolerance.largest});
    else if (tolerance.kind == Tolerance::Exact || isSameProgram)
      result.emplace_back();
    else
      result.push_back(allowRounding(argument.dtype, depth));
  }
  return result;
}

Verifier::Verifier(const braid_rt_entry &entry, const Tolerance &tolerance,
                   bool isSameProgram, std::string origin,
                   const Processes &processes)
    : entry(entry), origin(std::move(origin)), processes(processes),
      depth(reductionDepth(entry, processes.worldSize())),
      isAutomatic(tolerance.kind == Tolerance::Auto),
      allowances(allowancesOf(entry, tolerance, isSameProgram, depth)) {}

std::string Verifier::compareRanks(const std::string &program,
                                   const Results &found,
                                   const Results &expected) {
  std::vector<std::string> names = resultNames(entry);
  std::string text;
  for (size_t r = 0; r < found.size(); ++r)
    for (size_t i = 0; i < names.size(); ++i) {
      Difference difference =
          compareTensors(found[r][i], expected[r][i], allowances[i], origin);
      largest = std::max(largest, difference.relative);
      if (difference.text.empty())
        continue;
      text += (text.empty() ? "" : "\n") + program + entry.name + ": rank " +
              std::to_string(processes.localRanks()[r]) + ": result " +
              std::to_string(i) + " (" + names[i] + ") " + difference.text;
      break;
    }
  return text;
}

void Verifier::check(const std::string &program, const Results &found,
                     const Results &expected) {
  processes.together([&]() {
    std::string text = compareRanks(program, found, expected);
    if (!text.empty())
      throw RunError(text);
  });
  // All processes need the same value.
  std::string own(sizeof(largest), '\0');
  std::memcpy(own.data(), &largest, sizeof(largest));
  for (const std::string &bytes : processes.exchange(own)) {
    double other = 0;
    std::memcpy(&other, bytes.data(), sizeof(other));
    largest = std::max(largest, other);
  }
}

std::string Verifier::describe() const {
  double widest = 0;
  for (const Allowance &allowance : allowances)
    widest = std::max(widest, allowance.exact ? 0 : allowance.relative);
  bool isExact = std::all_of(allowances.begin(), allowances.end(),
                             [](const Allowance &a) { return a.exact; });
  if (isExact)
    return "are the same, bit for bit, as";
  char text[240];
  std::snprintf(
      text, sizeof(text),
      "agree to within %.3g of the largest element (%s; the largest "
      "error is %.3g of it) with",
      widest,
      isAutomatic
          ? ("for sums of up to " + std::to_string(depth) + " terms").c_str()
          : "as --tolerance says",
      largest);
  return text;
}

Results braid::run::readExpected(const std::string &pattern,
                                 const braid_rt_entry &entry,
                                 const Processes &processes) {
  Results results;
  processes.together([&]() {
    for (int32_t rank : processes.localRanks()) {
      results.emplace_back();
      for (int64_t i = 0; i < entry.argumentCount; ++i) {
        const braid_rt_argument &argument = entry.arguments[i];
        if (argument.direction != BRAID_RT_OUT)
          continue;
        auto number = static_cast<int64_t>(results.back().size());
        results.back().push_back(
            readNpy(expandPattern(expandPattern(pattern, "rank", rank),
                                  "result", number),
                    argument.dtype));
      }
    }
  });
  return results;
}
