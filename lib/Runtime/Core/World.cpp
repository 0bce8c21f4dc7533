//===- World.cpp - The ranks of one process ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/World.h"
#include "Core/Blas.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace braid::rt;

int64_t braid::rt::monotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

//===----------------------------------------------------------------------===//
// World
//===----------------------------------------------------------------------===//

World::World(const braid_rt_config &config)
    : config(config), createdNs(monotonicNs()) {
  engine = createInProcessEngine(*this);
  for (int32_t rank = 0; rank < config.ranks; ++rank)
    contexts.push_back(std::make_unique<Context>(*this, *engine, rank));
  if (logs(BRAID_RT_DEBUG_INFO))
    log("world of " + std::to_string(config.ranks) + " ranks, timeout " +
        std::to_string(config.timeoutNs / 1000000) + " ms");
}

World::~World() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  jobChanged.notify_all();
  for (Worker &worker : workers)
    worker.thread.join();
}

void World::log(const std::string &line) const {
  if (config.log)
    config.log(config.logData, line.c_str());
  else
    std::fputs(("[braid] " + line + "\n").c_str(), stderr);
}

void World::startWorkers() {
  if (!workers.empty())
    return;
  workers.resize(contexts.size());
  for (size_t rank = 0; rank < workers.size(); ++rank)
    workers[rank].thread = std::thread([this, rank]() { work(rank); });
}

void World::work(size_t rank) {
  int64_t done = 0;
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    jobChanged.wait(lock, [&]() { return stopping || jobNumber != done; });
    if (stopping)
      return;
    done = jobNumber;
    lock.unlock();
    Worker &worker = workers[rank];
    worker.beginNs = now();
    worker.status = contexts[rank]->invoke(*jobEntry, jobArgs[rank]);
    worker.endNs = now();
    lock.lock();
    if (--running == 0)
      jobDone.notify_one();
  }
}

bool World::run(const braid_rt_entry &entry, void ***args) {
  Context::forgetRefusal();
  configureBlas(config);
  startWorkers();
  {
    std::unique_lock<std::mutex> lock(mutex);
    jobEntry = &entry;
    jobArgs = args;
    running = workers.size();
    ++jobNumber;
    jobChanged.notify_all();
    jobDone.wait(lock, [&]() { return running == 0; });
  }
  int64_t beginNs = workers[0].beginNs, endNs = 0;
  bool ok = true;
  for (const Worker &worker : workers) {
    beginNs = std::min(beginNs, worker.beginNs);
    endNs = std::max(endNs, worker.endNs);
    ok &= worker.status == BRAID_RT_OK;
  }
  elapsedNs = endNs - beginNs;
  if (!ok)
    engine->reset();
  return ok;
}

void World::reset() { engine->reset(); }

//===----------------------------------------------------------------------===//
// C entry points
//===----------------------------------------------------------------------===//

static World *unwrap(braid_rt_world *world) {
  return reinterpret_cast<World *>(world);
}
static const World *unwrap(const braid_rt_world *world) {
  return reinterpret_cast<const World *>(world);
}
static Context *unwrap(braid_rt_context *context) {
  return reinterpret_cast<Context *>(context);
}
static const Context *unwrap(const braid_rt_context *context) {
  return reinterpret_cast<const Context *>(context);
}

int32_t braid_rt_parse_debug(const char *text, int32_t *level) {
  std::string upper;
  for (const char *c = text; *c; ++c)
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  static constexpr const char *names[] = {"OFF", "INFO", "DETAIL"};
  for (int32_t i = 0; i < 3; ++i)
    if (upper == names[i]) {
      *level = i;
      return BRAID_RT_OK;
    }
  return BRAID_RT_FAILED;
}

int32_t braid_rt_config_init(braid_rt_config *config, char *error,
                             size_t errorSize) {
  *config = {};
  config->ranks = 1;
  config->timeoutNs = int64_t(30) * 1000 * 1000 * 1000;
  const char *debug = std::getenv("BRAID_DEBUG");
  if (debug && *debug &&
      braid_rt_parse_debug(debug, &config->debug) != BRAID_RT_OK) {
    copyError(std::string("The value of BRAID_DEBUG must be OFF, INFO, or "
                          "DETAIL, found '") +
                  debug + "'",
              error, errorSize);
    return BRAID_RT_FAILED;
  }
  return BRAID_RT_OK;
}

/// What is wrong with a configuration, "" when nothing is.
static std::string checkConfig(const braid_rt_config &config) {
  if (config.ranks < 1 || config.ranks > 4096)
    return "the number of ranks must be between 1 and 4096, found " +
           std::to_string(config.ranks);
  if (config.timeoutNs <= 0)
    return "the timeout must be positive, found " +
           std::to_string(config.timeoutNs) + " ns";
  if (config.linkLatencyNs < 0)
    return "the link's latency cannot be negative, found " +
           std::to_string(config.linkLatencyNs) + " ns";
  if (!(config.linkBandwidth >= 0))
    return "the link's bandwidth cannot be negative, found " +
           std::to_string(config.linkBandwidth) + " bytes per second";
  if (config.progressThreads < 0 || config.blasThreads < 0)
    return "the number of threads cannot be negative";
  return "";
}

braid_rt_world *braid_rt_world_create(const braid_rt_config *config,
                                      char *error, size_t errorSize) {
  std::string problem = checkConfig(*config);
  if (problem.empty()) {
    try {
      return reinterpret_cast<braid_rt_world *>(new World(*config));
    } catch (const std::exception &caught) {
      problem = caught.what();
    }
  }
  copyError(problem, error, errorSize);
  return nullptr;
}

void braid_rt_world_destroy(braid_rt_world *world) { delete unwrap(world); }

braid_rt_context *braid_rt_world_context(braid_rt_world *world, int32_t rank) {
  if (rank < 0 || rank >= unwrap(world)->config.ranks)
    return nullptr;
  return reinterpret_cast<braid_rt_context *>(
      unwrap(world)->contexts[rank].get());
}

int32_t braid_rt_world_run(braid_rt_world *world, const braid_rt_entry *entry,
                           void ***args) {
  return unwrap(world)->run(*entry, args) ? BRAID_RT_OK : BRAID_RT_FAILED;
}

int64_t braid_rt_world_elapsed_ns(const braid_rt_world *world) {
  return unwrap(world)->elapsedNs;
}

int32_t braid_rt_invoke(braid_rt_context *context, const braid_rt_entry *entry,
                        void **args) {
  configureBlas(unwrap(context)->world.config);
  return unwrap(context)->invoke(*entry, args);
}

int32_t braid_rt_current_rank(void) {
  const Context *context = Context::current();
  return context ? context->rank : -1;
}

void braid_rt_world_reset(braid_rt_world *world) { unwrap(world)->reset(); }

const char *braid_rt_error(const braid_rt_context *context) {
  const std::string *refusal = unwrap(context)->refusal();
  return (refusal ? *refusal : unwrap(context)->error).c_str();
}

int32_t braid_rt_error_is_secondary(const braid_rt_context *context) {
  return !unwrap(context)->refusal() && unwrap(context)->secondary;
}

int64_t braid_rt_sequence_number(braid_rt_context *context,
                                 const braid_rt_group *group) {
  try {
    Membership place = unwrap(context)->membership(*group);
    if (place.communicator)
      return unwrap(context)->engine.sequenceNumber(*place.communicator,
                                                    place.index);
  } catch (const Error &) {
    // The group names ranks that this world does not have.
  }
  return -1;
}

void braid_rt_get_statistics(const braid_rt_context *context,
                             braid_rt_statistics *statistics) {
  *statistics = unwrap(context)->statistics;
  const MemoryPool &memory = unwrap(context)->memory;
  statistics->currentBytes = memory.currentBytes;
  statistics->peakBytes = memory.peakBytes;
  statistics->allocations = memory.allocations;
}

void braid_rt_reset_statistics(braid_rt_context *context) {
  unwrap(context)->statistics = {};
  unwrap(context)->memory.resetPeak();
  unwrap(context)->memory.allocations = 0;
}

const braid_rt_event *braid_rt_trace(const braid_rt_context *context,
                                     int64_t *count) {
  return const_cast<Context *>(unwrap(context))->trace(count);
}
