//===- State.h - State of the fake CUDA driver ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKECUDA_STATE_H
#define BRAID_TEST_INPUTS_FAKECUDA_STATE_H

#include "CUDA/API/Driver.h"
#include "FakeCUDA.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): CUDA's own tags.

namespace fakecuda {

using namespace braid::rt::cuda;

/// The kernel of the runtime that sets the condition of a conditional node.
constexpr const char *selectorKernel = "braid_set_selector";

/// How far each stream, by its number, has come.
using Clock = std::map<int, uint64_t>;
void merge(Clock &clock, const Clock &other);

/// Memory that an operation touches.
struct Access {
  uintptr_t begin, end;
  bool writes;
};

/// What a stream runs: captured operations once for each launch of the graph.
struct Operation {
  std::string what; ///< `kernel k0`
  std::vector<Access> accesses;
  int64_t costNs = 0; ///< On the streams' own clocks, which only work advances.
  std::function<void()> run;
  /// Those of a launched graph, which run in this order instead of `run`.
  std::vector<std::shared_ptr<Operation>> parts;
  /// Of a loop in a graph, which repeats the operations of its body, or of a
  /// choice between several ones.
  std::shared_ptr<const unsigned> condition;
  bool isChoice = false;
  std::vector<CUgraph_st *> bodies;
  unsigned correlation = 0; ///< Of a tracer.
};

/// What cuEventRecord asks for.
struct Completion {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  int64_t timeNs = 0;
  Clock clock;                ///< What has happened before it.
  uint64_t captureNumber = 0; ///< Of the recording that contains it; 0: none.
};

/// Finds operations on memory that nothing orders.
class RaceDetector {
public:
  /// An operation of a stream, ordered after what `clock` says.
  void check(const Operation &operation, int stream, const Clock &clock);
  void forget(uintptr_t begin, uintptr_t end);

private:
  struct Use {
    int stream;
    uint64_t tick;
    std::string what;
  };
  struct Cell {
    uintptr_t end;
    std::vector<Use> writers; ///< At most one.
    std::vector<Use> readers;
  };
  void split(uintptr_t at);
  void checkUse(const Use &use, const Operation &operation,
                const Access &access, int stream, const Clock &clock,
                const char *verb) const;

  std::map<uintptr_t, Cell> cells;
};

/// A recording in progress.
struct Capture {
  CUstream_st *origin;
  std::thread::id thread;
  CaptureMode mode;
  uint64_t number;
  bool invalidated = false;
  /// The streams that take part, with their clocks when they came.
  std::map<CUstream_st *, Clock> streams;
  /// When each stream, by its number, has got its last operation.
  Clock lastWork;
  std::vector<std::shared_ptr<Operation>> operations;
  RaceDetector races;
  /// The graph to which the recording adds; nullptr: a new one.
  Graph target = nullptr;
  GraphNode last = nullptr; ///< What cuStreamGetCaptureInfo told.
};

struct State;
State &state();

/// Ends the process.
[[noreturn]] void fail(const std::string &call, const std::string &why);

/// The lock of all state; taken by every entry point.
using Lock = std::unique_lock<std::mutex>;

} // namespace fakecuda

struct CUctx_st {
  int device;
  int retained = 0;
};

struct CUevent_st {
  CUctx_st *context;
  unsigned flags;
  /// The last cuEventRecord.
  std::shared_ptr<fakecuda::Completion> last;
};

struct CUstream_st {
  CUstream_st(CUctx_st *context, int number, int priority, bool blocked);
  ~CUstream_st();

  void push(std::function<void(CUstream_st &)> task);
  bool idle();
  void waitIdle();
  void setBlocked(bool value);

  CUctx_st *const context;
  const int number;
  const int priority;
  fakecuda::Clock clock;
  fakecuda::Capture *capture = nullptr;
  int64_t timeNs = 0; ///< The stream's thread's.

private:
  void work();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void(CUstream_st &)>> tasks;
  bool busy = false, stopping = false, blocked;
  std::thread thread;
};

struct CUmod_st {
  CUctx_st *context;
  /// The parameter sizes of the kernels, where the image is readable.
  std::map<std::string, std::vector<size_t>> kernels;
  bool readable = false;
  bool waits = false; ///< The kernels wait for earlier ones.
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};

struct CUfunc_st {
  CUmod_st *module;
  std::string name;
  bool loaded = false;
  int sharedLimit = 48 * 1024;
};

struct CUgraphNode_st {};

struct CUgraph_st {
  std::vector<std::shared_ptr<fakecuda::Operation>> operations;
};

struct CUgraphExec_st {
  std::vector<std::shared_ptr<fakecuda::Operation>> operations;
};

namespace fakecuda {

struct Allocation {
  size_t bytes;
  size_t mapped;
  int device;
  std::string freedBy; ///< Empty while it is live.
};

struct RegisteredKernel {
  std::vector<size_t> sizes;
  fake_cuda_kernel function;
};

struct InjectedFailure {
  Result result;
  int skipped;
};

/// All state of the process.
struct State {
  std::mutex mutex;
  bool initialized = false;
  int deviceCount;
  bool allowsForeignMemory; ///< Other memory of the host is that of any device.
  size_t deviceBytes;
  int capability;
  int version;
  bool allocationsForbidden = false;
  std::string log;
  std::map<std::string, InjectedFailure> failures;
  std::map<std::string, RegisteredKernel> kernels;

  std::map<int, std::unique_ptr<CUctx_st>> contexts;
  std::set<int> blockedDevices;
  std::map<CUstream_st *, std::unique_ptr<CUstream_st>> streams;
  std::map<CUevent_st *, std::unique_ptr<CUevent_st>> events;
  std::map<CUmod_st *, std::unique_ptr<CUmod_st>> modules;
  std::map<CUfunc_st *, CUmod_st *> functions;
  std::map<CUgraph_st *, std::unique_ptr<CUgraph_st>> graphs;
  std::map<CUgraphExec_st *, std::unique_ptr<CUgraphExec_st>> graphExecs;
  /// The conditions of conditional nodes by their handles, and their bodies.
  std::map<uint64_t, std::shared_ptr<unsigned>> conditions;
  std::map<CUgraph_st *, std::unique_ptr<CUgraph_st>> bodies;
  std::map<uintptr_t, Allocation> allocations;
  std::map<uintptr_t, size_t> pinned;
  std::vector<std::unique_ptr<Capture>> captures;
  int streamCount = 0;
  uint64_t captureCount = 0;
  Clock host; ///< What the host knows to have happened.
  /// Streams read it without the lock.
  std::atomic<const fake_cuda_tracer *> tracer{nullptr};
  RaceDetector races;
};

/// What every entry point begins with: takes the lock, returns an injected
/// failure or what says that cuInit is missing.
bool enter(const char *call, Lock &lock, Result &result);
#define FAKE_CUDA_ENTER(call)                                                  \
  fakecuda::Lock lock(fakecuda::state().mutex);                                \
  Result injected = SUCCESS;                                                   \
  if (!fakecuda::enter(call, lock, injected))                                  \
    return injected;

/// The calling thread's context; ends the process where it has none.
CUctx_st *currentContext(const char *call);

/// Ends the process unless the handle is live; with the context to be current.
CUstream_st &checkStream(const char *call, Stream stream);
CUevent_st &checkEvent(const char *call, Event event);

/// Ends the process where allocations are forbidden.
void checkAllocation(const char *call);

/// A call that no recording of this thread survives: whether there are such
/// recordings, which are then invalidated. The call returns
/// ERROR_STREAM_CAPTURE_UNSUPPORTED.
bool breaksCapture();

/// Begins a recording of a stream, into `target` if it is not nullptr.
Result beginCapture(const char *call, Stream stream, CaptureMode mode,
                    Graph target);

/// The recording with a number while it lasts, else nullptr.
Capture *findCapture(uint64_t number);

/// Waits until a stream has done what it has been asked for; `lock` is released
/// meanwhile.
void waitIdle(Lock &lock, CUstream_st &stream);
/// The same for all streams of a context.
void waitIdle(Lock &lock, CUctx_st &context);

/// The allocation with the address, live or not; nullptr for other memory.
const std::pair<const uintptr_t, Allocation> *findAllocation(uintptr_t address);

/// Ends the process unless the range is live memory of the device.
void checkMemory(const std::string &call, int device, uintptr_t address,
                 size_t bytes);

/// Puts an operation into a stream or the graph that the stream records.
Result submit(const char *call, CUstream_st &stream,
              std::shared_ptr<Operation> operation);

} // namespace fakecuda

// NOLINTEND(readability-identifier-naming)

#endif // BRAID_TEST_INPUTS_FAKECUDA_STATE_H
