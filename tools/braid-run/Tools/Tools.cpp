//===- Tools.cpp - Running tools of the compiler ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools/Tools.h"
#include "Failures/Failure.h"
#include "braid/Support/ChildProcess.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid::run;

extern char **environ;

/// The tool beside this program, or else its name.
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

/// The tool that runs now; 0 for none, -1 for one that starts just now.
static std::atomic<pid_t> running{0};

void braid::run::stopTool() {
  constexpr timespec pause = {0, 10 * 1000 * 1000};
  constexpr int mostPauses = 300;
  // Another thread starts the tool: this one takes no signal meanwhile.
  for (int i = 0; i < mostPauses && running < 0; ++i)
    nanosleep(&pause, nullptr);
  pid_t child = running;
  if (child <= 0)
    return;
  kill(child, SIGTERM);
  for (int i = 0; i < mostPauses; ++i) {
    if (waitpid(child, nullptr, WNOHANG) != 0)
      return;
    nanosleep(&pause, nullptr);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

/// The environment of this process, by which the tool knows its parent.
static std::vector<std::string> makeEnvironment() {
  std::vector<std::string> variables;
  std::string own = std::string(braid::parentVariable) + "=";
  for (char **variable = environ; *variable; ++variable)
    if (std::strncmp(*variable, own.c_str(), own.size()) != 0)
      variables.emplace_back(*variable);
  variables.push_back(own + std::to_string(getpid()));
  return variables;
}

static std::vector<char *> pointersTo(std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts the tool; returns 0 or an error number. Blocks signals that stop the
/// tool until `running` has its process number.
static int startTool(std::vector<char *> &argv, pid_t &child) {
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &before);
  std::vector<std::string> variables = makeEnvironment();
  running = -1;
  int code = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(),
                          pointersTo(variables).data());
  running = code == 0 ? child : 0;
  posix_spawnattr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return code;
}

int braid::run::runTool(std::vector<std::string> words, const std::string &file,
                        const std::string &advice) {
  std::string name = words.front();
  words.front() = findTool(name);
  std::vector<char *> argv = pointersTo(words);
  pid_t child = 0;
  int status = 0;
  if (int code = startTool(argv, child))
    throw RunError("cannot start " + name +
                   ", which was looked for next to braid-run and on the "
                   "PATH: " +
                   std::strerror(code) + advice);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  if (WIFSIGNALED(status))
    throw RunError(name + " was ended by signal " +
                   std::to_string(WTERMSIG(status)) + " on " + file);
  return WEXITSTATUS(status);
}
