//===- Compile.cpp - Compiling a program before it runs ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "Tools/PassOption.h"
#include "Tools/Tools.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace braid::run;

/// The state for stopCompiler. The name is complete before the compiler runs.
static std::string output;

void braid::run::removeTemporaryFile(const char *file) {
  char folder[PATH_MAX] = "";
  const char *slash = std::strrchr(file, '/');
  auto length = static_cast<size_t>(slash - file);
  unlink(file);
  if (length < sizeof(folder)) {
    std::memcpy(folder, file, length);
    rmdir(folder);
  }
}

void braid::run::stopCompiler() {
  if (stopTool())
    removeTemporaryFile(output.c_str());
}

std::string braid::run::makeTemporaryFile(const std::string &name) {
  const char *folder = std::getenv("TMPDIR");
  std::string pattern =
      std::string(folder && *folder ? folder : "/tmp") + "/braid-run-XXXXXX";
  if (!mkdtemp(pattern.data()))
    throw RunError("cannot make a temporary folder " + pattern + ": " +
                   std::strerror(errno));
  return pattern + "/" + name;
}

void braid::run::interpretProgram(const std::string &file,
                                  const std::string &passes,
                                  const std::string &folder) {
  if (access(file.c_str(), R_OK) != 0)
    throw RunError("cannot open " + file + ": " + std::strerror(errno));
  output = folder + "/program.so";
  if (runTool({"braid-opt", file,
               "--pass-pipeline=builtin.module(" + passes + ")",
               "--mlir-print-op-on-diagnostic=false", "-o", "/dev/null"},
              file, "; --target=interpreter needs it") != 0)
    throw RunError("the interpreter stopped at an error in " + file);
}

std::string braid::run::compileProgram(const std::string &file,
                                       const CompileRequest &request) {
  if (access(file.c_str(), R_OK) != 0)
    throw RunError("cannot open " + file + ": " + std::strerror(errno));
  output = makeTemporaryFile("program.so");
  std::vector<std::string> words = {
      "braid-compile", file,
      "--target=" + (request.target.empty() ? "host" : request.target),
      "--emit=so", "--passes=" + request.passes};
  if (!request.chip.empty())
    words.push_back("--chip=" + request.chip);
  if (!request.verifyProgram.empty())
    words.push_back("--verify-program=" + request.verifyProgram);
  if (request.ranks != 0)
    words.push_back("--ranks=" + std::to_string(request.ranks));
  words.insert(words.end(), {"-o", output});
  std::string advice =
      "; where there is none, as in a bundle, run a program that was "
      "compiled elsewhere: braid-compile " +
      file + " -o PROGRAM.so" +
      (request.target.empty() || request.target == "host"
           ? ""
           : " --target=" + request.target +
                 (request.chip.empty() ? "" : " --chip=" + request.chip));
  try {
    if (runTool(words, file, advice) != 0)
      throw RunError("braid-compile could not compile " + file);
  } catch (const RunError &) {
    removeTemporaryFile(output.c_str());
    throw;
  }
  return output;
}

void braid::run::compareWithModel(const std::string &file,
                                  const CompileRequest &request,
                                  const std::string &trace,
                                  const std::string &reportOptions) {
  output = trace;
  std::string options = passOption("trace", trace);
  if (request.passes != "none")
    options += " " + passOption("passes", request.passes);
  if (!reportOptions.empty())
    options += " " + reportOptions;
  std::vector<std::string> words = {
      "braid-opt",
      file,
      "-o",
      "/dev/null",
      "--braid-prepare=target=" +
          (request.target.empty() ? "host" : request.target),
      "--comm-report=" + options};
  if (runTool(words, file, "; --compare needs it") != 0)
    throw RunError("braid-opt could not compare the run with the model");
}
