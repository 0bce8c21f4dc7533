//===- mpi-collectives.cpp - The engine mpi beside plain MPI ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mpirun -n 2 mpi-collectives [ordered|fast|plain] [largest size in bytes]
//
// Prints the time of collectives through the runtime's C ABI (engine mpi, with
// ordered or fast reductions) beside that of the same MPI calls, blocking and
// non-blocking with a wait (I and W), measured in turns in one run; `plain`
// measures MPI alone, in a process without threads, as a program would that
// knows nothing of Braid. Asserts nothing.
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "braid-rt/braid-rt.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <string>
#include <vector>

namespace {
const braid_rt_group world = {"world", 1, 0, nullptr, nullptr};
const braid_rt_site site = {"benchmark", nullptr, 0, 0};

enum class Kind { AllReduce, AllGather, ReduceScatter, AllToAll };

const struct {
  Kind kind;
  const char *name;
} kinds[] = {{Kind::AllReduce, "all_reduce"},
             {Kind::AllGather, "all_gather"},
             {Kind::ReduceScatter, "reduce_scatter"},
             {Kind::AllToAll, "all_to_all"}};

/// What the measured function needs: operands of the largest size.
struct Measurement {
  std::string mode;
  int64_t largest = int64_t(64) << 20;
  int size = 0, rank = 0;
  MPI_Comm communicator = MPI_COMM_NULL;
  std::vector<float> source, destination;
};

double now() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Rounds to measure; the same on all ranks.
int roundsOf(int64_t bytes) {
  if (bytes <= 16 << 10)
    return 500;
  return bytes <= 1 << 20 ? 100 : bytes <= 16 << 20 ? 30 : 10;
}

/// One plain collective: `count` elements are those of a rank's larger buffer.
void runPlain(const Measurement &m, Kind kind, int count) {
  const float *from = m.source.data();
  auto *to = const_cast<float *>(m.destination.data());
  int part = count / m.size;
  switch (kind) {
  case Kind::AllReduce:
    MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, m.communicator);
    break;
  case Kind::AllGather:
    MPI_Allgather(from, part, MPI_FLOAT, to, part, MPI_FLOAT, m.communicator);
    break;
  case Kind::ReduceScatter:
    MPI_Reduce_scatter_block(from, to, part, MPI_FLOAT, MPI_SUM,
                             m.communicator);
    break;
  case Kind::AllToAll:
    MPI_Alltoall(from, part, MPI_FLOAT, to, part, MPI_FLOAT, m.communicator);
    break;
  }
}

/// The same with a non-blocking call, awaited at once.
void runNonBlocking(const Measurement &m, Kind kind, int count) {
  const float *from = m.source.data();
  auto *to = const_cast<float *>(m.destination.data());
  int part = count / m.size;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (kind) {
  case Kind::AllReduce:
    MPI_Iallreduce(from, to, count, MPI_FLOAT, MPI_SUM, m.communicator,
                   &request);
    break;
  case Kind::AllGather:
    MPI_Iallgather(from, part, MPI_FLOAT, to, part, MPI_FLOAT, m.communicator,
                   &request);
    break;
  case Kind::ReduceScatter:
    MPI_Ireduce_scatter_block(from, to, part, MPI_FLOAT, MPI_SUM,
                              m.communicator, &request);
    break;
  case Kind::AllToAll:
    MPI_Ialltoall(from, part, MPI_FLOAT, to, part, MPI_FLOAT, m.communicator,
                  &request);
    break;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// The same through the runtime.
void runBraid(const Measurement &m, Kind kind, int64_t count) {
  int64_t whole[] = {count}, part[] = {count / m.size};
  bool gathers = kind == Kind::AllGather,
       scatters = kind == Kind::ReduceScatter;
  braid_rt_view from = {const_cast<float *>(m.source.data()),
                        gathers ? part : whole, BRAID_RT_F32, 1};
  braid_rt_view to = {const_cast<float *>(m.destination.data()),
                      scatters ? part : whole, BRAID_RT_F32, 1};
  void *request = nullptr;
  switch (kind) {
  case Kind::AllReduce:
    request = braid_rt_all_reduce(&world, 1, &from, &to, BRAID_RT_SUM, nullptr,
                                  &site);
    break;
  case Kind::AllGather:
    request = braid_rt_all_gather(&world, 1, &from, &to, 0, &site);
    break;
  case Kind::ReduceScatter:
    request = braid_rt_reduce_scatter(&world, 1, &from, &to, BRAID_RT_SUM,
                                      nullptr, 0, &site);
    break;
  case Kind::AllToAll:
    request = braid_rt_all_to_all(&world, 1, &from, &to, &site);
    break;
  }
  braid_rt_wait(request, &site);
}

/// The time of one call, after a barrier. A call of the same kind comes first,
/// so the timed one finds the caches as its own kind leaves them.
template <typename Fn> double timeOf(const Measurement &m, Fn fn) {
  fn();
  MPI_Barrier(m.communicator);
  double begin = now();
  fn();
  return now() - begin;
}

/// The functions that are compared.
enum { Blocking, NonBlocking, Braid, columnCount };

/// The medians of a collective of `bytes`, measured in turns.
std::array<double, columnCount> measureInTurns(const Measurement &m, Kind kind,
                                               int64_t bytes) {
  int64_t count = bytes / 4;
  std::vector<double> times[columnCount];
  // The first rounds make connections and touch pages.
  constexpr int warmUp = 5;
  for (int round = 0; round < roundsOf(bytes) + warmUp; ++round) {
    double us[] = {
        timeOf(m, [&] { runPlain(m, kind, static_cast<int>(count)); }),
        timeOf(m, [&] { runNonBlocking(m, kind, static_cast<int>(count)); }),
        m.mode == "plain" ? 0 : timeOf(m, [&] { runBraid(m, kind, count); })};
    if (round >= warmUp)
      for (int i = 0; i < columnCount; ++i)
        times[i].push_back(us[i]);
  }
  std::array<double, columnCount> medians;
  for (int i = 0; i < columnCount; ++i)
    medians[i] = median(times[i]);
  // One rank can come last to every barrier, and find all data there: the mean
  // over the ranks tells of both.
  MPI_Allreduce(MPI_IN_PLACE, medians.data(), columnCount, MPI_DOUBLE, MPI_SUM,
                m.communicator);
  for (double &us : medians)
    us /= m.size;
  return medians;
}

void measure(Measurement &m) {
  bool beside = m.mode != "plain";
  if (m.rank == 0)
    std::printf(
        "%d ranks, %s; medians, mean of the ranks; bandwidth beside "
        "MPI's\n%-15s %10s %12s %12s%s\n",
        m.size, m.mode.c_str(), "collective", "bytes", "MPI", "MPI, I and W",
        beside ? "        Braid      GB/s  of MPI's  of I and W's" : "");
  // A part has at least one element.
  int64_t smallest = std::max<int64_t>(4, 4 * m.size);
  for (const auto &entry : kinds)
    for (int64_t bytes = entry.kind == Kind::AllReduce ? 4 : smallest;
         bytes <= m.largest; bytes *= 4) {
      int64_t whole = entry.kind == Kind::AllReduce
                          ? bytes
                          : bytes / 4 / m.size * m.size * 4;
      auto us = measureInTurns(m, entry.kind, whole);
      if (m.rank != 0)
        continue;
      std::printf("%-15s %10lld %9.2f us %9.2f us", entry.name,
                  static_cast<long long>(whole), us[Blocking], us[NonBlocking]);
      if (beside) {
        std::string figure = m.mode + " " + entry.name + " of " +
                             std::to_string(whole) + " bytes over MPI";
        braid::test::recordFigure(figure, us[Braid] / us[Blocking], "");
        std::printf(" %9.2f us %9.3f %8.0f %% %11.0f %%", us[Braid],
                    static_cast<double>(whole) / us[Braid] / 1e3,
                    100 * us[Blocking] / us[Braid],
                    100 * us[NonBlocking] / us[Braid]);
      }
      std::printf("\n");
      std::fflush(stdout);
    }
}

/// Measures through a world of the engine mpi.
int measureBeside(Measurement &m) {
  braid_rt_config config;
  char error[1024] = "";
  if (braid_rt_config_init(&config, error, sizeof(error)) != BRAID_RT_OK)
    return std::fprintf(stderr, "%s\n", error), 1;
  const braid_rt_option option = {"reductions", m.mode.c_str()};
  config.engine = "mpi";
  config.ranks = 0;
  config.options = &option;
  config.optionCount = 1;
  braid_rt_world *braid = braid_rt_world_create(&config, error, sizeof(error));
  if (!braid)
    return std::fprintf(stderr, "%s\n", error), 1;
  const braid_rt_group *groups[] = {&world};
  braid_rt_entry entry = {
      "measure",
      [](void **args) { measure(*static_cast<Measurement *>(args[0])); }, 0,
      nullptr, nullptr};
  const braid_rt_entry *entries[] = {&entry};
  braid_rt_program program = {
      BRAID_RT_ABI_VERSION, 0, "mpi-collectives", 1, groups, 1, entries};
  if (braid_rt_world_prepare(braid, &program, error, sizeof(error)) !=
      BRAID_RT_OK)
    return std::fprintf(stderr, "%s\n", error), 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &m.communicator);
  MPI_Comm_size(m.communicator, &m.size);
  MPI_Comm_rank(m.communicator, &m.rank);
  void *args[] = {&m};
  void **argsOfRank[] = {args};
  int status = braid_rt_world_run(braid, &entry, argsOfRank);
  if (status != BRAID_RT_OK)
    std::fprintf(stderr, "%s\n",
                 braid_rt_error(braid_rt_world_context(braid, m.rank)));
  MPI_Comm_free(&m.communicator);
  braid_rt_world_destroy(braid);
  return status == BRAID_RT_OK ? 0 : 1;
}
} // namespace

int main(int argc, char **argv) {
  Measurement m;
  m.mode = argc > 1 ? argv[1] : "ordered";
  if (argc > 2)
    m.largest = std::atoll(argv[2]);
  m.source.assign(static_cast<size_t>(m.largest / 4), 1.0F);
  m.destination.assign(static_cast<size_t>(m.largest / 4), 0.0F);
  if (m.mode != "plain")
    return measureBeside(m);
  MPI_Init(&argc, &argv);
  m.communicator = MPI_COMM_WORLD;
  MPI_Comm_size(m.communicator, &m.size);
  MPI_Comm_rank(m.communicator, &m.rank);
  measure(m);
  MPI_Finalize();
  return 0;
}
