//===- runtime-collectives.cpp - Bandwidth and latency ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints figures of the in-process engine and of matmul next to what the
// machine reaches without it (memcpy, OpenBLAS called directly), measured
// alternately in one run; asserts nothing.
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "braid-rt/braid-rt.h"

#include <algorithm>
#include <cblas.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace braid;

namespace {
constexpr int64_t tensorBytes = int64_t(64) << 20;
constexpr int64_t tensorCount = tensorBytes / 4;
constexpr int32_t rankCount = 2;
const braid_rt_group world = {"world", 1, 0, nullptr, nullptr};
const braid_rt_site site = {"benchmark", nullptr, 0, 0};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// What a rank's function gets through args.
struct Rank {
  float *source;
  float *destination;
  std::vector<double> samples; // ns
};

void allReduce(Rank &rank, int64_t count, float *source, float *destination) {
  int64_t sizes[] = {count};
  braid_rt_view from = {source, sizes, BRAID_RT_F32, 1};
  braid_rt_view to = {destination, sizes, BRAID_RT_F32, 1};
  int64_t begin = now();
  void *request =
      braid_rt_all_reduce(&world, 1, &from, &to, BRAID_RT_SUM, nullptr, &site);
  braid_rt_wait(request, &site);
  rank.samples.push_back(static_cast<double>(now() - begin));
}

void runLarge(void **args) {
  Rank &rank = *static_cast<Rank *>(args[0]);
  allReduce(rank, tensorCount, rank.source, rank.destination);
}

void runInPlace(void **args) {
  Rank &rank = *static_cast<Rank *>(args[0]);
  allReduce(rank, tensorCount, rank.source, rank.source);
}

void runSmall(void **args) {
  Rank &rank = *static_cast<Rank *>(args[0]);
  for (int i = 0; i < 2000; ++i)
    allReduce(rank, 1, rank.source, rank.destination);
}

void *allocateTouched(int64_t bytes) {
  void *memory = braid_rt_alloc(static_cast<size_t>(bytes));
  if (!memory) {
    std::fputs("out of memory\n", stderr);
    std::exit(1);
  }
  std::memset(memory, 1, static_cast<size_t>(bytes));
  return memory;
}

braid_rt_world *makeWorld(int32_t ranks) {
  braid_rt_config config;
  char error[512];
  braid_rt_world *result = nullptr;
  if (braid_rt_config_init(&config, error, sizeof(error)) == BRAID_RT_OK) {
    config.ranks = ranks;
    result = braid_rt_world_create(&config, error, sizeof(error));
  }
  if (!result) {
    std::fprintf(stderr, "%s\n", error);
    std::exit(1);
  }
  return result;
}

/// Runs a function on both ranks; ends the benchmark when one fails.
void run(braid_rt_world *world, braid_rt_entry_function function, Rank *ranks) {
  braid_rt_entry entry = {"benchmark", function, 0, nullptr, nullptr};
  void *args[rankCount] = {&ranks[0], &ranks[1]};
  void **argsOfRank[rankCount] = {&args[0], &args[1]};
  if (braid_rt_world_run(world, &entry, argsOfRank) == BRAID_RT_OK)
    return;
  std::fprintf(stderr, "%s\n",
               braid_rt_error(braid_rt_world_context(world, 0)));
  std::exit(1);
}

void benchmarkAllReduce() {
  braid_rt_world *ranksWorld = makeWorld(rankCount);
  Rank ranks[rankCount];
  for (Rank &rank : ranks) {
    rank.source = static_cast<float *>(allocateTouched(tensorBytes));
    rank.destination = static_cast<float *>(allocateTouched(tensorBytes));
  }
  std::vector<double> copy, outOfPlace, inPlace;
  for (int round = 0; round < 11; ++round) {
    int64_t begin = now();
    std::memcpy(ranks[0].destination, ranks[0].source, tensorBytes);
    copy.push_back(static_cast<double>(now() - begin));
    run(ranksWorld, runLarge, ranks);
    outOfPlace.push_back(
        static_cast<double>(braid_rt_world_elapsed_ns(ranksWorld)));
    run(ranksWorld, runInPlace, ranks);
    inPlace.push_back(
        static_cast<double>(braid_rt_world_elapsed_ns(ranksWorld)));
  }
  auto rate = [](double ns) { return static_cast<double>(tensorBytes) / ns; };
  std::printf("memcpy of 64 MiB                       %8.2f ms %7.2f GB/s\n",
              median(copy) / 1e6, rate(median(copy)));
  std::printf("all_reduce of 64 MiB f32, 2 ranks      %8.2f ms %7.2f GB/s"
              "  %.2f of memcpy\n",
              median(outOfPlace) / 1e6, rate(median(outOfPlace)),
              median(copy) / median(outOfPlace));
  std::printf("the same in place                      %8.2f ms %7.2f GB/s"
              "  %.2f of memcpy\n",
              median(inPlace) / 1e6, rate(median(inPlace)),
              median(copy) / median(inPlace));
  test::recordFigure("all_reduce of 64 MiB over memcpy",
                     median(outOfPlace) / median(copy), "");
  test::recordFigure("all_reduce of 64 MiB in place over memcpy",
                     median(inPlace) / median(copy), "");
  for (Rank &rank : ranks)
    rank.samples.clear();
  run(ranksWorld, runSmall, ranks);
  std::printf("all_reduce of 4 bytes, 2 ranks         %8.2f us start to wait "
              "(median of %zu)\n",
              median(ranks[0].samples) / 1e3, ranks[0].samples.size());
  test::recordFigure("all_reduce of 4 bytes", median(ranks[0].samples) / 1e3,
                     "us");
  for (Rank &rank : ranks) {
    braid_rt_free(rank.source);
    braid_rt_free(rank.destination);
  }
  braid_rt_world_destroy(ranksWorld);
}

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

struct Matmul {
  int64_t size;
  float *a, *b, *c;
};

void runMatmul(void **args) {
  const Matmul &p = *static_cast<Matmul *>(args[0]);
  braid_rt_matmul(BRAID_RT_F32, 0, 0, p.size, p.size, p.size, p.a, p.size, p.b,
                  p.size, 0.0, p.c, p.size, &site);
}

void benchmarkMatmul() {
  braid_rt_world *ranksWorld = makeWorld(1);
  for (int64_t size : {256, 1024, 2048}) {
    int64_t bytes = size * size * 4;
    Matmul matmul = {size, static_cast<float *>(allocateTouched(bytes)),
                     static_cast<float *>(allocateTouched(bytes)),
                     static_cast<float *>(allocateTouched(bytes))};
    braid_rt_entry entry = {"matmul", runMatmul, 0, nullptr, nullptr};
    void *args[] = {&matmul};
    void **argsOfRank[] = {args};
    std::vector<double> direct, through;
    auto n = static_cast<int>(size);
    for (int round = 0; round < 9; ++round) {
      braid_rt_world_run(ranksWorld, &entry, argsOfRank);
      through.push_back(
          static_cast<double>(braid_rt_world_elapsed_ns(ranksWorld)));
      int64_t begin = now();
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0F,
                  matmul.a, n, matmul.b, n, 0.0F, matmul.c, n);
      direct.push_back(static_cast<double>(now() - begin));
    }
    double flops =
        2.0 * static_cast<double>(size * size) * static_cast<double>(size);
    std::printf("matmul %4ld f32, 1 rank                 %8.2f ms %7.2f "
                "GFLOP/s  %.2f of OpenBLAS\n",
                static_cast<long>(size), median(through) / 1e6,
                flops / median(through), median(direct) / median(through));
    test::recordFigure("matmul of " + std::to_string(size) + " over OpenBLAS",
                       median(through) / median(direct), "");
    for (float *memory : {matmul.a, matmul.b, matmul.c})
      braid_rt_free(memory);
  }
  braid_rt_world_destroy(ranksWorld);
}
} // namespace

int main() {
  benchmarkAllReduce();
  benchmarkMatmul();
  return 0;
}
