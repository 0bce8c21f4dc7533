//===- MPIEngine.h - Ranks as processes that MPI has started ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One process runs one rank. One mutex guards all calls of the MPI library and
// all state. The thread with the mutex advances all operations: the rank's
// thread while it waits, else the progress thread.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_MPIENGINE_H
#define BRAID_RUNTIME_MPI_MPIENGINE_H

#include "Diagnosis/Status.h"
#include "Engine/Engine.h"
#include "Host/HostDevice.h"
#include "MPI/Library/Library.h"
#include "MPI/Transfers/MPICommunicator.h"

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>

namespace braid::rt {

class Pause;

/// The tags of the control communicator.
enum ControlKind {
  StatusQuestion, ///< The number of the inquiry.
  StatusAnswer,   ///< The same, and a RankStatus.
  GivenUp,        ///< A member gives an operation up: queue, number, text.
  Failed,         ///< The sender has failed: its text.
  FailureHeard,   ///< The sender starts nothing more with the failed rank: its
                  ///< counters.
  LastOperations, ///< The last operations that the failed rank completes.
  GroupAsked,     ///< To rank 0: the key and the ranks of a group.
  GroupReady      ///< From rank 0: the members make the group now.
};

class MPIEngine final : public Engine {
public:
  using Lock = std::unique_lock<std::mutex>;

  explicit MPIEngine(const Environment &environment);
  ~MPIEngine() override;

  const Capabilities &capabilities() const override { return abilities; }
  int32_t worldSize() const override { return size; }
  const std::vector<int32_t> &localRanks() const override { return local; }
  Device &device(int32_t rank) override;
  void prepare(const std::vector<RankSpecs> &specs) override;
  Communicator &communicator(int32_t rank,
                             const CommunicatorSpec &spec) override;
  std::vector<std::string> exchange(const std::string &bytes) override;
  void beginInvocation(int32_t rank) override;
  void endInvocation(int32_t rank) override;
  void failInvocation(int32_t rank, const std::string &message) override;
  void reset() override {}

  //===--------------------------------------------------------------------===//
  // For communicators and transfers; the mutex is held
  //===--------------------------------------------------------------------===//

  /// Throws an Error if the rank has failed, or if the operation cannot
  /// complete because another member has failed or has given up the operation.
  void refuseStart(const Transfer &transfer);
  void addBusy(Queue &queue, MPICommunicator &communicator, Transfer &transfer);
  /// Requests the communicator of a group that no program has announced.
  void requestCommunicator(MPICommunicator &communicator);
  void logCommunicator(const CommunicatorSpec &spec) const;
  /// Records the error, unless the rank has one.
  void failTransfer(const Transfer &transfer, const std::string &text,
                    bool secondary);
  /// Returns when the transfer is done; takes the mutex. The rank has begun to
  /// wait at `awaitedNs`.
  void wait(Transfer &transfer, int64_t awaitedNs);

  const Environment &environment;
  const MPILibrary library;
  const bool isFast; ///< reductions=fast
  const Capabilities abilities;
  mutable std::mutex mutex;
  int64_t begun = 0; ///< Invocations that the rank has begun.
  int64_t nowNs = 0; ///< The time at which `progress` was last called.

private:
  friend class Pause;

  /// The reason why the rank's invocation has failed or must fail.
  struct OwnFailure {
    std::string text;
    bool secondary;
    braid_rt_site site;
  };
  /// The state of another rank that has failed.
  struct Gone {
    std::string text;
    /// The last operation of each of this rank's queues that the other rank
    /// completes; empty until that rank has sent it.
    std::optional<std::map<uint64_t, int64_t>> last;
  };
  /// A round of questions to all other ranks.
  struct Inquiry {
    int64_t number = 0;
    int64_t sentNs = 0;
    Statuses answers;
  };

  /// A key for a place in the user's program.
  using Place = std::tuple<const char *, const char *, int32_t, int32_t>;
  static Place placeOf(const braid_rt_site &site) {
    return {site.file, site.label, site.line, site.column};
  }

  /// The longest time that a rank waits for the answers of other ranks.
  static constexpr int64_t longestAnswerNs = int64_t(500) * 1000 * 1000;

  // MPIEngine.cpp.
  MPICommunicator &findOrAdd(const CommunicatorSpec &spec);
  void complete(Requests &requests, Pause &pause, const char *what);
  std::vector<int32_t> findAbsent(Pause &pause);

  // Progress.cpp; the mutex is held.
  /// Returns nowNs.
  int64_t progress();
  /// The same at a time that has just been read.
  int64_t progressAt(int64_t now);
  void advanceAll();
  void serveControlAt(int64_t now);
  int64_t progressOfThread();
  void progressThread();
  void wakeThread(bool toStop = false);
  bool isAwaitedAtOnce(const Place &place) const {
    return place == lastAtOnce || awaitedAtOnce.count(place);
  }
  bool needsThread(const Transfer &transfer) const;
  void learnFromWait(const Transfer &transfer, int64_t beginNs);
  int64_t idleNs() const;
  void throwIfFailed() const;

  // Control.cpp; the mutex is held.
  void send(int32_t rank, ControlKind kind, const std::string &body);
  void sendToAll(ControlKind kind, const std::string &body);
  void serveControl();
  void receive(int32_t from, int kind, const std::string &body);
  void releaseSent();
  RankStatus ownStatus();
  std::map<uint64_t, int64_t> startedCounters();
  void receiveAsked(int32_t from, const std::string &body);
  void makeAnnounced(const std::string &key);

  // Failures.cpp; the mutex is held.
  void investigate(Transfer &transfer, int64_t now, int64_t waitedNs);
  void investigateData(Transfer &transfer, int64_t now, int64_t quietNs);
  void ask();
  void noteUnreachable();
  bool allHaveHeard() const;
  bool allAnswered() const;
  std::optional<Failure> findDeparted(const OpenOperation &operation,
                                      const Statuses &statuses) const;
  void giveUp(const Transfer &transfer, const std::string &text);
  void giveUpAll(const Transfer &transfer, const Deadlock &deadlock,
                 const Statuses &statuses);
  void hearOfFailure(int32_t rank, const std::string &body);
  void failWhatNeeds(int32_t rank);
  void receiveGivenUp(const std::string &body);
  int64_t lastOperation(MPICommunicator &communicator,
                        const Queue &queue) const;
  void sendLastOperations();
  bool isDraining() const;
  void abandonRest();
  /// Whether all ranks have left.
  bool leave();

  int32_t rank = 0, size = 1;
  std::vector<int32_t> local;
  bool sharesCores = false;   ///< The host has fewer cores than ranks.
  bool hasSpareCores = false; ///< At least two cores for each rank.
  std::unique_ptr<HostDevice> host;
  /// For calls that all ranks make, for control messages, for leaving.
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Comm leaving = MPI_COMM_NULL;

  std::map<std::string, std::unique_ptr<MPICommunicator>> communicators;
  /// Queues with open transfers.
  std::vector<std::pair<Queue *, MPICommunicator *>> busy;

  int64_t ended = 0;     ///< Invocations that the rank has ended.
  int64_t exchanges = 0; ///< Calls of prepare and exchange.
  int64_t waitCount = 0; ///< Waits that had to wait.
  Transfer *blockedOn = nullptr;
  std::optional<OwnFailure> failure;
  bool hasFailed = false; ///< failInvocation has been called.
  std::map<int32_t, Gone> gone;
  /// The counters of the ranks that know of this rank's failure.
  std::map<int32_t, std::map<uint64_t, int64_t>> acknowledged;
  /// Operations that a member has given up, by queue and number.
  std::map<std::pair<uint64_t, int64_t>, std::string> givenUp;
  Inquiry inquiry;
  /// Ranks that have not answered in time and have sent nothing since.
  std::set<int32_t> unreachable;
  /// The waits of the deadlock that the last round has seen.
  std::map<int32_t, int64_t> lastWaits;
  int64_t nextInquiryNs = 0;
  int64_t inquiryPauseNs = 0;

  struct SentMessage {
    std::string body;
    MPI_Request request;
  };
  std::list<SentMessage> sent;
  int64_t lastControlNs = 0;
  /// On rank 0: the members that have asked for a group, by its key.
  std::map<std::string, std::vector<int32_t>> asking;

  /// True if no thread may call the library any more, because a call could
  /// access released memory.
  bool isDead = false;

  /// The places in the program whose operations the rank awaits right after the
  /// start.
  std::set<Place> awaitedAtOnce;
  /// The last one that the rank has awaited so: most starts need no search.
  std::optional<Place> lastAtOnce;

  std::atomic<int> waiting{0}; ///< Threads that make progress themselves.
  /// Guards the following members, which wake the progress thread.
  std::mutex sleepMutex;
  std::condition_variable wake;
  bool isWanted = false;
  bool stopping = false;
  std::thread thread;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_MPIENGINE_H
