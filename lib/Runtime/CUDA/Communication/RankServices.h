//===- RankServices.h - What ranks need of their engine ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_RANKSERVICES_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_RANKSERVICES_H

#include "CUDA/API/Blas.h"
#include "CUDA/API/Driver.h"
#include "CUDA/API/NCCL.h"
#include "CUDA/Communication/LaneOptions.h"
#include "CUDA/Communication/Rendezvous.h"
#include "CUDA/Trace/Activities.h"
#include "Diagnosis/Status.h"
#include "Engine/Engine.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

namespace braid::rt::cuda {

class CudaRank;
class NCCLCommunicator;

/// The engine as its ranks and communicators see it: the libraries, the options
/// of the user, and what needs other ranks or other processes.
class RankServices : public Engine {
public:
  RankServices(const Environment &environment, LaneOptions laneOptions,
               std::shared_ptr<Activities> activities);

  /// Loads the library at its first use, because a world of one rank needs it
  /// only for a few operations.
  const nccl::NCCL &nccl() const;
  /// Whether there has been such a use.
  bool usesNCCL() const { return ncclLibrary != nullptr; }
  bool blocksInNCCL() const { return blocking; }
  /// Communicators know arguments and arena, so that NCCL need not copy them
  /// to buffers of its own.
  bool registersBuffers() const { return registering; }
  virtual bool isLocal(int32_t rank) const = 0;
  virtual std::shared_ptr<Rendezvous>
  rendezvous(const CommunicatorSpec &spec) = 0;
  virtual void logCommunicator(const CommunicatorSpec &spec,
                               const LaneSpec &used) const = 0;
  /// Creates a communicator that no program has announced, and waits for its
  /// other members.
  virtual void makeUnannounced(NCCLCommunicator &communicator) = 0;
  /// Measures unless an algorithm has been chosen. All ranks use the result of
  /// the first measurement that ends. No rank waits for another rank's
  /// measurement, which may depend on work that the waiting rank has yet to
  /// start.
  virtual int32_t chooseAlgorithm(CudaRank &rank, const std::string &operation,
                                  const std::function<int32_t()> &measure) = 0;

  //===--- Failures -------------------------------------------------------===//

  bool hasFailed() const { return failed.load(std::memory_order_acquire); }
  virtual Failure failure() const = 0;
  /// Ends the world in all processes. Only the first failure is kept.
  virtual void fail(const Failure &failure) = 0;
  /// Waits for the world to fail after NCCL has returned `error`: at most ten
  /// seconds after ncclRemoteError, which tells the end of a peer, at most one
  /// after others. NCCL often reports the end of a peer before the peer's
  /// connection closes, which the driver delays while kernels run.
  virtual void awaitFailureOfPeer(nccl::Result error) = 0;
  /// True if processes announce operations to each other before they start.
  virtual bool announces() const = 0;
  /// Announces an operation of this process's rank to all processes.
  virtual void announce(const OpenOperation &operation) = 0;
  /// Waits until all members have announced the operation. Throws an Error if
  /// one does not.
  virtual void awaitAnnouncements(CudaRank &rank,
                                  const OpenOperation &operation) = 0;
  /// The same if local members have started different collectives.
  virtual void failDisagreement(const Rendezvous &rendezvous,
                                int64_t sequence) = 0;

  const Environment &environment;
  const LaneOptions laneOptions;
  /// Loaded before the driver, as CUPTI requires; null: traces use events.
  const std::shared_ptr<Activities> activities;
  const Driver driver;
  const Blas blas;

protected:
  std::atomic<bool> failed{false};

private:
  const bool blocking, registering;
  mutable std::once_flag ncclFlag;
  mutable std::unique_ptr<nccl::NCCL> ncclLibrary;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_RANKSERVICES_H
