//===- Rank.h - One rank and its GPU ----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_RANK_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_RANK_H

#include "CUDA/Communication/NCCLCommunicator.h"
#include "CUDA/Device/CudaDevice.h"
#include "Diagnosis/FlightRecorder.h"
#include "Diagnosis/Status.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

namespace braid::rt::cuda {

class RankServices;

/// A rank of this process. Its thread starts operations and waits for them. The
/// watchdog polls its flights, and aborts its communicators when the world
/// fails.
class CudaRank final : public DeviceHooks {
public:
  CudaRank(RankServices &engine, int32_t rank);
  ~CudaRank() override;

  /// Drops recorded graphs, which use NCCL's communicators, at the end of a
  /// world.
  void forgetGraphs();
  /// Deregisters all buffers at the end of a world.
  void deregisterBuffers();
  void releaseCommunicators();

  /// Creates the device.
  void open(int32_t ordinal, const DeviceOptions &options);

  const Gpu &gpu() const { return device->gpu(); }
  const Driver &driver() const;

  //===--- DeviceHooks ----------------------------------------------------===//

  DevicePointer allocate(const Driver &driver, int64_t bytes) override;
  void free(const Driver &driver, DevicePointer pointer) override;
  void waitsFor(Stream stream) override;
  void endWait() override;
  void enqueues() override;
  void launchesGraph(const std::function<void()> &launch) override;
  int32_t chooseAlgorithm(const std::string &operation,
                          const std::function<int32_t()> &measure) override;
  void replaces(const Replacement &replacement) override;

  //===--- For the rank's thread ------------------------------------------===//

  void beginInvocation();
  void endInvocation();
  /// Returns when no work on the device uses the memory of requests.
  void failInvocation();
  /// Forgets what the rank has started since the begin of a recording, of which
  /// nothing has run. Its requests are gone.
  void dropRecording();

  /// Throws the Error of a world that has failed.
  void throwIfFailed();

  NCCLCommunicator &communicator(const CommunicatorSpec &spec);

  /// Adds a flight to a lane.
  Flight &addFlight(Lane &lane, const CommunicatorSpec &spec, Flight flight);
  /// The thread makes the communicator of the flight and calls NCCL, which may
  /// block until other members do the same.
  void markIssuing(const Flight &flight);
  /// The flight's work and the event of its end have been enqueued.
  void markIssued(Flight &flight);
  void markAwaited(Flight &flight);
  void markReleased(Flight &flight);

  /// Enqueues a communicator whose messages are issued at its next wait for a
  /// message, or when the thread may block.
  void defer(NCCLCommunicator &communicator);
  bool hasDeferredMessages() const { return !withMessages.empty(); }
  void flushMessages();
  void flushMessages(NCCLCommunicator &communicator);
  /// The compute stream is about to wait for an operation.
  void passesWait();
  /// The thread waits for `stream`, or for other ranks. Issues no messages.
  void beginWait(Stream stream);

  /// The operation of a flight, for other processes.
  OpenOperation describe(const NCCLCommunicator &communicator,
                         const Flight &flight) const;

  //===--- For the watchdog -----------------------------------------------===//

  /// Polls the events of started operations. Returns the longest time, in ns,
  /// in which a lane with open operations has completed none; 0 if no operation
  /// is open.
  int64_t look(int64_t nowNs);
  /// The oldest operation that makes no progress; nothing if there is none.
  std::optional<OpenOperation> oldestOpen();
  /// The rank's state, with the first `mostOfLane` open operations of each
  /// lane: later ones only wait for these.
  RankStatus status(size_t mostOfLane = 64);

  /// Aborts the communicators. The rank's thread is failing, or notices the
  /// abort at its next wait.
  void abortCommunicators();
  /// Sets `isHit` if an operation of this rank is open when the world fails.
  void noteFailure();
  /// An asynchronous error of NCCL and its text; Success if there is none.
  std::pair<nccl::Result, std::string> findAsyncError();

  RankServices &engine;
  const int32_t rank;
  std::unique_ptr<CudaDevice> device;
  /// Held during NCCL calls.
  std::mutex issuing;
  /// Guards flights.
  std::mutex mutex;
  FlightRecorder &recorder;
  /// The allocations with windows, in their order. Freed allocations have no
  /// bytes. Only the rank's own thread changes this list.
  std::vector<std::pair<DevicePointer, int64_t>> symmetric;
  /// True if these bytes are in one of the allocations with windows.
  bool isSymmetric(DevicePointer pointer, int64_t bytes) const;
  int64_t begun = 0;   ///< Invocations.
  int64_t started = 0; ///< Operations; replays start none.
  /// Only the rank's own thread changes this list, or that which prepares.
  std::vector<Replacement> replacements;

private:
  Event takeEvent();
  void dropFinished(Lane &lane);
  void dropMessages();
  void dropFlights(int64_t nowNs);
  bool isFinished(Flight &flight) const;
  void lookAt(Lane &lane, int64_t nowNs);

  std::map<std::string, std::unique_ptr<NCCLCommunicator>> communicators;
  std::vector<NCCLCommunicator *> withMessages;
  /// Messages that are not issued precede a wait of the compute stream.
  bool hasPassedWait = false;
  int64_t enqueuedSince = 0; ///< The calls for the stream after this wait.
  std::vector<Event> events; ///< Free ones.
  int64_t ended = 0;
  int64_t waits = 0; ///< Waits of the thread for its device or in NCCL.
  const Flight *issuingFlight =
      nullptr; ///< The flight that NCCL is called for.
  /// The stream for which the thread waits; null if it does not wait.
  std::atomic<Stream> awaitedStream{nullptr};
  bool running = false, hasFailed = false;
  /// An operation of this rank was open when the world failed.
  std::atomic<bool> isHit{false};
  bool aborted = false;
  std::condition_variable abortDone;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_RANK_H
