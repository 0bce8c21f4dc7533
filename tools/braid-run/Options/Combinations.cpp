//===- Combinations.cpp - Options that exclude each other -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options/Options.h"

using namespace braid::run;

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

static void refuse(bool isWrong, const std::string &message) {
  if (isWrong)
    throw UsageError(message);
}

/// Options that take the MLIR file.
static void checkCompiled(const Options &options) {
  std::string already = options.program + " is already compiled";
  refuse(options.compareResults && options.reference.empty(),
         "--compare-results: " + already +
             "; give the program to compare with as "
             "--compare-results=REFERENCE.so");
  refuse(options.passes.has_value(), "--passes: " + already);
  refuse(!options.chip.empty(), "--chip: " + already);
  refuse(!options.attention.empty(), "--attention: " + already);
  refuse(!options.convolution.empty(), "--convolution: " + already);
  refuse(!options.verify.empty(), "--verify: " + already);
  std::string found = ": found the compiled program " + options.program +
                      ", expected the MLIR file, ";
  refuse(options.report.has_value(),
         "--report" + found + "of which the model predicts the times");
  refuse(options.tune, "--tune" + found + "which can be scheduled again");
  refuse(options.plans > 1, "--plans" + found + "which can be planned again");
}

void braid::run::checkTogether(const Options &options) {
  if (isCompiled(options.program))
    checkCompiled(options);
  bool hasPasses = options.passes && *options.passes != "default";
  std::string found = hasPasses ? ": found --passes=" + *options.passes +
                                      ", expected the default passes, which "
                                : "";
  refuse(options.tune && options.report,
         "--report: found --tune, which compares every round itself; expected "
         "one of the two");
  refuse(options.tune && hasPasses,
         "--tune" + found + "take the measured costs");
  refuse(options.plans > 1 && hasPasses, "--plans" + found + "have plans");
  refuse(options.plans > 1 && options.tune,
         "--plans: found --tune, which chooses by measured costs; expected one "
         "of the two");
  refuse(options.compareResults && !options.expect.empty(),
         "--expect: --compare-results compares with a program already");
  refuse(options.tolerance.kind != Tolerance::Auto && !options.compareResults &&
             options.expect.empty(),
         "--tolerance: nothing is compared; --compare-results or "
         "--expect=FILE.npy says with what");
  refuse(!options.interpreterOption.empty() && options.target != "interpreter",
         options.interpreterOption +
             ": only the target interpreter has interleavings; "
             "--target=interpreter chooses it");
  for (const std::string &file : options.interleaved)
    refuse(!isCompiled(file), "--interleave-with: found '" + file +
                                  "', expected a compiled program (.so)");
}
