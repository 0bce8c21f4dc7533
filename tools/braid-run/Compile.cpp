//===- Compile.cpp - Compiling a program before it runs ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace braid::run;

extern char **environ;

/// The tool `name` beside this program, or else on the PATH.
static std::string findTool(const std::string &name) {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length > 0) {
    std::string own(path, static_cast<size_t>(length));
    std::string sibling = own.substr(0, own.rfind('/') + 1) + name;
    if (access(sibling.c_str(), X_OK) == 0)
      return sibling;
  }
  return name;
}

/// The state for stopCompiler. The name is complete before the compiler runs.
static std::atomic<pid_t> compiler{0};
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
  pid_t child = compiler.load();
  if (child <= 0)
    return;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  removeTemporaryFile(output.c_str());
}

std::string braid::run::makeTemporaryFile() {
  const char *folder = std::getenv("TMPDIR");
  std::string pattern =
      std::string(folder && *folder ? folder : "/tmp") + "/braid-run-XXXXXX";
  if (!mkdtemp(pattern.data()))
    throw RunError("cannot make a temporary folder " + pattern + ": " +
                   std::strerror(errno));
  return pattern + "/program.so";
}

/// Starts the compiler; returns 0 or an error number. Blocks signals that stop
/// the compiler until `compiler` has its process number.
static int startCompiler(std::vector<char *> &argv, pid_t &child) {
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &before);
  int code =
      posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), environ);
  if (code == 0)
    compiler = child;
  posix_spawnattr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return code;
}

/// Runs a tool to its end. Returns the error of its start, or 0.
static int runToEnd(std::vector<std::string> words, int &status) {
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int code = startCompiler(argv, child);
  if (code == 0) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    compiler = 0;
  }
  return code;
}

void braid::run::interpretProgram(const std::string &file,
                                  const std::string &passes,
                                  const std::string &folder) {
  if (access(file.c_str(), R_OK) != 0)
    throw RunError("cannot open " + file + ": " + std::strerror(errno));
  output = folder + "/program.so";
  int status = 0;
  int code =
      runToEnd({findTool("braid-opt"), file,
                "--pass-pipeline=builtin.module(" + passes + ")",
                "--mlir-print-op-on-diagnostic=false", "-o", "/dev/null"},
               status);
  if (code != 0)
    throw RunError("cannot start braid-opt, which was looked for next to "
                   "braid-run and on the PATH: " +
                   std::string(std::strerror(code)));
  if (WIFSIGNALED(status))
    throw RunError("braid-opt was ended by signal " +
                   std::to_string(WTERMSIG(status)) + " on " + file);
  if (WEXITSTATUS(status) != 0)
    throw RunError("the interpreter stopped at an error in " + file);
}

std::string braid::run::compileProgram(const std::string &file,
                                       const CompileRequest &request) {
  if (access(file.c_str(), R_OK) != 0)
    throw RunError("cannot open " + file + ": " + std::strerror(errno));
  output = makeTemporaryFile();
  std::vector<std::string> words = {
      findTool("braid-compile"), file,
      "--target=" + (request.target.empty() ? "host" : request.target),
      "--emit=so", "--passes=" + request.passes};
  if (!request.chip.empty())
    words.push_back("--chip=" + request.chip);
  words.insert(words.end(), {"-o", output});
  int status = 0;
  int code = runToEnd(words, status);
  bool compiled = code == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!compiled)
    removeTemporaryFile(output.c_str());
  if (code != 0)
    throw RunError(
        "cannot start braid-compile, which was looked for next to braid-run "
        "and on the PATH: " +
        std::string(std::strerror(code)) +
        "; where there is none, as in a bundle, run a program that was "
        "compiled elsewhere: braid-compile " +
        file + " -o PROGRAM.so" +
        (request.target.empty() || request.target == "host"
             ? ""
             : " --target=" + request.target +
                   (request.chip.empty() ? "" : " --chip=" + request.chip)));
  if (WIFSIGNALED(status))
    throw RunError("braid-compile was ended by signal " +
                   std::to_string(WTERMSIG(status)) + " on " + file);
  if (!compiled)
    throw RunError("braid-compile could not compile " + file);
  return output;
}
