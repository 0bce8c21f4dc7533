//===- World.cpp - The ranks of one process ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/World.h"
#include "Base/StackGuard.h"
#include "Core/EngineRegistry.h"
#include "Engine/Memory.h"
#include "Operations/Messages.h"
#include "braid-rt/Numerics.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

using namespace braid::rt;

//===----------------------------------------------------------------------===//
// World
//===----------------------------------------------------------------------===//

World::World(const braid_rt_config &config)
    : environment(config), engine(createEngine(environment)) {
  checkFlightFolder(environment);
  for (int32_t rank : engine->localRanks())
    contexts.push_back(std::make_unique<Context>(environment, *engine, rank));
  workers.resize(contexts.size());
  if (environment.logs(BRAID_RT_DEBUG_INFO))
    environment.log("world of " + std::to_string(engine->worldSize()) +
                    " ranks, engine " + environment.engineName + ", timeout " +
                    std::to_string(config.timeoutNs / 1000000) + " ms");
}

World::~World() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  jobChanged.notify_all();
  for (Worker &worker : workers)
    if (worker.thread.joinable())
      worker.thread.join();
}

void World::startWorkers() {
  if (workers[0].thread.joinable())
    return;
  for (size_t rank = 0; rank < workers.size(); ++rank)
    workers[rank].thread = std::thread([this, rank]() { work(rank); });
}

void World::work(size_t rank) {
  StackGuard guard;
  int64_t done = 0;
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    jobChanged.wait(lock, [&]() { return stopping || jobNumber != done; });
    if (stopping)
      return;
    done = jobNumber;
    runRank(rank, lock);
  }
}

void World::runRank(size_t rank, std::unique_lock<std::mutex> &lock) {
  lock.unlock();
  Worker &worker = workers[rank];
  worker.beginNs = environment.now();
  worker.status = contexts[rank]->invoke(*jobEntry, jobArgs[rank]);
  worker.endNs = environment.now();
  lock.lock();
  worker.isRunning = false;
  if (worker.status != BRAID_RT_OK) {
    worker.error = braid_rt_error(
        reinterpret_cast<braid_rt_context *>(contexts[rank].get()));
    worker.isSecondary = contexts[rank]->secondary;
    if (!failedNs)
      failedNs = worker.endNs;
  }
  if (--running == 0)
    jobDone.notify_one();
}

bool World::canRunHere() const {
  const Capabilities &found = engine->capabilities();
  return engine->worldSize() == 1 && found.hostMemory && !found.processes;
}

bool World::run(const braid_rt_entry &entry, void ***args, bool here) {
  Context::forgetRefusal();
  here = here && canRunHere();
  if (!here)
    startWorkers();
  engine->beginRun(entry, args);
  {
    std::unique_lock<std::mutex> lock(mutex);
    jobEntry = &entry;
    jobArgs = args;
    running = workers.size();
    failedNs = 0;
    for (Worker &worker : workers) {
      worker.isRunning = true;
      worker.error.clear();
    }
    if (here) {
      runRank(0, lock);
    } else {
      ++jobNumber;
      jobChanged.notify_all();
    }
    jobDone.wait(lock, [&]() { return running == 0; });
  }
  bool hasResults = engine->endRun();
  int64_t beginNs = workers[0].beginNs, endNs = 0;
  bool ok = true;
  for (const Worker &worker : workers) {
    beginNs = std::min(beginNs, worker.beginNs);
    endNs = std::max(endNs, worker.endNs);
    ok &= worker.status == BRAID_RT_OK;
  }
  elapsedNs = endNs - beginNs;
  if (ok && !hasResults)
    for (const std::unique_ptr<Context> &context : contexts)
      context->loseResults();
  ok &= hasResults;
  if (!ok)
    writeOthers();
  if (!ok && engine->capabilities().recovery)
    reset();
  return ok;
}

bool World::follow(void *const *streams) {
  bool follow = true;
  for (size_t i = 0; i < contexts.size() && follow; ++i)
    follow = contexts[i]->device.follow(streams[i]);
  return follow;
}

int64_t World::describeFailing(std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failedNs || running == 0)
    return 0;
  std::string causes, others;
  std::vector<int32_t> late;
  for (size_t i = 0; i < workers.size(); ++i) {
    const Worker &worker = workers[i];
    if (worker.isRunning)
      late.push_back(contexts[i]->rank);
    else if (!worker.error.empty())
      (worker.isSecondary ? others : causes) += worker.error + '\n';
  }
  text = (causes.empty() ? others : causes) + listRanks(late) +
         (late.size() == 1 ? " has" : " have") + " not ended";
  return std::max<int64_t>(1, environment.now() - failedNs);
}

void World::writeOthers() const {
  if (environment.flightPrefix.empty() || !engine->capabilities().hostMemory)
    return;
  for (const std::unique_ptr<Context> &context : contexts)
    if (!context->failed)
      context->writeFlights("failure of another rank");
}

void World::reset() {
  engine->reset();
  for (const std::unique_ptr<Context> &context : contexts)
    context->recorder.clear();
}

void World::dump(const std::string &reason) const {
  for (const std::unique_ptr<Context> &context : contexts)
    context->writeFlights(reason, environment.flightPrefix.empty());
}

void World::skip(int32_t what) {
  if (what < BRAID_RT_SKIP_NOTHING || what > BRAID_RT_SKIP_COMPUTE)
    throw Error(std::to_string(what) + " is no part that can be left out");
  if (what == BRAID_RT_SKIP_COMPUTE && engine->capabilities().hostMemory)
    throw Error("compute cannot be left out on engine " +
                environment.engineName +
                ", where kernels are functions of the program");
  for (const std::unique_ptr<Context> &context : contexts)
    context->setSkip(what);
}

Context *World::context(int32_t rank) const {
  for (const std::unique_ptr<Context> &context : contexts)
    if (context->rank == rank)
      return context.get();
  return nullptr;
}

/// The properties in which the programs of two processes can differ, as text.
static std::string describeProgram(const braid_rt_program &program) {
  std::string text = program.name ? program.name : "";
  if (program.schedule)
    text += "\nschedule " + std::string(program.schedule);
  for (int64_t i = 0; i < program.groupCount; ++i) {
    const braid_rt_group &group = *program.groups[i];
    text += "\ngroup " + std::string(group.name) +
            (group.allRanks ? " all" : " lists");
    if (group.lane)
      text += " lane " + std::string(group.lane->name) + " ctas " +
              std::to_string(group.lane->ctas) + " transport " +
              std::to_string(group.lane->transport) + " staging " +
              std::to_string(group.lane->staging);
    for (int32_t list = 0; list < group.listCount; ++list) {
      text += " [";
      for (int32_t k = group.offsets[list]; k < group.offsets[list + 1]; ++k)
        text += ' ' + std::to_string(group.ranks[k]);
      text += ']';
    }
  }
  for (int64_t i = 0; i < program.entryCount; ++i) {
    const braid_rt_entry &entry = *program.entries[i];
    text += "\nentry " + std::string(entry.name);
    for (int64_t k = 0; k < entry.argumentCount; ++k) {
      const braid_rt_argument &argument = entry.arguments[k];
      Sizes sizes(argument.sizes, argument.sizes + argument.rank);
      text += ' ' + std::to_string(argument.direction) + ' ' +
              std::to_string(argument.passing) + ' ' +
              tensorType(sizes, argument.dtype);
    }
  }
  return text;
}

/// Throws an Error if the engine's devices cannot run the program.
static void checkTarget(const braid_rt_program &program, const Engine &engine,
                        const std::string &engineName) {
  static constexpr const char *names[] = {"host", "cuda"};
  int32_t expected = engine.capabilities().target;
  if (program.target == expected)
    return;
  bool known = program.target >= 0 && program.target <= BRAID_RT_TARGET_CUDA;
  throw Error("the program was compiled for the target " +
              (known ? names[program.target] : std::to_string(program.target)) +
              ", but engine " + engineName + " runs programs for the target " +
              names[expected]);
}

void World::prepare(const braid_rt_program &program) {
  checkTarget(program, *engine, environment.engineName);
  std::string own = describeProgram(program);
  std::vector<std::string> all = engine->exchange(own);
  for (size_t process = 1; process < all.size(); ++process)
    if (all[process] != all[0])
      throw Error("process " + std::to_string(process) +
                  " runs another program than process 0:\n" + all[process] +
                  "\nprocess 0 runs:\n" + all[0]);
  std::vector<RankSpecs> specs;
  for (int32_t rank : engine->localRanks()) {
    specs.push_back({rank, {}});
    for (int64_t i = 0; i < program.groupCount; ++i)
      specs.back().specs.push_back(
          findPlace(*program.groups[i], rank, engine->worldSize()));
  }
  engine->prepare(specs);
  for (int32_t rank : engine->localRanks())
    engine->device(rank).prepare(program);
}

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

/// The error of a configuration; "" if it is valid.
static std::string checkConfig(const braid_rt_config &config) {
  if (config.timeoutNs <= 0)
    return "the timeout must be positive, found " +
           std::to_string(config.timeoutNs) + " ns";
  if (config.blasThreads < 0)
    return "the number of threads cannot be negative";
  return "";
}

int32_t braid_rt_find_engine(const char *engine, char *error,
                             size_t errorSize) {
  try {
    findEngine(engine);
    return BRAID_RT_OK;
  } catch (const std::exception &caught) {
    copyError(caught.what(), error, errorSize);
    return BRAID_RT_FAILED;
  }
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

int64_t braid_rt_world_failing(braid_rt_world *world, char *text,
                               size_t textSize) {
  std::string message;
  int64_t sinceNs = unwrap(world)->describeFailing(message);
  copyError(message, text, textSize);
  return sinceNs;
}

void braid_rt_world_dump(const braid_rt_world *world, const char *reason) {
  unwrap(world)->dump(reason);
}

void braid_rt_world_destroy(braid_rt_world *world) { delete unwrap(world); }

int64_t braid_rt_world_created_ns(const braid_rt_world *world) {
  return unwrap(world)->environment.createdNs;
}

int32_t braid_rt_world_size(const braid_rt_world *world) {
  return unwrap(world)->engine->worldSize();
}

int32_t braid_rt_world_local_ranks(const braid_rt_world *world,
                                   const int32_t **ranks) {
  const std::vector<int32_t> &local = unwrap(world)->engine->localRanks();
  *ranks = local.data();
  return static_cast<int32_t>(local.size());
}

int32_t braid_rt_world_has(const braid_rt_world *world,
                           const char *capability) {
  const Capabilities &capabilities = unwrap(world)->engine->capabilities();
  static constexpr struct {
    const char *name;
    bool Capabilities::*member;
  } known[] = {{"link-rehearsal", &Capabilities::linkRehearsal},
               {"recovery", &Capabilities::recovery},
               {"host-memory", &Capabilities::hostMemory},
               {"processes", &Capabilities::processes},
               {"transports", &Capabilities::transports},
               {"graphs", &Capabilities::graphs},
               {"activities", &Capabilities::activities},
               {"ordered-reductions", &Capabilities::orderedReductions}};
  for (const auto &entry : known)
    if (std::strcmp(entry.name, capability) == 0)
      return capabilities.*entry.member;
  return 0;
}

int32_t braid_rt_may_reorder(const braid_rt_world *world,
                             const braid_rt_reordered_sum *sum) {
  if (sum->kind != BRAID_RT_SUM_OF_MEMBERS)
    return 1;
  const Engine &engine = *unwrap(world)->engine;
  int32_t members = sum->members ? sum->members : engine.worldSize();
  return !engine.capabilities().orderedReductions && members > 2;
}

int32_t braid_rt_world_prepare(braid_rt_world *world,
                               const braid_rt_program *program, char *error,
                               size_t errorSize) {
  return returnErrors(error, errorSize,
                      [&]() { unwrap(world)->prepare(*program); });
}

int32_t braid_rt_world_exchange(braid_rt_world *world, const void *bytes,
                                int64_t size, braid_rt_receive receive,
                                void *receiveData, char *error,
                                size_t errorSize) {
  return returnErrors(error, errorSize, [&]() {
    std::string own;
    if (size > 0)
      own.assign(static_cast<const char *>(bytes), static_cast<size_t>(size));
    std::vector<std::string> all = unwrap(world)->engine->exchange(own);
    for (size_t process = 0; process < all.size(); ++process)
      receive(receiveData, static_cast<int32_t>(process), all[process].data(),
              static_cast<int64_t>(all[process].size()));
  });
}

braid_rt_context *braid_rt_world_context(braid_rt_world *world, int32_t rank) {
  return reinterpret_cast<braid_rt_context *>(unwrap(world)->context(rank));
}

int32_t braid_rt_world_run(braid_rt_world *world, const braid_rt_entry *entry,
                           void ***args) {
  return unwrap(world)->run(*entry, args, /*here=*/false) ? BRAID_RT_OK
                                                          : BRAID_RT_FAILED;
}

int32_t braid_rt_world_run_here(braid_rt_world *world,
                                const braid_rt_entry *entry, void ***args) {
  return unwrap(world)->run(*entry, args, /*here=*/true) ? BRAID_RT_OK
                                                         : BRAID_RT_FAILED;
}

int32_t braid_rt_world_follow(braid_rt_world *world, void *const *streams) {
  return unwrap(world)->follow(streams) ? BRAID_RT_OK : BRAID_RT_FAILED;
}

int32_t braid_rt_world_skip(braid_rt_world *world, int32_t skip, char *error,
                            size_t errorSize) {
  return returnErrors(error, errorSize, [&]() { unwrap(world)->skip(skip); });
}

int64_t braid_rt_world_elapsed_ns(const braid_rt_world *world) {
  return unwrap(world)->elapsedNs;
}

int32_t braid_rt_invoke(braid_rt_context *context, const braid_rt_entry *entry,
                        void **args) {
  return unwrap(context)->invoke(*entry, args);
}

int32_t braid_rt_waiting(braid_rt_context *context, char *text, size_t size) {
  return unwrap(context)->describeWait(text, size);
}

int32_t braid_rt_current_rank(void) {
  const Context *context = Context::current();
  return context ? context->rank : -1;
}

int32_t braid_rt_overflows_stack(const void *address) {
  return overflowsStack(address);
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
    if (Communicator *communicator = unwrap(context)->communicator(*group))
      return communicator->sequenceNumber();
  } catch (const Error &) {
    // The group names ranks that this world does not have.
  }
  return -1;
}

void braid_rt_get_statistics(const braid_rt_context *context,
                             braid_rt_statistics *statistics) {
  *statistics = unwrap(context)->statistics;
  if (Device &device = unwrap(context)->device; device.isAhead())
    returnErrors(nullptr, 0,
                 [&]() { statistics->deviceNs = device.deviceNs(); });
  const MemoryPool &memory = unwrap(context)->device.memory();
  statistics->currentBytes = memory.currentBytes;
  statistics->peakBytes = memory.peakBytes;
  statistics->allocations = memory.allocations;
}

void braid_rt_reset_statistics(braid_rt_context *context) {
  unwrap(context)->statistics = {};
  MemoryPool &memory = unwrap(context)->device.memory();
  memory.resetPeak();
  memory.allocations = 0;
}

const braid_rt_event *braid_rt_trace(const braid_rt_context *context,
                                     int64_t *count) {
  return const_cast<Context *>(unwrap(context))->trace(count);
}
