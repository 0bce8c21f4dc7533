//===- CleanUp.cpp - What does not outlive this process -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/CleanUp.h"
#include "braid/Support/OutputFile.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace braid;

/// The environment variable of programs that this process has started.
static constexpr const char *variable = "BRAID_STARTED_BY";

/// The pipe for names of folders to the second process; -1: no such process.
static std::atomic<int> folderPipe{-1};
static std::atomic<pid_t> secondProcess{0};

/// A name that nobody else has or can guess.
static std::string randomName() {
  std::random_device random;
  return std::to_string(getpid()) + "-" + std::to_string(random()) + "-" +
         std::to_string(random());
}

static void pause(int milliseconds) {
  timespec time = {0, milliseconds * 1000L * 1000L};
  nanosleep(&time, nullptr);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::string readAll(int descriptor) {
  std::string text;
  char piece[4096];
  while (true) {
    ssize_t size = read(descriptor, piece, sizeof(piece));
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return text;
    text.append(piece, static_cast<size_t>(size));
  }
}

namespace {
/// The programs of one session whose environment has an entry.
class Programs {
public:
  Programs(std::string entry, pid_t session)
      // Each entry of an environment ends with a zero byte.
      : entry(std::move(entry) + '\0'), session(session) {}

  /// Ends all programs: first with a signal after which they can clean up.
  void end() const {
    constexpr int politeRounds = 300, most = 600;
    for (int i = 0; i < most; ++i) {
      if (!signal(i < politeRounds ? SIGTERM : SIGKILL))
        return;
      pause(/*milliseconds=*/i == 0 ? 1 : 10);
    }
  }

private:
  bool isOne(pid_t process, bool &isStarting) const;
  bool signal(int number) const;

  std::string entry;
  pid_t session;
};
} // namespace

/// Whether `process` is one of the programs. Sets `isStarting` if the process
/// has no environment yet.
bool Programs::isOne(pid_t process, bool &isStarting) const {
  std::string folder = "/proc/" + std::to_string(process) + "/";
  int file = open((folder + "environ").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  std::string environment = readAll(file);
  close(file);
  if (environment.empty()) {
    // A process that has ended has no executable, either.
    char program[PATH_MAX];
    ssize_t length =
        readlink((folder + "exe").c_str(), program, sizeof(program));
    isStarting |= length > 0;
    return false;
  }
  size_t position = environment.find(entry);
  return position == 0 ||
         (position != std::string::npos && environment[position - 1] == '\0');
}

/// Sends a signal to all programs. Returns whether there are, or may be, any.
bool Programs::signal(int number) const {
  DIR *processes = opendir("/proc");
  if (!processes)
    return false;
  bool isAny = false;
  while (const dirent *file = readdir(processes)) {
    std::string_view name = file->d_name;
    pid_t process = 0;
    auto [end, code] =
        std::from_chars(name.data(), name.data() + name.size(), process);
    if (code != std::errc() || end != name.data() + name.size() ||
        getsid(process) != session)
      continue;
    // The descriptor stands for this process even if its number is used again.
    int handle = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    if (isOne(process, isAny)) {
      isAny = true;
      if (handle >= 0)
        syscall(SYS_pidfd_send_signal, handle, number, nullptr, 0);
      else
        kill(process, number);
    }
    if (handle >= 0)
      close(handle);
  }
  closedir(processes);
  return isAny;
}

//===----------------------------------------------------------------------===//
// The second process
//===----------------------------------------------------------------------===//

/// A program that has just ended may still write into the folder for a moment.
static void removeFolder(const std::string &name) {
  constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    std::error_code problem;
    std::filesystem::remove_all(name, problem);
    if (!std::filesystem::exists(name, problem))
      return;
    pause(/*milliseconds=*/50);
  }
}

/// Waits for the end of the first process, and cleans up after it.
[[noreturn]] static void waitAndCleanUp(int pipe, const std::string &entry) {
  pid_t session = getsid(0);
  // What ends the first process, its whole group even, does not end this one.
  setsid();
  // Tools that look for ranks by their program's name do not find this process.
  prctl(PR_SET_NAME, "braid-clean-up");
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE})
    std::signal(number, SIG_IGN);
  // Others wait until folders are unused and outputs are closed, so keep none.
  [[maybe_unused]] int ignored = chdir("/");
  dup2(pipe, 0);
  if (syscall(SYS_close_range, 1U, ~0U, 0U) != 0)
    for (int i = 1, most = static_cast<int>(sysconf(_SC_OPEN_MAX)); i < most;
         ++i)
      close(i);
  // The end of the pipe comes when the first process has ended, and every fork
  // of it has become another program. Each name ends with a zero byte; an empty
  // name says that the end is a normal one.
  std::string text = readAll(0);
  std::vector<std::string> folders;
  bool isNormal = false;
  for (size_t end; (end = text.find('\0')) != std::string::npos;
       text.erase(0, end + 1)) {
    if (end == 0)
      isNormal = true;
    else
      folders.push_back(text.substr(0, end));
  }
  if (!isNormal)
    Programs(entry, session).end();
  for (const std::string &folder : folders)
    removeFolder(folder);
  _exit(0);
}

/// Ends the pipe and waits for the second process; for signal handlers, too.
static void finish(bool isNormal) {
  int pipe = folderPipe.exchange(-1);
  if (pipe < 0)
    return;
  if (isNormal) {
    // If that fails, the second process looks for programs and finds none.
    [[maybe_unused]] ssize_t ignored = write(pipe, "", 1);
  }
  close(pipe);
  while (waitpid(secondProcess, nullptr, 0) < 0 && errno == EINTR) {
  }
}

CleanUp::CleanUp() {
  int ends[2];
  if (folderPipe >= 0 || pipe2(ends, O_CLOEXEC) != 0)
    return;
  std::string name = randomName();
  pid_t process = fork();
  if (process == 0) {
    close(ends[1]);
    waitAndCleanUp(ends[0], std::string(variable) + "=" + name);
  }
  close(ends[0]);
  if (process < 0) {
    close(ends[1]);
    return;
  }
  setenv(variable, name.c_str(), /*overwrite=*/1);
  secondProcess = process;
  folderPipe = ends[1];
  isOwner = true;
}

CleanUp::~CleanUp() {
  if (isOwner)
    finish(/*isNormal=*/true);
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

void braid::cleanUpNow() {
  finish(/*isNormal=*/false);
  OutputFile::removeUnfinished();
}

static constexpr int endSignals[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction actionsBefore[std::size(endSignals)];

static void cleanUpAndEnd(int number) {
  cleanUpNow();
  for (size_t i = 0; i < std::size(endSignals); ++i)
    if (endSignals[i] == number)
      sigaction(number, &actionsBefore[i], nullptr);
  // Blocked until this handler returns.
  raise(number);
}

void braid::cleanUpOnSignals() {
  struct sigaction action = {};
  action.sa_handler = cleanUpAndEnd;
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < std::size(endSignals); ++i) {
    sigaction(endSignals[i], nullptr, &actionsBefore[i]);
    // What this process ignores, under nohup for instance, ends nothing.
    if (actionsBefore[i].sa_handler != SIG_IGN)
      sigaction(endSignals[i], &action, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// TemporaryFolder
//===----------------------------------------------------------------------===//

TemporaryFolder::TemporaryFolder(const std::string &prefix) {
  const char *parent = std::getenv("TMPDIR");
  std::string name = std::string(parent && *parent ? parent : "/tmp") + "/" +
                     prefix + "-" + randomName();
  std::error_code problem;
  std::string whole = std::filesystem::absolute(name, problem).string();
  // The second process has the name before the folder exists.
  int pipe = folderPipe;
  if (problem)
    errno = problem.value();
  if (problem ||
      (pipe >= 0 && write(pipe, whole.c_str(), whole.size() + 1) < 0) ||
      mkdir(name.c_str(), 0700) != 0) {
    error =
        "cannot make a temporary folder " + name + ": " + std::strerror(errno);
    return;
  }
  path = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path.empty())
    std::filesystem::remove_all(path, ignored);
}
