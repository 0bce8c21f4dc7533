//===- Harness.cpp - Running functions on ranks -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Reference.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

using namespace braid::test;

const braid_rt_group braid::test::worldGroup = {"world", 1, 0, nullptr,
                                                nullptr};

static std::string variable(const char *name, const char *fallback) {
  const char *value = std::getenv(name);
  return value && *value ? value : fallback;
}

const std::string &braid::test::engineName() {
  static const std::string name = variable("BRAID_TEST_ENGINE", "inproc");
  return name;
}

bool braid::test::isInProcess() {
  // The engine cuda runs its ranks as threads where no launcher has started the
  // process.
  return engineName() == "inproc" ||
         (engineName() == "cuda" && !std::getenv("RANK"));
}

bool braid::test::reducesInOrder() { return engineName() != "cuda"; }

std::string braid::test::whyNoOrder() {
  return reducesInOrder() ? ""
                          : "NCCL combines operands in an order of its own";
}

std::string braid::test::whyNoReduction(int32_t reduction, int32_t dtype,
                                        int32_t groupSize) {
  if (engineName() != "cuda")
    return "";
  bool isInteger = dtype >= BRAID_RT_I8 && dtype <= BRAID_RT_I64;
  bool isComplex =
      dtype == BRAID_RT_COMPLEX_F32 || dtype == BRAID_RT_COMPLEX_F64;
  bool isByteFloat = dtype == BRAID_RT_F8E4M3FN || dtype == BRAID_RT_F8E5M2;
  bool lacks =
      dtype == BRAID_RT_I16 || reduction == BRAID_RT_BXOR ||
      (isInteger && (reduction == BRAID_RT_AVG || reduction == BRAID_RT_BAND ||
                     reduction == BRAID_RT_BOR)) ||
      (reduction == BRAID_RT_PREMUL_SUM &&
       (isComplex || (isByteFloat && groupSize == 1)));
  return lacks ? std::string("NCCL has no ") +
                     braid_rt_reduction_name(reduction) + " of " +
                     braid_rt_dtype_name(dtype)
               : "";
}

std::string braid::test::whyNoDimension(int64_t dim) {
  return engineName() == "cuda" && dim > 0
             ? "NCCL joins and splits along dimension 0 alone"
             : "";
}

OwnWorlds braid::test::ownWorlds() {
  static const std::string value = variable("BRAID_TEST_OWN_WORLDS", "");
  if (value == "list")
    return OwnWorlds::List;
  if (value == "only")
    return OwnWorlds::Only;
  if (!value.empty())
    throw std::runtime_error("BRAID_TEST_OWN_WORLDS must be list or only");
  return OwnWorlds::Usual;
}

/// `Suite.Name` of the running test.
static std::string currentTest() {
  const testing::TestInfo *info =
      testing::UnitTest::GetInstance()->current_test_info();
  return info ? std::string(info->test_suite_name()) + "." + info->name()
              : "outside of the tests";
}

static std::string needsRanks(int32_t ranks) {
  return "needs " + std::to_string(ranks) + " ranks";
}

/// Why BRAID_TEST_RANKS (`3,4`) leaves out a test of so many ranks; empty when
/// it does not, or is unset.
static std::string whyLeftOut(int32_t ranks) {
  static const std::string numbers = variable("BRAID_TEST_RANKS", "");
  std::string number = std::to_string(ranks);
  bool isLeftOut =
      !numbers.empty() &&
      ("," + numbers + ",").find("," + number + ",") == std::string::npos;
  return isLeftOut ? "BRAID_TEST_RANKS has no " + number : "";
}

std::string braid::test::whyNoSharedWorld(int32_t ranks) {
  if (ownWorlds() != OwnWorlds::Usual)
    return "shares its world";
  if (!isInProcess() && sharedWorld(0).size() != ranks)
    return needsRanks(ranks);
  return whyLeftOut(ranks);
}

std::string braid::test::whyNoOwnWorld(int32_t ranks) {
  if (ownWorlds() == OwnWorlds::List) {
    std::printf("own world: %d %s\n", ranks, currentTest().c_str());
    return "listed";
  }
  if (!isInProcess() && ownWorlds() == OwnWorlds::Usual)
    return "needs a world of its own";
  return whyLeftOut(ranks);
}

/// The options in BRAID_TEST_OPTIONS, which live as long as the process.
static const std::vector<braid_rt_option> &engineOptions() {
  static std::vector<std::pair<std::string, std::string>> texts;
  static std::vector<braid_rt_option> options;
  if (!texts.empty())
    return options;
  std::istringstream list(variable("BRAID_TEST_OPTIONS", ""));
  for (std::string item; std::getline(list, item, ',');) {
    size_t equals = item.find('=');
    if (equals == std::string::npos)
      throw std::runtime_error("BRAID_TEST_OPTIONS: no '=' in " + item);
    texts.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  for (const auto &[key, value] : texts)
    options.push_back({key.c_str(), value.c_str()});
  return options;
}

World::World(int32_t ranks,
             const std::function<void(braid_rt_config &)> &adjust)
    : world(nullptr, braid_rt_world_destroy) {
  braid_rt_config config;
  char error[1024];
  if (braid_rt_config_init(&config, error, sizeof(error)) != BRAID_RT_OK)
    throw std::runtime_error(error);
  config.engine = engineName().c_str();
  config.ranks = ranks;
  config.options = engineOptions().data();
  config.optionCount = static_cast<int64_t>(engineOptions().size());
  if (adjust)
    adjust(config);
  world.reset(braid_rt_world_create(&config, error, sizeof(error)));
  if (!world)
    throw std::runtime_error(error);
  const int32_t *ranksHere;
  int32_t count = braid_rt_world_local_ranks(world.get(), &ranksHere);
  locals.assign(ranksHere, ranksHere + count);
  if (has("host-memory"))
    return;
  for (int32_t rank : locals) {
    DeviceBuffers buffers;
    buffers.context = context(rank);
    buffers.memory = static_cast<char *>(braid_rt_device_alloc(
        buffers.context, DeviceBuffers::bytes, error, sizeof(error)));
    if (!buffers.memory)
      throw std::runtime_error(error);
    deviceBuffers.push_back(buffers);
  }
}

World::~World() {
  for (const DeviceBuffers &buffers : deviceBuffers)
    braid_rt_device_free(buffers.context, buffers.memory);
  // After a failure the end of the world may end the process: the outcome of
  // the test is told before.
  if (isInProcess() || isShared)
    return;
  std::ostringstream line;
  for (int32_t rank : locals)
    line << "rank " << rank << ": "
         << (testing::Test::HasFailure() ? "FAILED " : "PASSED ")
         << currentTest() << "\n";
  std::fputs(line.str().c_str(), stdout);
  std::fflush(stdout);
}

namespace {
struct Call {
  const Body *body;
  int32_t rank;
  DeviceBuffers *buffers;
};
} // namespace

static void callBody(void **args) {
  const Call &call = *static_cast<Call *>(args[0]);
  useDeviceBuffers(call.buffers);
  (*call.body)(call.rank);
}

/// What tells groups apart.
static std::string keyOf(const braid_rt_group &group) {
  std::ostringstream key;
  key << group.name;
  for (int32_t list = 0; list < group.listCount; ++list) {
    key << '/';
    for (int32_t i = group.offsets[list]; i < group.offsets[list + 1]; ++i)
      key << group.ranks[i] << ' ';
  }
  return key.str();
}

braid_rt_program World::emptyProgram(const char *name) const {
  static const braid_rt_device_program nothing = {};
  braid_rt_program program = {};
  program.abiVersion = BRAID_RT_ABI_VERSION;
  program.name = name;
  if (!has("host-memory")) {
    program.target = BRAID_RT_TARGET_CUDA;
    program.device = &nothing;
  }
  return program;
}

void World::announce(const Groups &groups) {
  Groups added;
  for (const braid_rt_group *group : groups)
    if (announced.insert(keyOf(*group)).second)
      added.push_back(group);
  if (announced.insert(keyOf(worldGroup)).second)
    added.push_back(&worldGroup);
  if (added.empty())
    return;
  braid_rt_program program = emptyProgram("conformance");
  program.groupCount = static_cast<int64_t>(added.size());
  program.groups = added.data();
  char error[1024];
  if (braid_rt_world_prepare(world.get(), &program, error, sizeof(error)) !=
      BRAID_RT_OK)
    throw std::runtime_error(error);
}

bool World::run(const Body &body, const Groups &groups) {
  announce(groups);
  return runUnannounced(body);
}

bool World::runUnannounced(const Body &body) {
  std::vector<Call> calls;
  for (size_t i = 0; i < locals.size(); ++i)
    calls.push_back({&body, locals[i],
                     deviceBuffers.empty() ? nullptr : &deviceBuffers[i]});
  std::vector<void *> args;
  for (Call &call : calls)
    args.push_back(&call);
  std::vector<void **> argsOfRank;
  for (void *&arg : args)
    argsOfRank.push_back(&arg);
  const braid_rt_entry entry = {"body", callBody, 0, nullptr, nullptr};
  bool ok =
      braid_rt_world_run(world.get(), &entry, argsOfRank.data()) == BRAID_RT_OK;
  EXPECT_EQ(ok, errors().empty()) << errors();
  if (!ok && isShared && !has("recovery")) {
    // No later test can use this world. The others get time to say the same.
    std::fprintf(stderr, "%s ended the world: %s\n", currentTest().c_str(),
                 errors().c_str());
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::_Exit(1);
  }
  return ok;
}

std::string World::error(int32_t rank) const {
  return braid_rt_error(context(rank));
}

bool World::isSecondary(int32_t rank) const {
  return braid_rt_error_is_secondary(context(rank)) != 0;
}

std::string World::errors() const {
  std::string result;
  for (int32_t rank : locals) {
    std::string message = error(rank);
    if (!message.empty())
      result += (result.empty() ? "" : "\n") + message;
  }
  return result;
}

bool World::isLocal(int32_t rank) const {
  return std::find(locals.begin(), locals.end(), rank) != locals.end();
}

std::vector<std::string> World::exchange(const std::string &bytes) {
  std::vector<std::string> received;
  auto receive = [](void *data, int32_t, const void *bytes, int64_t size) {
    static_cast<std::vector<std::string> *>(data)->emplace_back(
        static_cast<const char *>(bytes), static_cast<size_t>(size));
  };
  char error[1024];
  if (braid_rt_world_exchange(world.get(), bytes.data(),
                              static_cast<int64_t>(bytes.size()), receive,
                              &received, error, sizeof(error)) != BRAID_RT_OK)
    throw std::runtime_error(error);
  return received;
}

std::vector<int64_t> World::collect(const std::vector<int64_t> &values) {
  std::string own;
  for (int32_t rank : locals) {
    const int64_t entry[] = {rank, values[rank]};
    own.append(reinterpret_cast<const char *>(entry), sizeof(entry));
  }
  std::vector<int64_t> result(size(), -1);
  for (const std::string &bytes : exchange(own))
    for (size_t i = 0; i < bytes.size(); i += 2 * sizeof(int64_t)) {
      int64_t entry[2];
      std::memcpy(entry, bytes.data() + i, sizeof(entry));
      result[entry[0]] = entry[1];
    }
  return result;
}

static std::map<int32_t, std::unique_ptr<World>> &sharedWorlds() {
  static std::map<int32_t, std::unique_ptr<World>> worlds;
  return worlds;
}

void braid::test::endSharedWorlds() { sharedWorlds().clear(); }

World &braid::test::sharedWorld(int32_t ranks) {
  std::unique_ptr<World> &world = sharedWorlds()[isInProcess() ? ranks : 0];
  if (!world) {
    world = std::make_unique<World>(isInProcess() ? ranks : 0);
    world->isShared = true;
  }
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
