//===- Engine.h - The interface of engines ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The core checks operations, counts requests, records traces and turns errors
// into messages. An engine finds the ranks, moves the data between them and
// gives each rank a device. Code outside an engine's folder does not depend on
// the engine. docs/design/engines.md is the contract of all engines.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_ENGINE_ENGINE_H
#define BRAID_RUNTIME_ENGINE_ENGINE_H

#include "Base/Environment.h"
#include "Diagnosis/FlightRecorder.h"
#include "Engine/Device.h"
#include "Operations/Communicator.h"
#include "Operations/Operation.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt {

/// A started operation of one rank. The rank destroys the request after a wait
/// or after failInvocation. With a trace, if the host does not wait, the rank
/// destroys the request after Communicator::measure.
class BRAID_RT_API EngineRequest {
public:
  explicit EngineRequest(Operation &&operation)
      : operation(std::move(operation)) {}
  virtual ~EngineRequest();

  Operation operation; ///< Unchanged until the last wait has ended.
  /// The begin and the end of the data transfer, in ns since the world was
  /// created; valid after hostWait or measure.
  int64_t beginNs = 0;
  int64_t endNs = 0;
  /// When the rank has started it, in the same time; 0: not measured.
  int64_t startedNs = 0;
  /// When the rank has begun to wait for it, in the same time.
  int64_t awaitedNs = 0;
  int64_t sequence = 0; ///< Its number in its communicator, from 1.
  /// Not 0 if a graph has recorded the operation and the device measures it in
  /// replays. Messages that run together share a number.
  int64_t recorded = 0;
};

/// One member of a communicator. The rank's own thread calls all functions;
/// they throw Error.
class BRAID_RT_API Communicator {
public:
  explicit Communicator(CommunicatorSpec spec) : spec(std::move(spec)) {}
  virtual ~Communicator();

  /// Starts a checked operation after all earlier work of the rank's device.
  /// Returns at once; never waits for another rank.
  virtual std::unique_ptr<EngineRequest> start(Operation &&operation) = 0;

  /// Makes the rank's device wait until the operation has ended. The host need
  /// not wait.
  virtual void wait(EngineRequest &request) = 0;

  /// Returns when the operation has ended and the host may read its results.
  virtual void hostWait(EngineRequest &request) { wait(request); }

  /// Fills in the times of the data transfer of an awaited request. The core
  /// calls this function after Device::endInvocation for engines without
  /// `host-memory`, if the configuration enables traces.
  virtual void measure(EngineRequest &) {}

  /// The number of collectives, without messages, that this member has started
  /// since the creation or reset of the world.
  virtual int64_t sequenceNumber() const = 0;

  const CommunicatorSpec spec;
};

/// The capabilities of an engine beyond the contract. A launcher asks for them
/// by name (braid_rt_world_has) and refuses options without their capability
/// before it runs a program.
struct Capabilities {
  /// `link-rehearsal`: operations take as long as on a slower link.
  bool linkRehearsal = false;
  /// `recovery`: the world can be used again after a rank has failed.
  bool recovery = false;
  /// `host-memory`: buffers of compiled code are in host memory.
  bool hostMemory = false;
  /// `processes`: ranks are processes of their own.
  bool processes = false;
  /// `transports`: lanes choose how they move data.
  bool transports = false;
  /// `graphs`: the engine has the option `cuda-graph`.
  bool graphs = false;
  /// `activities`: traces have the times of each kernel, copy and collective on
  /// the devices, also in graphs.
  bool activities = false;
  /// `ordered-reductions`: reductions combine operands in the order of the
  /// group's ranks.
  bool orderedReductions = false;
  /// The target of the devices, a braid_rt_target.
  int32_t target = BRAID_RT_TARGET_HOST;
};

/// The communicators of a local rank in the groups of a program: an entry for
/// each group, with an empty list of ranks if the rank is in none of its lists.
struct RankSpecs {
  int32_t rank;
  std::vector<CommunicatorSpec> specs;

  auto begin() const { return specs.begin(); }
  auto end() const { return specs.end(); }
  size_t size() const { return specs.size(); }
  const CommunicatorSpec &operator[](size_t i) const { return specs[i]; }
};

/// A resource that the program plans and a library refuses, and what the rank
/// uses instead.
struct Replacement {
  std::string resource; ///< `lane tp copies`, `matmul of f32: ...`.
  std::string planned;  ///< `transport copy, 8 CTAs`.
  std::string reason;   ///< What the library says.
  std::string used;     ///< `8 CTAs`.
};

/// Finds the ranks of the world and connects them.
class BRAID_RT_API Engine {
public:
  virtual ~Engine();

  virtual const Capabilities &capabilities() const = 0;

  /// The number of ranks of the world.
  virtual int32_t worldSize() const = 0;

  /// The ranks that this process runs, in ascending order.
  virtual const std::vector<int32_t> &localRanks() const = 0;

  /// The device of a local rank.
  virtual Device &device(int32_t rank) = 0;

  /// A property of the libraries that connect the ranks, by the names of
  /// braid_rt_device_property; empty if the engine does not know it.
  virtual std::string property(const std::string &) const { return {}; }

  /// The planned resources that the local rank has replaced since the creation
  /// of the world, in the order of their first use.
  virtual const std::vector<Replacement> &replacements(int32_t rank) const;

  /// Creates the communicators of a program before it runs. All processes of
  /// the world call this function together, with equal groups in equal order.
  virtual void prepare(const std::vector<RankSpecs> &specs);

  /// The communicator of which the local rank is member `spec.index`. The
  /// engine creates it at the first call and keeps it.
  virtual Communicator &communicator(int32_t rank,
                                     const CommunicatorSpec &spec) = 0;

  /// Sends the bytes of every process to all processes, in the order of their
  /// ranks. All processes call this function together, while no rank runs.
  virtual std::vector<std::string> exchange(const std::string &bytes) = 0;

  /// All local ranks are about to run the entry, with the arguments of each in
  /// the order of `localRanks`. What they must do alike is decided here. The
  /// default does nothing.
  virtual void beginRun(const braid_rt_entry &, void ***) {}

  /// They have ended, or another thread ran one of them. False if a failure
  /// loses results of ranks that have returned before the end of their work.
  virtual bool endRun() { return true; }

  /// The entry has returned, or `problem` (else null) is an error that has left
  /// it or the device's recordingProblem. False if all local ranks do without
  /// the recording of a graph, of which nothing has run: the core destroys the
  /// requests, calls restartInvocation and then the entry again. The default
  /// has no recordings.
  virtual bool keepsRecording(int32_t, const std::string *) { return true; }
  virtual void restartInvocation(int32_t) {}

  /// The rank enters its program. The rank's own thread calls it.
  virtual void beginInvocation(int32_t rank) = 0;

  /// The rank has ended its program and awaited all its requests.
  virtual void endInvocation(int32_t rank) = 0;

  /// The rank has failed. After the return no other thread accesses memory of
  /// the rank's requests, and all waits for the rank fail with an error.
  virtual void failInvocation(int32_t rank, const std::string &message) = 0;

  /// Resets failures and counts; no rank may be running. Only with `recovery`.
  virtual void reset() = 0;

  /// The last operations of a local rank. If the host is the device, the core
  /// records them; otherwise the engine does, because only the engine knows
  /// when the device has ended an operation. The core asks for all local ranks
  /// before threads use the recorders.
  FlightRecorder &recorder(int32_t rank) { return recorders[rank]; }

private:
  std::map<int32_t, FlightRecorder> recorders;
};

/// The version of Engine.h. The runtime refuses an engine of another version.
constexpr int32_t engineInterfaceVersion = 9;

/// The object that the shared library of an engine exports as
/// `braid_rt_engine`.
struct EngineDescriptor {
  int32_t interfaceVersion;
  /// Throws an Error that names the missing part or the unknown option.
  std::unique_ptr<Engine> (*create)(const Environment &environment);
};

#define BRAID_RT_ENGINE_SYMBOL "braid_rt_engine"

} // namespace braid::rt

#endif // BRAID_RUNTIME_ENGINE_ENGINE_H
