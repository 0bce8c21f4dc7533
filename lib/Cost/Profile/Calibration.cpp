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

const CollectiveCurve *Calibration::findCurve(llvm::StringRef kind,
                                              int64_t ranks,
                                              LaneTransport transport,
                                              int64_t ctas) const {
  const CollectiveCurve *best = nullptr;
  for (const CollectiveCurve &curve : collectives) {
    if (curve.kind != kind || curve.ranks != ranks ||
        curve.transport != transport)
      continue;
    // Copy engines take no blocks, so no limit counts.
    if (transport == LaneTransport::Copy)
      return &curve;
    if (ctas == 0 ? curve.ctas != 0 : curve.ctas == 0 || curve.ctas > ctas)
      continue;
    if (!best || curve.ctas > best->ctas)
      best = &curve;
  }
  return best;
}

const ProductTime *Calibration::findProduct(int64_t rows, int64_t columns,
                                            int64_t depth, ElementClass element,
                                            int64_t multiprocessors) const {
  auto it = llvm::find_if(products, [&](const ProductTime &product) {
    return product.rows == rows && product.columns == columns &&
           product.depth == depth && product.element == element &&
           product.multiprocessors == multiprocessors;
  });
  return it == products.end() ? nullptr : &*it;
}

/// The largest ratio of two sizes, or of its inverse.
static double getDistance(const ProductTime &product, int64_t rows,
                          int64_t columns, int64_t depth) {
  double largest = 1;
  for (auto [a, b] :
       {std::pair(product.rows, rows), std::pair(product.columns, columns),
        std::pair(product.depth, depth)}) {
    double ratio = static_cast<double>(a) / static_cast<double>(b);
    largest = std::max({largest, ratio, 1 / ratio});
  }
  return largest;
}

/// The work of a product, with the waves of its tiles counted whole.
static double countWork(int64_t rows, int64_t columns, int64_t depth,
                        ElementClass element, int64_t multiprocessors) {
  TileGrid tiles =
      chooseTiles(static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                  /*batch=*/1, element, multiprocessors);
  return static_cast<double>(rows) * static_cast<double>(columns) *
         static_cast<double>(depth) * tiles.stretch;
}

/// The time of the shape of `like` on `target` multiprocessors of `all`.
static ProductEstimate estimateTarget(llvm::ArrayRef<ProductTime> products,
                                      const ProductTime &like, int64_t target,
                                      int64_t all) {
  auto count = [&](const ProductTime &product) {
    return product.multiprocessors ? product.multiprocessors : all;
  };
  const ProductTime *below = nullptr, *above = nullptr;
  for (const ProductTime &product : products) {
    if (product.element != like.element ||
        getDistance(product, like.rows, like.columns, like.depth) != 1)
      continue;
    if (count(product) <= target && (!below || count(product) > count(*below)))
      below = &product;
    if (count(product) >= target && (!above || count(product) < count(*above)))
      above = &product;
  }
  if (below && above && below != above) {
    double part = static_cast<double>(target - count(*below)) /
                  static_cast<double>(count(*above) - count(*below));
    return {below->ns + part * (above->ns - below->ns), false};
  }
  const ProductTime &nearest = below ? *below : *above;
  return {nearest.ns * static_cast<double>(count(nearest)) /
              static_cast<double>(target),
          count(nearest) == target};
}

std::optional<ProductEstimate>
Calibration::estimateProduct(int64_t rows, int64_t columns, int64_t depth,
                             ElementClass element,
                             int64_t multiprocessors) const {
  constexpr double farthest = 2;
  const ProductTime *nearest = nullptr;
  double distance = farthest;
  for (const ProductTime &product : products) {
    double other = getDistance(product, rows, columns, depth);
    if (product.element == element &&
        (nearest ? other < distance : other <= distance)) {
      nearest = &product;
      distance = other;
    }
  }
  if (!nearest)
    return std::nullopt;
  int64_t target = multiprocessors ? multiprocessors : this->multiprocessors;
  ProductEstimate estimate =
      estimateTarget(products, *nearest, target, this->multiprocessors);
  if (distance == 1)
    return estimate;
  double scale =
      countWork(rows, columns, depth, element, this->multiprocessors) /
      countWork(nearest->rows, nearest->columns, nearest->depth, element,
                this->multiprocessors);
  return ProductEstimate{estimate.ns * scale, false};
}

Hardware Calibration::apply(const Hardware &hardware) const {
  Hardware result = hardware;
  for (auto [peak, rate] :
       llvm::zip_equal(llvm::MutableArrayRef(result.peakOpsPerSecond),
                       llvm::ArrayRef(productRate)))
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
