//===- Calibration.h - What a machine was measured to do --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a profile that is about a machine, not about ops of a program:
// the rates that it keeps up under load, curves of collectives, and what
// matmuls and collectives do to each other. docs/reference/profile-files.md
// describes the format.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_PROFILE_CALIBRATION_H
#define BRAID_LIB_COST_PROFILE_CALIBRATION_H

#include "braid/Cost/Hardware/Hardware.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid {

class JsonObjectReader;

/// How a lane moves its data, as `comm.transport` says.
enum class LaneTransport : uint8_t { Default, Symmetric, Copy };

/// The names of transports in files, by `LaneTransport`.
extern const llvm::StringLiteral laneTransportNames[3];

/// The time of one kind of collective by its size.
struct CollectiveCurve {
  /// As `comm::stringifyCollectiveKind` says: "all_reduce".
  std::string kind;
  int64_t ranks = 0;
  LaneTransport transport = LaneTransport::Default;
  /// The limit on its thread blocks; 0 for none.
  int64_t ctas = 0;
  /// The groups of so many ranks on a node that run at the same time, and the
  /// distance of neighbouring members.
  int64_t groups = 1, stride = 1;
  /// Whether CUDA graphs launch it, where NCCL may use memory that it
  /// registers.
  bool inGraph = false;
  /// (bytes of the whole operation, nanoseconds), both ascending.
  std::vector<std::pair<double, double>> points;

  /// False for sizes that are so much smaller than what was measured that a
  /// model knows more.
  bool saysSomethingOf(double bytes) const {
    constexpr double most = 4;
    return bytes * most >= points.front().first;
  }

  /// Between two points the time is linear in log(bytes) and log(ns); below
  /// the first it stays, beyond the last the bandwidth does.
  double getNs(double bytes) const;
};

/// Which operands of a matmul are stored transposed: the left one as `depth` x
/// `rows`, the right one as `columns` x `depth`.
enum class TransposedOperands : uint8_t { None, Left, Right, Both };

/// The names of transposed operands in files, by `TransposedOperands`.
extern const llvm::StringLiteral transposedOperandNames[4];

/// The operands that are stored transposed.
inline TransposedOperands getTransposedOperands(bool isLeft, bool isRight) {
  return static_cast<TransposedOperands>((isLeft ? 1 : 0) + (isRight ? 2 : 0));
}

inline bool isLeftTransposed(TransposedOperands transposed) {
  return transposed == TransposedOperands::Left ||
         transposed == TransposedOperands::Both;
}
inline bool isRightTransposed(TransposedOperands transposed) {
  return transposed == TransposedOperands::Right ||
         transposed == TransposedOperands::Both;
}

/// A matmul, `rows` x `depth` times `depth` x `columns`.
struct MatmulShape {
  int64_t rows = 0, columns = 0, depth = 0;
  ElementClass element = ElementClass::BF16;
  TransposedOperands transposed = TransposedOperands::None;

  bool operator==(const MatmulShape &other) const {
    return rows == other.rows && columns == other.columns &&
           depth == other.depth && element == other.element &&
           transposed == other.transposed;
  }
  /// Multiplications and additions.
  double countOperations() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(depth);
  }
};

/// The time of a matmul on so many multiprocessors.
struct MatmulTime {
  MatmulShape shape;
  /// 0: all of them.
  int64_t multiprocessors = 0;
  double ns = 0;
};

/// A time of a matmul, measured or from measurements nearby.
struct MatmulEstimate {
  double ns = 0;
  bool isMeasured = false;
};

/// What was measured of a machine.
struct Calibration {
  /// What reports say of figures from here: "from profile h200.json".
  std::string origin;
  /// The GPU's name, how many there are, and their multiprocessors.
  std::string gpu;
  int64_t gpus = 0;
  int64_t multiprocessors = 0;
  /// Of the measurement: year, month and day.
  std::string date;
  /// (name, version) of drivers and libraries.
  std::vector<std::pair<std::string, std::string>> software;
  /// The largest deviation of repeated measurements, a fraction.
  double spread = 0;
  /// What the measurement had to leave out, and why.
  std::vector<std::string> missing;

  std::optional<int64_t> launchNs;
  std::optional<ContentionFigures> contention;
  /// By `ElementClass`: operations per second of matmuls whose tiles fill all
  /// multiprocessors; 0 for what was not measured.
  double matmulRate[numElementClasses] = {};
  /// Bytes per second of elementwise kernels; 0 if not measured.
  double memoryBandwidth = 0;
  std::vector<CollectiveCurve> collectives;
  std::vector<MatmulTime> matmuls;

  /// The curve of a collective in a lane with `transport` and at most `ctas`
  /// thread blocks (0: no limit); null if there is none. With a limit that was
  /// not measured, the largest one below counts. Of `groups` groups at the same
  /// time, whose members are `stride` apart: where that was not measured, those
  /// of another stride, or else one group alone. In a graph (`inGraph`) those
  /// without count where none was measured in graphs.
  const CollectiveCurve *findCurve(llvm::StringRef kind, int64_t ranks,
                                   LaneTransport transport, int64_t ctas,
                                   int64_t groups = 1, int64_t stride = 1,
                                   bool inGraph = false) const;
  /// The ns of a collective of `bytes`, on the curve that `findCurve` gives; of
  /// fewer bytes than were measured in graphs, on that without graphs.
  /// Messages (permute, send, recv; `bytes` go to a peer, and as many may come
  /// from one) without a curve are a permutation of two ranks, or else half of
  /// their all-to-all, and that is twice a permutation, too. None where nothing
  /// was measured that says something of so many bytes.
  std::optional<double> estimateCollectiveNs(llvm::StringRef kind,
                                             int64_t ranks, double bytes,
                                             LaneTransport transport,
                                             int64_t ctas, int64_t groups = 1,
                                             int64_t stride = 1,
                                             bool inGraph = false) const;
  /// The time of a matmul, if it was measured.
  const MatmulTime *findMatmul(const MatmulShape &shape,
                               int64_t multiprocessors) const;
  /// The time of a matmul as measured, or else
  /// - with other operands transposed: that of the same sizes;
  /// - on another number of multiprocessors: linear between those of the same
  ///   shape that were measured, and in inverse proportion below the fewest;
  /// - of another shape: at the rate of the measured shape that is nearest, if
  ///   no size differs by more than a factor of 2; the waves of their tiles
  ///   count whole.
  /// None if no measurement is near enough.
  std::optional<MatmulEstimate> estimateMatmul(const MatmulShape &shape,
                                               int64_t multiprocessors) const;
  /// `hardware` with the figures that were measured.
  Hardware apply(const Hardware &hardware) const;
};

/// The machine with GPUs of this model, as drivers call it ("NVIDIA H200");
/// null if none is known.
const Hardware *findHardwareOfGpu(llvm::StringRef gpu);

/// Reads the fields of a calibration from those of a profile, `parent`, and the
/// name of the machine, if `machine` is empty.
void readCalibration(JsonObjectReader &parent, Calibration &calibration,
                     std::string &machine);

/// The text of a profile of the machine called `machine`, without entries.
std::string writeCalibration(llvm::StringRef machine,
                             const Calibration &calibration);

/// What is shipped of the machine called `hardware`; null if nothing is.
std::shared_ptr<const Calibration>
getShippedCalibration(llvm::StringRef hardware);

/// The machines of which something is shipped: "h100x8 or h200x8".
std::string joinShippedHardwareNames();

} // namespace braid

#endif // BRAID_LIB_COST_PROFILE_CALIBRATION_H
