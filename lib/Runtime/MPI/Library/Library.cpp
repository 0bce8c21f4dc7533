//===- Library.cpp - The MPI library of this process ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Library/Library.h"
#include "Base/Error.h"
#include "MPI/Library/Call.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

using namespace braid::rt;

static std::atomic<int> liveWorlds{0};

/// MPI_Finalize waits for all processes. A process that ends while a world
/// lives skips the call, and the launcher ends the other processes.
static void finalizeLibrary() {
  int isFinalized = 0;
  MPI_Finalized(&isFinalized);
  if (!isFinalized && liveWorlds.load() == 0)
    MPI_Finalize();
}

/// Lets writes to broken connections fail instead of ending the process, unless
/// the program has a handler. A rank that such a signal ends hides from the
/// launcher which rank died first.
static void ignoreBrokenPipes() {
  struct sigaction action = {};
  if (sigaction(SIGPIPE, nullptr, &action) != 0 || action.sa_handler != SIG_DFL)
    return;
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

MPILibrary::MPILibrary()
    : launcher(
          detectLauncher([](const char *name) { return std::getenv(name); })) {
  int isInitialized = 0, granted = MPI_THREAD_SINGLE;
  MPI_Initialized(&isInitialized);
  if (isInitialized) {
    MPI_Query_thread(&granted);
  } else {
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &granted) !=
        MPI_SUCCESS)
      throw Error("the MPI library could not be initialized");
    std::atexit(finalizeLibrary);
    ignoreBrokenPipes();
  }
  if (granted < MPI_THREAD_MULTIPLE)
    throw Error(
        std::string("engine mpi: the MPI library does not let several threads "
                    "call it (MPI_THREAD_MULTIPLE); ") +
        (isInitialized
             ? "the program has initialized it so: call MPI_Init_thread with "
               "MPI_THREAD_MULTIPLE"
             : "use one that was built with this support"));
  ++liveWorlds;
}

MPILibrary::~MPILibrary() { --liveWorlds; }
