//===- TcpStore.h - The store of a launcher's processes ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_TCPSTORE_H
#define BRAID_RUNTIME_CUDA_PROCESSES_TCPSTORE_H

#include "CUDA/Processes/Connection.h"
#include "CUDA/Processes/Door.h"
#include "CUDA/Processes/Store.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace braid::rt::cuda {

/// Rank 0 serves all others: it gathers the bytes of exchanges and forwards
/// posts. One thread in each process receives.
class TcpStore final : public Store {
public:
  TcpStore(const Launch &launch, const JobKey &key, int64_t timeoutNs,
           StoreListener &listener);
  ~TcpStore() override;

  std::vector<std::string> exchange(const std::string &bytes) override;
  void post(const std::string &bytes) override;
  void interrupt(const std::string &text) override;

private:
  using Lock = std::unique_lock<std::mutex>;

  /// The received bytes of one exchange; on rank 0.
  struct Gathering {
    std::vector<std::optional<std::string>> parts;
    size_t arrived = 0;
    int64_t beganNs = 0;
  };

  void connectToServer();
  std::string introduce(Connection &server, int64_t beganNs,
                        int64_t deadlineNs);
  void serve();
  void wakeThread();
  void waitForSockets(Lock &lock);
  void serveDoor(Lock &lock);
  std::string admit(const Greeting &greeting);
  void dropClosed(Lock &lock);
  void handle(Lock &lock, Connection &from, Frame &&frame);
  void handleFromServer(Lock &lock, Connection &from, Frame &&frame);
  void handleLost(Lock &lock, int32_t process);
  void deliver(Lock &lock, int32_t process, const std::string &bytes);
  void gatherFrom(Connection &from, Frame &&frame);
  void gather(int32_t process, int64_t number, std::string &&bytes);
  void takeParts(Connection &from, const Frame &frame);
  void giveUpLateExchanges();
  void fail(const std::string &text);
  void sendTo(int32_t process, const Frame &frame);
  void sendToAll(const Frame &frame, int32_t except);
  bool allHaveLeft() const;
  std::string describeAbsent(const Gathering &gathering) const;
  std::string place() const;

  const Launch launch;
  const HmacKey key;
  const std::string keySource;
  const int64_t timeoutNs;
  StoreListener &listener;

  mutable std::mutex mutex;
  std::condition_variable changed;
  /// To the clients on rank 0, to rank 0 elsewhere.
  std::vector<std::unique_ptr<Connection>> connections;
  std::map<int64_t, Gathering> gatherings;             ///< On rank 0.
  std::vector<bool> joined;                            ///< On rank 0.
  std::map<int64_t, std::vector<std::string>> results; ///< By exchange.
  int64_t exchanges = 0; ///< Begun by this process.
  int64_t completed = 0; ///< Complete on rank 0, whose numbers are in order.
  std::string failure;   ///< The reason why exchanges fail.
  bool stopping = false;
  std::unique_ptr<Door> door; ///< On rank 0, until all ranks are in.
  int wakeSocket = -1;
  std::thread thread;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_TCPSTORE_H
