//===- CostSettings.cpp - Choosing a cost model ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/CostModel.h"
#include "braid/Schedule/Units.h"
#include "mlir/IR/BuiltinOps.h"

using namespace braid;
using namespace mlir;

/// The hardware called `name`; an error at `op` that says where `name` comes
/// from
/// (`origin`) if there is none.
static FailureOr<const Hardware *> getHardware(Operation *op, StringRef name,
                                               const Twine &origin) {
  if (const Hardware *hardware = lookupHardware(name))
    return hardware;
  return emitError(op->getLoc())
         << "unknown hardware '" << name << "' in " << origin
         << ", expected one of: " << joinHardwareNames();
}

static FailureOr<const Hardware *> resolveHardware(Operation *op,
                                                   StringRef setting) {
  if (!setting.empty())
    return getHardware(op, setting, "option 'hardware'");
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto name = parent->getAttrOfType<StringAttr>(
            comm::CommDialect::kHardwareAttrName))
      return getHardware(parent, name,
                         Twine("attribute '") +
                             comm::CommDialect::kHardwareAttrName + "'");
  return &getDefaultHardware();
}

FailureOr<CostOptions> braid::resolveCostOptions(Operation *op,
                                                 const CostSettings &settings) {
  CostOptions options;
  FailureOr<const Hardware *> hardware = resolveHardware(op, settings.hardware);
  if (failed(hardware))
    return failure();
  options.hardware = *hardware;

  if (!settings.collectiveModel.empty()) {
    for (CollectiveModelKind kind :
         {CollectiveModelKind::Inductor, CollectiveModelKind::Link})
      if (settings.collectiveModel == stringifyCollectiveModel(kind))
        options.collectiveModel = kind;
    if (!options.collectiveModel)
      return emitError(op->getLoc())
             << "unknown collective model '" << settings.collectiveModel
             << "' in option 'collective-model', expected one of: inductor "
                "link";
  }

  if (!settings.linkLatency.empty()) {
    options.linkLatencyNs = parseDurationNs(settings.linkLatency);
    if (!options.linkLatencyNs)
      return emitError(op->getLoc())
             << "invalid time '" << settings.linkLatency
             << "' in option 'link-latency', expected a number of at least 0 "
                "with unit ns, us, ms or s, such as 20us";
  }
  if (!settings.linkBandwidth.empty()) {
    options.linkBandwidth = parseBandwidth(settings.linkBandwidth);
    if (!options.linkBandwidth)
      return emitError(op->getLoc())
             << "invalid rate '" << settings.linkBandwidth
             << "' in option 'link-bandwidth', expected a number of at least 0 "
                "with unit B/s, KB/s, MB/s, GB/s or TB/s, such as 10GB/s";
  }

  if (settings.worldSize < 0)
    return emitError(op->getLoc())
           << "invalid number of ranks " << settings.worldSize
           << " in option 'world-size', expected at least 1";
  if (settings.worldSize > 0)
    options.worldSize = settings.worldSize;
  if (settings.dynamicSize < 0)
    return emitError(op->getLoc())
           << "invalid size " << settings.dynamicSize
           << " in option 'dynamic-size', expected at least 1";
  if (settings.dynamicSize > 0)
    options.sizes.dynamicSize = settings.dynamicSize;
  return options;
}
