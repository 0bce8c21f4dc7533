//===- Reductions.cpp - all_reduce, reduce, reduce_scatter ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Ordered: every member gets its share of all operands, combines them in the
// order of the ranks with the kernels that all engines use, and hands the
// result on. Fast: MPI combines, in any order, where it knows type and
// operator.
//
//===----------------------------------------------------------------------===//

#include "MPI/MPICommunicator.h"
#include "MPI/MPIEngine.h"
#include "MPI/Strided.h"
#include "MPI/Transfer.h"
#include "Reduce/Reduce.h"

#include <algorithm>
#include <array>

using namespace braid::rt;

namespace {
/// What a piece of an ordered reduction receives.
constexpr int64_t pieceBytes = int64_t(4) << 20;
/// Up to this size everyone gets all operands whole: one round, not two.
constexpr int64_t smallBytes = 16 * 1024;
/// Larger operands are reduced in pieces in fast mode, too: MPI libraries are
/// no faster then, and Open MPI 4.1 is several times slower.
constexpr int64_t nativeBytes = int64_t(1) << 20;

/// One operand's reduction, shared by its steps.
struct Work {
  Operand operand;
  int32_t kind;
  int32_t reduction;
  int64_t root;
  int64_t size;
  int64_t self;
  /// Of all members in an ordered premul_sum, of this one in a fast one.
  std::shared_ptr<std::vector<std::array<unsigned char, 16>>> scales;

  bool isAllReduce() const { return kind == BRAID_RT_ALL_REDUCE; }
  bool getsResult() const { return isAllReduce() || self == root; }
  int64_t elementBytes() const { return operand.elementBytes(); }

  /// Combines `count` elements of each member, which follow one another in
  /// `sources`.
  void combine(const char *sources, int64_t count, char *destination) const {
    std::vector<const char *> all;
    std::vector<const unsigned char *> scalesOfAll;
    for (int64_t m = 0; m < size; ++m) {
      all.push_back(sources + m * count * elementBytes());
      scalesOfAll.push_back(scales ? (*scales)[m].data() : nullptr);
    }
    reduce({operand.dtype, reduction, count, size, all.data(),
            scalesOfAll.data(), 1, &destination, false});
  }
};

/// The counts and displacements of a call, in bytes; they live until it is
/// complete.
struct Shares {
  std::vector<int> counts, displacements;
};
using WorkRef = std::shared_ptr<const Work>;
} // namespace

/// Elsewhere than on the root a reduce gives the rank's own operand.
static void copyOwn(const Work &work, int64_t begin, int64_t end) {
  copyBytes(work.operand.destination + begin, work.operand.source + begin,
            end - begin, false);
}

//===----------------------------------------------------------------------===//
// Ordered
//===----------------------------------------------------------------------===//

static void planSmall(Transfer &transfer, const WorkRef &work) {
  int64_t bytes = work->operand.sourceBytes();
  Staging::Buffer all = transfer.staging().borrow(work->size * bytes);
  int count = static_cast<int>(bytes);
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    if (work->isAllReduce())
      checkMPI(MPI_Iallgather(work->operand.source, count, MPI_BYTE, all.get(),
                              count, MPI_BYTE, comm, addRequest(requests)),
               "MPI_Iallgather");
    else
      checkMPI(MPI_Igather(work->operand.source, count, MPI_BYTE, all.get(),
                           count, MPI_BYTE, static_cast<int>(work->root), comm,
                           addRequest(requests)),
               "MPI_Igather");
  };
  auto finish = [=]() {
    if (work->getsResult())
      work->combine(all.get(), bytes / work->elementBytes(),
                    work->operand.destination);
    else
      copyOwn(*work, 0, bytes);
  };
  transfer.add({{FirstLane, issue, finish}}, work->size * bytes);
}

/// Cuts [0, count) elements among the members.
static Shares cut(const Work &work, int64_t count) {
  Shares shares;
  for (int64_t m = 0; m < work.size; ++m) {
    int64_t begin = count * m / work.size, end = count * (m + 1) / work.size;
    shares.counts.push_back(
        static_cast<int>((end - begin) * work.elementBytes()));
    shares.displacements.push_back(
        static_cast<int>(begin * work.elementBytes()));
  }
  return shares;
}

/// One piece of an all_reduce or reduce: `begin` and `count` in elements.
static Piece makePiece(Staging &staging, const WorkRef &work, int64_t begin,
                       int64_t count) {
  auto shares = std::make_shared<Shares>(cut(*work, count));
  auto received = std::make_shared<Shares>();
  int ownBytes = shares->counts[work->self];
  for (int64_t m = 0; m < work->size; ++m) {
    received->counts.push_back(ownBytes);
    received->displacements.push_back(static_cast<int>(m * ownBytes));
  }
  Staging::Buffer all =
      staging.borrow(std::max<int64_t>(1, work->size * ownBytes));
  int64_t offset = begin * work->elementBytes();
  const char *source = work->operand.source + offset;
  char *destination = work->operand.destination + offset;
  char *ownShare = work->getsResult()
                       ? destination + shares->displacements[work->self]
                       : all.get();
  Piece piece;
  piece.steps.push_back(
      {FirstLane,
       [=](MPI_Comm comm, Requests &requests) {
         checkMPI(MPI_Ialltoallv(source, shares->counts.data(),
                                 shares->displacements.data(), MPI_BYTE,
                                 all.get(), received->counts.data(),
                                 received->displacements.data(), MPI_BYTE, comm,
                                 addRequest(requests)),
                  "MPI_Ialltoallv");
       },
       [=]() {
         work->combine(all.get(), ownBytes / work->elementBytes(), ownShare);
       }});
  piece.steps.push_back(
      {SecondLane,
       [=](MPI_Comm comm, Requests &requests) {
         if (work->isAllReduce()) {
           checkMPI(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, destination,
                                    shares->counts.data(),
                                    shares->displacements.data(), MPI_BYTE,
                                    comm, addRequest(requests)),
                    "MPI_Iallgatherv");
           return;
         }
         bool isRoot = work->self == work->root;
         checkMPI(MPI_Igatherv(isRoot ? MPI_IN_PLACE : ownShare, ownBytes,
                               MPI_BYTE, destination, shares->counts.data(),
                               shares->displacements.data(), MPI_BYTE,
                               static_cast<int>(work->root), comm,
                               addRequest(requests)),
                  "MPI_Igatherv");
       },
       [=]() {
         if (!work->getsResult())
           copyOwn(*work, offset, offset + count * work->elementBytes());
       }});
  return piece;
}

static void planOrdered(Transfer &transfer, const WorkRef &work) {
  int64_t bytes = work->operand.sourceBytes();
  if (bytes * work->size <= smallBytes)
    return planSmall(transfer, work);
  int64_t count = bytes / work->elementBytes();
  int64_t length = pieceBytes / work->elementBytes();
  Staging &staging = transfer.staging();
  transfer.add(Part{
      (count + length - 1) / length, pieceBytes, [=, &staging](int64_t index) {
        int64_t begin = index * length;
        return makePiece(staging, work, begin, std::min(length, count - begin));
      }});
}

//===----------------------------------------------------------------------===//
// reduce_scatter
//===----------------------------------------------------------------------===//

/// Bytes [begin, end) of every member's part, one part after the other: the
/// source itself where that is what stands there.
static Staging::Buffer packParts(Staging &staging, const Work &work,
                                 const Strided &parts, int64_t begin,
                                 int64_t end) {
  Staging::Buffer packed = staging.borrow(work.size * (end - begin));
  for (int64_t m = 0; m < work.size; ++m)
    parts.pack(work.operand.source, m, begin, end,
               packed.get() + m * (end - begin));
  return packed;
}

static void planScatterOrdered(Transfer &transfer, const WorkRef &work) {
  const Operand &operand = work->operand;
  Strided parts(operand.destinationSizes, transfer.operation.dim, work->size,
                operand.elementBytes());
  int64_t bytes = parts.partBytes(), elementBytes = operand.elementBytes();
  int64_t length =
      std::max<int64_t>(1, pieceBytes / work->size / elementBytes) *
      elementBytes;
  bool direct = parts.isContiguous() && work->size * bytes <= mostCallBytes;
  Staging &staging = transfer.staging();
  auto makePiece = [=, &staging](int64_t index) {
    int64_t begin = index * length, end = std::min(bytes, begin + length);
    int64_t count = end - begin;
    Staging::Buffer packed =
        direct ? nullptr : packParts(staging, *work, parts, begin, end);
    Staging::Buffer all = staging.borrow(work->size * count);
    auto sent = std::make_shared<Shares>(),
         received = std::make_shared<Shares>();
    for (int64_t m = 0; m < work->size; ++m) {
      sent->counts.push_back(static_cast<int>(count));
      sent->displacements.push_back(
          static_cast<int>(direct ? m * bytes + begin : m * count));
      received->displacements.push_back(static_cast<int>(m * count));
    }
    Piece piece;
    piece.steps.push_back(
        {FirstLane,
         [=](MPI_Comm comm, Requests &requests) {
           checkMPI(MPI_Ialltoallv(direct ? work->operand.source : packed.get(),
                                   sent->counts.data(),
                                   sent->displacements.data(), MPI_BYTE,
                                   all.get(), sent->counts.data(),
                                   received->displacements.data(), MPI_BYTE,
                                   comm, addRequest(requests)),
                    "MPI_Ialltoallv");
         },
         [=]() {
           work->combine(all.get(), count / elementBytes,
                         work->operand.destination + begin);
         }});
    return piece;
  };
  transfer.add(
      Part{(bytes + length - 1) / length, 2 * work->size * length, makePiece});
}

//===----------------------------------------------------------------------===//
// Fast
//===----------------------------------------------------------------------===//

template <typename T>
static void divideAll(char *values, int64_t count, int64_t divisor) {
  auto *begin = reinterpret_cast<T *>(values);
  for (int64_t i = 0; i < count; ++i)
    begin[i] /= static_cast<T>(divisor);
}

/// Makes an average of a sum.
static void divideIfAverage(const Work &work, char *values, int64_t count) {
  if (work.reduction != BRAID_RT_AVG)
    return;
  if (work.operand.dtype == BRAID_RT_F32)
    divideAll<float>(values, count, work.size);
  else
    divideAll<double>(values, count, work.size);
}

/// The source times this rank's scale.
static void scaleOwn(const Work &work, const char *source, char *destination,
                     int64_t count) {
  const unsigned char *scale = (*work.scales)[0].data();
  reduce({work.operand.dtype, work.reduction, count, 1, &source, &scale, 1,
          &destination, false});
}

static void planFast(Transfer &transfer, const WorkRef &work) {
  int64_t bytes = work->operand.sourceBytes();
  int64_t count = bytes / work->elementBytes();
  bool scaled = work->reduction == BRAID_RT_PREMUL_SUM;
  // A reduce has no room for a scaled operand but on the root.
  Staging::Buffer room = scaled && !work->getsResult()
                             ? transfer.staging().borrow(bytes)
                             : nullptr;
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    const char *from = work->operand.source;
    char *destination = work->operand.destination;
    if (scaled) {
      char *target = room ? room.get() : destination;
      scaleOwn(*work, from, target, count);
      from = target;
    }
    bool inPlace = work->getsResult() && from == destination;
    const void *sent = inPlace ? MPI_IN_PLACE : from;
    MPI_Datatype type = nativeType(work->operand.dtype, work->reduction);
    MPI_Op op = nativeOperator(work->operand.dtype, work->reduction);
    if (work->isAllReduce())
      checkMPI(MPI_Iallreduce(sent, destination, static_cast<int>(count), type,
                              op, comm, addRequest(requests)),
               "MPI_Iallreduce");
    else
      checkMPI(MPI_Ireduce(sent, destination, static_cast<int>(count), type, op,
                           static_cast<int>(work->root), comm,
                           addRequest(requests)),
               "MPI_Ireduce");
  };
  auto finish = [=]() {
    if (work->getsResult())
      divideIfAverage(*work, work->operand.destination, count);
    else
      copyOwn(*work, 0, bytes);
  };
  transfer.add({{FirstLane, issue, finish}}, room ? bytes : 0);
}

static void planScatterFast(Transfer &transfer, const WorkRef &work) {
  const Operand &operand = work->operand;
  Strided parts(operand.destinationSizes, transfer.operation.dim, work->size,
                operand.elementBytes());
  int64_t bytes = parts.partBytes(), count = bytes / operand.elementBytes();
  bool scaled = work->reduction == BRAID_RT_PREMUL_SUM;
  // The result may be a slice of the source, which the call still reads.
  bool isSlice = operand.destination == operand.source + work->self * bytes;
  bool direct = parts.isContiguous() && !scaled && !isSlice;
  Staging::Buffer packed =
      direct ? nullptr : packParts(transfer.staging(), *work, parts, 0, bytes);
  auto issue = [=](MPI_Comm comm, Requests &requests) {
    if (scaled)
      scaleOwn(*work, packed.get(), packed.get(), work->size * count);
    checkMPI(MPI_Ireduce_scatter_block(
                 direct ? work->operand.source : packed.get(),
                 work->operand.destination, static_cast<int>(count),
                 nativeType(work->operand.dtype, work->reduction),
                 nativeOperator(work->operand.dtype, work->reduction), comm,
                 addRequest(requests)),
             "MPI_Ireduce_scatter_block");
  };
  auto finish = [=]() {
    divideIfAverage(*work, work->operand.destination, count);
  };
  transfer.add({{FirstLane, issue, finish}}, direct ? 0 : work->size * bytes);
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

using Scales = std::vector<std::array<unsigned char, 16>>;

/// Whether MPI does the reduction of an operand.
static bool isNative(const Operand &operand, int32_t reduction, bool fast) {
  return fast && operand.sourceBytes() <= nativeBytes &&
         nativeOperator(operand.dtype, reduction) != MPI_OP_NULL;
}

static void planOperands(Transfer &transfer,
                         const std::shared_ptr<Scales> &scales, bool fast) {
  const Operation &operation = transfer.operation;
  for (const Operand &operand : operation.operands) {
    if (operand.sourceBytes() == 0)
      continue;
    auto work = std::make_shared<const Work>(
        Work{operand, operation.kind, operation.reduction, operation.root,
             transfer.groupSize(), transfer.member(), scales});
    bool native = isNative(operand, operation.reduction, fast);
    if (operation.kind == BRAID_RT_REDUCE_SCATTER)
      (native ? planScatterFast : planScatterOrdered)(transfer, work);
    else
      (native ? planFast : planOrdered)(transfer, work);
  }
}

void braid::rt::planReduction(Transfer &transfer) {
  const Operation &operation = transfer.operation;
  bool fast = transfer.communicator.engine.isFast;
  if (operation.reduction != BRAID_RT_PREMUL_SUM || operation.operands.empty())
    return planOperands(transfer, nullptr, fast);
  auto scales = std::make_shared<Scales>(1);
  std::copy(std::begin(operation.scale), std::end(operation.scale),
            scales->front().begin());
  bool allNative =
      std::all_of(operation.operands.begin(), operation.operands.end(),
                  [&](const Operand &operand) {
                    return isNative(operand, operation.reduction, fast);
                  });
  if (allNative)
    return planOperands(transfer, scales, true);
  scales->resize(static_cast<size_t>(transfer.groupSize()));
  transfer.add({{FirstLane,
                 [&operation, scales](MPI_Comm comm, Requests &requests) {
                   checkMPI(MPI_Iallgather(operation.scale, 16, MPI_BYTE,
                                           scales->data(), 16, MPI_BYTE, comm,
                                           addRequest(requests)),
                            "MPI_Iallgather");
                 },
                 nullptr}});
  transfer.setNextPhase(
      [&transfer, scales]() { planOperands(transfer, scales, false); });
}
