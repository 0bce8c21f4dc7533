//===- Verify.cpp - Comparing the results of all ranks ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Verify.h"
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
                                           const Expectation &expectation,
                                           int64_t depth) {
  bool mayRound = !expectation.numerics ||
                  expectation.numerics->kind == Numerics::ReorderedSums;
  std::vector<Allowance> result;
  for (int64_t i = 0; i < entry.argumentCount; ++i) {
    const braid_rt_argument &argument = entry.arguments[i];
    if (argument.direction != BRAID_RT_OUT)
      continue;
    if (tolerance.kind == Tolerance::Given)
      result.push_back({false, tolerance.largest});
    else if (tolerance.kind == Tolerance::Exact || !mayRound)
      result.emplace_back();
    else
      result.push_back(allowRounding(argument.dtype, depth));
  }
  return result;
}

Verifier::Verifier(const braid_rt_entry &entry, const Tolerance &tolerance,
                   Expectation expectation, const Processes &processes)
    : entry(entry), expectation(std::move(expectation)), processes(processes),
      depth(reductionDepth(entry, processes.worldSize())),
      isAutomatic(tolerance.kind == Tolerance::Auto),
      allowances(allowancesOf(entry, tolerance, this->expectation, depth)) {}

std::string Verifier::compareRanks(const std::string &program,
                                   const Results &found,
                                   const Results &expected) {
  std::vector<std::string> names = resultNames(entry);
  std::string text;
  for (size_t r = 0; r < found.size(); ++r)
    for (size_t i = 0; i < names.size(); ++i) {
      Difference difference = compareTensors(
          found[r][i], expected[r][i], allowances[i], expectation.origin());
      largest = std::max(largest, difference.relative);
      isBitwise &= difference.isBitwise;
      if (difference.text.empty())
        continue;
      text += (text.empty() ? "" : "\n") + program + entry.name + ": rank " +
              std::to_string(processes.localRanks()[r]) + ": result " +
              std::to_string(i) + " (" + names[i] + ") " + difference.text;
      break;
    }
  return text;
}

/// Why a difference is one; empty without a class of numerics.
std::string Verifier::explainDifference() const {
  if (!expectation.numerics || !isAutomatic)
    return {};
  switch (expectation.numerics->kind) {
  case Numerics::SameBits:
    return "\nevery bit has to be the same: no sum of the program may have "
           "another order than as written";
  case Numerics::ReorderedSums:
    return "\nthat is more than another order of sums explains: " +
           listSums(*expectation.numerics);
  case Numerics::Unknown:
    return "\nevery bit has to be the same: the program does not record "
           "whether its sums may have another order than as written";
  }
  return {};
}

void Verifier::check(const std::string &program, const Results &found,
                     const Results &expected) {
  try {
    processes.together([&]() {
      std::string text = compareRanks(program, found, expected);
      if (!text.empty())
        throw RunError(text);
    });
  } catch (const Failure &failure) {
    throw Failure(failure.status, failure.what() + explainDifference(),
                  failure.everywhere);
  }
  // All processes need the same values.
  std::string own(sizeof(largest) + 1, isBitwise ? '\1' : '\0');
  std::memcpy(own.data(), &largest, sizeof(largest));
  for (const std::string &bytes : processes.exchange(own)) {
    double other = 0;
    std::memcpy(&other, bytes.data(), sizeof(other));
    largest = std::max(largest, other);
    isBitwise &= bytes.back() != '\0';
  }
}

bool Verifier::isExact() const {
  return std::all_of(allowances.begin(), allowances.end(),
                     [](const Allowance &a) { return a.exact; });
}

double Verifier::widestAllowance() const {
  double widest = 0;
  for (const Allowance &allowance : allowances)
    widest = std::max(widest, allowance.exact ? 0 : allowance.relative);
  return widest;
}

std::string Verifier::describe() const {
  const std::optional<Numerics> &numerics = expectation.numerics;
  bool saysWhy = numerics && isAutomatic;
  if (isExact() || (saysWhy && isBitwise)) {
    std::string text = "are the same, bit for bit, as " + expectation.name;
    if (!saysWhy || numerics->kind == Numerics::SameBits)
      return text;
    if (numerics->kind == Numerics::Unknown)
      return text + " (the program does not record whether its sums may have "
                    "another order)";
    return text +
           " (another order of sums is possible: " + listSums(*numerics) + ")";
  }
  char text[240];
  std::snprintf(
      text, sizeof(text),
      "agree to within %.3g of the largest element (%s; the largest "
      "error is %.3g of it) with ",
      widestAllowance(),
      isAutomatic
          ? ("for sums of up to " + std::to_string(depth) + " terms").c_str()
          : "as --tolerance says",
      largest);
  return text + expectation.name +
         (saysWhy ? " (same terms, other order of sums: " +
                        listSums(*numerics) + ")"
                  : "");
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
