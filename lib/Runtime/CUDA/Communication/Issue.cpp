//===- Issue.cpp - Operations as NCCL calls -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "CUDA/Communication/Mapping.h"
#include "CUDA/Communication/NCCLCommunicator.h"
#include "CUDA/Communication/Rank.h"
#include "CUDA/Communication/RankServices.h"

#include <algorithm>
#include <numeric>

using namespace braid::rt;
using namespace braid::rt::cuda;

static DevicePointer deviceAddress(const void *pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}

/// Converts a count of dialect elements to one of NCCL elements.
static size_t countOf(const ElementType &type, int64_t elements) {
  return static_cast<size_t>(elements * type.factor);
}

void NCCLCommunicator::copy(char *destination, const char *source,
                            int64_t bytes) {
  if (bytes == 0 || destination == source)
    return;
  const Driver &driver = rank.driver();
  driver.call(driver.memcpyDtoDAsync, deviceAddress(destination),
              deviceAddress(source), static_cast<size_t>(bytes),
              collectives.stream);
}

/// Returns true if this member is the target of a pair.
bool NCCLCommunicator::isTargetOf(const Operation &operation) const {
  for (size_t i = 0; i < operation.pairs.size(); i += 2)
    if (operation.pairs[i + 1] == spec.index)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Work before and after the calls
//===----------------------------------------------------------------------===//

/// Copies the operand to the result on ranks that are not the root of a reduce.
void NCCLCommunicator::copyBefore(const Operation &operation) {
  const braid_rt_collective_traits &traits = operation.traits();
  if (traits.flow == BRAID_RT_FLOW_REDUCE && traits.hasRoot &&
      operation.root != spec.index)
    for (const Operand &operand : operation.operands)
      copy(operand.destination, operand.source, operand.sourceBytes());
}

/// Fills the result with zeros on ranks that receive nothing in a gather or
/// permute. Runs after the calls, as source and destination may overlap.
void NCCLCommunicator::fillAfter(const Operation &operation) {
  const braid_rt_collective_traits &traits = operation.traits();
  bool fills = (traits.flow == BRAID_RT_FLOW_GATHER && traits.hasRoot &&
                operation.root != spec.index) ||
               (traits.flow == BRAID_RT_FLOW_PAIRS && !isTargetOf(operation));
  if (!fills)
    return;
  const Driver &driver = rank.driver();
  for (const Operand &operand : operation.operands)
    if (int64_t bytes = operand.destinationBytes())
      driver.call(driver.memsetD8Async, deviceAddress(operand.destination), 0,
                  static_cast<size_t>(bytes), collectives.stream);
}

/// Replaces sources outside of the windows, as arguments of the program may be,
/// by copies: otherwise NCCL takes neither symmetric kernels nor copy engines.
/// Reductions read what they are given. A gather has a place for the copy in
/// its result, and NCCL then moves no own part. Others of a lane run one after
/// the other, so all of them use the same staging memory.
void NCCLCommunicator::stageArguments(const Operation &operation,
                                      std::vector<const char *> &sources) {
  if (!wantsWindows() || operation.isReduction())
    return;
  int64_t used = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const Operand &operand = operation.operands[i];
    int64_t bytes = operand.sourceBytes();
    if (bytes == 0 || rank.isSymmetric(deviceAddress(sources[i]), bytes))
      continue;
    char *copied = operand.destination + spec.index * bytes;
    if (operation.kind == BRAID_RT_ALL_GATHER) {
      if (!rank.isSymmetric(deviceAddress(copied), bytes))
        continue;
    } else {
      if (used + bytes > spec.lane.staging)
        return;
      copied = reinterpret_cast<char *>(
          barrierWord + static_cast<DevicePointer>(kStagingAlignment + used));
      used += (bytes + kStagingAlignment - 1) / kStagingAlignment *
              kStagingAlignment;
    }
    copy(copied, sources[i], bytes);
    sources[i] = copied;
  }
}

/// Returns the source pointers. Copies the sources of in-place exchanges, which
/// NCCL does not support.
std::vector<const char *> NCCLCommunicator::stage(const Operation &operation) {
  std::vector<const char *> sources;
  braid_rt_flow flow = operation.traits().flow;
  bool exchanges =
      flow == BRAID_RT_FLOW_EXCHANGE || flow == BRAID_RT_FLOW_PAIRS;
  const Driver &driver = rank.driver();
  for (const Operand &operand : operation.operands) {
    sources.push_back(operand.source);
    if (!exchanges || operand.source != operand.destination ||
        operand.sourceBytes() == 0)
      continue;
    DevicePointer memory = 0;
    driver.call(driver.memAllocAsync, &memory,
                static_cast<size_t>(operand.sourceBytes()), collectives.stream);
    sources.back() = reinterpret_cast<const char *>(memory);
    copy(reinterpret_cast<char *>(memory), operand.source,
         operand.sourceBytes());
  }
  return sources;
}

void NCCLCommunicator::unstage(const Operation &operation,
                               const std::vector<const char *> &sources) {
  const Driver &driver = rank.driver();
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i] != operation.operands[i].source)
      driver.call(driver.memFreeAsync, deviceAddress(sources[i]),
                  collectives.stream);
}

void NCCLCommunicator::registerMemory(Lane &lane) {
  // Registration of windows is collective. The operation is collective, too,
  // and all members allocate alike. Messages involve only two members and need
  // no windows. Other registration is local.
  bool needs = wantsWindows() && &lane == &collectives;
  if ((!needs && !rank.engine.registersBuffers()) || rank.gpu().capturing)
    return;
  const nccl::NCCL &nccl = rank.engine.nccl();
  for (; lane.known < rank.symmetric.size(); ++lane.known) {
    auto [pointer, bytes] = rank.symmetric[lane.known];
    if (bytes == 0)
      continue;
    if (!needs) {
      run(lane, nccl.commRegister, lane.comm, reinterpret_cast<void *>(pointer),
          static_cast<size_t>(bytes), &lane.registrations[pointer]);
      continue;
    }
    run(lane, nccl.commWindowRegister, lane.comm,
        reinterpret_cast<void *>(pointer), static_cast<size_t>(bytes),
        &lane.windows[pointer], nccl::windowCollSymmetric);
    // The members cannot agree here to do without this window.
    if (!lane.windows[pointer])
      throw Error("ncclCommWindowRegister has given no window for " +
                  std::to_string(bytes) + " bytes to lane " + lane.label +
                  ", which has others");
  }
}

void NCCLCommunicator::forgetMemory(DevicePointer memory) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  forEachLane([&](Lane &lane) {
    auto registration = lane.registrations.find(memory);
    if (registration != lane.registrations.end()) {
      if (lane.comm)
        run(lane, nccl.commDeregister, lane.comm, registration->second);
      lane.registrations.erase(registration);
    }
    auto found = lane.windows.find(memory);
    if (found == lane.windows.end())
      return;
    if (lane.comm)
      run(lane, nccl.commWindowDeregister, lane.comm, found->second);
    lane.windows.erase(found);
  });
}

void NCCLCommunicator::deregisterBuffers() {
  const nccl::NCCL &nccl = rank.engine.nccl();
  forEachLane([&](Lane &lane) {
    std::map<DevicePointer, void *> registrations;
    registrations.swap(lane.registrations);
    for (const auto &[memory, registration] : registrations)
      if (lane.comm)
        run(lane, nccl.commDeregister, lane.comm, registration);
  });
}

/// True if NCCL moves the results of a gather from window to window, without
/// other registrations.
bool NCCLCommunicator::gathersInWindows(const Operation &operation) const {
  return wantsWindows() &&
         std::all_of(operation.operands.begin(), operation.operands.end(),
                     [&](const Operand &operand) {
                       return rank.isSymmetric(
                           deviceAddress(operand.destination),
                           operand.destinationBytes());
                     });
}

/// True if NCCL must not register the memory of a collective, whose addresses
/// at the peers it may have lost in an exchange.
bool NCCLCommunicator::mustNotRegister(const Operation &operation) {
  bool mayRegister =
      rank.gpu().capturing || wantsWindows() || rank.engine.registersBuffers();
  if (!mayRegister || !rank.engine.nccl().losesAddresses())
    return false;
  switch (operation.kind) {
  case BRAID_RT_ALL_TO_ALL:
  case BRAID_RT_GATHER:
  case BRAID_RT_SCATTER:
  case BRAID_RT_PERMUTE:
    hasExchanged = true;
    return false;
  case BRAID_RT_ALL_GATHER:
    return hasExchanged && !gathersInWindows(operation);
  case BRAID_RT_ALL_REDUCE:
  case BRAID_RT_BROADCAST:
    return hasExchanged;
  default: // NCCL registers no memory for the others.
    return false;
  }
}

/// Makes an all-reduce one in place, for which NCCL registers no memory.
void NCCLCommunicator::reduceInPlace(const Operation &operation,
                                     std::vector<const char *> &sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const Operand &operand = operation.operands[i];
    copy(operand.destination, sources[i], operand.sourceBytes());
    sources[i] = operand.destination;
  }
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

void NCCLCommunicator::issue(const Operation &operation) {
  bool scales = operation.reduction == BRAID_RT_PREMUL_SUM;
  if (spec.size() == 1 && !scales)
    return issueAlone(operation);
  const nccl::NCCL &nccl = rank.engine.nccl();
  if (spec.size() == 1 && !collectives.comm) {
    // NCCL multiplies the operand of a premul_sum, also for one rank.
    nccl::UniqueId id;
    nccl.call(nccl.getUniqueId, &id);
    requestAccepted(collectives, id);
    allRefusals = refusal;
    reportReplacement();
    settle(collectives, nccl::InProgress, "ncclCommInitRankConfig");
  }
  rank.throwIfFailed();
  if (operation.traits().flow == BRAID_RT_FLOW_NONE)
    return issueBarrier();
  if (operation.operands.empty())
    return;
  registerMemory(collectives);
  nccl::ReductionOp op = reductionOp(operation.reduction);
  if (scales) {
    unsigned char scale[sizeof(operation.scale)];
    std::copy(std::begin(operation.scale), std::end(operation.scale), scale);
    nccl.call(nccl.redOpCreatePreMulSum, &op, scale,
              reducedType(operation.operands[0].dtype).type,
              nccl::ScalarHostImmediate, collectives.comm);
  }
  std::vector<const char *> sources = stage(operation);
  std::vector<const char *> given = sources;
  stageArguments(operation, given);
  bool isUnregistered = mustNotRegister(operation);
  bool sends = isUnregistered && operation.kind != BRAID_RT_ALL_REDUCE;
  if (isUnregistered && !sends)
    reduceInPlace(operation, given);
  copyBefore(operation);
  nccl::Group group(nccl);
  for (size_t i = 0; i < given.size(); ++i)
    if (sends)
      issueAsMessages(operation, operation.operands[i], given[i]);
    else
      issueOperand(operation, operation.operands[i], given[i], op);
  settle(collectives, group.end(), "ncclGroupEnd");
  if (scales)
    nccl.call(nccl.redOpDestroy, op, collectives.comm);
  fillAfter(operation);
  unstage(operation, sources);
}

void NCCLCommunicator::issueAlone(const Operation &operation) {
  bool gets =
      operation.traits().flow != BRAID_RT_FLOW_PAIRS || isTargetOf(operation);
  for (const Operand &operand : operation.operands)
    if (gets)
      copy(operand.destination, operand.source, operand.sourceBytes());
  fillAfter(operation);
}

void NCCLCommunicator::issueBarrier() {
  const nccl::NCCL &nccl = rank.engine.nccl();
  auto *word = reinterpret_cast<void *>(barrierWord);
  run(collectives, nccl.allReduce, word, word, 1, nccl::Int32, nccl::Max,
      collectives.comm, collectives.stream);
}

void NCCLCommunicator::issueReduction(const Operation &operation,
                                      const Operand &operand,
                                      const char *source,
                                      nccl::ReductionOp op) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  ElementType type = reducedType(operand.dtype);
  nccl::Comm comm = collectives.comm;
  Stream stream = collectives.stream;
  if (operation.kind == BRAID_RT_ALL_REDUCE)
    return nccl.call(nccl.allReduce, source, operand.destination,
                     countOf(type, elementCount(operand.sourceSizes)),
                     type.type, op, comm, stream);
  if (operation.kind == BRAID_RT_REDUCE_SCATTER)
    return nccl.call(nccl.reduceScatter, source, operand.destination,
                     countOf(type, elementCount(operand.destinationSizes)),
                     type.type, op, comm, stream);
  nccl.call(nccl.reduce, source,
            operation.root == spec.index ? operand.destination : nullptr,
            countOf(type, elementCount(operand.sourceSizes)), type.type, op,
            static_cast<int>(operation.root), comm, stream);
}

void NCCLCommunicator::issueOperand(const Operation &operation,
                                    const Operand &operand, const char *source,
                                    nccl::ReductionOp op) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  ElementType type = movedType(operand.dtype);
  nccl::Comm comm = collectives.comm;
  Stream stream = collectives.stream;
  auto root = static_cast<int>(operation.root);
  int64_t given = elementCount(operand.sourceSizes);
  int64_t got = elementCount(operand.destinationSizes);
  if (given == 0 && got == 0)
    return;
  if (operation.traits().flow == BRAID_RT_FLOW_PAIRS)
    return issuePairs(operation, operand, source);
  switch (operation.kind) {
  case BRAID_RT_BROADCAST:
    return nccl.call(nccl.broadcast, source, operand.destination,
                     countOf(type, given), type.type, root, comm, stream);
  case BRAID_RT_ALL_GATHER:
    return nccl.call(nccl.allGather, source, operand.destination,
                     countOf(type, given), type.type, comm, stream);
  case BRAID_RT_GATHER:
    return nccl.call(nccl.gather, source, operand.destination,
                     countOf(type, given), type.type, root, comm, stream);
  case BRAID_RT_SCATTER:
    return nccl.call(nccl.scatter, source, operand.destination,
                     countOf(type, got), type.type, root, comm, stream);
  case BRAID_RT_ALL_TO_ALL:
    if (operation.splits != Splits::Equal)
      return issueSplits(operation, operand, source);
    return nccl.call(nccl.allToAll, source, operand.destination,
                     countOf(type, given / spec.size()), type.type, comm,
                     stream);
  default:
    return issueReduction(operation, operand, source, op);
  }
}

void NCCLCommunicator::issueSplits(const Operation &operation,
                                   const Operand &operand, const char *source) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  ElementType type = movedType(operand.dtype);
  nccl::Comm comm = collectives.comm;
  Stream stream = collectives.stream;
  int64_t row = std::accumulate(operand.sourceSizes.begin() + 1,
                                operand.sourceSizes.end(), int64_t(1),
                                std::multiplies<>());
  int64_t rowBytes = row * operand.elementBytes();
  char *destination = operand.destination;
  for (int64_t other = 0; other < spec.size(); ++other) {
    int64_t sent = operation.rowsTo(spec.index, other, spec.size(), operand);
    int64_t received =
        operation.rowsFrom(spec.index, other, spec.size(), operand);
    auto peer = static_cast<int>(other);
    if (sent * row > 0)
      nccl.call(nccl.send, source, countOf(type, sent * row), type.type, peer,
                comm, stream);
    if (received * row > 0)
      nccl.call(nccl.recv, destination, countOf(type, received * row),
                type.type, peer, comm, stream);
    source += sent * rowBytes;
    destination += received * rowBytes;
  }
}

/// A gather to all, or a broadcast.
void NCCLCommunicator::issueAsMessages(const Operation &operation,
                                       const Operand &operand,
                                       const char *source) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  ElementType type = movedType(operand.dtype);
  size_t count = countOf(type, elementCount(operand.sourceSizes));
  bool gathers = operation.kind == BRAID_RT_ALL_GATHER;
  for (int64_t other = 0; count > 0 && other < spec.size(); ++other) {
    char *part =
        operand.destination + (gathers ? other * operand.sourceBytes() : 0);
    bool isSent = gathers || operation.root == spec.index;
    bool isReceived = gathers || operation.root == other;
    if (other == spec.index) {
      if (isSent)
        copy(part, source, operand.sourceBytes());
      continue;
    }
    auto peer = static_cast<int>(other);
    if (isSent)
      nccl.call(nccl.send, source, count, type.type, peer, collectives.comm,
                collectives.stream);
    if (isReceived)
      nccl.call(nccl.recv, part, count, type.type, peer, collectives.comm,
                collectives.stream);
  }
}

void NCCLCommunicator::issuePairs(const Operation &operation,
                                  const Operand &operand, const char *source) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  ElementType type = movedType(operand.dtype);
  size_t count = countOf(type, elementCount(operand.sourceSizes));
  for (size_t i = 0; i < operation.pairs.size(); i += 2) {
    int64_t from = operation.pairs[i], to = operation.pairs[i + 1];
    if (from == spec.index)
      nccl.call(nccl.send, source, count, type.type, static_cast<int>(to),
                collectives.comm, collectives.stream);
    if (to == spec.index)
      nccl.call(nccl.recv, operand.destination, count, type.type,
                static_cast<int>(from), collectives.comm, collectives.stream);
  }
}

void NCCLCommunicator::issueMessage(const Operation &operation) {
  const nccl::NCCL &nccl = rank.engine.nccl();
  auto peer = static_cast<int>(operation.peer);
  for (const Operand &operand : operation.operands) {
    ElementType type = movedType(operand.dtype);
    bool sends = operation.kind == BRAID_RT_SEND;
    size_t count =
        countOf(type, elementCount(sends ? operand.sourceSizes
                                         : operand.destinationSizes));
    if (count == 0)
      continue;
    if (sends)
      nccl.call(nccl.send, operand.source, count, type.type, peer,
                messages.comm, messages.stream);
    else
      nccl.call(nccl.recv, operand.destination, count, type.type, peer,
                messages.comm, messages.stream);
  }
}
