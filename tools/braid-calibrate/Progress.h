//===- Progress.h - How far a calibration is --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_PROGRESS_H
#define BRAID_TOOLS_BRAID_CALIBRATE_PROGRESS_H

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <string>

namespace braid::calibrate {

/// A line on stderr that says what is being measured: on a terminal the same
/// line again and again, otherwise a line for each step.
class Progress {
public:
  explicit Progress(double limitSeconds);

  /// Seconds since the begin.
  double seconds() const;

  void show(llvm::StringRef what);
  /// The same for step `index` of `count`, with a bar.
  void show(llvm::StringRef what, size_t index, size_t count);
  void warn(llvm::StringRef message);
  void end();

private:
  void print(const std::string &line);

  const std::chrono::steady_clock::time_point begin;
  const double limitSeconds;
  const bool isTerminal;
};

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_PROGRESS_H
