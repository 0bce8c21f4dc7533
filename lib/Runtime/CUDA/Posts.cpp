//===- Posts.cpp - What processes tell each other -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "CUDA/CudaEngine.h"
#include "Operations/Messages.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

void CudaEngine::post(PostKind kind, const std::string &body) {
  if (Store *open = storeForPosts.load())
    open->post(Writer().put<int32_t>(kind).put(body).bytes);
}

void CudaEngine::lost(int32_t process) {
  Failure failure;
  failure.text = "its process has ended, or its connection to the others";
  failure.cause = process;
  applyFailure(failure);
}

void CudaEngine::received(int32_t process, const std::string &bytes) {
  try {
    take(process, bytes);
  } catch (const std::exception &error) {
    Failure failure;
    failure.text = error.what();
    failure.cause = process;
    fail(failure);
  }
}

/// Throws an Error unless a rank says its own status, of ranks that there are.
RankStatus CudaEngine::takeStatus(int32_t process,
                                  const std::string &bytes) const {
  auto status = fromBytes<RankStatus>(bytes);
  if (status.rank != process)
    throw Error("it tells the status of rank " + std::to_string(status.rank));
  for (const OpenOperation &operation : status.open)
    for (int32_t member : operation.members)
      if (member < 0 || member >= size)
        throw Error("its operation names rank " + std::to_string(member) +
                    " of " + std::to_string(size));
  return status;
}

/// The store says which process has sent the bytes, a rank of this world. A
/// rank speaks for itself alone.
void CudaEngine::take(int32_t process, const std::string &bytes) {
  Reader reader(bytes);
  auto kind = reader.get<int32_t>();
  std::string body = reader.getText();
  reader.expectEnd();
  Reader content(body);
  switch (kind) {
  case Failed:
    return applyFailure(fromBytes<Failure>(body));
  case StatusQuestion: {
    auto number = content.get<int64_t>();
    CudaRank &rank = find(own);
    rank.look(environment.now());
    return post(StatusAnswer,
                Writer().put(number).put(toBytes(rank.status())).bytes);
  }
  case StatusAnswer: {
    auto number = content.get<int64_t>();
    RankStatus status = takeStatus(process, content.getText());
    std::lock_guard<std::mutex> lock(mutex);
    if (number == inquiry)
      answers[process] = std::move(status);
    return changed.notify_all();
  }
  case Announced: {
    RankStatus status = takeStatus(process, body);
    if (status.open.size() != 1)
      throw Error("it announces " + std::to_string(status.open.size()) +
                  " operations at once");
    return addAnnouncement(status);
  }
  case Left: {
    RankStatus status = takeStatus(process, body);
    std::lock_guard<std::mutex> lock(mutex);
    departed[process] = std::move(status);
    return changed.notify_all();
  }
  case Published: {
    std::string key = content.getText(), value = content.getText();
    std::lock_guard<std::mutex> lock(mutex);
    published[key][process] = std::move(value);
    return changed.notify_all();
  }
  case Recorded: {
    std::lock_guard<std::mutex> lock(mutex);
    recorded[process] = std::move(body);
    return changed.notify_all();
  }
  case ChoiceProposed: {
    auto algorithm = content.get<int32_t>();
    if (own == 0)
      settleChoice(content.getText(), algorithm);
    return;
  }
  case ChoiceMade: {
    auto algorithm = content.get<int32_t>();
    std::string operation = content.getText();
    // Rank 0 chooses for all.
    if (process != 0)
      throw Error("it chooses the algorithm of an operation for all ranks");
    std::lock_guard<std::mutex> lock(mutex);
    algorithms.emplace(operation, algorithm);
    return changed.notify_all();
  }
  default:
    throw Error("it has sent a message of the unknown kind " +
                std::to_string(kind));
  }
}

Statuses CudaEngine::askAll() {
  constexpr auto timeout = std::chrono::milliseconds(500);
  Statuses statuses;
  for (const auto &rank : localRanksState)
    statuses[rank->rank] = rank->status();
  if (!store)
    return statuses;
  std::unique_lock<std::mutex> lock(mutex);
  int64_t number = ++inquiry * size + own;
  inquiry = number;
  answers.clear();
  lock.unlock();
  post(StatusQuestion, Writer().put(number).bytes);
  lock.lock();
  changed.wait_for(lock, timeout, [&]() {
    return failed ||
           answers.size() + departed.size() + 1 >= static_cast<size_t>(size);
  });
  statuses.insert(answers.begin(), answers.end());
  statuses.insert(departed.begin(), departed.end());
  return statuses;
}

//===----------------------------------------------------------------------===//
// Common algorithms of all ranks
//===----------------------------------------------------------------------===//

/// The first call for an operation wins; called on rank 0 where ranks are
/// processes.
int32_t CudaEngine::settleChoice(const std::string &operation,
                                 int32_t algorithm) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    algorithm = algorithms.emplace(operation, algorithm).first->second;
  }
  post(ChoiceMade, Writer().put(algorithm).put(operation).bytes);
  return algorithm;
}

std::optional<int32_t>
CudaEngine::findChoice(const std::string &operation) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = algorithms.find(operation);
  return found == algorithms.end() ? std::nullopt
                                   : std::optional<int32_t>(found->second);
}

/// What rank 0 has chosen, to which this rank proposes an algorithm.
int32_t CudaEngine::awaitChoice(CudaRank &rank, const std::string &operation,
                                int32_t proposed) {
  // Rank 0's store thread answers, so rank 0's own thread need not.
  post(ChoiceProposed, Writer().put(proposed).put(operation).bytes);
  std::unique_lock<std::mutex> lock(mutex);
  auto deadline = std::chrono::steady_clock::now() +
                  std::chrono::nanoseconds(environment.config.timeoutNs);
  changed.wait_until(lock, deadline, [&]() {
    return failed || algorithms.count(operation) != 0;
  });
  auto found = algorithms.find(operation);
  if (found != algorithms.end())
    return found->second;
  lock.unlock();
  rank.throwIfFailed();
  throw Error(describeTimeout(environment.config.timeoutNs) +
              "rank 0 does not say which algorithm to use for " + operation);
}

void CudaEngine::keepChoice(const std::string &operation, int32_t algorithm) {
  // One process of a host writes.
  if (launch.hasLauncher() && launch.localRank > 0)
    return;
  std::string problem;
  {
    std::lock_guard<std::mutex> lock(mutex);
    problem = tuningCache.add(operation, algorithm);
  }
  if (!problem.empty() && environment.logs(BRAID_RT_DEBUG_INFO))
    environment.log(problem);
}

int32_t CudaEngine::chooseAlgorithm(CudaRank &rank,
                                    const std::string &operation,
                                    const std::function<int32_t()> &measure) {
  if (std::optional<int32_t> chosen = findChoice(operation))
    return *chosen;
  std::optional<int32_t> kept;
  {
    std::lock_guard<std::mutex> lock(mutex);
    kept = tuningCache.find(operation);
  }
  int32_t algorithm = kept ? *kept : measure();
  algorithm = locals.size() > 1 || own == 0
                  ? settleChoice(operation, algorithm)
                  : awaitChoice(rank, operation, algorithm);
  if (!kept)
    keepChoice(operation, algorithm);
  return algorithm;
}
