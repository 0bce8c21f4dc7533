//===- Run.cpp - What the fake NCCL does on a stream ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Communicator.h"
#include "Exchange.h"
#include "FakeCUDA.h"
#include "Reduce/Reduce.h"

#include <cstring>

using namespace fakenccl;

const char *const fakenccl::kindNames[] = {
    "ncclAllReduce",     "ncclReduce",   "ncclBroadcast", "ncclAllGather",
    "ncclReduceScatter", "ncclAlltoAll", "ncclGather",    "ncclScatter",
    "ncclSend",          "ncclRecv"};

size_t fakenccl::sizeOf(DataType type) {
  static constexpr size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return sizes[type];
}

size_t Task::bytes() const { return count * sizeOf(type); }

size_t Task::sourceBytes(int rank, int size) const {
  switch (kind) {
  case Kind::ReduceScatter:
  case Kind::AlltoAll:
    return bytes() * static_cast<size_t>(size);
  case Kind::Scatter:
    return rank == root ? bytes() * static_cast<size_t>(size) : 0;
  case Kind::Broadcast:
    return rank == root ? bytes() : 0;
  case Kind::Recv:
    return 0;
  default:
    return bytes();
  }
}

size_t Task::destinationBytes(int rank, int size) const {
  switch (kind) {
  case Kind::AllGather:
  case Kind::AlltoAll:
    return bytes() * static_cast<size_t>(size);
  case Kind::Gather:
    return rank == root ? bytes() * static_cast<size_t>(size) : 0;
  case Kind::Reduce:
    return rank == root ? bytes() : 0;
  case Kind::Send:
    return 0;
  default:
    return bytes();
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static int32_t dtypeOf(DataType type) {
  // Bytes without a sign are the dialect's i1.
  static constexpr int32_t types[] = {
      BRAID_RT_I8,  BRAID_RT_I1,   BRAID_RT_I32,      BRAID_RT_I32,
      BRAID_RT_I64, BRAID_RT_I64,  BRAID_RT_F16,      BRAID_RT_F32,
      BRAID_RT_F64, BRAID_RT_BF16, BRAID_RT_F8E4M3FN, BRAID_RT_F8E5M2};
  return types[type];
}

static int32_t reductionOf(ReductionOp op) {
  static constexpr int32_t reductions[] = {
      BRAID_RT_SUM, BRAID_RT_PRODUCT, BRAID_RT_MAX, BRAID_RT_MIN, BRAID_RT_AVG};
  return op > Avg ? int32_t(BRAID_RT_PREMUL_SUM) : reductions[op];
}

/// Reduces the elements from `begin` to `end` of a part of the operands of all
/// ranks. The operand of rank `first - 1` comes first, and then those of the
/// ranks before it.
static void reducePiece(const Task &task, char *destination, size_t offset,
                        size_t begin, size_t end, size_t first,
                        const std::vector<std::string> &operands,
                        const std::vector<std::string> &scales) {
  std::vector<const char *> sources;
  std::vector<const unsigned char *> factors;
  size_t at = begin * sizeOf(task.type);
  for (size_t k = 0; k < operands.size(); ++k) {
    size_t rank = (operands.size() - 1 - k + first) % operands.size();
    sources.push_back(operands[rank].data() + offset + at);
    factors.push_back(
        reinterpret_cast<const unsigned char *>(scales[rank].data()));
  }
  destination += at;
  braid::rt::Reduction reduction = {};
  reduction.dtype = dtypeOf(task.type);
  reduction.reduction = reductionOf(task.op);
  reduction.count = static_cast<int64_t>(end - begin);
  reduction.sourceCount = static_cast<int64_t>(sources.size());
  reduction.sources = sources.data();
  reduction.scales = factors.data();
  reduction.destinationCount = 1;
  reduction.destinations = &destination;
  braid::rt::reduce(reduction);
}

/// Reduces a part of the operands of all ranks. As in a ring, the order begins
/// with another rank for each of as many pieces as there are ranks; as with
/// other algorithms, limits and windows move where it begins.
static void reduceInto(const ncclComm &comm, const Task &task,
                       char *destination, size_t offset,
                       const std::vector<std::string> &operands,
                       const std::vector<std::string> &scales) {
  size_t size = operands.size();
  bool isPlanned = comm.config.maxCTAs != undefinedInt || task.inWindows;
  for (size_t piece = 0; piece < size; ++piece) {
    size_t begin = piece * task.count / size;
    size_t end = (piece + 1) * task.count / size;
    if (begin < end)
      reducePiece(task, destination, offset, begin, end,
                  piece + (isPlanned ? 1 : 0), operands, scales);
  }
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// What members have to agree on.
static std::string describe(const Task &task) {
  int numbers[] = {static_cast<int>(task.kind), static_cast<int>(task.type),
                   task.op > Avg ? Avg + 1 : static_cast<int>(task.op),
                   task.root};
  std::string text(reinterpret_cast<const char *>(numbers), sizeof(numbers));
  text.append(reinterpret_cast<const char *>(&task.count), sizeof(task.count));
  return text;
}

static void waitForAbort(const ncclComm &comm) {
  while (!comm.aborted)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Writes this rank's result; `parts` has what each rank has brought.
static void finish(const ncclComm &comm, const Task &task,
                   const std::vector<std::string> &parts,
                   const std::vector<std::string> &scales) {
  size_t bytes = task.bytes(), own = static_cast<size_t>(comm.rank);
  auto write = [&](size_t at, const std::string &part, size_t from) {
    std::memcpy(task.destination + at, part.data() + from, bytes);
  };
  auto root = static_cast<size_t>(task.root);
  switch (task.kind) {
  case Kind::AllReduce:
    return reduceInto(comm, task, task.destination, 0, parts, scales);
  case Kind::Reduce:
    if (own == root)
      reduceInto(comm, task, task.destination, 0, parts, scales);
    return;
  case Kind::ReduceScatter:
    return reduceInto(comm, task, task.destination, own * bytes, parts, scales);
  case Kind::Broadcast:
    return write(0, parts[root], 0);
  case Kind::Scatter:
    return write(0, parts[root], own * bytes);
  case Kind::AllGather:
  case Kind::Gather:
    for (size_t i = 0;
         i < parts.size() && (task.kind == Kind::AllGather || own == root); ++i)
      write(i * bytes, parts[i], 0);
    return;
  default:
    for (size_t i = 0; i < parts.size(); ++i)
      write(i * bytes, parts[i], own * bytes);
  }
}

/// Runs a collective; false when the communicator was aborted.
static bool runCollective(ncclComm &comm, const Task &task) {
  std::string base = comm.id + ".c" + std::to_string(++comm.collectives) + ".";
  auto size = static_cast<size_t>(comm.size);
  std::string head = describe(task);
  std::string own = head;
  own += static_cast<char>(task.scale.size());
  own += task.scale;
  own.append(task.source, task.sourceBytes(comm.rank, comm.size));
  exchange().put(base + std::to_string(comm.rank), own, comm.size - 1);
  std::vector<std::string> parts(size), scales(size);
  for (size_t i = 0; i < size; ++i) {
    std::string bytes = own;
    if (i != static_cast<size_t>(comm.rank) &&
        !exchange().take(base + std::to_string(i), bytes, comm.aborted))
      return false;
    if (bytes.compare(0, head.size(), head) != 0) {
      waitForAbort(comm);
      return false;
    }
    auto scaleSize = static_cast<size_t>(bytes[head.size()]);
    scales[i] = bytes.substr(head.size() + 1, scaleSize);
    parts[i] = bytes.substr(head.size() + 1 + scaleSize);
  }
  finish(comm, task, parts, scales);
  return true;
}

void fakenccl::runBatch(const Batch &batch) {
  ncclComm &comm = *batch.comm;
  auto nameOf = [&](const Task &task) {
    bool sends = task.kind == Kind::Send;
    std::pair<int, int> pair = {sends ? comm.rank : task.root,
                                sends ? task.root : comm.rank};
    return comm.id + ".m" + std::to_string(pair.first) + "." +
           std::to_string(pair.second) + "." +
           std::to_string(++comm.messages[{task.root, sends}]);
  };
  // Messages of a group move together: first everything is offered.
  std::vector<std::string> receipts;
  for (const Task &task : batch.tasks)
    if (task.kind == Kind::Send) {
      std::string name = nameOf(task);
      exchange().put(name, std::string(task.source, task.bytes()), 1);
      receipts.push_back(name + ".taken");
    }
  bool ok = true;
  for (const Task &task : batch.tasks) {
    if (!ok || task.kind == Kind::Send)
      continue;
    if (task.kind != Kind::Recv) {
      ok = runCollective(comm, task);
      continue;
    }
    std::string name = nameOf(task), bytes;
    ok = exchange().take(name, bytes, comm.aborted);
    if (ok && bytes.size() != task.bytes()) {
      waitForAbort(comm);
      ok = false;
    }
    if (!ok)
      continue;
    std::memcpy(task.destination, bytes.data(), bytes.size());
    exchange().put(name + ".taken", "", 1);
  }
  // A send ends when its data are with the receiver: NCCL promises no buffer.
  for (const std::string &receipt : receipts) {
    std::string nothing;
    if (ok)
      ok = exchange().take(receipt, nothing, comm.aborted);
  }
}

Result fakenccl::enqueue(std::shared_ptr<Batch> batch) {
  ncclComm &comm = *batch->comm;
  std::vector<fake_cuda_access> accesses;
  for (const Task &task : batch->tasks) {
    accesses.push_back(
        {task.source, task.sourceBytes(comm.rank, comm.size), 0});
    accesses.push_back(
        {task.destination, task.destinationBytes(comm.rank, comm.size), 1});
  }
  auto *data = new std::shared_ptr<Batch>(std::move(batch));
  unsigned result = fake_cuda_enqueue(
      (*data)->stream, kindNames[static_cast<int>((*data)->tasks[0].kind)],
      accesses.data(), static_cast<int>(accesses.size()), 5000,
      [](void *data) {
        const Batch &batch = **static_cast<std::shared_ptr<Batch> *>(data);
        ++batch.comm->running;
        runBatch(batch);
        --batch.comm->running;
      },
      [](void *data) { delete static_cast<std::shared_ptr<Batch> *>(data); },
      data);
  return result == 0 ? Success : UnhandledCudaError;
}
