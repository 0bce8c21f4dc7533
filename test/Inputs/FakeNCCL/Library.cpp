//===- Library.cpp - The state of the fake NCCL ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include <cstdlib>

using namespace fakenccl;

thread_local std::string fakenccl::lastError;

Library &fakenccl::library() {
  // Never destroyed: threads of streams may still use it.
  static auto *instance = new Library();
  return *instance;
}

bool fakenccl::failsNow(const char *function, Result &result) {
  std::lock_guard<std::mutex> lock(library().mutex);
  auto found = library().failures.find(function);
  if (found == library().failures.end() || found->second.skipped-- > 0)
    return false;
  result = static_cast<Result>(found->second.result);
  library().failures.erase(found);
  lastError = "injected failure";
  return true;
}

Result fakenccl::refuse(Result result, const std::string &why) {
  lastError = why;
  return result;
}

bool fakenccl::refuses(const std::string &what, int rank) {
  const char *variable = std::getenv("FAKE_NCCL_REFUSE");
  std::lock_guard<std::mutex> lock(library().mutex);
  std::string words = "," + library().refused + ",";
  if (variable)
    words += std::string(variable) + ",";
  return words.find("," + what + ",") != std::string::npos ||
         words.find("," + what + "@" + std::to_string(rank) + ",") !=
             std::string::npos;
}

void fakenccl::checkIdle(const char *name, ncclComm *comm) {
  std::lock_guard<std::mutex> lock(comm->mutex);
  if (comm->looksLeft > 0 || comm->joining)
    fake_cuda_abort(name, "an earlier call of the communicator is in progress");
}
