//===- Compile.cpp - Compiling a program before it runs ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools/Compile.h"
#include "Common/Failure.h"
#include "Tools/PassOption.h"
#include "Tools/Tools.h"
#include "braid/Support/ChildProcess.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace braid::run;

void braid::run::interpretProgram(const std::string &file,
                                  const std::string &passes) {
  if (access(file.c_str(), R_OK) != 0)
    throw RunError("cannot open " + file + ": " + std::strerror(errno));
  if (runTool({"braid-opt", fileArgument(file),
               "--pass-pipeline=builtin.module(" + passes + ")",
               "--mlir-print-op-on-diagnostic=false", "-o", "/dev/null"},
              file, "; --target=interpreter needs it") != 0)
    throw RunError("the interpreter stopped at an error in " + file);
}

void braid::run::compileProgram(const std::string &file,
                                const CompileRequest &request,
                                const std::string &object) {
  if (access(file.c_str(), R_OK) != 0)
    throw RunError("cannot open " + file + ": " + std::strerror(errno));
  std::vector<std::string> words = {
      "braid-compile", fileArgument(file),
      "--target=" + (request.target.empty() ? "host" : request.target),
      "--emit=so", "--passes=" + request.passes};
  if (!request.chip.empty())
    words.push_back("--chip=" + request.chip);
  if (!request.attention.empty())
    words.push_back("--attention=" + request.attention);
  if (!request.convolution.empty())
    words.push_back("--convolution=" + request.convolution);
  if (!request.verify.empty())
    words.push_back("--verify=" + request.verify);
  if (request.ranks != 0)
    words.push_back("--ranks=" + std::to_string(request.ranks));
  words.insert(words.end(), {"-o", object});
  std::string advice =
      "; where there is none, as in a bundle, run a program that was "
      "compiled elsewhere: braid-compile " +
      file + " -o PROGRAM.so" +
      (request.target.empty() || request.target == "host"
           ? ""
           : " --target=" + request.target +
                 (request.chip.empty() ? "" : " --chip=" + request.chip));
  if (runTool(words, file, advice) != 0)
    throw RunError("braid-compile could not compile " + file);
}

void braid::run::compareWithModel(const std::string &file,
                                  const CompileRequest &request,
                                  const std::string &trace,
                                  const std::string &reportOptions) {
  std::string options = passOption("trace", trace);
  if (request.passes != "none")
    options += " " + passOption("passes", request.passes);
  if (!reportOptions.empty())
    options += " " + reportOptions;
  std::vector<std::string> words = {
      "braid-opt",
      fileArgument(file),
      "-o",
      "/dev/null",
      "--braid-prepare=target=" +
          (request.target.empty() ? "host" : request.target),
      "--comm-report=" + options};
  if (runTool(words, file, "; --report needs it") != 0)
    throw RunError("braid-opt could not compare the run with the model");
}
