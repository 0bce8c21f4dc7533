//===- Context.h - The state of one rank ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_CONTEXT_H
#define BRAID_RUNTIME_CORE_CONTEXT_H

#include "Core/Engine.h"
#include "Core/Error.h"
#include "Core/Memory.h"
#include "braid-rt/Host.h"

#include <atomic>
#include <csetjmp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace braid::rt {

class World;

/// A rank's place in a group.
struct Membership {
  Communicator *communicator = nullptr; ///< nullptr: the rank is in no list.
  int64_t index = -1;
};

/// One rank: what compiled code finds through the calling thread.
class Context {
public:
  Context(World &world, Engine &engine, int32_t rank)
      : world(world), engine(engine), rank(rank) {}

  /// The rank that the calling thread runs now, or nullptr.
  static Context *current();

  /// Runs the entry on this rank, on the calling thread. Refuses a thread that
  /// runs a rank already, and a rank that another thread runs.
  int32_t invoke(const braid_rt_entry &entry, void **args);

  /// Why the calling thread's last invocation was refused, if it was one of
  /// this rank; else nullptr. Kept by the thread, as another one may be running
  /// the rank and writing its error.
  const std::string *refusal() const;

  /// Forgets why an invocation of the calling thread was refused.
  static void forgetRefusal();

  /// The rank's place in a group; throws when the group names ranks that do not
  /// exist.
  Membership membership(const braid_rt_group &group);

  /// Starts an operation and returns its handle.
  void *start(const braid_rt_group &group, Operation operation);

  /// Waits for the request of a handle.
  void wait(void *handle, const braid_rt_site *site);

  /// Keeps the message for the launcher. The thread leaves compiled code next.
  void recordError(const std::string &message, bool secondary);

  /// Leaves compiled code after recordError.
  [[noreturn]] void jump() { std::longjmp(jumpTarget, 1); }

  World &world;
  Engine &engine;
  const int32_t rank;
  MemoryPool memory;
  std::string error;
  bool failed = false;
  bool secondary = false;
  braid_rt_statistics statistics = {};

  /// The events of the last invocation as the C ABI shows them.
  const braid_rt_event *trace(int64_t *count);

private:
  /// A started launch. Handles carry the slot's number and generation, so that
  /// a wait too many is found out instead of touching freed memory.
  struct Request {
    std::unique_ptr<EngineRequest> request;
    uint32_t generation = 1;
    int64_t waitsLeft = 0;
    bool completed = false;
    std::string lane; ///< The group's name, ` p2p` after it for messages.

    const Operation &operation() const { return request->operation; }
  };

  struct TraceEvent {
    braid_rt_event event;
    std::string signature;
    std::string lane;
  };

  static int64_t createNumber();
  int32_t refuse(const char *why) const;
  int32_t run(const braid_rt_entry &entry, void **args);
  void begin();
  void finish(const braid_rt_entry &entry, void **args);
  void detachResults(const braid_rt_entry &entry, void **args);
  void fail(const std::string &message, bool isSecondary);
  Request &find(void *handle, const braid_rt_site &site);
  size_t freeSlot();
  void addEvent(braid_rt_event_category category, const Request &request,
                int64_t beginNs, int64_t endNs);

  /// Set while a thread runs the rank; what is not const here is that thread's.
  std::atomic<bool> running{false};
  /// No other context of the process has it, nor had it.
  const int64_t number = createNumber();
  std::jmp_buf jumpTarget;
  std::unordered_map<const braid_rt_group *, Membership> memberships;
  std::vector<Request> requests;
  std::vector<size_t> freeSlots;
  std::vector<TraceEvent> events;
  std::vector<braid_rt_event> exportedEvents;
};

/// Ends the process with a message: a runtime function was called by a thread
/// that runs no rank, so that there is nowhere to return to.
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
