//===- Processes.cpp - Collective calls of the processes of a world -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch/Processes.h"
#include "Common/Bytes.h"
#include "Failures/Signals.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace braid::run;

Processes::Processes(braid_rt_world *world, int64_t timeoutNs)
    : world(world), timeoutNs(timeoutNs), size(braid_rt_world_size(world)) {
  const int32_t *first = nullptr;
  int32_t count = braid_rt_world_local_ranks(world, &first);
  ranks.assign(first, first + count);
}

namespace {
/// Ends the process with its own error unless it is destroyed in time, because
/// another process may compute forever or may have died.
class Watchdog {
public:
  Watchdog(const Failure &reason, int64_t timeoutNs)
      : failure(reason), thread([this, timeoutNs]() {
          setPendingFailure(failure.what());
          std::unique_lock<std::mutex> lock(mutex);
          bool isInTime =
              changed.wait_for(lock, std::chrono::nanoseconds(timeoutNs),
                               [this]() { return isDone; });
          setPendingFailure(nullptr);
          if (isInTime)
            return;
          printError(failure.status, failure.what());
          _exit(failure.status);
        }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isDone = true;
    }
    changed.notify_one();
    thread.join();
  }
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

private:
  const Failure failure;
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  std::thread thread; // After the members that it uses.
};
} // namespace

std::vector<std::string> Processes::exchange(const std::string &bytes,
                                             const Failure *failure) const {
  if (!areMany())
    return {bytes};
  std::vector<std::string> all;
  auto receive = [](void *data, int32_t, const void *bytes, int64_t size) {
    auto &all = *static_cast<std::vector<std::string> *>(data);
    if (size > 0)
      all.emplace_back(static_cast<const char *>(bytes),
                       static_cast<size_t>(size));
    else
      all.emplace_back();
  };
  std::optional<Watchdog> watchdog;
  if (failure)
    watchdog.emplace(*failure, timeoutNs);
  char error[4096] = "";
  if (braid_rt_world_exchange(world, bytes.data(),
                              static_cast<int64_t>(bytes.size()), receive, &all,
                              error, sizeof(error)) == BRAID_RT_OK)
    return all;
  // The engine has failed, so each process prints its own error.
  if (failure)
    throw *failure;
  throw RunError(error);
}

std::string Processes::receiveFromFirst(const std::string &bytes) const {
  return exchange(isFirst() ? bytes : "").front();
}

void Processes::printInOrder(const std::string &text) const {
  for (const std::string &piece : exchange(text))
    if (isFirst())
      std::fputs(piece.c_str(), stdout);
}

void Processes::together(const std::function<void()> &body) const {
  std::optional<Failure> own;
  try {
    body();
  } catch (const Failure &failure) {
    own = failure;
  } catch (const std::exception &error) {
    own.emplace(1, error.what(), false);
  }
  ByteWriter writer;
  writer.number(own ? own->status : 0);
  writer.text(own ? own->what() : "");
  int status = 0;
  std::vector<std::string> texts;
  for (const std::string &bytes :
       exchange(writer.bytes, own ? &*own : nullptr)) {
    ByteReader reader(bytes);
    auto found = static_cast<int>(reader.number());
    std::string text = reader.text();
    status = std::max(status, found);
    if (found && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(text);
  }
  if (!status)
    return;
  std::string joined;
  for (const std::string &text : texts)
    joined += (joined.empty() ? "" : "\n") + text;
  throw Failure(status, joined, /*everywhere=*/true);
}
