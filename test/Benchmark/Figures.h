//===- Figures.h - Figures that benchmarks record ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What figures.py is to benchmarks in Python. Knows no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_BENCHMARK_FIGURES_H
#define BRAID_TEST_BENCHMARK_FIGURES_H

#include <cstdio>
#include <cstdlib>
#include <string>

namespace braid::test {

/// Appends a figure as a line of JSON to the file that BRAID_BENCH_FIGURES
/// names; does nothing where nobody asks for figures. `name` and `unit` have no
/// quotes and no backslashes; `better` is "lower" or "higher".
inline void recordFigure(const std::string &name, double value,
                         const char *unit, const char *better = "lower") {
  const char *path = std::getenv("BRAID_BENCH_FIGURES");
  if (!path)
    return;
  std::FILE *file = std::fopen(path, "a");
  if (!file) {
    std::perror(path);
    std::exit(1);
  }
  std::fprintf(file,
               "{\"name\": \"%s\", \"value\": %.9g, \"unit\": \"%s\", "
               "\"better\": \"%s\"}\n",
               name.c_str(), value, unit, better);
  std::fclose(file);
}

} // namespace braid::test

#endif // BRAID_TEST_BENCHMARK_FIGURES_H
