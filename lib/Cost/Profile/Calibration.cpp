//===- Calibration.cpp - What a machine was measured to do ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"

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
