//===- Plan.cpp - The work units of one collective --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InProcess/Plan.h"
#include "Reduce/Reduce.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace braid::rt;

namespace {
/// The bytes of each buffer in a unit: small enough for the second-level cache,
/// large enough that assigning the unit costs nothing.
constexpr int64_t unitBytes = 64 * 1024;
/// Results of this size do not fit in the caches.
constexpr int64_t streamingBytes = 16 * 1024 * 1024;
/// Scattered rows shorter than this are reduced together, then distributed.
constexpr int64_t shortRowBytes = 4096;
} // namespace

static int64_t product(const Sizes &sizes, int64_t begin, int64_t end) {
  return std::accumulate(sizes.begin() + begin, sizes.begin() + end, int64_t(1),
                         std::multiplies<>());
}

/// True if no member reads or writes a byte. Pointers to no bytes may be null.
static bool isEmpty(const std::vector<const Operation *> &members,
                    size_t index) {
  return std::all_of(
      members.begin(), members.end(), [&](const Operation *member) {
        const Operand &operand = member->operands[index];
        return operand.sourceBytes() == 0 && operand.destinationBytes() == 0;
      });
}

Plan::Plan(const std::vector<const Operation *> &members) : members(members) {
  const Operation &first = *members[0];
  for (size_t operand = 0; operand < first.operands.size(); ++operand) {
    if (isEmpty(members, operand))
      continue;
    switch (first.traits().flow) {
    case BRAID_RT_FLOW_REDUCE:
      planReduction(operand);
      break;
    case BRAID_RT_FLOW_GATHER:
      planGather(operand);
      break;
    case BRAID_RT_FLOW_FROM_ROOT:
      planFromRoot(operand);
      break;
    case BRAID_RT_FLOW_EXCHANGE:
      planAllToAll(operand);
      break;
    case BRAID_RT_FLOW_PAIRS:
      planPairs(operand);
      break;
    case BRAID_RT_FLOW_MESSAGE:
      planMessage(operand);
      break;
    case BRAID_RT_FLOW_NONE:
      break;
    }
  }
  streaming = written >= streamingBytes;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

void Plan::add(Task task) {
  if (task.extent == 0)
    return;
  task.firstUnit = units;
  units += (task.extent + task.grain - 1) / task.grain;
  tasks.push_back(std::move(task));
}

void Plan::addCopy(const char *source, char *destination, int64_t rows,
                   int64_t rowBytes, int64_t sourceStride,
                   int64_t destinationStride) {
  if (source == destination || rows * rowBytes == 0)
    return;
  if (sourceStride == rowBytes && destinationStride == rowBytes) {
    rowBytes *= rows;
    sourceStride = destinationStride = rowBytes;
    rows = 1;
  }
  Task task;
  task.kind = Task::Copy;
  task.extent = rows * rowBytes;
  task.grain =
      rowBytes < unitBytes ? unitBytes / rowBytes * rowBytes : unitBytes;
  task.rowBytes = rowBytes;
  task.sourceStride = sourceStride;
  task.destinationStride = destinationStride;
  task.sources = {source};
  task.destinations = {destination};
  written += task.extent;
  add(std::move(task));
}

void Plan::addZero(char *destination, int64_t bytes) {
  Task task;
  task.kind = Task::Zero;
  task.extent = bytes;
  task.grain = unitBytes;
  task.destinations = {destination};
  written += bytes;
  add(std::move(task));
}

void Plan::addShuffle(std::vector<const char *> sources,
                      std::vector<char *> destinations, int64_t bytes) {
  Task task;
  task.kind = Task::Shuffle;
  task.extent = bytes;
  task.grain = unitBytes / 4;
  task.sources = std::move(sources);
  task.destinations = std::move(destinations);
  written += bytes * static_cast<int64_t>(task.destinations.size());
  add(std::move(task));
}

const char *Plan::stage(const char *source, int64_t bytes) {
  staged.emplace_back(new char[bytes]);
  std::memcpy(staged.back().get(), source, static_cast<size_t>(bytes));
  return staged.back().get();
}

void Plan::planReduction(size_t index) {
  const Operation &first = *members[0];
  const Operand &operand = first.operands[index];
  int64_t count = elementCount(operand.sourceSizes);
  Task task;
  task.kind = Task::Reduce;
  task.dtype = operand.dtype;
  task.reduction = first.reduction;
  task.extent = task.block = count;
  task.grain = unitBytes / operand.elementBytes();
  for (size_t m = 0; m < members.size(); ++m) {
    const Operand &own = members[m]->operands[index];
    task.sources.push_back(own.source);
    task.scales.push_back(members[m]->scale);
    bool isRoot = first.root < 0 || static_cast<size_t>(first.root) == m;
    if (isRoot)
      task.destinations.push_back(own.destination);
    else
      addCopy(own.source, own.destination, 1, own.sourceBytes(),
              own.sourceBytes(), own.sourceBytes());
  }
  if (first.kind == BRAID_RT_REDUCE_SCATTER) {
    task.scattered = true;
    task.block = product(operand.destinationSizes, first.dim,
                         static_cast<int64_t>(operand.destinationSizes.size()));
    written += count * operand.elementBytes();
  } else {
    written += count * operand.elementBytes() *
               static_cast<int64_t>(task.destinations.size());
  }
  add(std::move(task));
}

void Plan::planGather(size_t index) {
  const Operation &first = *members[0];
  int64_t dim = std::max<int64_t>(0, first.dim);
  auto size = static_cast<int64_t>(members.size());
  const Operand &operand = first.operands[index];
  int64_t rows = product(operand.sourceSizes, 0, dim);
  int64_t rowBytes = product(operand.sourceSizes, dim,
                             static_cast<int64_t>(operand.sourceSizes.size())) *
                     operand.elementBytes();
  std::vector<const char *> sources;
  for (int64_t m = 0; m < size; ++m) {
    const Operand &own = members[m]->operands[index];
    sources.push_back(own.source);
    if (!first.traits().hasRoot || m == first.root)
      continue;
    // On other ranks than the root the result becomes zero, even if the source
    // is a part of it.
    int64_t bytes = own.destinationBytes();
    if (own.source >= own.destination && own.source < own.destination + bytes)
      sources.back() = stage(own.source, own.sourceBytes());
    addZero(own.destination, bytes);
  }
  for (int64_t target = 0; target < size; ++target)
    if (!first.traits().hasRoot || target == first.root)
      for (int64_t m = 0; m < size; ++m)
        addCopy(sources[m],
                members[target]->operands[index].destination + m * rowBytes,
                rows, rowBytes, rowBytes, size * rowBytes);
}

void Plan::planFromRoot(size_t index) {
  const Operation &first = *members[0];
  const Operand &root = members[first.root]->operands[index];
  for (size_t m = 0; m < members.size(); ++m) {
    const Operand &own = members[m]->operands[index];
    int64_t bytes = own.destinationBytes();
    int64_t offset = first.traits().shape == BRAID_RT_SHAPE_SPLIT
                         ? static_cast<int64_t>(m) * bytes
                         : 0;
    addCopy(root.source + offset, own.destination, 1, bytes, bytes, bytes);
  }
}

void Plan::planAllToAll(size_t index) {
  const Operation &first = *members[0];
  auto size = static_cast<int64_t>(members.size());
  const Operand &operand = first.operands[index];
  int64_t rowBytes = product(operand.sourceSizes, 1,
                             static_cast<int64_t>(operand.sourceSizes.size())) *
                     operand.elementBytes();
  auto inPlace = [&](int64_t m) {
    const Operand &own = members[m]->operands[index];
    return own.source == own.destination && own.sourceBytes() > 0;
  };
  bool anyInPlace = false;
  std::vector<const char *> sources;
  for (int64_t m = 0; m < size; ++m) {
    sources.push_back(members[m]->operands[index].source);
    anyInPlace |= inPlace(m);
  }
  if (anyInPlace && first.splits == Splits::Equal) {
    // Part j of rank i and part i of rank j change places.
    int64_t bytes = operand.sourceBytes() / size;
    for (int64_t i = 0; i < size; ++i) {
      char *own = members[i]->operands[index].destination;
      addCopy(sources[i] + i * bytes, own + i * bytes, 1, bytes, bytes, bytes);
      for (int64_t j = i + 1; j < size; ++j)
        addShuffle({sources[i] + j * bytes, sources[j] + i * bytes},
                   {members[j]->operands[index].destination + i * bytes,
                    own + j * bytes},
                   bytes);
    }
    return;
  }
  for (int64_t m = 0; m < size; ++m)
    if (inPlace(m))
      sources[m] = stage(sources[m], members[m]->operands[index].sourceBytes());
  std::vector<int64_t> received(size, 0);
  for (int64_t m = 0; m < size; ++m) {
    int64_t sent = 0;
    for (int64_t target = 0; target < size; ++target) {
      const Operand &own = members[m]->operands[index];
      int64_t bytes = members[m]->rowsTo(m, target, size, own) * rowBytes;
      addCopy(sources[m] + sent,
              members[target]->operands[index].destination + received[target],
              1, bytes, bytes, bytes);
      sent += bytes;
      received[target] += bytes;
    }
  }
}

void Plan::planPairs(size_t index) {
  const Operation &first = *members[0];
  int64_t bytes = first.operands[index].sourceBytes();
  std::vector<const char *> sources(members.size(), nullptr);
  std::vector<char *> destinations;
  bool anyInPlace = false;
  for (const Operation *member : members) {
    const Operand &own = member->operands[index];
    destinations.push_back(own.destination);
    anyInPlace |= own.source == own.destination;
  }
  for (size_t i = 0; i < first.pairs.size(); i += 2)
    sources[first.pairs[i + 1]] =
        members[first.pairs[i]]->operands[index].source;
  if (anyInPlace)
    return addShuffle(std::move(sources), std::move(destinations), bytes);
  for (size_t m = 0; m < members.size(); ++m) {
    if (sources[m])
      addCopy(sources[m], destinations[m], 1, bytes, bytes, bytes);
    else
      addZero(destinations[m], bytes);
  }
}

void Plan::planMessage(size_t index) {
  const Operand &from = members[0]->operands[index];
  int64_t bytes = from.sourceBytes();
  addCopy(from.source, members[1]->operands[index].destination, 1, bytes, bytes,
          bytes);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void Plan::run(int64_t unit) const {
  auto after = std::upper_bound(
      tasks.begin(), tasks.end(), unit,
      [](int64_t value, const Task &task) { return value < task.firstUnit; });
  const Task &task = *std::prev(after);
  int64_t begin = (unit - task.firstUnit) * task.grain;
  int64_t end = std::min(begin + task.grain, task.extent);
  switch (task.kind) {
  case Task::Reduce:
    return runReduce(task, begin, end);
  case Task::Copy:
    return runCopy(task, begin, end);
  case Task::Zero:
    std::memset(task.destinations[0] + begin, 0,
                static_cast<size_t>(end - begin));
    return;
  case Task::Shuffle:
    return runShuffle(task, begin, end);
  }
}

void Plan::runReduce(const Task &task, int64_t begin, int64_t end) const {
  int64_t elementBytes = braid_rt_dtype_size(task.dtype);
  std::vector<const char *> sources(task.sources.size());
  std::vector<char *> destinations(task.destinations);
  Reduction reduction = {task.dtype,
                         task.reduction,
                         0,
                         static_cast<int64_t>(sources.size()),
                         sources.data(),
                         task.scales.data(),
                         static_cast<int64_t>(destinations.size()),
                         destinations.data(),
                         streaming};
  auto reduceAt = [&](int64_t position, int64_t count) {
    for (size_t i = 0; i < sources.size(); ++i)
      sources[i] = task.sources[i] + position * elementBytes;
    reduction.count = count;
    reduce(reduction);
  };
  if (!task.scattered) {
    for (char *&destination : destinations)
      destination += begin * elementBytes;
    return reduceAt(begin, end - begin);
  }
  bool shortRows = task.block * elementBytes < shortRowBytes;
  std::vector<char> held;
  reduction.destinationCount = 1;
  if (shortRows) {
    held.resize(static_cast<size_t>((end - begin) * elementBytes));
    destinations[0] = held.data();
    reduction.streaming = false;
    reduceAt(begin, end - begin);
  }
  auto parts = static_cast<int64_t>(task.sources.size());
  for (int64_t position = begin; position < end;) {
    int64_t row = position / (task.block * parts);
    int64_t part = position / task.block % parts;
    int64_t within = position % task.block;
    int64_t count = std::min(end - position, task.block - within);
    char *target =
        task.destinations[part] + (row * task.block + within) * elementBytes;
    if (shortRows) {
      std::memcpy(target, held.data() + (position - begin) * elementBytes,
                  static_cast<size_t>(count * elementBytes));
    } else {
      destinations[0] = target;
      reduceAt(position, count);
    }
    position += count;
  }
}

void Plan::runCopy(const Task &task, int64_t begin, int64_t end) const {
  for (int64_t position = begin; position < end;) {
    int64_t row = position / task.rowBytes;
    int64_t within = position % task.rowBytes;
    int64_t bytes = std::min(end - position, task.rowBytes - within);
    copyBytes(task.destinations[0] + row * task.destinationStride + within,
              task.sources[0] + row * task.sourceStride + within, bytes,
              streaming);
    position += bytes;
  }
}

void Plan::runShuffle(const Task &task, int64_t begin, int64_t end) const {
  int64_t bytes = end - begin;
  std::vector<char> held(task.sources.size() * static_cast<size_t>(bytes));
  for (size_t i = 0; i < task.sources.size(); ++i)
    if (task.sources[i])
      std::memcpy(held.data() + i * bytes, task.sources[i] + begin,
                  static_cast<size_t>(bytes));
  for (size_t i = 0; i < task.destinations.size(); ++i)
    std::memcpy(task.destinations[i] + begin, held.data() + i * bytes,
                static_cast<size_t>(bytes));
}
