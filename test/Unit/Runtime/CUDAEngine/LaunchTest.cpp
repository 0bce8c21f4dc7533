//===- LaunchTest.cpp - Variables of launchers ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "CUDA/LaunchOptions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>

using namespace braid::rt;
using namespace braid::rt::cuda;
using testing::HasSubstr;

using Table = std::map<std::string, std::string>;

static Launch launchOf(const Table &table) {
  return findLaunch([&](const char *name) {
    auto found = table.find(name);
    return found == table.end() ? nullptr : found->second.c_str();
  });
}

static std::string errorOf(const Table &table) {
  try {
    launchOf(table);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

static Table torchrun() {
  return {{"RANK", "5"},
          {"WORLD_SIZE", "8"},
          {"LOCAL_RANK", "1"},
          {"LOCAL_WORLD_SIZE", "4"},
          {"MASTER_ADDR", "node0"},
          {"MASTER_PORT", "29400"},
          {"TORCHELASTIC_RUN_ID", "job"}};
}

TEST(Launch, WithoutALauncherThereIsOneProcess) {
  Launch launch = launchOf({});
  EXPECT_FALSE(launch.hasLauncher());
  EXPECT_EQ(launch.size, 1);
}

TEST(Launch, ReadsTheVariablesOfTorchrun) {
  Launch launch = launchOf(torchrun());
  EXPECT_EQ(launch.launcher, "torchrun");
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.localSize, 4);
  EXPECT_EQ(launch.address, "node0");
  EXPECT_EQ(launch.port, 29400);
  EXPECT_EQ(launch.job, "job");
}

TEST(Launch, LeavesThePortOfTorchrunsOwnStoreAlone) {
  Table table = torchrun();
  table["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(launchOf(table).port, 29401);
}

TEST(Launch, ReadsTheVariablesOfOpenMPI) {
  Launch launch = launchOf({{"OMPI_COMM_WORLD_RANK", "1"},
                            {"OMPI_COMM_WORLD_SIZE", "2"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_EQ(launch.launcher, "Open MPI");
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.localRank, 1);
  // All on this host.
  EXPECT_EQ(launch.address, "127.0.0.1");
}

TEST(Launch, ReadsTheVariablesOfHydra) {
  Launch launch = launchOf({{"PMI_RANK", "3"},
                            {"PMI_SIZE", "4"},
                            {"MPI_LOCALRANKID", "1"},
                            {"MPI_LOCALNRANKS", "2"},
                            {"MASTER_ADDR", "10.0.0.1"}});
  EXPECT_EQ(launch.launcher, "PMI");
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.port, 29500);
}

TEST(Launch, ReadsTheVariablesOfSlurm) {
  Launch launch = launchOf({{"SLURM_PROCID", "2"},
                            {"SLURM_STEP_NUM_TASKS", "4"},
                            {"SLURM_LOCALID", "0"},
                            {"SLURM_JOB_ID", "4097"},
                            {"SLURM_STEP_NODELIST", "gpu[03-05,9],other"}});
  EXPECT_EQ(launch.launcher, "Slurm");
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.localSize, 0);
  EXPECT_EQ(launch.address, "gpu03");
  EXPECT_EQ(launch.port, 61441);
}

TEST(Launch, KnowsWhetherThereAreOtherHosts) {
  Table table = torchrun();
  EXPECT_TRUE(launchOf(table).hasOtherHosts);
  table["WORLD_SIZE"] = "4", table["RANK"] = "1";
  EXPECT_FALSE(launchOf(table).hasOtherHosts);
  // Nobody says so.
  table.erase("LOCAL_WORLD_SIZE");
  EXPECT_FALSE(launchOf(table).hasOtherHosts);
  // Slurm counts the hosts of a step.
  Table slurm = {{"SLURM_PROCID", "2"},
                 {"SLURM_STEP_NUM_TASKS", "4"},
                 {"SLURM_LOCALID", "0"},
                 {"SLURM_STEP_NODELIST", "gpu[03-05]"}};
  EXPECT_FALSE(launchOf(slurm).hasOtherHosts);
  slurm["SLURM_STEP_NUM_NODES"] = "3";
  EXPECT_TRUE(launchOf(slurm).hasOtherHosts);
  EXPECT_EQ(launchOf(slurm).localSize, 0);
  slurm["SLURM_STEP_NUM_NODES"] = "1";
  EXPECT_FALSE(launchOf(slurm).hasOtherHosts);
  EXPECT_EQ(launchOf(slurm).localSize, 4);
}

TEST(Launch, CountsTheRanksOfAnUnevenStepOfSlurm) {
  Table slurm = {{"PMIX_RANK", "2"},
                 {"SLURM_STEP_NUM_TASKS", "3"},
                 {"SLURM_LOCALID", "0"},
                 {"SLURM_NODEID", "1"},
                 {"SLURM_STEP_NUM_NODES", "2"},
                 {"SLURM_STEP_TASKS_PER_NODE", "2,1"},
                 {"SLURM_STEP_NODELIST", "gpu[03-04]"}};
  Launch launch = launchOf(slurm);
  EXPECT_EQ(launch.localSize, 1);
  EXPECT_TRUE(launch.hasOtherHosts);
  EXPECT_EQ(launch.address, "gpu03");
}

TEST(Launch, TakesABatchScriptOfSlurmsForNoTask) {
  EXPECT_FALSE(
      launchOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).hasLauncher());
}

TEST(Launch, NamesALauncherThatTellsNoSize) {
  EXPECT_FALSE(launchOf({{"PMIX_RANK", "0"}}).hasLauncher());
  EXPECT_EQ(
      errorOf({{"OMPI_COMM_WORLD_RANK", "1"}}),
      "Open MPI has started this process (OMPI_COMM_WORLD_RANK=1) and does "
      "not say how many ranks there are");
}

TEST(Launch, NamesAVariableThatIsOutOfRange) {
  Table table = torchrun();
  table["RANK"] = "8";
  EXPECT_EQ(
      errorOf(table),
      "the environment has RANK=8 and WORLD_SIZE=8, expected a rank below "
      "the number of ranks");
  table["RANK"] = "one";
  EXPECT_EQ(errorOf(table),
            "the environment has RANK='one', expected a whole number");
  table = torchrun();
  table["MASTER_PORT"] = "70000";
  EXPECT_EQ(errorOf(table), "the variable MASTER_PORT is '70000', expected a "
                            "number from 1 to 65535");
}

TEST(Launch, AsksForTheHostOfRank0WhereThereAreSeveral) {
  Table table = torchrun();
  table.erase("MASTER_ADDR");
  EXPECT_THAT(errorOf(table), HasSubstr("set MASTER_ADDR to the host of rank "
                                        "0"));
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

using Given = std::vector<braid_rt_option>;

static Launch launchWith(const Given &options, const Table &table) {
  braid_rt_config config;
  braid_rt_config_init(&config, nullptr, 0);
  config.engine = "cuda";
  config.ranks = 4;
  config.options = options.data();
  config.optionCount = static_cast<int64_t>(options.size());
  return chooseLaunch(Environment(config), [&](const char *name) {
    auto found = table.find(name);
    return found == table.end() ? nullptr : found->second.c_str();
  });
}

static std::string errorWith(const Given &options) {
  try {
    launchWith(options, {});
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(LaunchOptions, LeaveTheChoiceToVariables) {
  EXPECT_EQ(launchWith({}, torchrun()).launcher, "torchrun");
}

TEST(LaunchOptions, HaveThreadsUnderALauncher) {
  EXPECT_FALSE(launchWith({{"launcher", "none"}}, torchrun()).hasLauncher());
}

TEST(LaunchOptions, DescribeTheProcessesOfACaller) {
  Launch launch = launchWith({{"launcher", "jax.distributed"},
                              {"rank", "3"},
                              {"address", "node0"},
                              {"port", "1234"},
                              {"job-key", "secret"}},
                             torchrun());
  EXPECT_EQ(launch.launcher, "jax.distributed");
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.localRank, -1);
  EXPECT_EQ(launch.address, "node0");
  EXPECT_EQ(launch.port, 1234);
  EXPECT_EQ(launch.key, "secret");
}

TEST(LaunchOptions, MissWhatALauncherSays) {
  EXPECT_EQ(errorWith({{"launcher", "jax.distributed"}, {"rank", "0"}}),
            "option 'address' of engine cuda is missing, which "
            "launcher=jax.distributed needs");
  EXPECT_EQ(errorWith({{"rank", "0"}}),
            "option 'rank' of engine cuda needs the option 'launcher'");
  EXPECT_EQ(errorWith({{"launcher", "jax.distributed"},
                       {"rank", "4"},
                       {"address", "node0"},
                       {"port", "1234"},
                       {"job-key", "secret"}}),
            "option 'rank' of engine cuda is '4', expected a number from 0 to "
            "3");
}
