//===- Calibration.cpp - What a machine was measured to do ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"

#include "Cost/Hardware/MatrixTiles.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace braid;

double CollectiveCurve::getNs(double bytes) const {
  auto [firstBytes, firstNs] = points.front();
  if (bytes <= firstBytes)
    return firstNs;
  auto [lastBytes, lastNs] = points.back();
  if (bytes >= lastBytes)
    return lastNs * (bytes / lastBytes);
  auto above = llvm::partition_point(
      points, [&](const auto &point) { return point.first < bytes; });
  auto [lowBytes, lowNs] = *(above - 1);
  auto [highBytes, highNs] = *above;
  double part = std::log(bytes / lowBytes) / std::log(highBytes / lowBytes);
  return lowNs * std::pow(highNs / lowNs, part);
}

const CollectiveCurve *
Calibration::findCurve(llvm::StringRef kind, int64_t ranks,
                       LaneTransport transport, int64_t ctas, int64_t groups,
                       int64_t stride, bool inGraph) const {
  const CollectiveCurve *best = nullptr;
  // More blocks count most, then the graph, then the place of the groups.
  auto getPreference = [&](const CollectiveCurve &curve) {
    return std::tuple(curve.ctas, curve.inGraph, curve.groups == groups,
                      curve.groups == 1, curve.stride == stride);
  };
  for (const CollectiveCurve &curve : collectives) {
    if (curve.kind != kind || curve.ranks != ranks ||
        curve.transport != transport || (curve.inGraph && !inGraph))
      continue;
    // Copy engines take no blocks, so no limit counts.
    if (transport != LaneTransport::Copy &&
        (ctas == 0 ? curve.ctas != 0 : curve.ctas == 0 || curve.ctas > ctas))
      continue;
    if (!best || getPreference(curve) > getPreference(*best))
      best = &curve;
  }
  return best;
}

std::optional<double> Calibration::estimateCollectiveNs(
    llvm::StringRef kind, int64_t ranks, double bytes, LaneTransport transport,
    int64_t ctas, int64_t groups, int64_t stride, bool inGraph) const {
  auto find = [&](llvm::StringRef kind, int64_t ranks, double bytes,
                  int64_t groups, int64_t stride) {
    const CollectiveCurve *found =
        findCurve(kind, ranks, transport, ctas, groups, stride, inGraph);
    // NCCL registers no memory for small ones.
    if (found && found->inGraph && bytes < found->points.front().first)
      return findCurve(kind, ranks, transport, ctas, groups, stride);
    return found;
  };
  const CollectiveCurve *curve = find(kind, ranks, bytes, groups, stride);
  bool isMessage = llvm::is_contained({"permute", "send", "recv"}, kind);
  bool isExchange = kind == "all_to_all" && ranks == 2;
  // In an all-to-all each of two ranks sends half of its operand, and keeps the
  // other half.
  double whole = isMessage ? 2 * bytes : bytes;
  for (auto [other, ofOther] :
       {std::pair("permute", whole / 2), std::pair("all_to_all", whole)}) {
    const CollectiveCurve *found =
        isMessage || isExchange
            ? find(other, /*ranks=*/2, ofOther, /*groups=*/1, /*stride=*/1)
            : nullptr;
    if (!found || (curve && (curve->inGraph || !found->inGraph)))
      continue;
    curve = found;
    bytes = ofOther;
  }
  if (!curve || !curve->saysSomethingOf(bytes))
    return std::nullopt;
  return curve->getNs(bytes);
}

const llvm::StringLiteral braid::transposedOperandNames[4] = {"none", "left",
                                                              "right", "both"};

const MatmulTime *Calibration::findMatmul(const MatmulShape &shape,
                                          int64_t multiprocessors) const {
  auto it = llvm::find_if(matmuls, [&](const MatmulTime &matmul) {
    return matmul.shape == shape && matmul.multiprocessors == multiprocessors;
  });
  return it == matmuls.end() ? nullptr : &*it;
}

/// The largest ratio of two sizes, or of its inverse.
static double getDistance(const MatmulShape &one, const MatmulShape &other) {
  double largest = 1;
  for (auto [a, b] :
       {std::pair(one.rows, other.rows), std::pair(one.columns, other.columns),
        std::pair(one.depth, other.depth)}) {
    double ratio = static_cast<double>(a) / static_cast<double>(b);
    largest = std::max({largest, ratio, 1 / ratio});
  }
  return largest;
}

/// What a matmul takes beside its work: its first operands arrive, and its last
/// tiles are written. 4096 x 1024 with depths of 1024, 2048 and 4096
/// takes 13.6, 23.7 and 44.1 us in bf16 on an H100.
static constexpr double matmulFixedNs = 3000;

/// The work of a matmul on `target` of `multiprocessors`, with the waves of its
/// tiles counted whole.
static double countWork(const MatmulShape &shape, int64_t multiprocessors,
                        int64_t target) {
  TileGrid tiles = chooseTiles(static_cast<uint64_t>(shape.rows),
                               static_cast<uint64_t>(shape.columns),
                               /*batch=*/1, shape.element, multiprocessors,
                               target, static_cast<uint64_t>(shape.depth));
  return shape.countOperations() * tiles.stretch;
}

/// The time of `shape`, which was measured, on `target` multiprocessors of
/// `all`.
static MatmulEstimate estimateTarget(llvm::ArrayRef<MatmulTime> matmuls,
                                     const MatmulShape &shape, int64_t target,
                                     int64_t all) {
  auto count = [&](const MatmulTime &matmul) {
    return matmul.multiprocessors ? matmul.multiprocessors : all;
  };
  const MatmulTime *below = nullptr, *above = nullptr;
  for (const MatmulTime &matmul : matmuls) {
    if (!(matmul.shape == shape))
      continue;
    if (count(matmul) <= target && (!below || count(matmul) > count(*below)))
      below = &matmul;
    if (count(matmul) >= target && (!above || count(matmul) < count(*above)))
      above = &matmul;
  }
  if (below && above && below != above) {
    double part = static_cast<double>(target - count(*below)) /
                  static_cast<double>(count(*above) - count(*below));
    return {below->ns + part * (above->ns - below->ns), false};
  }
  const MatmulTime &nearest = below ? *below : *above;
  return {nearest.ns * static_cast<double>(count(nearest)) /
              static_cast<double>(target),
          count(nearest) == target};
}

std::optional<MatmulEstimate>
Calibration::estimateMatmul(const MatmulShape &shape,
                            int64_t multiprocessors) const {
  constexpr double farthest = 2;
  // Sizes matter more than how operands are stored.
  using Distance = std::pair<double, bool>;
  const MatmulShape *nearest = nullptr;
  Distance distance;
  for (const MatmulTime &matmul : matmuls) {
    Distance other(getDistance(matmul.shape, shape),
                   matmul.shape.transposed != shape.transposed);
    if (matmul.shape.element == shape.element && other.first <= farthest &&
        (!nearest || other < distance)) {
      nearest = &matmul.shape;
      distance = other;
    }
  }
  if (!nearest)
    return std::nullopt;
  int64_t target = multiprocessors ? multiprocessors : this->multiprocessors;
  MatmulEstimate estimate =
      estimateTarget(matmuls, *nearest, target, this->multiprocessors);
  if (distance == Distance(1, false))
    return estimate;
  int64_t all = this->multiprocessors;
  auto scale = [&](const MatmulEstimate &measured, int64_t on) {
    double fixedNs = std::min(matmulFixedNs, measured.ns / 2);
    return fixedNs + (measured.ns - fixedNs) * countWork(shape, all, on) /
                         countWork(*nearest, all, on);
  };
  double ns = scale(estimate, target);
  // Fewer multiprocessors are no gain that was not measured.
  if (target < all)
    ns = std::max(ns, scale(estimateTarget(matmuls, *nearest, all, all), all));
  return MatmulEstimate{ns, false};
}

Hardware Calibration::apply(const Hardware &hardware) const {
  Hardware result = hardware;
  for (auto [peak, rate] :
       llvm::zip_equal(llvm::MutableArrayRef(result.peakOpsPerSecond),
                       llvm::ArrayRef(matmulRate)))
    if (rate > 0)
      peak = rate;
  if (memoryBandwidth > 0)
    result.memoryBandwidth = memoryBandwidth;
  if (launchNs)
    result.launchNs = *launchNs;
  if (contention)
    result.contention = *contention;
  return result;
}

const Hardware *braid::findHardwareOfGpu(llvm::StringRef gpu) {
  // Other connections and another size of the memory.
  if (gpu.contains("GB200") || gpu.contains("NVL"))
    return nullptr;
  for (llvm::StringRef model : {"V100", "A100", "H100", "H200", "B200"})
    if (gpu.contains(model))
      return lookupHardware(model.lower() + "x8");
  return nullptr;
}
