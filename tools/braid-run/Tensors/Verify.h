//===- Verify.h - Comparing the results of all ranks ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_VERIFY_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_VERIFY_H

#include "Launch/Processes.h"
#include "Options/Options.h"
#include "Tensors/Call.h"
#include "Tensors/Compare.h"
#include "Tensors/Numerics.h"

#include <optional>
#include <string>
#include <vector>

namespace braid::run {

/// The names of an entry's results.
std::vector<std::string> resultNames(const braid_rt_entry &entry);

/// True if two entries have the same arguments and results.
bool haveSameArguments(const braid_rt_entry &entry,
                       const braid_rt_entry &reference);

/// What results are compared with.
struct Expectation {
  /// The results of the program as written, or of a program made of it: how
  /// those that are compared relate to them. Nothing for the results of another
  /// run.
  std::optional<Numerics> numerics;
  std::string name; ///< `those of the program as written`, or files.

  /// What one value is: `as written`.
  const char *origin() const { return numerics ? "as written" : "expected"; }
};

/// Compares results of an entry with expected results, and keeps the largest
/// error. All processes call the same functions together.
class Verifier {
public:
  Verifier(const braid_rt_entry &entry, const Tolerance &tolerance,
           Expectation expectation, const Processes &processes);

  /// Throws, on all processes, a failure that names the first difference of
  /// each rank. If there are several programs, the message begins with
  /// `program`.
  void check(const std::string &program, const Results &found,
             const Results &expected);

  /// `are the same, bit for bit, as ...` or `agree to within ... with ...`, and
  /// why the bits may differ.
  std::string describe() const;

  /// The largest error so far of all ranks, relative to the largest element.
  double largestError() const { return largest; }
  /// The largest error that is allowed, relative to the largest element.
  double widestAllowance() const;
  /// True if results must have the expected bits, and if they have had them.
  bool isExact() const;
  bool isSameBits() const { return isBitwise; }
  const std::optional<Numerics> &numerics() const {
    return expectation.numerics;
  }

private:
  std::string compareRanks(const std::string &program, const Results &found,
                           const Results &expected);
  std::string explainDifference() const;

  const braid_rt_entry &entry;
  const Expectation expectation;
  const Processes &processes;
  const int64_t depth;
  const bool isAutomatic;
  std::vector<Allowance> allowances; ///< Of each result.
  double largest = 0;
  bool isBitwise = true; ///< No bit of any result has been different.
};

/// Reads the results of another run from files; `pattern` is as for --out.
/// Errors throw on all processes.
Results readExpected(const std::string &pattern, const braid_rt_entry &entry,
                     const Processes &processes);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_VERIFY_H
