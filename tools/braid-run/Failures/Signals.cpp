//===- Signals.cpp - Signals that end braid-run -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Failures/Signals.h"
#include "braid/Support/CleanUp.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <semaphore.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

using namespace braid::run;

namespace {
/// Builds a line without allocating.
class Line {
public:
  Line &operator<<(const char *piece) {
    size_t size = std::min(std::strlen(piece), sizeof(text) - 1 - length);
    // Names of users may have controls of a terminal.
    for (const char *end = piece + size; piece != end; ++piece)
      text[length++] =
          *piece >= 0 && (*piece < 0x20 || *piece == 0x7F) ? '?' : *piece;
    return *this;
  }
  Line &operator<<(int number) {
    char digits[16] = "";
    std::to_chars(digits, digits + sizeof(digits) - 1, number);
    return *this << digits;
  }
  void write() {
    text[length++] = '\n';
    // There is nothing to do about a message that cannot be written.
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text, length);
  }

private:
  char text[1200];
  size_t length = 0;
};
} // namespace

/// The ranks of the current SignalScope, and their number.
static std::atomic<const SignalScope::Rank *> ranks{nullptr};
static std::atomic<size_t> rankCount{0};
static std::atomic<int> exitStatus{1};
static std::atomic<const char *> pendingFailure{nullptr};

// A signal handler may not write files: it may have interrupted the allocator.
// So a thread of the scope writes the dumps.

static sem_t dumpRequests;
static std::atomic<bool> canDump{false}, dumpsAtEnd{false}, stopsDumping{false};
static std::atomic<int> dumpSignal{0};
static std::atomic<int> dumpsRequested{0}, dumpsWritten{0};

static void requestDump(int signal) {
  if (!canDump)
    return;
  dumpSignal = signal;
  ++dumpsRequested;
  sem_post(&dumpRequests);
}

/// Requests a dump and waits for it, but not for long: the interrupted thread
/// may hold a lock that the dump needs.
static void dumpBeforeEnd(int signal) {
  if (!canDump || !dumpsAtEnd)
    return;
  requestDump(signal);
  int number = dumpsRequested;
  constexpr timespec pause = {0, 1000 * 1000};
  for (int i = 0; i < 300 && dumpsWritten < number; ++i)
    nanosleep(&pause, nullptr);
}

/// What a compiled program did that led to `signal` at `address`.
static const char *describeCrash(int signal, const void *address) {
  switch (signal) {
  case SIGFPE:
    return "divided an integer by zero (SIGFPE)";
  case SIGBUS:
    return "touched a part of a file that is no longer there (SIGBUS)";
  case SIGILL:
    return "reached an instruction that this machine does not have (SIGILL)";
  default:
    return braid_rt_overflows_stack(address)
               ? "used up its stack (SIGSEGV): recursion without an end, or a "
                 "large buffer on the stack, of which `ulimit -s` sets the size"
               : "touched memory that is not its own (SIGSEGV)";
  }
}

/// Reports a crash of a compiled program.
static void reportCrash(int signal, siginfo_t *info, void *) {
  int32_t rank = braid_rt_current_rank();
  if (rank >= 0) {
    Line line;
    line << "braid-run: error: rank " << rank << ": the program "
         << describeCrash(signal, info->si_addr);
    line.write();
    dumpBeforeEnd(signal);
    _exit(1);
  }
  // A crash outside of ranks is a bug of braid-run, so let it crash.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Prints the pending failure, or else the operations that the ranks await, and
/// ends the process.
static void reportEnd(int signal) {
  const SignalScope::Rank *first = ranks;
  if (const char *failure = pendingFailure.exchange(nullptr)) {
    first = nullptr;
    for (const char *piece : {"braid-run: error: ", failure, "\n"}) {
      // There is nothing to do about a message that cannot be written.
      [[maybe_unused]] ssize_t written =
          ::write(STDERR_FILENO, piece, std::strlen(piece));
    }
  }
  for (size_t i = 0; first && i < rankCount; ++i) {
    char operation[1024];
    if (!braid_rt_waiting(first[i].context, operation, sizeof(operation)))
      continue;
    Line line;
    line << "braid-run: error: rank " << first[i].number << ": ended by signal "
         << signal << " while waiting for " << operation;
    line.write();
  }
  dumpBeforeEnd(signal);
  braid::cleanUpNow();
  _exit(exitStatus);
}

void braid::run::setSignalStatus(int status) { exitStatus = status; }

void braid::run::setPendingFailure(const char *text) { pendingFailure = text; }

void braid::run::installSignalHandlers() {
  struct sigaction action = {};
  // Run one handler at a time.
  sigaddset(&action.sa_mask, SIGTERM);
  sigaddset(&action.sa_mask, SIGINT);
  action.sa_sigaction = reportCrash;
  // A used-up stack leaves no room for a handler.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal : {SIGFPE, SIGSEGV, SIGBUS, SIGILL})
    sigaction(signal, &action, nullptr);
  action.sa_handler = reportEnd;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = requestDump;
  sigaction(SIGUSR1, &action, nullptr);
  // A file that becomes too large is an error with the name of the file.
  std::signal(SIGXFSZ, SIG_IGN);
}

void SignalScope::dump() {
  while (true) {
    while (sem_wait(&dumpRequests) != 0 && errno == EINTR) {
    }
    if (stopsDumping)
      return;
    int number = dumpsRequested;
    std::string reason = "signal " + std::to_string(dumpSignal);
    braid_rt_world_dump(world, reason.c_str());
    dumpsWritten = number;
  }
}

SignalScope::SignalScope(const braid_rt_world *world,
                         const std::vector<braid_rt_context *> &contexts,
                         const std::vector<int32_t> &numbers, bool dumpsAtEnd)
    : world(world) {
  for (size_t i = 0; i < contexts.size(); ++i)
    list.push_back({contexts[i], numbers[i]});
  rankCount = list.size();
  ranks = list.data();
  sem_init(&dumpRequests, /*pshared=*/0, 0);
  stopsDumping = false;
  dumper = std::thread([this]() { dump(); });
  ::dumpsAtEnd = dumpsAtEnd;
  canDump = true;
  installSignalHandlers();
}

SignalScope::~SignalScope() {
  ranks = nullptr;
  canDump = false;
  stopsDumping = true;
  sem_post(&dumpRequests);
  dumper.join();
}

/// The process that has started this one.
static std::atomic<pid_t> parent{0};

/// Ends the process if its parent has ended. The signal also arrives if only
/// the thread of the parent that has started this process ends.
static void reportLauncherGone(int) {
  if (getppid() != parent)
    reportEnd(SIGTERM);
}

void braid::run::endWithLauncher() {
  parent = getppid();
  struct sigaction action = {};
  action.sa_handler = reportLauncherGone;
  action.sa_flags = SA_RESTART;
  int signal = SIGRTMIN + 5;
  sigaction(signal, &action, nullptr);
  prctl(PR_SET_PDEATHSIG, signal);
  // The parent may have ended before the call.
  if (getppid() != parent)
    _exit(1);
}
