//===- OpCostModel.h - Time of an op ----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_COST_IR_OPCOSTMODEL_H
#define BRAID_COST_IR_OPCOSTMODEL_H

#include "braid/Cost/Collectives/CollectiveCost.h"
#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/IR/CommCostInterface.h"
#include "braid/Schedule/Model/Machine.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace braid {

class Profile;
struct Calibration;
struct CollectiveCurve;

/// Where a cost comes from, in the order in which cost models ask.
enum class CostSource {
  Attribute,           ///< `comm.cost_ns`
  ProfileLabel,        ///< a measurement of what has the op's label
  ProfileSignature,    ///< a measurement of the op's signature
  ProfileInterpolated, ///< what lies between two measurements
  ProfileExtrapolated, ///< what lies near the measurements
  Profile,             ///< a measurement that the embedder knows
  Measured,            ///< a measurement of the machine
  Collective, ///< the model of collectives, which describes the collective
  StandIn,    ///< the model of collectives, by a stand-in of ours
  Wait,       ///< waits do nothing themselves
  Interface,  ///< the op knows its time (`CostOpInterface::getDurationNs`)
  Roofline,   ///< the op knows its work (`CostOpInterface::getWork`)
  Callee,     ///< the body of the called function
  Regions,    ///< the op's regions
  Default     ///< the bytes of the operands and results
};

/// The cost of one op.
struct Cost {
  int64_t ns;
  CostSource source;

  /// True if the op stands for a body of ops, its callee's or its own regions,
  /// and costs what `CostModel::getBodyTotals` says of that. False for loops
  /// and calls whose cost was given or measured.
  bool isOfBody() const {
    return source == CostSource::Callee || source == CostSource::Regions;
  }
};

/// How the members of a group are placed.
struct GroupShape {
  /// The most members of any communicator of the group.
  int64_t size;
  /// The most nodes that any communicator of the group is spread over: ranks
  /// are numbered node by node.
  int64_t numNodes;
};

/// What a `CostModel` is made with.
struct CostOptions {
  const Hardware *hardware = &getDefaultHardware();
  /// Keeps `hardware` alive if it comes from a file or is changed by options.
  std::shared_ptr<const Hardware> ownHardware;
  /// The members of a group `all`; none for the hardware's ranks per node.
  std::optional<int64_t> worldSize;
  /// None for the hardware's own.
  std::optional<CollectiveModelKind> collectiveModel;
  /// Of the `link` model: nanoseconds of a step and bytes per second. None for
  /// the hardware's: its latency, and the bandwidth within or between nodes.
  std::optional<double> linkLatencyNs;
  std::optional<double> linkBandwidth;
  comm::SizeDefaults sizes;
  /// What was measured; null if nothing was.
  std::shared_ptr<const braid::Profile> measurements;
  /// What was measured of the machine, whose rates are in `hardware` already;
  /// null if nothing was.
  std::shared_ptr<const Calibration> calibration;
  /// Nanoseconds of an op that the embedder knows, asked after `measurements`.
  std::function<std::optional<int64_t>(mlir::Operation *)> profile;
};

/// What users write to choose a cost model, in `comm.hardware` and in the
/// options of passes. Empty or absent: not said.
struct CostSettings {
  std::string hardware;
  std::optional<CollectiveModelKind> collectiveModel;
  /// With a unit: `20us`.
  std::string linkLatency;
  /// With a unit: `10GB/s`.
  std::string linkBandwidth;
  int64_t worldSize = 0;
  int64_t ranksPerNode = 0;
  int64_t dynamicSize = 0;
  /// The file of a profile; `none` for figures of datasheets. Otherwise the
  /// profile that is shipped for the hardware counts.
  std::string profile;

  /// What `profile` holds, once it was read.
  mutable std::shared_ptr<const Profile> measurements;
};

/// Writes `settings` to `comm.option_defaults` of `module`, where passes read
/// what their own settings do not say.
void setCostDefaults(mlir::ModuleOp module, const CostSettings &settings);

/// The default of option `name` for a pass on `op`: that of the innermost
/// module with `comm.option_defaults`. Null if there is none.
mlir::Attribute getOptionDefault(mlir::Operation *op, llvm::StringRef name);

/// Adds the default `value` of option `name` to `comm.option_defaults` of
/// `module`.
void setOptionDefault(mlir::ModuleOp module, llvm::StringRef name,
                      mlir::Attribute value);

/// `settings`, with the defaults of the innermost module around `op` that has
/// `comm.option_defaults` for what they do not say.
CostSettings applyCostDefaults(mlir::Operation *op, CostSettings settings);

/// The options that `settings`, with their defaults, ask for in the program
/// around `op`: its hardware is that of `settings`, or else `comm.hardware` of
/// the innermost module that has one, or else the default. Emits an error at
/// `op` (or at the module) that says what was found and what was expected, and
/// fails, if a setting is wrong.
llvm::FailureOr<CostOptions> resolveCostOptions(mlir::Operation *op,
                                                const CostSettings &settings);

/// Tells what an op costs that stands for itself: time on the compute stream
/// for compute, time on the lane for starts, nothing for waits. The answer
/// depends on the program and the options alone, never on the rank.
///
/// Asked in this order: `comm.cost_ns`, the measurements, the model of
/// collectives (for starts), the op's cost interface, and at last the bytes of
/// the operands and results. `CostModel` tells what bodies and calls cost.
class OpCostModel {
public:
  explicit OpCostModel(CostOptions options);
  ~OpCostModel();

  /// The cost of `op`; none if it is that of its callee or of its regions.
  std::optional<Cost> getOpCost(mlir::Operation *op);

  /// The name of where `cost` comes from, as reports print it, such as
  /// "attribute" or "collective-model inductor".
  llvm::StringRef getSourceName(CostSource source) const;

  const CostOptions &getOptions() const { return options; }

  /// What `op` takes of the machine while it runs, for a simulation with
  /// contention. All zero for waits, for ops that stand for a body, and where
  /// no model says.
  ResourceDemand getDemand(mlir::Operation *op);

  /// The model of a collective within one node, or over several.
  const CollectiveCostModel &getCollectiveModel(int64_t numNodes) const;

  /// What the collective models have to know of `op`.
  CollectiveCall describe(comm::CollectiveOpInterface op);

  /// The members of `group` as seen from `from`: the most of any of its lists,
  /// or the world for `all` and for an unknown group.
  int64_t getGroupSize(mlir::Operation *from, mlir::FlatSymbolRefAttr group) {
    return getGroupShape(from, group).size;
  }

  /// The members and nodes of `group` as seen from `from`.
  GroupShape getGroupShape(mlir::Operation *from,
                           mlir::FlatSymbolRefAttr group);

  /// How often `op` runs its regions, one after the other.
  int64_t getTripCount(mlir::Operation *op) const;

  /// The body of the function that `op` calls; null if it calls none that is
  /// known.
  mlir::Region *getCalleeBody(mlir::Operation *op);

private:
  std::optional<Cost> getOwnCost(mlir::Operation *op);
  CollectiveTime estimateCollective(comm::CollectiveOpInterface op);
  ResourceDemand getCollectiveDemand(comm::CollectiveOpInterface op);
  ResourceDemand getComputeDemand(mlir::Operation *op);
  /// The curve of the calibration that `op` is on; null if there is none.
  const CollectiveCurve *findCurve(comm::CollectiveOpInterface op);
  /// The time of a product that the calibration has, in ns.
  std::optional<double> getMeasuredProductNs(mlir::Operation *op,
                                             const comm::Work &work) const;
  /// The hardware as `op` sees it, which may count on some multiprocessors
  /// only, and so do less arithmetic.
  const Hardware &getHardwareOf(mlir::Operation *op);

  CostOptions options;
  /// What reports call figures and rates of the calibration.
  std::string measuredName, rooflineName, defaultName;
  /// By multiprocessors.
  llvm::DenseMap<int64_t, std::unique_ptr<Hardware>> limitedHardware;
  std::unique_ptr<CollectiveCostModel> intraNodeModel;
  std::unique_ptr<CollectiveCostModel> interNodeModel;
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Attribute>, GroupShape>
      groupShapes;
  mlir::SymbolTableCollection symbolTables;
};

} // namespace braid

#endif // BRAID_COST_IR_OPCOSTMODEL_H
