//===- Progress.cpp - How far a calibration is ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace braid::calibrate;

Progress::Progress(double limitSeconds)
    : begin(std::chrono::steady_clock::now()), limitSeconds(limitSeconds),
      isTerminal(isatty(STDERR_FILENO)) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

void Progress::print(const std::string &line) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%3.0f s of at most %.0f", seconds(), limitSeconds)
      << line;
  // Clears the rest of the line.
  llvm::errs() << (isTerminal ? "\r" + text + "\x1b[K" : text + "\n");
  llvm::errs().flush();
}

void Progress::show(llvm::StringRef what) { print(": " + what.str()); }

void Progress::show(llvm::StringRef what, size_t index, size_t count) {
  constexpr size_t width = 20;
  size_t done = index * width / count;
  print(" [" + std::string(done, '#') + std::string(width - done, '.') + "] " +
        std::to_string(index + 1) + "/" + std::to_string(count) + " " +
        what.str());
}

void Progress::warn(llvm::StringRef message) {
  llvm::errs() << (isTerminal ? "\n" : "")
               << "warning: not measured: " << message << "\n";
}

void Progress::end() {
  if (isTerminal)
    llvm::errs() << "\n";
}
