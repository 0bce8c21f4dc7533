//===- NCCL.cpp - The functions of the fake NCCL --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "FakeNCCL.h"
#include "Library.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <unistd.h>

// NOLINTBEGIN(readability-identifier-naming): NCCL's own names.

using namespace fakenccl;

namespace {
/// The group that a thread is in.
struct OpenGroup {
  int depth = 0;
  std::vector<ncclComm *> joins;
  std::vector<std::shared_ptr<Batch>> batches;
  std::vector<std::function<Result()>> registrations;
  Result error = Success;
};
} // namespace

static thread_local OpenGroup group;

// The driver's, in libfake_cuda.so.
extern "C" int cuStreamIsCapturing(Stream stream, int *status);

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Waits for the other members.
static void join(ncclComm *comm) {
  std::string mine = std::to_string(comm->device) + " " +
                     std::to_string(getpid()) + " " +
                     std::to_string(comm->size);
  exchange().put(comm->id + ".join." + std::to_string(comm->rank), mine,
                 comm->size - 1);
  for (int i = 0; i < comm->size; ++i) {
    std::string other;
    if (i == comm->rank)
      continue;
    if (!exchange().take(comm->id + ".join." + std::to_string(i), other,
                         comm->aborted))
      return;
    if (other == mine)
      comm->error = InvalidUsage; // Duplicate GPU detected
  }
}

static void logTask(const Batch &batch, const Task &task) {
  const ncclComm &comm = *batch.comm;
  bool copies = comm.config.ctaPolicy == ctaPolicyZero && task.inWindows &&
                (task.kind == Kind::AllGather || task.kind == Kind::AlltoAll ||
                 task.kind == Kind::Gather || task.kind == Kind::Scatter);
  std::string line =
      comm.name + ": " + kindNames[static_cast<int>(task.kind)] + " " +
      std::to_string(task.count) + " on device " + std::to_string(comm.device) +
      (comm.config.maxCTAs > 0 ? ", CTAs " + std::to_string(comm.config.maxCTAs)
                               : "") +
      (copies           ? ", copy engines"
       : task.inWindows ? ", symmetric kernel"
                        : ", kernel");
  std::lock_guard<std::mutex> lock(library().mutex);
  library().log += line + "\n";
}

/// Starts what a group has gathered.
static Result launch(const std::shared_ptr<Batch> &batch) {
  ncclComm &comm = *batch->comm;
  for (const Task &task : batch->tasks)
    logTask(*batch, task);
  if (comm.config.blocking != 0)
    return enqueue(batch);
  std::scoped_lock lock(library().mutex, comm.mutex);
  comm.looksLeft = static_cast<int>(library().random() % 4) + 1;
  comm.begun.push_back(batch);
  return InProgress;
}

static Result endGroup() {
  OpenGroup ending;
  std::swap(ending, group);
  if (ending.error != Success) {
    std::lock_guard<std::mutex> lock(library().mutex);
    for (ncclComm *comm : ending.joins)
      library().live.erase(comm);
    return ending.error;
  }
  Result result = Success;
  // All members of this thread are there before any waits for the others.
  std::vector<std::thread> joiners;
  for (ncclComm *comm : ending.joins) {
    if (comm->config.blocking != 0) {
      joiners.emplace_back([comm]() { join(comm); });
      continue;
    }
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->joining = true;
    comm->joiner = std::thread([comm]() {
      join(comm);
      std::lock_guard<std::mutex> lock(comm->mutex);
      comm->joining = false;
    });
    result = InProgress;
  }
  for (std::thread &joiner : joiners)
    joiner.join();
  for (ncclComm *comm : ending.joins)
    if (comm->config.blocking != 0 && comm->error != Success)
      return refuse(InvalidUsage, "Duplicate GPU detected");
  // Members of this thread register their windows at once, too.
  std::vector<Result> registered(ending.registrations.size(), Success);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < registered.size(); ++i)
    threads.emplace_back(
        [&, i]() { registered[i] = ending.registrations[i](); });
  for (std::thread &thread : threads)
    thread.join();
  for (Result each : registered)
    if (each != Success)
      return refuse(each, "symmetric memory is not supported");
  for (const std::shared_ptr<Batch> &batch : ending.batches) {
    Result launched = launch(batch);
    if (launched != Success && launched != InProgress)
      return refuse(launched, "the driver refused the launch");
    if (launched == InProgress)
      result = InProgress;
  }
  return result;
}

/// Registers the memory of a recorded call as NCCL 2.28.9 does: where an
/// exchange comes first, later collectives lack the addresses of the peers.
static void registerRecorded(const char *name, ncclComm *comm, Stream stream,
                             const Task &task) {
  int status = 0;
  if (cuStreamIsCapturing(stream, &status) != 0 || status == 0)
    return;
  bool exchanges = task.kind >= Kind::AlltoAll;
  if (!exchanges && task.kind != Kind::AllGather &&
      task.kind != Kind::Broadcast &&
      (task.kind != Kind::AllReduce || task.source == task.destination))
    return;
  std::lock_guard<std::mutex> lock(library().mutex);
  for (const char *used : {exchanges ? task.source : nullptr,
                           static_cast<const char *>(task.destination)}) {
    auto after = library().allocations.upper_bound(used);
    if (!used || after == library().allocations.begin())
      continue;
    auto [memory, isFirst] =
        comm->recorded.try_emplace(std::prev(after)->first, exchanges);
    if (!isFirst && !exchanges && memory->second)
      fake_cuda_abort(name, "an exchange has registered the memory: the kernel "
                            "has no address of a peer");
  }
}

/// Adds a call to the thread's group, or runs it as a group of its own.
static Result add(const char *name, ncclComm *comm, Stream stream, Task task) {
  FAKE_NCCL_ENTER(name)
  Call call(name, comm);
  checkIdle(name, comm);
  if (comm->error != Success)
    return refuse(static_cast<Result>(comm->error.load()),
                  "communicator error");
  int device = fake_cuda_stream_device(name, stream);
  if (device != comm->device)
    fake_cuda_abort(name, "the stream belongs to another device than the "
                          "communicator");
  bool isMessage = task.kind == Kind::Send || task.kind == Kind::Recv;
  if (task.root < 0 || task.root >= comm->size)
    return refuse(InvalidArgument, "no such root or peer");
  if (task.op > Avg) {
    std::lock_guard<std::mutex> lock(library().mutex);
    auto found = library().scales.find(task.op);
    if (found == library().scales.end())
      fake_cuda_abort(name, "there is no such operator");
    task.scale = found->second;
  }
  {
    std::lock_guard<std::mutex> lock(comm->mutex);
    auto holds = [&](const char *pointer, size_t bytes) {
      return bytes == 0 ||
             std::any_of(comm->windows.begin(), comm->windows.end(),
                         [&](const std::unique_ptr<ncclWindow_vidmem> &window) {
                           return pointer >= window->begin &&
                                  pointer + bytes <=
                                      window->begin + window->bytes;
                         });
    };
    task.inWindows =
        !isMessage &&
        holds(task.source, task.sourceBytes(comm->rank, comm->size)) &&
        holds(task.destination, task.destinationBytes(comm->rank, comm->size));
  }
  registerRecorded(name, comm, stream, task);
  bool alone = group.depth == 0;
  std::shared_ptr<Batch> *batch = nullptr;
  for (std::shared_ptr<Batch> &existing : group.batches)
    if (existing->comm == comm && existing->stream == stream)
      batch = &existing;
  if (!batch) {
    group.batches.push_back(std::make_shared<Batch>(Batch{comm, stream, {}}));
    batch = &group.batches.back();
  }
  (*batch)->tasks.push_back(std::move(task));
  return alone ? endGroup() : Success;
}

Result fakenccl::registerInGroup(const std::function<Result()> &registration) {
  if (group.depth == 0)
    return registration();
  group.registrations.push_back(registration);
  return Success;
}

extern "C" {

Result ncclGroupStart() {
  FAKE_NCCL_ENTER("ncclGroupStart")
  ++group.depth;
  return Success;
}

Result ncclGroupEnd() {
  if (group.depth == 0)
    return refuse(InvalidUsage, "ncclGroupEnd: not in a group call");
  if (--group.depth > 0)
    return Success;
  Result result = Success;
  if (failsNow("ncclGroupEnd", result)) {
    group = OpenGroup();
    return result;
  }
  return endGroup();
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

Result ncclGetVersion(int *version) {
  *version = declaredVersion;
  return Success;
}

const char *ncclGetErrorString(Result result) {
  static const char *const texts[] = {
      "no error",
      "unhandled cuda error (run with NCCL_DEBUG=INFO)",
      "unhandled system error",
      "internal error",
      "invalid argument",
      "invalid usage",
      "remote process exited or there was a network error",
      "NCCL operation in progress"};
  return texts[result];
}

const char *ncclGetLastError(ncclComm *) { return lastError.c_str(); }

Result ncclGetUniqueId(UniqueId *id) {
  FAKE_NCCL_ENTER("ncclGetUniqueId")
  std::lock_guard<std::mutex> lock(library().mutex);
  std::memset(id, 0, sizeof(*id));
  std::snprintf(id->internal, sizeof(id->internal), "%d-%d",
                static_cast<int>(getpid()), ++library().nextId);
  return Success;
}

Result ncclCommInitRankConfig(ncclComm **result, int size, UniqueId id,
                              int rank, Config *config) {
  FAKE_NCCL_ENTER("ncclCommInitRankConfig")
  if (config->size != sizeof(Config) || config->magic != 0xcafebeef)
    return refuse(InvalidArgument, "the configuration was not initialised");
  if (rank < 0 || rank >= size)
    return refuse(InvalidArgument, "no such rank");
  if (!group.batches.empty())
    fake_cuda_abort("ncclCommInitRankConfig",
                    "a group has collectives and new communicators");
  if ((config->maxCTAs > 0 && refuses("ctas", rank)) ||
      (config->ctaPolicy == ctaPolicyZero && refuses("copy", rank))) {
    group.error = group.depth > 0 ? InvalidArgument : Success;
    return refuse(InvalidArgument, config->ctaPolicy == ctaPolicyZero
                                       ? "no such CTA policy"
                                       : "no such number of CTAs");
  }
  auto *comm = new ncclComm();
  comm->id = id.internal;
  comm->name = config->commName ? config->commName : "";
  comm->rank = rank;
  comm->size = size;
  comm->device = fake_cuda_current_device("ncclCommInitRankConfig");
  comm->config = *config;
  comm->config.commName = nullptr;
  {
    std::lock_guard<std::mutex> lock(library().mutex);
    library().live.insert(comm);
  }
  *result = comm;
  group.joins.push_back(comm);
  return group.depth == 0 ? endGroup() : Success;
}

static void end(ncclComm *comm) {
  comm->dead = true;
  if (comm->joiner.joinable())
    comm->joiner.join();
  std::lock_guard<std::mutex> lock(library().mutex);
  library().live.erase(comm);
  // The object stays: a call of it is to be found out.
}

Result ncclCommDestroy(ncclComm *comm) {
  {
    Call call("ncclCommDestroy", comm);
    checkIdle("ncclCommDestroy", comm);
    if (comm->running > 0)
      fake_cuda_abort("ncclCommDestroy",
                      "operations of the communicator are under way");
    // A registration also lives at the other members.
    std::lock_guard<std::mutex> lock(library().mutex);
    for (ncclComm *member : library().live) {
      std::lock_guard<std::mutex> memberLock(member->mutex);
      if (member->id == comm->id && !member->registrations.empty())
        fake_cuda_abort("ncclCommDestroy",
                        "a member has not deregistered its buffers");
    }
  }
  end(comm);
  return Success;
}

Result ncclCommAbort(ncclComm *comm) {
  if (!comm || comm->dead)
    fake_cuda_abort("ncclCommAbort", "the communicator is gone");
  comm->aborted = true;
  end(comm);
  return Success;
}

Result ncclCommGetAsyncError(ncclComm *comm, Result *error) {
  Call call("ncclCommGetAsyncError", comm);
  std::vector<std::shared_ptr<Batch>> begun;
  {
    std::lock_guard<std::mutex> lock(comm->mutex);
    *error = static_cast<Result>(comm->error.load());
    if (comm->joining || comm->looksLeft > 1) {
      comm->looksLeft = std::max(0, comm->looksLeft - 1);
      *error = InProgress;
      return Success;
    }
    comm->looksLeft = 0;
    begun.swap(comm->begun);
  }
  for (const std::shared_ptr<Batch> &batch : begun)
    if (enqueue(batch) != Success)
      *error = UnhandledCudaError;
  std::lock_guard<std::mutex> lock(library().mutex);
  auto broken = library().broken.find(comm->device);
  if (broken != library().broken.end())
    *error = static_cast<Result>(broken->second);
  return Success;
}

Result ncclRedOpCreatePreMulSum(ReductionOp *op, void *scalar, DataType type,
                                ScalarResidence residence, ncclComm *comm) {
  FAKE_NCCL_ENTER("ncclRedOpCreatePreMulSum")
  Call call("ncclRedOpCreatePreMulSum", comm);
  if (residence != ScalarHostImmediate)
    return refuse(InvalidArgument, "the fake reads scalars of the host alone");
  std::lock_guard<std::mutex> lock(library().mutex);
  *op = static_cast<ReductionOp>(library().nextOp++);
  library().scales[*op].assign(static_cast<const char *>(scalar), sizeOf(type));
  return Success;
}

Result ncclRedOpDestroy(ReductionOp op, ncclComm *comm) {
  Call call("ncclRedOpDestroy", comm);
  std::lock_guard<std::mutex> lock(library().mutex);
  if (library().scales.erase(op) == 0)
    fake_cuda_abort("ncclRedOpDestroy", "there is no such operator");
  return Success;
}

//===----------------------------------------------------------------------===//
// Collectives and messages
//===----------------------------------------------------------------------===//

static Task makeTask(Kind kind, const void *source, void *destination,
                     size_t count, DataType type) {
  Task task = {};
  task.kind = kind;
  task.source = static_cast<const char *>(source);
  task.destination = static_cast<char *>(destination);
  task.count = count;
  task.type = type;
  return task;
}

Result ncclAllReduce(const void *source, void *destination, size_t count,
                     DataType type, ReductionOp op, ncclComm *comm,
                     Stream stream) {
  Task task = makeTask(Kind::AllReduce, source, destination, count, type);
  task.op = op;
  return add("ncclAllReduce", comm, stream, task);
}

Result ncclReduceScatter(const void *source, void *destination, size_t count,
                         DataType type, ReductionOp op, ncclComm *comm,
                         Stream stream) {
  Task task = makeTask(Kind::ReduceScatter, source, destination, count, type);
  task.op = op;
  return add("ncclReduceScatter", comm, stream, task);
}

Result ncclReduce(const void *source, void *destination, size_t count,
                  DataType type, ReductionOp op, int root, ncclComm *comm,
                  Stream stream) {
  Task task = makeTask(Kind::Reduce, source, destination, count, type);
  task.op = op;
  task.root = root;
  return add("ncclReduce", comm, stream, task);
}

Result ncclAllGather(const void *source, void *destination, size_t count,
                     DataType type, ncclComm *comm, Stream stream) {
  return add("ncclAllGather", comm, stream,
             makeTask(Kind::AllGather, source, destination, count, type));
}

Result ncclAlltoAll(const void *source, void *destination, size_t count,
                    DataType type, ncclComm *comm, Stream stream) {
  if (source == destination)
    return refuse(InvalidUsage, "ncclAlltoAll does not work in place");
  return add("ncclAlltoAll", comm, stream,
             makeTask(Kind::AlltoAll, source, destination, count, type));
}

#define FAKE_NCCL_ROOTED(name, kind)                                           \
  Result name(const void *source, void *destination, size_t count,             \
              DataType type, int root, ncclComm *comm, Stream stream) {        \
    Task task = makeTask(kind, source, destination, count, type);              \
    task.root = root;                                                          \
    return add(#name, comm, stream, task);                                     \
  }
FAKE_NCCL_ROOTED(ncclBroadcast, Kind::Broadcast)
FAKE_NCCL_ROOTED(ncclGather, Kind::Gather)
FAKE_NCCL_ROOTED(ncclScatter, Kind::Scatter)

Result ncclSend(const void *source, size_t count, DataType type, int peer,
                ncclComm *comm, Stream stream) {
  Task task = makeTask(Kind::Send, source, nullptr, count, type);
  task.root = peer;
  return add("ncclSend", comm, stream, task);
}

Result ncclRecv(void *destination, size_t count, DataType type, int peer,
                ncclComm *comm, Stream stream) {
  Task task = makeTask(Kind::Recv, nullptr, destination, count, type);
  task.root = peer;
  return add("ncclRecv", comm, stream, task);
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void fake_nccl_reset(void) {
  std::lock_guard<std::mutex> lock(library().mutex);
  library().failures.clear();
  library().broken.clear();
  library().refused.clear();
  library().log.clear();
}

void fake_nccl_fail(const char *function, int result, int skipped) {
  std::lock_guard<std::mutex> lock(library().mutex);
  library().failures[function] = {result, skipped};
}

void fake_nccl_refuse(const char *words) {
  std::lock_guard<std::mutex> lock(library().mutex);
  library().refused = words;
}

void fake_nccl_break(int device, int result) {
  std::lock_guard<std::mutex> lock(library().mutex);
  library().broken[device] = result;
}

const char *fake_nccl_log(void) {
  std::lock_guard<std::mutex> lock(library().mutex);
  library().shownLog = library().log;
  return library().shownLog.c_str();
}

int fake_nccl_communicators(void) {
  std::lock_guard<std::mutex> lock(library().mutex);
  return static_cast<int>(library().live.size());
}
}

// NOLINTEND(readability-identifier-naming)
