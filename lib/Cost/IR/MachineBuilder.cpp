//===- MachineBuilder.cpp - Build the machine of a simulation -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineBuilder.h"

#include "Cost/Profile/Calibration.h"
#include "braid/Cost/Collectives/CollectiveCost.h"
#include "braid/Cost/Hardware/HardwareMachine.h"

using namespace braid;
using namespace mlir;

/// The bytes per ns at which the fastest measured collective sends, 0 without
/// any. That two of them send more at a time is not known.
static double getMeasuredLinkRate(const Calibration &calibration) {
  double most = 0;
  for (const CollectiveCurve &curve : calibration.collectives) {
    std::optional<comm::CollectiveKind> kind =
        comm::symbolizeCollectiveKind(curve.kind);
    if (!kind)
      continue;
    for (auto [bytes, ns] : curve.points) {
      auto whole = static_cast<uint64_t>(bytes);
      CollectiveCall call{*kind, curve.ranks, whole, whole};
      if (ns > 0)
        most = std::max(most, static_cast<double>(getLinkBytes(call)) / ns);
    }
  }
  return most;
}

MachineModel braid::buildMachine(OpCostModel &model,
                                 ArrayRef<Operation *> firstStarts) {
  MachineModel machine = getMachineModel(*model.getOptions().hardware);
  if (machine.linkBandwidth.empty())
    return machine;
  if (const auto &calibration = model.getOptions().calibration)
    if (double rate = getMeasuredLinkRate(*calibration))
      machine.linkBandwidth[intraNodeLink] =
          std::min(machine.linkBandwidth[intraNodeLink], rate);
  for (Operation *start : firstStarts) {
    auto collective = dyn_cast<comm::CollectiveOpInterface>(start);
    machine.linkOfLane.push_back(
        collective ? getSharedLink(model.describe(collective)) : -1);
  }
  return machine;
}
