//===- ScheduleTest.cpp - Tests of the C interface of scheduling ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid-c/Schedule.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Deleter {
  void operator()(braid_problem *problem) const {
    braid_problem_destroy(problem);
  }
  void operator()(braid_machine *machine) const {
    braid_machine_destroy(machine);
  }
  void operator()(braid_monitor *monitor) const {
    braid_monitor_destroy(monitor);
  }
};
template <typename T> using Owned = std::unique_ptr<T, Deleter>;

/// A structure of this size, with nothing else in it.
template <typename T> T sized() {
  T result = {};
  result.struct_size = sizeof(T);
  return result;
}

/// A gather and its wait, compute that needs neither, and a sum of both.
struct Example {
  std::vector<int8_t> kinds = {BRAID_START, BRAID_WAIT, BRAID_COMPUTE,
                               BRAID_COMPUTE};
  std::vector<int32_t> lanes = {0, -1, -1, -1};
  std::vector<int64_t> costs = {300, 0, 500, 100};
  std::vector<int64_t> edges = {1, 3, 2, 3};
  std::vector<int64_t> awaits = {1, 0};
  std::vector<int64_t> bufferBytes = {64, 32};
  std::vector<int64_t> bufferBegin = {0, 3, 5};
  std::vector<int64_t> bufferUsers = {0, 1, 3, 2, 3};
  braid_problem_description description = {};
  braid_error error = sized<braid_error>();

  Example() {
    description.struct_size = sizeof(description);
    description.max_memory = -1;
    description.num_lanes = 1;
  }

  Owned<braid_problem> create() {
    description.num_nodes = kinds.size();
    description.kinds = kinds.data();
    description.lanes = lanes.data();
    description.costs = costs.data();
    description.num_edges = edges.size() / 2;
    description.edges = edges.data();
    description.num_awaits = awaits.size() / 2;
    description.awaits = awaits.data();
    description.num_buffers = bufferBytes.size();
    description.buffer_bytes = bufferBytes.data();
    description.buffer_begin = bufferBegin.data();
    description.buffer_users = bufferUsers.data();
    error = sized<braid_error>();
    return Owned<braid_problem>(braid_problem_create(&description, &error));
  }

  /// The text of the error that there is.
  std::string getError() {
    EXPECT_EQ(create(), nullptr);
    EXPECT_NE(error.code, BRAID_OK);
    return error.text;
  }
};

TEST(ScheduleCTest, versions) {
  EXPECT_EQ(braid_schedule_api_version(), BRAID_SCHEDULE_API_VERSION);
  EXPECT_STRNE(braid_schedule_version(), "");
}

TEST(ScheduleCTest, searchFindsTheBestOrder) {
  Example example;
  Owned<braid_problem> problem = example.create();
  ASSERT_NE(problem, nullptr) << example.error.text;
  std::vector<int64_t> order(4);
  auto summary = sized<braid_search_summary>();
  ASSERT_EQ(braid_search(problem.get(), nullptr, nullptr, order.data(),
                         &summary, nullptr),
            BRAID_OK);
  EXPECT_EQ(order, (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(summary.makespan_ns, 600);
  EXPECT_EQ(summary.lower_bound_ns, 600);
  EXPECT_EQ(summary.optimal, 1);
  EXPECT_EQ(summary.stopped, 0);
}

TEST(ScheduleCTest, simulationReasonsAndMemoryOfTheProgram) {
  Example example;
  Owned<braid_problem> problem = example.create();
  std::vector<int64_t> order = {0, 1, 2, 3};
  std::vector<braid_times> times(4, sized<braid_times>());
  auto summary = sized<braid_simulation_summary>();
  ASSERT_EQ(braid_simulate(problem.get(), order.data(), times.data(), &summary,
                           nullptr),
            BRAID_OK);
  EXPECT_EQ(summary.makespan_ns, 900);
  EXPECT_EQ(summary.exposed_ns, 300);
  EXPECT_EQ(times[2].start_ns, 300);
  EXPECT_EQ(times[2].end_ns, 800);

  std::vector<int64_t> bytes(4);
  ASSERT_EQ(
      braid_get_memory(problem.get(), order.data(), bytes.data(), nullptr),
      BRAID_OK);
  EXPECT_EQ(bytes, (std::vector<int64_t>{64, 64, 96, 96}));

  auto reason = sized<braid_reason>();
  ASSERT_EQ(braid_get_reasons(problem.get(), order.data(), &reason, 1, nullptr),
            1);
  EXPECT_EQ(reason.start, 0);
  EXPECT_EQ(reason.node, 2);
  EXPECT_STREQ(reason.kind, "not-moved");
  char text[16];
  int64_t length = braid_reason_describe(&reason, "mm", text, sizeof(text));
  EXPECT_EQ(std::string(text), "mm could run be");
  EXPECT_EQ(length, int64_t(std::string("mm could run beside it, which gains "
                                        "300 ns")
                                .size()));
}

TEST(ScheduleCTest, algorithmsByName) {
  Example example;
  Owned<braid_problem> problem = example.create();
  std::vector<int64_t> order(4);
  for (int64_t i = 0; i != braid_algorithm_count(); ++i) {
    const char *name = braid_algorithm_name(i);
    EXPECT_EQ(std::string(name).find_first_of(" ,"), std::string::npos) << name;
    ASSERT_EQ(braid_algorithm_run(problem.get(), name, order.data(), nullptr),
              BRAID_OK);
    EXPECT_EQ(braid_problem_check_order(problem.get(), order.data(), nullptr),
              BRAID_OK)
        << name;
  }
  EXPECT_EQ(braid_algorithm_name(-1), nullptr);
  EXPECT_EQ(braid_algorithm_name(braid_algorithm_count()), nullptr);
  EXPECT_EQ(
      braid_algorithm_run(problem.get(), "magic", order.data(), &example.error),
      BRAID_UNKNOWN_NAME);
  EXPECT_EQ(std::string(example.error.text).rfind("found no algorithm", 0), 0u);
}

TEST(ScheduleCTest, aSearchThatIsStoppedGivesWhatItHas) {
  Example example;
  Owned<braid_problem> problem = example.create();
  Owned<braid_monitor> monitor(braid_monitor_create());
  braid_monitor_stop(monitor.get());
  std::vector<int64_t> order(4);
  auto summary = sized<braid_search_summary>();
  ASSERT_EQ(braid_search(problem.get(), nullptr, monitor.get(), order.data(),
                         &summary, nullptr),
            BRAID_OK);
  EXPECT_EQ(summary.stopped, 1);
  EXPECT_EQ(braid_problem_check_order(problem.get(), order.data(), nullptr),
            BRAID_OK);
  auto progress = sized<braid_progress>();
  ASSERT_EQ(braid_monitor_get_progress(monitor.get(), &progress, nullptr),
            BRAID_OK);
  EXPECT_EQ(progress.makespan_ns, summary.makespan_ns);
}

TEST(ScheduleCTest, noOrderWithinTheLimitOnOperationsInFlight) {
  Example example;
  // The last node awaits two operations at once.
  example.kinds = {BRAID_START, BRAID_START, BRAID_COMPUTE, BRAID_WAIT};
  example.lanes = {0, 0, -1, -1};
  example.costs = {300, 300, 500, 0};
  example.edges = {0, 3, 1, 3};
  example.awaits = {3, 0, 3, 1};
  example.description.max_in_flight = 1;
  Owned<braid_problem> problem = example.create();
  ASSERT_NE(problem, nullptr) << example.error.text;
  std::vector<int64_t> order(4);
  auto summary = sized<braid_search_summary>();
  EXPECT_EQ(braid_search(problem.get(), nullptr, nullptr, order.data(),
                         &summary, &example.error),
            BRAID_NO_ORDER);
  EXPECT_STREQ(example.error.text,
               "found no order within max_in_flight=1; in the program's, node "
               "1 is operation 2 in flight on lane 0, which may have 1");
}

TEST(ScheduleCTest, anOlderCallerKnowsFewerFields) {
  Example example;
  // Without machine and transients.
  example.description.struct_size =
      offsetof(braid_problem_description, machine);
  example.description.machine = reinterpret_cast<const braid_machine *>(1);
  example.description.num_transients = 7;
  Owned<braid_problem> problem = example.create();
  ASSERT_NE(problem, nullptr) << example.error.text;
  std::vector<int64_t> order(4);
  braid_search_summary summary = {};
  summary.struct_size = offsetof(braid_search_summary, steps);
  summary.steps = 4711;
  ASSERT_EQ(braid_search(problem.get(), nullptr, nullptr, order.data(),
                         &summary, nullptr),
            BRAID_OK);
  EXPECT_EQ(summary.makespan_ns, 600);
  EXPECT_EQ(summary.steps, 4711u);
}

TEST(ScheduleCTest, anOlderCallerKnowsLessOfAnError) {
  Example example;
  example.costs[2] = -5;
  example.create();
  auto error = sized<braid_error>();
  error.struct_size = offsetof(braid_error, text);
  error.text[0] = '?';
  EXPECT_EQ(braid_problem_create(&example.description, &error), nullptr);
  EXPECT_EQ(error.code, BRAID_INVALID_ARGUMENT);
  EXPECT_EQ(error.node, 2);
  EXPECT_EQ(error.text[0], '?');
  braid_error unsized = {};
  EXPECT_EQ(braid_problem_create(&example.description, &unsized), nullptr);
  EXPECT_EQ(unsized.code, 0);
}

/// What callers of another version have as an element of an array.
struct OtherTimes {
  braid_times times;
  int64_t more;
};

TEST(ScheduleCTest, arraysOfOtherVersions) {
  Example example;
  Owned<braid_problem> problem = example.create();
  std::vector<int64_t> order = {0, 1, 2, 3};
  auto summary = sized<braid_simulation_summary>();
  // A newer caller: what the library does not know stays.
  std::vector<OtherTimes> newer(4);
  newer[0].times.struct_size = sizeof(OtherTimes);
  newer[3].more = 7;
  ASSERT_EQ(braid_simulate(problem.get(), order.data(), &newer[0].times,
                           &summary, nullptr),
            BRAID_OK);
  EXPECT_EQ(newer[2].times.start_ns, 300);
  EXPECT_EQ(newer[3].times.end_ns, 900);
  EXPECT_EQ(newer[3].times.struct_size, sizeof(braid_times));
  EXPECT_EQ(newer[3].more, 7);
  // An older one, without the fields from `lost_ns` on.
  std::vector<int64_t> older(16, -1);
  older[0] = offsetof(braid_times, lost_ns);
  ASSERT_EQ(braid_simulate(problem.get(), order.data(),
                           reinterpret_cast<braid_times *>(older.data()),
                           &summary, nullptr),
            BRAID_OK);
  EXPECT_EQ(older[4 * 2 + 2], 300);
  EXPECT_EQ(older[4 * 3 + 3], 900);
}

TEST(ScheduleCTest, everyArgumentIsAsked) {
  Example example;
  Owned<braid_problem> problem = example.create();
  Owned<braid_machine> machine(braid_machine_create("h100x8", nullptr));
  std::vector<int64_t> order = {0, 1, 2, 3}, bytes(4);
  auto error = sized<braid_error>();
  auto expect = [&](int64_t code, const char *text) {
    EXPECT_NE(code, BRAID_OK);
    EXPECT_STREQ(error.text, text);
  };
  braid_search_summary found = {};
  expect(braid_search(problem.get(), nullptr, nullptr, order.data(), &found,
                      &error),
         "summary is null or has no struct_size");
  expect(braid_search(problem.get(), nullptr, nullptr, nullptr, &found, &error),
         "order is null");
  expect(braid_search(nullptr, nullptr, nullptr, order.data(), &found, &error),
         "problem is null");
  braid_simulation_summary simulated = {};
  expect(
      braid_simulate(problem.get(), order.data(), nullptr, &simulated, &error),
      "summary is null or has no struct_size");
  simulated.struct_size = sizeof(simulated);
  expect(braid_simulate(problem.get(), nullptr, nullptr, &simulated, &error),
         "order is null");
  std::vector<braid_times> times(4);
  expect(braid_simulate(problem.get(), order.data(), times.data(), &simulated,
                        &error),
         "times is null or has no struct_size");
  expect(braid_get_memory(problem.get(), order.data(), nullptr, &error),
         "bytes is null");
  braid_reason reason = {};
  expect(braid_get_reasons(problem.get(), order.data(), &reason, 1, &error),
         "reasons is null or has no struct_size");
  EXPECT_EQ(braid_get_reasons(problem.get(), order.data(), nullptr, 0, &error),
            1);
  EXPECT_EQ(braid_reason_describe(&reason, nullptr, nullptr, 0), -1);
  expect(braid_problem_check_order(nullptr, order.data(), &error),
         "problem is null");
  expect(braid_algorithm_run(problem.get(), "list", nullptr, &error),
         "order is null");
  auto figures = sized<braid_machine_figures>();
  expect(braid_machine_get_figures(nullptr, &figures, &error),
         "machine is null");
  figures.struct_size = 0;
  expect(braid_machine_get_figures(machine.get(), &figures, &error),
         "figures is null or has no struct_size");
  auto progress = sized<braid_progress>();
  expect(braid_monitor_get_progress(nullptr, &progress, &error),
         "monitor is null");
  std::vector<braid_demand> demands(4);
  example.description.demands = demands.data();
  EXPECT_EQ(example.getError(), "demands is null or has no struct_size");
  EXPECT_EQ(braid_get_lower_bound(nullptr, nullptr), -1);
  EXPECT_EQ(braid_machine_name(nullptr), nullptr);
  braid_monitor_stop(nullptr);
}

TEST(ScheduleCTest, limitsOnMemory) {
  Example example;
  example.description.max_memory = 95;
  Owned<braid_problem> problem = example.create();
  std::vector<int64_t> order(4);
  auto summary = sized<braid_search_summary>();
  ASSERT_EQ(braid_search(problem.get(), nullptr, nullptr, order.data(),
                         &summary, nullptr),
            BRAID_OK);
  EXPECT_EQ(summary.excess_bytes, 1);
  EXPECT_EQ(summary.least_peak_bytes, 96);
  EXPECT_EQ(summary.excess_proven, 1);
}

TEST(ScheduleCTest, wrongNodes) {
  Example example;
  example.costs[2] = -5;
  EXPECT_EQ(example.getError(), "found -5 ns, expected at least 0");
  EXPECT_EQ(example.error.node, 2);
  example = Example();
  example.kinds[2] = 9;
  EXPECT_EQ(example.getError(), "node 2 has the kind 9, expected 0 to 3");
  example = Example();
  example.lanes[0] = 1;
  EXPECT_EQ(example.getError(), "node 0 is a start on lane 1, expected 0 to 0");
  example = Example();
  example.costs[1] = 5;
  EXPECT_EQ(example.getError(), "node 1 is a wait that takes 5 ns, expected 0");
  example = Example();
  example.costs = {int64_t(1) << 60, 0, int64_t(1) << 60, int64_t(1) << 60};
  EXPECT_EQ(example.getError(), "all ns add up to more than 2^61");
}

TEST(ScheduleCTest, wrongEdges) {
  Example example;
  example.edges = {3, 2};
  EXPECT_EQ(example.getError(),
            "found an edge from 3 to 2, expected edges that lead to higher "
            "numbers");
  EXPECT_EQ(example.error.code, BRAID_CYCLE);
  example.edges = {0, 4};
  EXPECT_EQ(example.getError(),
            "found an edge from 0 to 4, expected nodes from 0 to 3");
  example = Example();
  example.awaits = {3, 2};
  EXPECT_EQ(example.getError(), "found that 3 awaits 2, expected a node that "
                                "is no start and a start before it");
}

TEST(ScheduleCTest, wrongBuffers) {
  Example example;
  example.bufferUsers[1] = 7;
  EXPECT_EQ(example.getError(),
            "buffer 0 has the user 7, expected nodes from 0 to 3");
  example = Example();
  example.bufferBegin = {0, 0, 2};
  EXPECT_EQ(example.getError(),
            "buffer 0 has its users from 0 to 0, expected at least one");
  example = Example();
  example.bufferBytes[0] = -1;
  EXPECT_EQ(example.getError(), "found -1 bytes, expected at least 0");
}

TEST(ScheduleCTest, wrongDescriptions) {
  Example example;
  example.description.struct_size = 0;
  EXPECT_EQ(example.getError(), "description is null or has no struct_size");
  example = Example();
  example.description.max_memory = -2;
  EXPECT_EQ(example.getError(), "found the limits -2 bytes and 0 in flight, "
                                "expected at least -1 and 0 to 2147483647");
  EXPECT_EQ(braid_problem_create(nullptr, nullptr), nullptr);
}

TEST(ScheduleCTest, wrongOrders) {
  Example example;
  Owned<braid_problem> problem = example.create();
  auto getError = [&](std::vector<int64_t> order) {
    EXPECT_EQ(
        braid_problem_check_order(problem.get(), order.data(), &example.error),
        BRAID_INVALID_ARGUMENT);
    return std::string(example.error.text);
  };
  EXPECT_EQ(getError({0, 1, 2, 9}), "the order names a node that there is not");
  EXPECT_EQ(getError({0, 1, 2, -1}),
            "the order names a node that there is not");
  EXPECT_EQ(getError({1, 0, 2, 3}),
            "edges: node 1 stands before node 0, which it has to follow");
  EXPECT_NE(getError({0, 0, 1, 2}), "");
}

TEST(ScheduleCTest, machines) {
  EXPECT_GT(braid_machine_count(), 0);
  EXPECT_EQ(braid_machine_known_name(-1), nullptr);
  EXPECT_EQ(braid_machine_known_summary(braid_machine_count()), nullptr);
  braid_error error = sized<braid_error>();
  EXPECT_EQ(braid_machine_create("abacus", &error), nullptr);
  EXPECT_EQ(error.code, BRAID_UNKNOWN_NAME);
  EXPECT_EQ(braid_machine_create(nullptr, &error), nullptr);
  EXPECT_EQ(braid_machine_parse("{\"base\": 7}", "mine", &error), nullptr);
  EXPECT_EQ(error.code, BRAID_INVALID_ARGUMENT);
  Owned<braid_machine> machine(
      braid_machine_parse("{\"base\": \"h100x8\"}", "mine", &error));
  ASSERT_NE(machine, nullptr) << error.text;
  EXPECT_STREQ(braid_machine_name(machine.get()), "mine");
  auto figures = sized<braid_machine_figures>();
  ASSERT_EQ(braid_machine_get_figures(machine.get(), &figures, &error),
            BRAID_OK);
  EXPECT_EQ(figures.multiprocessors, 132);
  EXPECT_EQ(figures.is_shared, 1);
}

TEST(ScheduleCTest, collectives) {
  Owned<braid_machine> machine(braid_machine_create("h100x8", nullptr));
  auto collective = sized<braid_collective>();
  collective.kind = "all_gather";
  collective.group_size = 8;
  collective.num_nodes = 1;
  collective.input_bytes = 1 << 20;
  collective.output_bytes = 8 << 20;
  auto time = sized<braid_collective_time>();
  braid_error error = sized<braid_error>();
  ASSERT_EQ(braid_collective_estimate(machine.get(), nullptr, &collective,
                                      &time, &error),
            BRAID_OK)
      << error.text;
  EXPECT_GT(time.ns, 0);
  EXPECT_EQ(time.link_bytes, 7 << 20);
  EXPECT_EQ(time.is_one_way, 1);
  collective.kind = "all_reduce";
  ASSERT_EQ(braid_collective_estimate(machine.get(), nullptr, &collective,
                                      &time, &error),
            BRAID_OK);
  EXPECT_EQ(time.is_one_way, 0);
  collective.kind = "all_sing";
  EXPECT_EQ(braid_collective_estimate(machine.get(), nullptr, &collective,
                                      &time, &error),
            BRAID_UNKNOWN_NAME);
  collective.kind = nullptr;
  EXPECT_EQ(braid_collective_estimate(machine.get(), nullptr, &collective,
                                      &time, &error),
            BRAID_UNKNOWN_NAME);
}

TEST(ScheduleCTest, aProfileReplacesTheModelOfCollectives) {
  Owned<braid_machine> machine(braid_machine_create("h200x8", nullptr));
  auto collective = sized<braid_collective>();
  collective.kind = "all_reduce";
  collective.group_size = 2;
  collective.num_nodes = 1;
  collective.input_bytes = collective.output_bytes = 64 << 20;
  auto time = sized<braid_collective_time>();
  auto estimate = [&](int64_t maxCtas) {
    collective.max_ctas = maxCtas;
    EXPECT_EQ(braid_collective_estimate(machine.get(), nullptr, &collective,
                                        &time, nullptr),
              BRAID_OK);
    return time.ns;
  };
  estimate(0);
  EXPECT_EQ(time.is_measured, 0);
  EXPECT_EQ(time.cluster_size, 4);
  braid_error error = sized<braid_error>();
  ASSERT_EQ(braid_machine_calibrate(machine.get(), nullptr, &error), BRAID_OK)
      << error.text;
  EXPECT_EQ(estimate(0), 247553);
  EXPECT_EQ(time.is_measured, 1);
  EXPECT_EQ(estimate(8), 439450);
  EXPECT_EQ(time.cluster_size, 0);
  EXPECT_EQ(time.multiprocessors, 8);
  // Few blocks stand in pairs.
  estimate(4);
  EXPECT_EQ(time.cluster_size, 2);
  estimate(3);
  EXPECT_EQ(time.cluster_size, 0);
  // A gather by copy engines takes no multiprocessors.
  collective.kind = "all_gather";
  collective.input_bytes = 32 << 20;
  double byKernel = estimate(0);
  EXPECT_GT(time.multiprocessors, 0);
  collective.transport = "copy";
  EXPECT_NE(estimate(0), byKernel);
  EXPECT_EQ(time.is_measured, 1);
  EXPECT_EQ(time.multiprocessors, 0);
  EXPECT_EQ(time.cluster_size, 0);
  collective.transport = "pigeon";
  EXPECT_EQ(braid_collective_estimate(machine.get(), nullptr, &collective,
                                      &time, &error),
            BRAID_UNKNOWN_NAME);
  EXPECT_STREQ(error.text, "found no transport called 'pigeon', expected one "
                           "of: default symmetric copy");
}

TEST(ScheduleCTest, profilesThatDoNotFit) {
  Owned<braid_machine> machine(braid_machine_create("a100x8", nullptr));
  braid_error error = sized<braid_error>();
  EXPECT_EQ(braid_machine_calibrate(machine.get(), nullptr, &error),
            BRAID_UNKNOWN_NAME);
  EXPECT_EQ(braid_machine_calibrate(machine.get(), "{", &error),
            BRAID_INVALID_ARGUMENT);
  EXPECT_EQ(braid_machine_calibrate(
                machine.get(),
                "{\"version\": 1, \"machine\": \"h200x8\", \"entries\": []}",
                &error),
            BRAID_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "found a profile of the machine 'h200x8', expected "
                           "one of 'a100x8'");
}

TEST(ScheduleCTest, matmuls) {
  Owned<braid_machine> machine(braid_machine_create("h100x8", nullptr));
  auto matmul = sized<braid_matmul>();
  matmul.rows = matmul.columns = matmul.depth = 4096;
  matmul.element = 2;
  matmul.batch = 1;
  auto time = sized<braid_matmul_time>();
  braid_error error = sized<braid_error>();
  ASSERT_EQ(braid_matmul_estimate(machine.get(), &matmul, &time, &error),
            BRAID_OK)
      << error.text;
  EXPECT_EQ(time.tiles, 512);
  EXPECT_EQ(time.blocks, -1);
  EXPECT_EQ(time.memory_bytes, 3 * 4096 * 4096 * 2);
  double onAll = time.ns;
  matmul.multiprocessors = 100;
  ASSERT_EQ(braid_matmul_estimate(machine.get(), &matmul, &time, &error),
            BRAID_OK);
  EXPECT_EQ(time.blocks, 100);
  EXPECT_GT(time.ns, onAll);
  matmul.transposed = 4;
  EXPECT_EQ(braid_matmul_estimate(machine.get(), &matmul, &time, &error),
            BRAID_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "found transposed operands 4, expected 0 to 3");
  matmul.transposed = 0;
  matmul.element = 7;
  EXPECT_EQ(braid_matmul_estimate(machine.get(), &matmul, &time, &error),
            BRAID_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "found elements of the class 7, expected 0 to 6");
}

/// Two matmuls with a reduction beside the second one, on a machine whose
/// multiprocessors are queued for.
TEST(ScheduleCTest, kernelsThatHoldMultiprocessorsKeepCollectivesOut) {
  Owned<braid_machine> machine(braid_machine_create("h200x8", nullptr));
  ASSERT_EQ(braid_machine_calibrate(machine.get(), nullptr, nullptr), BRAID_OK);
  Example example;
  example.kinds = {BRAID_COMPUTE, BRAID_START, BRAID_COMPUTE, BRAID_WAIT};
  example.lanes = {-1, 0, -1, -1};
  example.costs = {1000000, 200000, 1000000, 0};
  example.edges = {0, 1, 0, 2};
  example.awaits = {3, 1};
  example.bufferBytes = {};
  example.bufferBegin = {0};
  example.bufferUsers = {};
  std::vector<braid_demand> demands(4, sized<braid_demand>());
  demands[0].arithmetic_ns = demands[2].arithmetic_ns = 1000000;
  demands[0].tiles = demands[2].tiles = 528;
  demands[1].multiprocessors = 8;
  example.description.demands = demands.data();
  example.description.machine = machine.get();
  auto getEnd = [&](std::vector<int32_t> blocks) {
    example.description.blocks = blocks.data();
    Owned<braid_problem> problem = example.create();
    std::vector<int64_t> order = {0, 1, 2, 3};
    std::vector<braid_times> times(4, sized<braid_times>());
    auto summary = sized<braid_simulation_summary>();
    EXPECT_EQ(braid_simulate(problem.get(), order.data(), times.data(),
                             &summary, nullptr),
              BRAID_OK);
    return times[1].end_ns;
  };
  EXPECT_LT(getEnd({124, 0, 124, 0}), getEnd({-1, 0, -1, 0}));
}

} // namespace
