//===- World.cpp - The ranks that measure ---------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "World.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>
#include <random>

using namespace braid;
using namespace braid::calibrate;
using llvm::Error;
using llvm::Expected;

static Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::string Lane::name() const {
  static constexpr const char *names[] = {"", "symmetric", "copy"};
  std::string name = names[size_t(transport)];
  if (ctas == 0)
    return name;
  return (name.empty() ? "ctas" : name) + "-" + std::to_string(ctas);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static const braid_rt_entry *const entries[] = {&loadEntry};

Error World::create(int64_t ranks, Traces traces) {
  braid_rt_config config;
  char error[4096] = "";
  if (braid_rt_config_init(&config, error, sizeof(error)) != BRAID_RT_OK)
    return makeError(error);
  config.engine = "cuda";
  config.ranks = static_cast<int32_t>(ranks);
  config.trace = traces != Traces::None;
  constexpr int64_t second = 1'000'000'000;
  config.timeoutNs = 20 * second;
  // Events suffice for operations that take tens of microseconds.
  const braid_rt_option options[] = {
      {"timing", traces == Traces::Activities ? "cupti" : "events"},
      // The times of single launches are wanted.
      {"cuda-graph", "0"}};
  config.options = options;
  config.optionCount = 2;
  world = braid_rt_world_create(&config, error, sizeof(error));
  if (!world)
    return makeError(error);
  for (int32_t rank = 0; rank < ranks; ++rank) {
    braid_rt_context *context = braid_rt_world_context(world, rank);
    if (!context)
      return makeError("rank " + llvm::Twine(rank) +
                       " does not run in this process; start the tool without "
                       "a launcher");
    contexts.push_back(context);
  }
  return Error::success();
}

/// Lists the members of all groups, one group after the other.
static std::vector<int32_t> listMembers(int64_t ranks,
                                        const Grouping &grouping) {
  std::vector<int32_t> members;
  for (int64_t begin = 0; begin < ranks;
       begin += grouping.ranks * grouping.stride)
    for (int64_t group = 0; group < grouping.stride; ++group)
      for (int64_t member = 0; member < grouping.ranks; ++member)
        members.push_back(
            static_cast<int32_t>(begin + group + member * grouping.stride));
  return members;
}

Error World::prepare(llvm::ArrayRef<std::pair<Lane, Grouping>> wanted) {
  // A world of one rank has no use for communicators.
  if (contexts.size() > 1)
    for (const auto &[lane, grouping] : wanted) {
      RuntimeGroup &added = groups.emplace_back();
      added.lane = lane;
      added.grouping = grouping;
      added.laneName = lane.name();
      added.runtimeLane = {added.laneName.c_str(),
                           static_cast<int32_t>(lane.ctas),
                           static_cast<int32_t>(lane.transport)};
      braid_rt_group &group = added.runtimeGroup;
      group.lane = added.laneName.empty() ? nullptr : &added.runtimeLane;
      runtimeGroups.push_back(&group);
      if (grouping.ranks == 0) {
        group.name = "world";
        group.allRanks = 1;
        continue;
      }
      added.name = "groups-" + std::to_string(grouping.ranks) + "-" +
                   std::to_string(grouping.stride);
      added.members = listMembers(ranks(), grouping);
      for (int64_t offset = 0; offset <= ranks(); offset += grouping.ranks)
        added.offsets.push_back(static_cast<int32_t>(offset));
      group.name = added.name.c_str();
      group.listCount = static_cast<int32_t>(added.offsets.size() - 1);
      group.offsets = added.offsets.data();
      group.ranks = added.members.data();
    }
  program.abiVersion = BRAID_RT_ABI_VERSION;
  program.target = BRAID_RT_TARGET_CUDA;
  program.name = "braid-calibrate";
  program.groupCount = static_cast<int64_t>(runtimeGroups.size());
  program.groups = runtimeGroups.data();
  program.entryCount = 1;
  program.entries = entries;
  program.schedule = "calibrate";
  program.device = &loadKernels;
  char error[4096] = "";
  if (braid_rt_world_prepare(world, &program, error, sizeof(error)) !=
      BRAID_RT_OK)
    return makeError(error);
  return Error::success();
}

/// Numbers from -1 to 1 in bf16, which are finite numbers in f16 and f32, too.
/// Zeros would take less power than the data of programs.
static std::vector<uint16_t> makeRandom(size_t count) {
  std::mt19937 generator(1);
  std::vector<uint16_t> numbers(count);
  for (uint16_t &number : numbers) {
    float value = static_cast<float>(generator()) * 0x1p-31F - 1.0F;
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    number = static_cast<uint16_t>(bits >> 16);
  }
  return numbers;
}

Error World::fill(braid_rt_context *context, void *memory, int64_t bytes) {
  static const std::vector<uint16_t> random = makeRandom(size_t(1) << 22);
  const auto most = static_cast<int64_t>(random.size() * sizeof(uint16_t));
  char error[4096] = "";
  for (int64_t done = 0; done < bytes; done += most)
    if (braid_rt_copy_to_device(context, static_cast<char *>(memory) + done,
                                random.data(), std::min(most, bytes - done),
                                error, sizeof(error)) != BRAID_RT_OK)
      return makeError(error);
  return Error::success();
}

Error World::allocate(const OperandSizes &sizes) {
  memories.resize(contexts.size());
  requests.assign(contexts.size(), std::vector<void *>(mostCollectives));
  for (auto [context, memory, ofRank] :
       llvm::zip_equal(contexts, memories, requests)) {
    memory.requests = ofRank.data();
    for (auto [pointer, bytes] :
         {std::pair(&memory.left, sizes.left),
          std::pair(&memory.right, sizes.right),
          std::pair(&memory.result, sizes.result),
          std::pair(&memory.source, sizes.collective),
          std::pair(&memory.destination, sizes.collective)}) {
      if (bytes == 0)
        continue;
      char error[4096] = "";
      *pointer = braid_rt_device_alloc(context, bytes, error, sizeof(error));
      if (!*pointer)
        return makeError(error);
      if (Error failure = fill(context, *pointer, bytes))
        return failure;
    }
  }
  return Error::success();
}

Expected<std::unique_ptr<World>>
World::open(int64_t ranks, llvm::ArrayRef<std::pair<Lane, Grouping>> groups,
            const OperandSizes &sizes, Traces traces) {
  std::unique_ptr<World> world(new World());
  if (Error error = world->create(ranks, traces))
    return error;
  if (Error error = world->prepare(groups))
    return error;
  if (Error error = world->allocate(sizes))
    return error;
  return world;
}

World::~World() {
  if (!world)
    return;
  for (auto [context, memory] : llvm::zip(contexts, memories))
    for (void *pointer : {memory.left, memory.right, memory.result,
                          memory.source, memory.destination})
      braid_rt_device_free(context, pointer);
  braid_rt_world_destroy(world);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

const braid_rt_group *World::group(const Lane &lane,
                                   const Grouping &grouping) const {
  auto it = llvm::find_if(groups, [&](const RuntimeGroup &other) {
    return other.lane == lane && other.grouping == grouping;
  });
  return it == groups.end() ? nullptr : &it->runtimeGroup;
}

Expected<std::vector<double>> World::run(const Load &load, bool ofHost) {
  auto getStatistics = [](const braid_rt_context *context) {
    braid_rt_statistics statistics;
    braid_rt_get_statistics(context, &statistics);
    return statistics;
  };
  std::vector<int64_t> hostBefore;
  for (const braid_rt_context *context : contexts)
    hostBefore.push_back(getStatistics(context).hostNs);
  std::vector<std::vector<void *>> arguments;
  std::vector<void **> ofRanks;
  for (RankMemory &memory : memories)
    arguments.push_back({const_cast<Load *>(&load), &memory});
  for (std::vector<void *> &ofRank : arguments)
    ofRanks.push_back(ofRank.data());
  if (braid_rt_world_run(world, &loadEntry, ofRanks.data()) != BRAID_RT_OK) {
    // The rank that has caused the failure says more than the others.
    const braid_rt_context *cause = nullptr;
    for (const braid_rt_context *context : contexts)
      if (*braid_rt_error(context) &&
          (!cause || (braid_rt_error_is_secondary(cause) &&
                      !braid_rt_error_is_secondary(context))))
        cause = context;
    return makeError(cause ? braid_rt_error(cause) : "the ranks have failed");
  }
  std::vector<double> times;
  for (auto [context, beforeNs] : llvm::zip_equal(contexts, hostBefore)) {
    braid_rt_statistics statistics = getStatistics(context);
    times.push_back(static_cast<double>(ofHost ? statistics.hostNs - beforeNs
                                               : statistics.deviceNs));
  }
  return times;
}

std::vector<TracedSpan> World::takeTrace(int64_t rank) const {
  int64_t count = 0;
  const braid_rt_event *events = braid_rt_trace(contexts[size_t(rank)], &count);
  std::vector<TracedSpan> spans;
  for (const braid_rt_event &event : llvm::ArrayRef(events, size_t(count)))
    if (event.category == BRAID_RT_EVENT_KERNEL ||
        event.category == BRAID_RT_EVENT_COLLECTIVE)
      spans.push_back({event.category == BRAID_RT_EVENT_COLLECTIVE,
                       event.beginNs, event.endNs});
  return spans;
}

std::string World::property(int64_t rank, const char *name) const {
  char text[256] = "";
  braid_rt_device_property(contexts[size_t(rank)], name, text, sizeof(text));
  return text;
}
