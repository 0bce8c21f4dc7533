//===- Reductions.cpp - all_reduce, reduce, reduce_scatter ------*- C++ -*-===//
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
#include "MPI/Transfers/MPICommunicator.h"
#include "MPI/Transfers/Strided.h"
#include "MPI/Transfers/Transfer.h"
#include "Reduce/Reduce.h"

#include <algorithm>
#include <array>

using namespace braid::rt;

namespace {
/// The bytes that a piece of an ordered reduction receives.
constexpr int64_t pieceBytes = int64_t(2) << 20;
/// The largest operand that MPI reduces in fast mode. MPI libraries are no
/// faster for larger ones, and Open MPI 4.1 is several times slower.
constexpr int64_t nativeBytes = int64_t(1) << 20;

/// One operand's reduction, shared by its steps.
struct Work {
  Operand operand;
  int32_t kind;
  int32_t reduction;
  int64_t root;
  int64_t size;
  int64_t self;
  /// The scales of a premul_sum: of all members in ordered mode, of this one in
  /// fast mode.
  std::shared_ptr<std::vector<std::array<unsigned char, 16>>> scales;

  bool isAllReduce() const { return kind == BRAID_RT_ALL_REDUCE; }
  bool getsResult() const { return getsResult(self); }
  bool getsResult(int64_t member) const {
    return isAllReduce() || member == root;
  }
  int64_t elementBytes() const { return operand.elementBytes(); }

  /// Where `bytes` of each other member go, one member after the other.
  auto receivedParts(char *begin, int64_t bytes) const {
    return [begin, bytes, self = self](int64_t member) {
      return std::pair(begin + (member - (member > self)) * bytes, bytes);
    };
  }

  /// Combines `count` elements of each member: `own` of this member; `received`
  /// holds those of the others, one member after the other.
  void combine(const char *own, const char *received, int64_t count,
               char *destination) const {
    std::vector<const char *> all;
    std::vector<const unsigned char *> scalesOfAll;
    for (int64_t m = 0; m < size; ++m) {
      all.push_back(m == self ? own : received);
      received += m == self ? 0 : count * elementBytes();
      scalesOfAll.push_back(scales ? (*scales)[m].data() : nullptr);
    }
    reduce({operand.dtype, reduction, count, size, all.data(),
            scalesOfAll.data(), 1, &destination, false});
  }
};

using WorkRef = std::shared_ptr<const Work>;
} // namespace

/// A reduce gives a rank other than the root its own operand.
static void copyOwn(const Work &work, int64_t begin, int64_t end) {
  copyBytes(work.operand.destination + begin, work.operand.source + begin,
            end - begin, false);
}

//===----------------------------------------------------------------------===//
// Ordered
//===----------------------------------------------------------------------===//

/// The bytes at which the shares of the members begin when [0, count) elements
/// are cut, and the end of the last one.
static std::vector<int64_t> cut(const Work &work, int64_t count) {
  std::vector<int64_t> begins;
  for (int64_t m = 0; m <= work.size; ++m)
    begins.push_back(count * m / work.size * work.elementBytes());
  return begins;
}

/// One piece of an all_reduce or reduce: `begin` and `count` in elements.
static Piece makePiece(Staging &staging, const WorkRef &work, int64_t begin,
                       int64_t count) {
  std::vector<int64_t> shares = cut(*work, count);
  int64_t ownBytes = shares[work->self + 1] - shares[work->self];
  // Only the root of a reduce has a destination for a share of the result.
  Staging::Buffer received =
      staging.borrow(std::max<int64_t>(1, (work->size - 1) * ownBytes));
  int64_t offset = begin * work->elementBytes();
  const char *source = work->operand.source + offset;
  char *destination = work->operand.destination + offset;
  char *ownShare =
      work->getsResult() ? destination + shares[work->self] : received.get();
  Piece piece;
  piece.steps.push_back(
      {FirstLane,
       [=](MPI_Comm comm, Requests &requests) {
         exchange(
             comm, work->size, work->self,
             [&](int64_t m) {
               return std::pair(source + shares[m], shares[m + 1] - shares[m]);
             },
             work->receivedParts(received.get(), ownBytes), requests);
       },
       [=]() {
         work->combine(source + shares[work->self], received.get(),
                       ownBytes / work->elementBytes(), ownShare);
       },
       /*isMessages=*/true});
  piece.steps.push_back(
      {SecondLane,
       [=](MPI_Comm comm, Requests &requests) {
         exchange(
             comm, work->size, work->self,
             [&](int64_t m) {
               return std::pair(ownShare, work->getsResult(m) ? ownBytes : 0);
             },
             [&](int64_t m) {
               return std::pair(destination + shares[m],
                                work->getsResult() ? shares[m + 1] - shares[m]
                                                   : 0);
             },
             requests);
       },
       [=]() {
         if (!work->getsResult())
           copyOwn(*work, offset, offset + count * work->elementBytes());
       }});
  return piece;
}

static void planOrdered(Transfer &transfer, const WorkRef &work) {
  int64_t bytes = work->operand.sourceBytes();
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

/// Bytes [begin, end) of a member's part as one range of memory: in the source
/// if they are contiguous there, else a copy in `packed`.
static const char *packPart(const Work &work, const Strided &parts,
                            int64_t member, int64_t begin, int64_t end,
                            char *packed) {
  if (parts.isContiguous())
    return work.operand.source + member * parts.partBytes() + begin;
  parts.pack(work.operand.source, member, begin, end, packed);
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
  Staging &staging = transfer.staging();
  auto makePiece = [=, &staging](int64_t index) {
    int64_t begin = index * length, end = std::min(bytes, begin + length);
    int64_t count = end - begin;
    Staging::Buffer packed =
        parts.isContiguous() ? nullptr : staging.borrow(work->size * count);
    Staging::Buffer received = staging.borrow((work->size - 1) * count);
    auto partOf = [=](int64_t m) {
      return packPart(*work, parts, m, begin, end, packed.get() + m * count);
    };
    Piece piece;
    piece.steps.push_back(
        {FirstLane,
         [=](MPI_Comm comm, Requests &requests) {
           exchange(
               comm, work->size, work->self,
               [&](int64_t m) { return std::pair(partOf(m), count); },
               work->receivedParts(received.get(), count), requests);
         },
         [=]() {
           work->combine(partOf(work->self), received.get(),
                         count / elementBytes,
                         work->operand.destination + begin);
         },
         /*isMessages=*/true});
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

/// Divides the sum by the number of members if the reduction is avg.
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
  // Only the root of a reduce has a destination for the scaled operand.
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
  transfer.add({FirstLane, issue, finish}, room ? bytes : 0);
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
  Staging::Buffer packed;
  if (!direct) {
    packed = transfer.staging().borrow(work->size * bytes);
    for (int64_t m = 0; m < work->size; ++m)
      parts.pack(operand.source, m, 0, bytes, packed.get() + m * bytes);
  }
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
  transfer.add({FirstLane, issue, finish}, direct ? 0 : work->size * bytes);
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

using Scales = std::vector<std::array<unsigned char, 16>>;

/// Whether MPI reduces an operand. Sums of two operands do not depend on the
/// order, so ordered mode is as fast between two members.
static bool isNative(const Transfer &transfer, const Operand &operand,
                     bool fast) {
  return fast && transfer.groupSize() > 2 &&
         operand.sourceBytes() <= nativeBytes &&
         nativeOperator(operand.dtype, transfer.operation.reduction) !=
             MPI_OP_NULL;
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
    bool native = isNative(transfer, operand, fast);
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
                    return isNative(transfer, operand, fast);
                  });
  if (allNative)
    return planOperands(transfer, scales, true);
  scales->resize(static_cast<size_t>(transfer.groupSize()));
  transfer.add({FirstLane,
                [&operation, scales](MPI_Comm comm, Requests &requests) {
                  checkMPI(MPI_Iallgather(operation.scale, 16, MPI_BYTE,
                                          scales->data(), 16, MPI_BYTE, comm,
                                          addRequest(requests)),
                           "MPI_Iallgather");
                },
                nullptr});
  transfer.setNextPhase(
      [&transfer, scales]() { planOperands(transfer, scales, false); });
}
