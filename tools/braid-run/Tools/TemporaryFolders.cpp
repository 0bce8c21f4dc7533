//===- TemporaryFolders.cpp - Folders that do not stay --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools/TemporaryFolders.h"
#include "Failures/Failure.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace braid::run;

/// Where the keeper hears of folders; -1: there is no keeper.
static std::atomic<int> keeperPipe{-1};
static std::atomic<pid_t> keeperProcess{0};

/// Reads names until the other process has ended.
static std::vector<std::string> readNames(int pipe) {
  std::string text;
  char piece[4096];
  while (true) {
    ssize_t size = read(pipe, piece, sizeof(piece));
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      break;
    text.append(piece, static_cast<size_t>(size));
  }
  std::vector<std::string> names;
  // Each name ends with a zero byte.
  for (size_t end; (end = text.find('\0')) != std::string::npos;
       text.erase(0, end + 1))
    names.push_back(text.substr(0, end));
  return names;
}

/// A tool that ends as well may still write into the folder for a moment.
static void removeFolder(const std::string &name) {
  constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    std::error_code problem;
    std::filesystem::remove_all(name, problem);
    if (!std::filesystem::exists(name, problem))
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

[[noreturn]] static void keep(int pipe) {
  // What ends the other process, its whole group even, does not end this one.
  setsid();
  // Tools that look for ranks by the name of their program do not find this.
  prctl(PR_SET_NAME, "braid-folders");
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE})
    std::signal(number, SIG_IGN);
  // Nobody shall wait for the end of an output that this process holds.
  dup2(pipe, 0);
  syscall(SYS_close_range, 1U, ~0U, 0U);
  for (const std::string &name : readNames(0))
    removeFolder(name);
  _exit(0);
}

FolderKeeper::FolderKeeper() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return;
  pid_t process = fork();
  if (process == 0) {
    close(ends[1]);
    keep(ends[0]);
  }
  close(ends[0]);
  if (process < 0) {
    close(ends[1]);
    return;
  }
  keeperProcess = process;
  keeperPipe = ends[1];
}

FolderKeeper::~FolderKeeper() { removeAllTemporaryFolders(); }

void braid::run::removeAllTemporaryFolders() {
  int pipe = keeperPipe.exchange(-1);
  if (pipe < 0)
    return;
  close(pipe);
  while (waitpid(keeperProcess, nullptr, 0) < 0 && errno == EINTR) {
  }
}

TemporaryFolder::TemporaryFolder() {
  const char *folder = std::getenv("TMPDIR");
  path = std::string(folder && *folder ? folder : "/tmp") + "/braid-run-XXXXXX";
  if (!mkdtemp(path.data()))
    throw RunError("cannot make a temporary folder " + path + ": " +
                   std::strerror(errno));
  std::string name = std::filesystem::absolute(path).string();
  int pipe = keeperPipe;
  if (pipe >= 0 && write(pipe, name.c_str(), name.size() + 1) < 0)
    throw RunError("cannot have the temporary folder " + path +
                   " removed at the end: " + std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}
