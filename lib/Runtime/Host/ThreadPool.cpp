//===- ThreadPool.cpp - Threads that compute beside ranks -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/ThreadPool.h"

#include <algorithm>
#include <atomic>

using namespace braid::rt;

struct ThreadPool::Job {
  const std::function<void(int64_t)> &body;
  const int64_t parts;
  std::atomic<int64_t> next{0};
  int64_t vacancies;  ///< Workers that may still join.
  int64_t active = 0; ///< Workers that have joined and not left.

  bool hasMore() const { return next < parts; }

  void compute() {
    for (int64_t part; (part = next.fetch_add(1)) < parts;)
      body(part);
  }
};

std::shared_ptr<ThreadPool> ThreadPool::ofProcess() {
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> shared;
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<ThreadPool> pool = shared.lock();
  if (!pool)
    shared = pool = std::make_shared<ThreadPool>();
  return pool;
}

ThreadPool::~ThreadPool() {
  {
    Lock lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::run(int64_t parts, int32_t threads,
                     const std::function<void(int64_t)> &body) {
  int64_t others = std::min<int64_t>(parts, threads) - 1;
  if (others <= 0) {
    for (int64_t part = 0; part < parts; ++part)
      body(part);
    return;
  }
  Job job{body, parts, {0}, others};
  {
    Lock lock(mutex);
    wanted += others;
    while (static_cast<int64_t>(workers.size()) < wanted)
      workers.emplace_back([this]() { work(); });
    jobs.push_back(&job);
  }
  changed.notify_one();
  job.compute();
  Lock lock(mutex);
  wanted -= others;
  jobs.erase(std::remove(jobs.begin(), jobs.end(), &job), jobs.end());
  left.wait(lock, [&]() { return job.active == 0; });
}

void ThreadPool::work() {
  Lock lock(mutex);
  while (true) {
    changed.wait(lock, [this]() { return stopping || !jobs.empty(); });
    if (stopping)
      return;
    Job &job = *jobs.front();
    ++job.active;
    int64_t others = --job.vacancies;
    if (others == 0)
      jobs.erase(jobs.begin());
    lock.unlock();
    // To wake a thread takes longer than many parts: the rank's thread wakes
    // one alone, and each of these two more.
    for (int64_t i = 0; i < std::min<int64_t>(others, 2) && job.hasMore(); ++i)
      changed.notify_one();
    job.compute();
    lock.lock();
    if (--job.active == 0)
      left.notify_all();
  }
}
