//===- Calls.cpp - Entries that XLA calls ---------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JAX/Calls.h"
#include "Base/Error.h"

#include <algorithm>
#include <chrono>
#include <map>

using namespace braid::rt;
using namespace braid::rt::jax;

Call::Call(braid_rt_world *world, const braid_rt_entry &entry,
           braid_jax_synchronize synchronize, int64_t timeoutNs)
    : world(world), entry(entry), synchronize(synchronize),
      timeoutNs(timeoutNs) {
  ranks = static_cast<size_t>(braid_rt_world_local_ranks(world, &numbers));
  for (int64_t i = 0; i < entry.argumentCount; ++i) {
    const braid_rt_argument &argument = entry.arguments[i];
    const int64_t *end = argument.sizes + argument.rank;
    if (argument.passing != BRAID_RT_MEMREF ||
        std::count(argument.sizes, end, BRAID_RT_DYNAMIC))
      throw Error(std::string(argument.name) + " of " + entry.name +
                  " is no buffer of known size, which XLA cannot pass");
    begins.push_back(words.size());
    // Two addresses and an offset.
    words.insert(words.end(), 3, 0);
    words.insert(words.end(), argument.sizes, end);
    words.resize(words.size() + static_cast<size_t>(argument.rank));
    int64_t stride = 1;
    for (int32_t d = argument.rank; d-- > 0;) {
      words[words.size() - static_cast<size_t>(argument.rank - d)] = stride;
      stride *= argument.sizes[d];
    }
  }
}

bool Call::hasFailed() const {
  std::lock_guard<std::mutex> lock(mutex);
  return !failure.empty();
}

Call::Frame Call::makeFrame(const std::vector<Buffer> &inputs,
                            const std::vector<Buffer> &outputs) const {
  Frame frame{words, {}};
  auto input = inputs.begin(), output = outputs.begin();
  for (size_t i = 0; i < begins.size(); ++i) {
    const braid_rt_argument &argument = entry.arguments[i];
    bool isOutput = argument.direction == BRAID_RT_OUT;
    auto &next = isOutput ? output : input;
    if (next == (isOutput ? outputs.end() : inputs.end()) ||
        next->dtype != argument.dtype ||
        !std::equal(next->sizes, next->sizes + next->rank, argument.sizes,
                    argument.sizes + argument.rank))
      break;
    int64_t *descriptor = &frame.words[begins[i]];
    descriptor[0] = descriptor[1] = reinterpret_cast<int64_t>(next++->data);
    frame.pointers.push_back(descriptor);
  }
  if (frame.pointers.size() != begins.size() || input != inputs.end() ||
      output != outputs.end())
    throw Error(
        "the " + std::to_string(inputs.size()) + " operands and " +
        std::to_string(outputs.size()) +
        " results of the call do not have the types of the arguments of " +
        entry.name);
  return frame;
}

std::list<Call::Launch>::iterator Call::join(int64_t run, size_t rank) {
  auto found =
      std::find_if(launches.begin(), launches.end(), [&](const Launch &launch) {
        return launch.run == run && !launch.isDone && !launch.frames[rank];
      });
  if (found == launches.end()) {
    found = launches.emplace(launches.end());
    found->run = run;
    found->frames.resize(ranks);
    found->streams.resize(ranks);
  }
  return found;
}

void Call::begin() {
  std::lock_guard<std::mutex> lock(mutex);
  if (isClosed)
    throw Error("the program is not loaded any more");
  if (!failure.empty())
    throw Error("an earlier call has failed: " + failure);
  ++active;
}

void Call::end() {
  std::lock_guard<std::mutex> lock(mutex);
  --active;
  changed.notify_all();
}

void Call::close() {
  std::unique_lock<std::mutex> lock(mutex);
  isClosed = true;
  changed.wait(lock, [&]() { return active == 0; });
  // The work that calls have submitted.
  for (size_t rank = 0; rank < ranks; ++rank) {
    braid_rt_statistics statistics;
    braid_rt_get_statistics(braid_rt_world_context(world, numbers[rank]),
                            &statistics);
  }
}

size_t Call::findRank(int32_t device) const {
  // A process that is one rank chooses its device.
  if (braid_rt_world_has(world, "processes"))
    return 0;
  if (device < 0 || static_cast<size_t>(device) >= ranks)
    throw Error(std::string(entry.name) + " is called on device " +
                std::to_string(device) + ", expected one below " +
                std::to_string(ranks));
  return static_cast<size_t>(device);
}

void Call::run(int32_t device, int64_t run, void *stream,
               const std::vector<Buffer> &inputs,
               const std::vector<Buffer> &outputs) {
  begin();
  try {
    size_t rank = findRank(device);
    auto frame = std::make_unique<Frame>(makeFrame(inputs, outputs));
    runWithOthers(rank, run, stream, std::move(frame));
  } catch (...) {
    end();
    throw;
  }
  end();
}

void Call::runWithOthers(size_t rank, int64_t run, void *stream,
                         std::unique_ptr<Frame> frame) {
  std::unique_lock<std::mutex> lock(mutex);
  auto launch = join(run, rank);
  launch->frames[rank] = std::move(frame);
  launch->streams[rank] = stream;
  if (++launch->arrived == ranks) {
    changed.wait(lock, [&]() { return !isRunning; });
    std::string error = failure;
    isRunning = true;
    lock.unlock();
    if (error.empty())
      error = runAll(*launch);
    lock.lock();
    isRunning = false;
    launch->error = failure = error;
    launch->isDone = true;
    changed.notify_all();
  } else {
    auto mayGoOn = [&]() { return launch->isDone || launch->arrived == ranks; };
    if (!changed.wait_for(lock, std::chrono::nanoseconds(timeoutNs), mayGoOn)) {
      launch->error = failure = std::to_string(launch->arrived) + " of " +
                                std::to_string(ranks) + " ranks have called " +
                                entry.name + " within " +
                                std::to_string(timeoutNs / 1000000) + " ms";
      launch->isDone = true;
      changed.notify_all();
    }
    changed.wait(lock, [&]() { return launch->isDone; });
  }
  std::string error = launch->error;
  if (++launch->left == launch->arrived)
    launches.erase(launch);
  if (!error.empty())
    throw Error(error);
}

std::string Call::runAll(const Launch &launch) {
  // XLA's kernels write the arguments, and read what was in the memory of the
  // results.
  bool follows =
      synchronize &&
      braid_rt_world_follow(world, launch.streams.data()) == BRAID_RT_OK;
  for (size_t rank = 0; synchronize && !follows && rank < ranks; ++rank)
    if (int32_t status = synchronize(launch.streams[rank]))
      return "rank " + std::to_string(numbers[rank]) +
             ": the wait for XLA's stream gives the error " +
             std::to_string(status);
  std::vector<void **> arguments;
  for (const auto &frame : launch.frames)
    arguments.push_back(frame->pointers.data());
  bool succeeds =
      braid_rt_world_run(world, &entry, arguments.data()) == BRAID_RT_OK;
  return succeeds ? std::string() : describeFailure();
}

std::string Call::describeFailure() const {
  std::string causes, others;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const braid_rt_context *context =
        braid_rt_world_context(world, numbers[rank]);
    const char *text = braid_rt_error(context);
    if (*text)
      (braid_rt_error_is_secondary(context) ? others : causes) +=
          std::string(text) + '\n';
  }
  std::string &text = causes.empty() ? others : causes;
  if (text.empty())
    return "the run failed";
  text.pop_back();
  return text;
}

//===----------------------------------------------------------------------===//
// The registered calls
//===----------------------------------------------------------------------===//

namespace {
struct Registry {
  std::mutex mutex;
  std::map<int64_t, std::shared_ptr<Call>> calls;
};
} // namespace

/// Never destroyed: XLA's threads may call when the process ends.
static Registry &registry() {
  static auto *instance = new Registry;
  return *instance;
}

std::shared_ptr<Call> jax::findCall(int64_t key) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto found = registry().calls.find(key);
  return found == registry().calls.end() ? nullptr : found->second;
}

int32_t braid_jax_register(int64_t key, braid_rt_world *world,
                           const braid_rt_entry *entry,
                           braid_jax_synchronize synchronize, int64_t timeoutNs,
                           char *error, size_t errorSize) {
  return returnErrors(error, errorSize, [&]() {
    auto call = std::make_shared<Call>(world, *entry, synchronize, timeoutNs);
    std::lock_guard<std::mutex> lock(registry().mutex);
    if (!registry().calls.emplace(key, std::move(call)).second)
      throw Error("the key " + std::to_string(key) + " is of another program");
  });
}

void braid_jax_unregister(int64_t key) {
  std::shared_ptr<Call> call;
  {
    std::lock_guard<std::mutex> lock(registry().mutex);
    auto found = registry().calls.find(key);
    if (found == registry().calls.end())
      return;
    call = std::move(found->second);
    registry().calls.erase(found);
  }
  call->close();
}

int32_t braid_jax_has_failed(int64_t key) {
  std::shared_ptr<Call> call = findCall(key);
  return !call || call->hasFailed();
}
