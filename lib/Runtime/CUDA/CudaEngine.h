//===- CudaEngine.h - Ranks on GPUs, connected by NCCL ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_CUDAENGINE_H
#define BRAID_RUNTIME_CUDA_CUDAENGINE_H

#include "CUDA/Communication/GraphChoice.h"
#include "CUDA/Communication/Rank.h"
#include "CUDA/Communication/RankServices.h"
#include "CUDA/Processes/Launch.h"
#include "CUDA/Processes/RunVotes.h"
#include "CUDA/Processes/Store.h"
#include "CUDA/TuningCache.h"
#include "CUDA/Watchdog.h"
#include "Diagnosis/Failure.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace braid::rt {

/// Ranks are threads of this process, each with a GPU. If a launcher has
/// started the process, the process is one rank.
class CudaEngine final : public cuda::RankServices, public cuda::StoreListener {
public:
  explicit CudaEngine(const Environment &environment);
  ~CudaEngine() override;

  //===--- Engine ---------------------------------------------------------===//

  const Capabilities &capabilities() const override { return abilities; }
  int32_t worldSize() const override { return size; }
  const std::vector<int32_t> &localRanks() const override { return locals; }
  Device &device(int32_t rank) override { return *find(rank).device; }
  std::string property(const std::string &name) const override;
  const std::vector<Replacement> &replacements(int32_t rank) const override;
  void prepare(const std::vector<RankSpecs> &specs) override;
  Communicator &communicator(int32_t rank,
                             const CommunicatorSpec &spec) override;
  std::vector<std::string> exchange(const std::string &bytes) override;
  void beginRun(const braid_rt_entry &entry, void ***args) override;
  bool endRun() override;
  bool keepsRecording(int32_t rank, const std::string *problem) override;
  void restartInvocation(int32_t rank) override;
  void beginInvocation(int32_t rank) override;
  void endInvocation(int32_t rank) override;
  void failInvocation(int32_t rank, const std::string &message) override;
  void reset() override {}

  //===--- StoreListener --------------------------------------------------===//

  void received(int32_t process, const std::string &bytes) override;
  void lost(int32_t process) override;
  void note(const std::string &line) override { environment.log(line); }

  //===--- RankServices ---------------------------------------------------===//

  bool isLocal(int32_t rank) const override {
    return locals.size() > 1 || rank == own;
  }
  std::shared_ptr<cuda::Rendezvous>
  rendezvous(const CommunicatorSpec &spec) override;
  void logCommunicator(const CommunicatorSpec &spec,
                       const LaneSpec &used) const override;
  void makeUnannounced(cuda::NCCLCommunicator &communicator) override;
  int32_t chooseAlgorithm(cuda::CudaRank &rank, const std::string &operation,
                          const std::function<int32_t()> &measure) override;
  Failure failure() const override;
  void fail(const Failure &failure) override;
  void awaitFailureOfPeer(nccl::Result error) override;
  bool announces() const override {
    return environment.logs(BRAID_RT_DEBUG_DETAIL) && launch.hasLauncher() &&
           size > 1;
  }
  void announce(const OpenOperation &operation) override;
  void awaitAnnouncements(cuda::CudaRank &rank,
                          const OpenOperation &operation) override;
  void failDisagreement(const cuda::Rendezvous &rendezvous,
                        int64_t sequence) override;

  //===--- For the watchdog -----------------------------------------------===//

  const std::vector<std::unique_ptr<cuda::CudaRank>> &ranks() const {
    return localRanksState;
  }
  /// The status of all ranks. Asks the other processes and waits at most 500 ms
  /// for their answers.
  Statuses askAll();
  /// Stops the communicators of a world that has failed.
  void stopRanks();
  void writeFlights();

private:
  /// Waits for the work of runs that have returned before its end: what an
  /// abort ends goes on with wrong data. Ends the process if the work does not.
  void awaitReturned();

  /// The kinds of messages between processes.
  enum PostKind : int32_t {
    Failed,         ///< A Failure.
    StatusQuestion, ///< The number of the inquiry.
    StatusAnswer,   ///< The same, and a RankStatus.
    Left,           ///< The RankStatus of an ending process.
    Announced,      ///< A RankStatus with the operation that starts.
    Published,      ///< A key, and what a member of a group says under it.
    ChoiceProposed, ///< To rank 0: the algorithm, and the operation.
    ChoiceMade,     ///< By rank 0: the same.
    Recorded        ///< What keeps the rank from its recording.
  };

  int64_t storeTimeoutNs() const;
  /// Has all ranks deregister their buffers before one of them frees a
  /// communicator: a registration also lives in the process of each peer.
  void deregisterBuffers();
  void startWorld();
  void chooseDevices();
  int32_t deviceOf(int32_t rank) const;
  cuda::CudaRank &find(int32_t rank) const;
  cuda::CommunicatorIds createIds() const;
  bool mayDecide(size_t process, int32_t rank) const;
  void exchangeIds(const std::vector<RankSpecs> &specs);
  void makeAll(const std::vector<RankSpecs> &specs,
               std::vector<cuda::NCCLCommunicator *> &created);
  void makeTogether(const std::vector<cuda::NCCLCommunicator *> &members);
  bool requestTogether(const std::vector<cuda::NCCLCommunicator *> &members,
                       bool forCollectives);
  void testWindows(const std::vector<cuda::NCCLCommunicator *> &members);
  bool agree(const std::vector<cuda::NCCLCommunicator *> &members);
  /// Waits until each member has its entry in `known`, which `mutex` guards, or
  /// the world has failed. Returns the members without one at the end.
  template <typename Known>
  std::vector<int32_t> awaitMembers(std::unique_lock<std::mutex> &lock,
                                    const std::vector<int32_t> &members,
                                    const std::map<int32_t, Known> &known,
                                    int64_t timeoutNs) {
    std::vector<int32_t> missing;
    changed.wait_for(lock, std::chrono::nanoseconds(timeoutNs), [&]() {
      missing.clear();
      for (int32_t member : members)
        if (!known.count(member))
          missing.push_back(member);
      return failed || missing.empty();
    });
    return missing;
  }
  std::vector<std::string>
  exchangeAmong(const cuda::NCCLCommunicator &communicator,
                const std::string &key, const std::string &own);
  bool tryUnannounced(cuda::NCCLCommunicator &communicator, int32_t attempt);
  void post(PostKind kind, const std::string &body);
  void take(int32_t process, const std::string &bytes);
  RankStatus takeStatus(int32_t process, const std::string &bytes) const;
  void addAnnouncement(const RankStatus &status);
  void applyFailure(const Failure &failure);
  int32_t settleChoice(const std::string &operation, int32_t algorithm);
  std::optional<int32_t> findChoice(const std::string &operation) const;
  bool wantsGraphs() const;
  void openVotes();
  cuda::Graphs::Key describeArguments(const braid_rt_entry &entry, void ***args,
                                      const std::vector<CudaDevice *> &devices);
  std::string describeUnrecorded() const;
  int32_t awaitChoice(cuda::CudaRank &rank, const std::string &operation,
                      int32_t proposed);
  void keepChoice(const std::string &operation, int32_t algorithm);

  const cuda::Launch launch;
  int32_t size = 1, own = 0;
  std::vector<int32_t> locals;
  Capabilities abilities;
  std::vector<std::unique_ptr<cuda::CudaRank>> localRanksState;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<cuda::Rendezvous>> groups;
  /// By key and rank.
  std::map<std::string, std::map<int32_t, std::string>> published;
  /// What processes tell each other of operations at the level DETAIL, before
  /// they issue them, by match and number: NCCL does not notice every
  /// disagreement. Starts do not wait for the others, waits do, like those of
  /// the engine inproc. Each status has the one operation.
  std::map<std::pair<uint64_t, int64_t>, Statuses> announced;
  /// Chosen algorithms, by operation: those of this world, and those that
  /// earlier runs have measured.
  std::map<std::string, int32_t> algorithms;
  cuda::GraphChoice graphChoice;
  cuda::ArgumentNumbers argumentNumbers;
  /// Null: ranks of other processes do not say with which arguments they run.
  std::unique_ptr<cuda::RunVotes> votes;
  bool hasOpenedVotes = false;
  /// Whether the first run of an entry here has started operations: if not,
  /// other processes need not run it.
  std::unordered_map<const braid_rt_entry *, bool> communicates;
  int64_t startedBefore = 0; ///< Operations, before the present run.
  const braid_rt_entry *runningEntry = nullptr;
  bool isRunning = false; ///< From the begin of a run to its end or failure.
  /// What keeps each rank from its recording in this run; empty: nothing does.
  std::map<int32_t, std::string> recorded;
  cuda::TuningCache tuningCache;
  Failure firstFailure;
  std::mutex stopMutex;
  bool stopped = false;
  int64_t inquiry = 0;
  Statuses answers;
  Statuses departed; ///< Of ranks whose processes have ended.

  std::unique_ptr<cuda::Store> store; ///< Null: all ranks are in this process.
  /// The store after its construction; its thread already calls `received`
  /// during it.
  std::atomic<cuda::Store *> storeForPosts{nullptr};
  /// Guards `isAlive`: the watchdog and, where there is one, the store exist.
  std::mutex lifeMutex;
  bool isAlive = false;
  std::unique_ptr<cuda::Watchdog> watchdog;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_CUDA_CUDAENGINE_H
