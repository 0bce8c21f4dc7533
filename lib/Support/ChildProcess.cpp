//===- ChildProcess.cpp - Programs that end with this one -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/ChildProcess.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid;

void braid::endWithParent() {
  const char *text = std::getenv(parentVariable);
  if (!text)
    return;
  pid_t parent = 0;
  std::from_chars(text, text + std::strlen(text), parent);
  // Programs that this one starts have another parent.
  unsetenv(parentVariable);
  if (parent <= 0)
    return;
  if (getppid() == parent)
    prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have ended before the call.
  if (kill(parent, 0) != 0 && errno == ESRCH)
    _exit(1);
}

std::string braid::fileArgument(const std::string &name) {
  bool isOption = !name.empty() && (name[0] == '-' || name[0] == '@');
  return (isOption ? "./" : "") + name;
}

/// The process group that runs; 0 for none.
static std::atomic<pid_t> group{0};

static constexpr int endSignals[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction actionsBefore[std::size(endSignals)];

/// Ends the group and then does what the signal did before.
static void endGroup(int number) {
  if (pid_t running = group.exchange(0)) {
    kill(-running, SIGKILL);
    waitpid(running, nullptr, 0);
  }
  for (size_t i = 0; i < std::size(endSignals); ++i)
    if (endSignals[i] == number)
      sigaction(number, &actionsBefore[i], nullptr);
  // Blocked until this handler returns.
  raise(number);
}

static sigset_t endSignalSet() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : endSignals)
    sigaddset(&set, number);
  return set;
}

/// In the new process: runs the program, or returns.
static void runProgram(char *const *argv, const char *log, pid_t parent,
                       const sigset_t &mask) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  int output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (output < 0 || dup2(output, STDOUT_FILENO) < 0 ||
      dup2(output, STDERR_FILENO) < 0)
    return;
  // Signals that are ignored stay so, as execv has it.
  for (int number : endSignals) {
    struct sigaction action;
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN)
      std::signal(number, SIG_DFL);
  }
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execv(argv[0], argv);
}

int braid::runChild(const std::vector<std::string> &words,
                    const std::string &log, int &error) {
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  int report[2];
  error = 0;
  if (pipe2(report, O_CLOEXEC) != 0) {
    error = errno;
    return -1;
  }
  // No signal may come between the start and its number.
  sigset_t ends = endSignalSet(), before;
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) {
    runProgram(argv.data(), log.c_str(), parent, before);
    int problem = errno;
    [[maybe_unused]] ssize_t ignored =
        write(report[1], &problem, sizeof(problem));
    _exit(127);
  }
  if (child < 0)
    error = errno;
  close(report[1]);
  if (child > 0) {
    // Both sides do this: either may be the first.
    setpgid(child, child);
    group = child;
    struct sigaction action = {};
    action.sa_handler = endGroup;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < std::size(endSignals); ++i) {
      sigaction(endSignals[i], nullptr, &actionsBefore[i]);
      // What this process ignores, under nohup for instance, ends nothing.
      if (actionsBefore[i].sa_handler != SIG_IGN)
        sigaction(endSignals[i], &action, nullptr);
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) {
    close(report[0]);
    return -1;
  }
  int problem = 0, status = 0;
  if (read(report[0], &problem, sizeof(problem)) == sizeof(problem))
    error = problem;
  close(report[0]);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  if (group.exchange(0) != child) {
    // A handler of another thread has ended the program. The signal ends this
    // process as well, unless somebody has it ignored.
    sleep(1);
    error = EINTR;
  }
  for (size_t i = 0; i < std::size(endSignals); ++i)
    sigaction(endSignals[i], &actionsBefore[i], nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error ? -1 : status;
}
