//===- StoreTesting.h - Ranks that meet in a store --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_STORETESTING_H
#define BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_STORETESTING_H

#include "Base/Bytes.h"
#include "Base/Environment.h"
#include "Base/Error.h"
#include "CUDA/Processes/Connection.h"
#include "CUDA/Processes/Introduction.h"
#include "CUDA/Processes/Sockets.h"
#include "CUDA/Processes/Store.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace braid::test {

constexpr int64_t secondNs = int64_t(1000) * 1000 * 1000;

/// Keeps what it hears.
class Listener final : public rt::cuda::StoreListener {
public:
  void received(int32_t process, const std::string &bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    heard += std::to_string(process) + ":" + bytes + ";";
    changed.notify_all();
  }
  void lost(int32_t process) override { received(process, "lost"); }
  void note(const std::string &line) override {
    std::lock_guard<std::mutex> lock(mutex);
    log += line + "\n";
    changed.notify_all();
  }
  /// What it has heard once it has heard so much, or after 20 seconds.
  std::string waitFor(size_t length) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20),
                     [&]() { return heard.size() >= length; });
    return heard;
  }
  /// What it has heard once that has this text, or after 20 seconds.
  std::string waitForText(const std::string &text) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20),
                     [&]() { return heard.find(text) != std::string::npos; });
    return heard;
  }
  /// The log once it has this text, or after 20 seconds.
  std::string waitForLog(const std::string &text) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20),
                     [&]() { return log.find(text) != std::string::npos; });
    return log;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::string heard, log;
};

inline rt::cuda::JobKey keyOfTests() {
  return {"a key of tests, 32 characters ...", "the test"};
}

inline rt::cuda::Launch launchOf(int32_t rank, int32_t size, int32_t port,
                                 const std::string &job = "job") {
  rt::cuda::Launch launch;
  launch.launcher = "torchrun";
  launch.rank = rank;
  launch.size = launch.localSize = size;
  launch.address = "127.0.0.1";
  launch.port = port;
  launch.job = job;
  return launch;
}

inline std::unique_ptr<rt::cuda::Store>
makeStore(const rt::cuda::Launch &launch, int64_t timeoutNs,
          rt::cuda::StoreListener &listener) {
  return createTcpStore(launch, keyOfTests(), timeoutNs, listener);
}

/// Introduces a rank as TcpStore does, and leaves the rest to the caller.
inline std::unique_ptr<rt::cuda::Connection>
enterByHand(const rt::cuda::Launch &launch,
            const rt::cuda::JobKey &jobKey = keyOfTests()) {
  using namespace rt::cuda;
  auto connection = std::make_unique<Connection>(
      connectTo(launch.address, launch.port, rt::monotonicNs() + 10 * secondNs),
      Side::OtherRank);
  std::string handshake = rt::toBytes(
      Greeting{launch.rank, launch.size, rt::sha256(launch.job), drawNonce()});
  connection->send({Handshake, 0, 0, handshake});
  std::optional<Introduction> proofs;
  bool isOver = false;
  while (!isOver && !connection->closed()) {
    connection->receive([&](Frame &&frame) {
      if (frame.kind == Challenge) {
        proofs.emplace(rt::HmacKey(jobKey.bytes), handshake, frame.body);
        connection->send(
            {Proof, 0, 0, std::string(rt::bytesOf(proofs->ofRank))});
      } else if (frame.kind == Welcome) {
        connection->seal(proofs->toRankZero, proofs->fromRankZero);
      } else {
        if (frame.kind == Accepted)
          connection->process = 0;
        isOver = true;
      }
      return !isOver;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return connection;
}

/// What each rank's function says, each on a thread of its own.
inline std::vector<std::string>
runRanks(int32_t count, const std::function<std::string(int32_t)> &body) {
  std::vector<std::string> results(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank]() {
      try {
        results[static_cast<size_t>(rank)] = body(rank);
      } catch (const rt::Error &error) {
        results[static_cast<size_t>(rank)] = error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_STORETESTING_H
