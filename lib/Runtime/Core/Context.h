//===- Context.h - The state of one rank ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_CONTEXT_H
#define BRAID_RUNTIME_CORE_CONTEXT_H

#include "Base/Error.h"
#include "Engine/Engine.h"
#include "braid-rt/Host.h"

#include <atomic>
#include <csetjmp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace braid::rt {

/// The communicator of a rank in a group; its list of ranks is empty if the
/// rank is in no list. Throws an Error if the group names a rank twice or ranks
/// that the world does not have.
CommunicatorSpec findPlace(const braid_rt_group &group, int32_t rank,
                           int32_t worldSize);

/// One rank. Compiled code finds it through the calling thread.
class Context {
public:
  Context(const Environment &environment, Engine &engine, int32_t rank)
      : environment(environment), engine(engine), device(engine.device(rank)),
        recorder(engine.recorder(rank)), rank(rank) {}

  /// The rank that the calling thread runs now, or nullptr.
  static Context *current();

  /// Runs the entry on this rank, on the calling thread. Refuses a thread that
  /// runs a rank already, and a rank that another thread runs.
  int32_t invoke(const braid_rt_entry &entry, void **args);

  /// The reason why the calling thread's last invocation was refused, if it was
  /// an invocation of this rank; else nullptr. The thread stores the reason,
  /// because another thread may be running the rank and writing its error.
  const std::string *refusal() const;

  /// Clears the reason why an invocation of the calling thread was refused.
  static void forgetRefusal();

  /// The rank's communicator of a group, nullptr if the rank is in no list.
  /// Throws if the group names ranks that do not exist.
  Communicator *communicator(const braid_rt_group &group);

  /// Operands of an earlier operation, whose memory a new one may use.
  std::vector<Operand> takeOperands();

  /// Starts an operation and returns its handle.
  void *start(const braid_rt_group &group, Operation &&operation);

  /// Waits for the request of a handle, on the device, or with `onHost` on the
  /// host.
  void wait(void *handle, const braid_rt_site *site, bool onHost);

  /// Fails the last invocation after its end: its results are lost.
  void loseResults();

  /// Stores the message for the launcher. The thread then leaves compiled code.
  void recordError(const std::string &message, bool secondary);

  /// Runs `body` for the op at `site`, which may be null. Errors name the site
  /// and the rank.
  template <typename Body>
  void atSite(const braid_rt_site *site, Body body) const {
    try {
      body();
    } catch (const Error &error) {
      throw Error(
          messagePrefix(error.site.value_or(site ? *site : braid_rt_site{}),
                        rank) +
              error.what(),
          error.secondary);
    }
  }

  /// Leaves compiled code after recordError.
  [[noreturn]] void jump() { std::longjmp(jumpTarget, 1); }

  const Environment &environment;
  Engine &engine;
  Device &device;
  FlightRecorder &recorder;
  const int32_t rank;
  std::string error;
  bool failed = false;
  bool secondary = false;
  braid_rt_statistics statistics = {};
  /// The cases of the choices that have begun, the innermost one last.
  std::vector<int64_t> chosenCases;

  /// Writes the last operations of the rank. Any thread may call this function.
  void writeFlights(const std::string &reason, bool always = false) const;

  /// Sets the work that invocations skip, a braid_rt_skip. The rank must not be
  /// running.
  void setSkip(int32_t value);
  bool skips(braid_rt_skip what) const { return skip == what; }

  /// Writes the operation that the rank awaits now, and returns whether it
  /// waits. Signal handlers may call this function on any thread.
  bool describeWait(char *text, size_t size);

  /// The events of the last invocation, for the C ABI.
  const braid_rt_event *trace(int64_t *count);

private:
  /// A started launch. Handles carry the slot's number and generation, so that
  /// a second wait for a launch is detected.
  struct Request {
    std::unique_ptr<EngineRequest> request;
    Communicator *communicator = nullptr;
    uint32_t generation = 1;
    int64_t waitsLeft = 0;
    bool completed = false;
    int64_t flight = 0; ///< Its number in the recorder; 0: not recorded here.

    const Operation &operation() const { return request->operation; }
    std::string lane() const;
  };

  struct TraceEvent {
    braid_rt_event event;
    std::string name; ///< Empty if the name in `event` lives longer.
    std::string signature;
    std::string lane;
    std::vector<int32_t> ranks;
  };

  /// An awaited operation of a device, in a trace. It ends when the device has
  /// run it.
  struct TracedRequest {
    std::unique_ptr<EngineRequest> request;
    Communicator *communicator;
  };

  /// Keeps `waitingFor` up to date during a wait.
  class WaitScope;

  static int64_t createNumber();
  int32_t refuse(const char *why) const;
  int32_t run(const braid_rt_entry &entry, void **args);
  bool begin(const braid_rt_entry &entry, void **args);
  bool callHere(const braid_rt_entry &entry, void **args);
  bool enter(const braid_rt_entry &entry, void **args);
  void finish(const braid_rt_entry &entry, void **args);
  void detachResults(const braid_rt_entry &entry, void **args);
  void fail(const std::string &message, bool isSecondary);
  void dropRequests();
  Request &find(void *handle, const braid_rt_site &site);
  size_t freeSlot();
  /// Throws if an invocation without communication starts far more than a whole
  /// one: its conditions depend on what is skipped, and it may never end.
  void checkSkipped();
  /// Uses the operands of a skipped collective as its results.
  void standIn(const Operation &operation);
  std::unique_ptr<EngineRequest> startRecorded(Communicator &communicator,
                                               Operation &&operation,
                                               int64_t &flight);
  void endRequest(Request &request);
  bool tracesDevice() const;
  void addEvent(braid_rt_event_category category, const EngineRequest &request,
                const Communicator &communicator, int64_t beginNs,
                int64_t endNs);
  void addDeviceEvents();
  void addInvocation(const braid_rt_entry &entry, int64_t beginNs);

  /// Set while a thread runs the rank. This thread owns all fields that are not
  /// const.
  std::atomic<bool> running{false};
  /// Unique in the process, also compared to destroyed contexts.
  const int64_t number = createNumber();
  std::jmp_buf jumpTarget;
  std::unordered_map<const braid_rt_group *, Communicator *> communicators;
  CallCache calls; ///< For the recorder.
  std::vector<Request> requests;
  std::vector<size_t> freeSlots;
  std::vector<TraceEvent> events;
  std::vector<TracedRequest> tracedRequests;
  /// The memory of awaited operations, for the next ones.
  std::vector<std::vector<Operand>> spareOperands;
  /// The collectives that graphs have recorded, by their requests' `recorded`.
  std::map<int64_t, std::vector<TraceEvent>> recordedEvents;
  int32_t skip = BRAID_RT_SKIP_NOTHING;
  /// What the last whole invocation of an entry has started.
  std::unordered_map<const braid_rt_entry *, int64_t> startsOfEntries;
  /// What an invocation that skips communication may start.
  int64_t mostSkipped = 0;
  int64_t skipped = 0; ///< In this invocation.
  std::vector<braid_rt_event> exportedEvents;
  /// The operation that the rank's thread awaits. A reader takes the pointer
  /// out and puts it back; the operation stays alive in between.
  std::atomic<const Operation *> waitingFor{nullptr};
};

/// Ends the process with a message. For runtime functions on a thread that runs
/// no rank, which has no launcher to return to.
[[noreturn]] void failOutsideOfRank();

/// Runs `body` on behalf of compiled code and returns what it returns. An
/// exception in it leaves compiled code, which has no unwind tables, with
/// longjmp; by then nothing with a destructor is alive here.
template <typename Body> auto leaveOnError(Body body) {
  Context *context = Context::current();
  if (!context)
    failOutsideOfRank();
  try {
    return body(*context);
  } catch (const Error &error) {
    context->recordError(error.what(), error.secondary);
  } catch (const std::exception &error) {
    context->recordError(messagePrefix({}, context->rank) + error.what(),
                         false);
  }
  context->jump();
}

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_CONTEXT_H
