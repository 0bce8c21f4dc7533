//===- Harness.cpp - Running functions on ranks -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Reference.h"

#include <map>
#include <stdexcept>

using namespace braid::test;

const braid_rt_group braid::test::worldGroup = {"world", 1, 0, nullptr,
                                                nullptr};

World::World(int32_t ranks,
             const std::function<void(braid_rt_config &)> &adjust)
    : ranks(ranks), world(nullptr, braid_rt_world_destroy) {
  braid_rt_config config;
  char error[256];
  if (braid_rt_config_init(&config, error, sizeof(error)) != BRAID_RT_OK)
    throw std::runtime_error(error);
  config.ranks = ranks;
  if (adjust)
    adjust(config);
  world.reset(braid_rt_world_create(&config, error, sizeof(error)));
  if (!world)
    throw std::runtime_error(error);
}

namespace {
struct Call {
  const Body *body;
  int32_t rank;
};
} // namespace

static void callBody(void **args) {
  const Call &call = *static_cast<Call *>(args[0]);
  (*call.body)(call.rank);
}

bool World::run(const Body &body) {
  std::vector<Call> calls;
  for (int32_t rank = 0; rank < ranks; ++rank)
    calls.push_back({&body, rank});
  std::vector<void *> args;
  for (Call &call : calls)
    args.push_back(&call);
  std::vector<void **> argsOfRank;
  for (void *&arg : args)
    argsOfRank.push_back(&arg);
  const braid_rt_entry entry = {"body", callBody, 0, nullptr, nullptr};
  return braid_rt_world_run(world.get(), &entry, argsOfRank.data()) ==
         BRAID_RT_OK;
}

std::string World::error(int32_t rank) const {
  return braid_rt_error(context(rank));
}

bool World::isSecondary(int32_t rank) const {
  return braid_rt_error_is_secondary(context(rank)) != 0;
}

World &braid::test::sharedWorld(int32_t ranks) {
  static std::map<int32_t, std::unique_ptr<World>> worlds;
  std::unique_ptr<World> &world = worlds[ranks];
  if (!world)
    world = std::make_unique<World>(ranks);
  return *world;
}

braid_rt_site braid::test::siteAt(int32_t line, const char *label) {
  return {"prog.mlir", label, line, 3};
}

Group::Group(const char *name, const std::vector<std::vector<int32_t>> &lists) {
  offsets.push_back(0);
  for (const std::vector<int32_t> &list : lists) {
    ranks.insert(ranks.end(), list.begin(), list.end());
    offsets.push_back(static_cast<int32_t>(ranks.size()));
  }
  group = {name, 0, static_cast<int32_t>(lists.size()), offsets.data(),
           ranks.data()};
}

Buffer::Buffer(int32_t dtype, std::vector<int64_t> sizes)
    : dtype(dtype), sizes(std::move(sizes)) {
  // Not zero, so that a missing write is noticed.
  data.assign(static_cast<size_t>(bytes()), char(0x55));
}

braid_rt_view Buffer::view() {
  return {data.data(), sizes.data(), dtype, static_cast<int32_t>(sizes.size())};
}

int64_t Buffer::count() const {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

void Buffer::fill(uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 0x1234567;
  for (int64_t i = 0; i < count(); ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    auto bits = static_cast<uint32_t>(state >> 33);
    encode(*this, i, static_cast<double>(bits % 4001) / 1000.0 - 2.0,
           static_cast<double>(bits / 4001 % 4001) / 1000.0 - 2.0);
    if (dtype == BRAID_RT_I1)
      data[i] = static_cast<char>(bits & 1);
    else if (dtype < BRAID_RT_F16)
      encode(*this, i, static_cast<double>(bits % 201) - 100.0, 0.0);
  }
}
