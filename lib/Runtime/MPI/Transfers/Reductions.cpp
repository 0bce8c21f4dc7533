//===- Reductions.cpp - Operations that combine operands --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ordered: every member receives its share of all operands, combines the shares
// in the order of the ranks with the kernels of all engines, and sends the
// result on. Fast: MPI combines the operands in any order, if it supports the
// type and the operator.
//
//===----------------------------------------------------------------------===//

#include "MPI/MPIEngine.h"
#include "MPI/Transfers/Layout.h"
#include "MPI/Transfers/MPICommunicator.h"
#include "Reduce/Reduce.h"

#include <array>

using namespace braid::rt;

namespace {
/// The largest operand that MPI reduces in fast mode. MPI libraries are no
/// faster for larger ones, and Open MPI 4.1 is several times slower.
constexpr int64_t nativeBytes = int64_t(1) << 20;

/// An ordered reduction of one operand.
struct Work {
  const Operand &operand;
  int64_t count;   ///< The elements of this member's share.
  int64_t offset;  ///< In the memory of the reductions.
  Counts shares;   ///< The elements of all shares.
  Counts sent;     ///< The same, but for this member's.
  Counts received; ///< This member's share of all others.

  int64_t elementBytes() const { return operand.elementBytes(); }
  MPI_Datatype type() const { return movedType(elementBytes()); }
};

/// The ordered reductions of a transfer.
struct Ordered {
  Transfer &transfer;
  std::vector<Work> works = {};
  int64_t bytes = 0; ///< Of the memory.
  /// Of all members, for premul_sum.
  std::vector<std::array<unsigned char, 16>> scales = {};

  const Operation &operation() const { return transfer.operation; }
  int64_t size() const { return transfer.groupSize(); }
  int64_t self() const { return transfer.member(); }
  /// Whether a member's share is not contiguous in the operand.
  bool isStrided(const Work &work) const {
    return scatters() &&
           countRows(work.operand.destinationSizes, operation().dim) > 1;
  }
  bool scatters() const { return operation().kind == BRAID_RT_REDUCE_SCATTER; }
  bool isScaled() const { return operation().reduction == BRAID_RT_PREMUL_SUM; }

  void add(const Operand &operand);
  /// Memory for the received shares.
  char *memoryOf(const Work &work) const {
    return transfer.queue.room.reserve(bytes) + work.offset;
  }
  /// Where this member's share of the result goes.
  char *resultOf(const Work &work) const;
  void issueShares(MPI_Comm comm, Requests &requests);
  void combineShares();
  void issueResults(MPI_Comm comm, Requests &requests);
};
} // namespace

/// Kernels need aligned elements.
static int64_t align(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static bool getsResult(const Transfer &transfer) {
  return !transfer.operation.traits().hasRoot ||
         transfer.member() == transfer.operation.root;
}

/// A reduce gives a rank other than the root its own operands.
static void copyOwn(const Transfer &transfer) {
  if (getsResult(transfer))
    return;
  for (const Operand &operand : transfer.operation.operands)
    if (operand.destination != operand.source)
      copyBytes(operand.destination, operand.source, operand.sourceBytes(),
                false);
}

//===----------------------------------------------------------------------===//
// Ordered
//===----------------------------------------------------------------------===//

void Ordered::add(const Operand &operand) {
  int64_t all = elementCount(operand.sourceSizes);
  auto begin = [&](int64_t member) { return all * member / size(); };
  int64_t count = begin(self() + 1) - begin(self());
  Work &work = works.emplace_back(Work{operand, count, bytes, Counts(size()),
                                       Counts(size()), Counts(size())});
  for (int64_t m = 0; m < size(); ++m) {
    work.shares.add(begin(m + 1) - begin(m));
    work.received.add(count);
  }
  work.sent = work.shares;
  work.sent.counts[self()] = work.received.counts[self()] = 0;
  bytes += align(count * size() * work.elementBytes());
}

char *Ordered::resultOf(const Work &work) const {
  if (scatters())
    return work.operand.destination;
  // Only the root of a reduce has a destination for a share of the result.
  return getsResult(transfer)
             ? work.operand.destination +
                   work.shares.begins[self()] * work.elementBytes()
             : memoryOf(work);
}

void Ordered::issueShares(MPI_Comm comm, Requests &requests) {
  if (isScaled()) {
    scales.resize(static_cast<size_t>(size()));
    CHECK_MPI(MPI_Iallgather(operation().scale, 16, MPI_BYTE, scales.data(), 16,
                             MPI_BYTE, comm, addRequest(requests)));
  }
  for (const Work &work : works) {
    if (!isStrided(work)) {
      CHECK_MPI(MPI_Ialltoallv(work.operand.source, work.sent.counts.data(),
                               work.sent.begins.data(), work.type(),
                               memoryOf(work), work.received.counts.data(),
                               work.received.begins.data(), work.type(), comm,
                               addRequest(requests)));
      continue;
    }
    PartType part = makePartType(work.type(), work.operand.destinationSizes,
                                 operation().dim, size(), requests);
    CHECK_MPI(MPI_Ialltoall(work.operand.source, part.count, part.type,
                            memoryOf(work), static_cast<int>(work.count),
                            work.type(), comm, addRequest(requests)));
  }
}

void Ordered::combineShares() {
  for (const Work &work : works) {
    std::vector<const char *> sources;
    std::vector<const unsigned char *> scalesOfAll;
    for (int64_t m = 0; m < size(); ++m) {
      sources.push_back(memoryOf(work) + m * work.count * work.elementBytes());
      scalesOfAll.push_back(isScaled() ? scales[m].data() : nullptr);
    }
    if (!isStrided(work))
      sources[self()] = work.operand.source +
                        work.shares.begins[self()] * work.elementBytes();
    char *destination = resultOf(work);
    reduce({work.operand.dtype, operation().reduction, work.count, size(),
            sources.data(), scalesOfAll.data(), 1, &destination, false});
  }
}

void Ordered::issueResults(MPI_Comm comm, Requests &requests) {
  for (const Work &work : works) {
    const void *own = getsResult(transfer) ? MPI_IN_PLACE : resultOf(work);
    auto count = static_cast<int>(work.count);
    char *destination = work.operand.destination;
    const int *counts = work.shares.counts.data();
    const int *begins = work.shares.begins.data();
    if (operation().traits().hasRoot)
      CHECK_MPI(MPI_Igatherv(
          own, count, work.type(), destination, counts, begins, work.type(),
          static_cast<int>(operation().root), comm, addRequest(requests)));
    else
      CHECK_MPI(MPI_Iallgatherv(own, count, work.type(), destination, counts,
                                begins, work.type(), comm,
                                addRequest(requests)));
  }
}

//===----------------------------------------------------------------------===//
// Fast
//===----------------------------------------------------------------------===//

using Operands = std::vector<const Operand *>;

static void issueCall(const Operation &operation, const Operand &operand,
                      const void *source, MPI_Comm comm, Requests &requests) {
  int count = countOf(operand.destinationSizes);
  MPI_Datatype type = nativeType(operand.dtype, operation.reduction);
  MPI_Op op = nativeOperator(operand.dtype, operation.reduction);
  MPI_Request *request = addRequest(requests);
  if (operation.kind == BRAID_RT_REDUCE_SCATTER)
    CHECK_MPI(MPI_Ireduce_scatter_block(source, operand.destination, count,
                                        type, op, comm, request));
  else if (operation.traits().hasRoot)
    CHECK_MPI(MPI_Ireduce(source, operand.destination, count, type, op,
                          static_cast<int>(operation.root), comm, request));
  else
    CHECK_MPI(MPI_Iallreduce(source, operand.destination, count, type, op, comm,
                             request));
}

static void issueNative(const Transfer &transfer, const Operands &operands,
                        MPI_Comm comm, Requests &requests) {
  const Operation &operation = transfer.operation;
  int64_t bytes = 0;
  for (const Operand *operand : operands)
    bytes += align(operand->sourceBytes());
  char *memory = transfer.queue.room.reserve(bytes);
  for (const Operand *operand : operands) {
    const void *source = operand->source;
    if (operation.reduction == BRAID_RT_PREMUL_SUM) {
      const unsigned char *scale = operation.scale;
      reduce({operand->dtype, BRAID_RT_PREMUL_SUM,
              elementCount(operand->sourceSizes), 1, &operand->source, &scale,
              1, &memory, false});
      source = memory;
    } else if (operation.kind == BRAID_RT_REDUCE_SCATTER &&
               operand->destination ==
                   operand->source +
                       transfer.member() * operand->destinationBytes()) {
      copyBytes(memory, operand->source, operand->sourceBytes(), false);
      source = memory;
    } else if (operand->source == operand->destination &&
               getsResult(transfer)) {
      source = MPI_IN_PLACE;
    }
    issueCall(operation, *operand, source, comm, requests);
    memory += align(operand->sourceBytes());
  }
}

template <typename T>
static void divideAll(const Operand &operand, int64_t divisor) {
  auto *begin = reinterpret_cast<T *>(operand.destination);
  for (int64_t i = 0; i < elementCount(operand.destinationSizes); ++i)
    begin[i] /= static_cast<T>(divisor);
}

static void finishNative(const Transfer &transfer, const Operands &operands) {
  if (transfer.operation.reduction != BRAID_RT_AVG || !getsResult(transfer))
    return;
  for (const Operand *operand : operands)
    (operand->dtype == BRAID_RT_F32
         ? divideAll<float>
         : divideAll<double>)(*operand, transfer.groupSize());
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Whether MPI reduces an operand, equally on all members. Sums of two operands
/// do not depend on the order, so ordered mode is as fast between two members.
static bool isNative(const Transfer &transfer, const Operand &operand) {
  const Operation &operation = transfer.operation;
  bool isContiguous = operation.kind != BRAID_RT_REDUCE_SCATTER ||
                      countRows(operand.destinationSizes, operation.dim) <= 1;
  return transfer.communicator.engine.isFast && isContiguous &&
         transfer.groupSize() > 2 && operand.sourceBytes() <= nativeBytes &&
         nativeOperator(operand.dtype, operation.reduction) != MPI_OP_NULL;
}

void braid::rt::planReduction(Transfer &transfer) {
  Operands native;
  auto ordered = std::make_shared<Ordered>(Ordered{transfer});
  for (const Operand &operand : transfer.operation.operands) {
    if (operand.sourceBytes() == 0)
      continue;
    if (isNative(transfer, operand))
      native.push_back(&operand);
    else
      ordered->add(operand);
  }
  if (!native.empty())
    transfer.add({[&transfer, native](MPI_Comm comm, Requests &requests) {
                    issueNative(transfer, native, comm, requests);
                  },
                  [&transfer, native]() { finishNative(transfer, native); }});
  if (!ordered->works.empty())
    transfer.add({[ordered](MPI_Comm comm, Requests &requests) {
                    ordered->issueShares(comm, requests);
                  },
                  [ordered]() { ordered->combineShares(); }});
  if (ordered->scatters())
    return;
  transfer.add({[ordered](MPI_Comm comm, Requests &requests) {
                  ordered->issueResults(comm, requests);
                },
                [&transfer]() { copyOwn(transfer); }});
}
