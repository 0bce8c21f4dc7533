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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace braid {

class Profile;
struct Calibration;
struct CollectiveCurve;

/// The source of a cost. Cost models take the first source that has a value.
enum class CostSource {
  Attribute,           ///< `comm.cost_ns`
  ProfileLabel,        ///< a measurement of the op's label
  ProfileSignature,    ///< a measurement of the op's signature
  ProfileInterpolated, ///< interpolated between two measurements
  ProfileExtrapolated, ///< extrapolated from two measurements
  Profile,             ///< a measurement of the embedder
  Measured,            ///< a measurement of the machine
  MeasuredNearby,      ///< measurements of the machine for a similar matmul
  Collective,          ///< the model of collectives
  StandIn,   ///< a stand-in for a collective that the model does not cover
  Wait,      ///< a wait, which costs nothing itself
  Interface, ///< the op's `CostOpInterface::getDurationNs`
  Roofline,  ///< the op's `CostOpInterface::getWork`
  Callee,    ///< the body of the called function
  Regions,   ///< the op's regions
  Default    ///< the bytes of the operands and results
};

/// The cost of one op.
struct Cost {
  int64_t ns;
  CostSource source;

  /// True if the cost is that of a body, of the callee or of the op's own
  /// regions, as `CostModel::getBodyTotals` computes it. False for loops and
  /// calls with a given or measured cost.
  bool isOfBody() const {
    return source == CostSource::Callee || source == CostSource::Regions;
  }
};

/// The parameters of a `CostModel`.
struct CostOptions {
  const Hardware *hardware = &getDefaultHardware();
  /// Keeps `hardware` alive if it comes from a file or is changed by options.
  std::shared_ptr<const Hardware> ownHardware;
  /// The members of a group `all`; none for the hardware's ranks per node.
  std::optional<int64_t> ranks;
  /// None for the hardware's own.
  std::optional<CollectiveModelKind> collectiveModel;
  /// Of the `link` model: nanoseconds of a step and bytes per second. None for
  /// the hardware's: its latency, and the bandwidth within or between nodes.
  std::optional<double> linkLatencyNs;
  std::optional<double> linkBandwidth;
  comm::SizeDefaults sizes;
  /// The measured times; null without measurements.
  std::shared_ptr<const braid::Profile> measurements;
  /// The measurements of the machine, whose rates `hardware` contains; null
  /// without measurements.
  std::shared_ptr<const Calibration> calibration;
  /// Whether CUDA graphs launch what the program does on GPUs.
  bool inGraph = false;
  /// Nanoseconds of an op, from the embedder, for ops without a measurement in
  /// `measurements`.
  std::function<std::optional<int64_t>(mlir::Operation *)> profile;
};

/// The cost settings of the user, from `comm.machine` and the options of
/// passes. Empty or absent values are not set.
struct CostSettings {
  std::string machine;
  std::optional<CollectiveModelKind> collectiveModel;
  /// With a unit: `20us`.
  std::string linkLatency;
  /// With a unit: `10GB/s`.
  std::string linkBandwidth;
  int64_t ranks = 0;
  int64_t ranksPerNode = 0;
  int64_t dynamicSize = 0;
  /// The file of a profile; `none` for figures of datasheets. Otherwise the
  /// profile that is shipped for the hardware counts.
  std::string profile;
  /// `0`, `1` or `auto`, as the engine's option `cuda-graph`.
  std::string cudaGraph;

  /// The contents of `profile`, after they were read.
  mutable std::shared_ptr<const Profile> measurements;
};

/// Writes `settings` to `comm.option_defaults` of `module`. Passes use these
/// values for options that the user has not set.
void setCostDefaults(mlir::ModuleOp module, const CostSettings &settings);

/// The default of option `name` for a pass on `op`, from the innermost module
/// with `comm.option_defaults`. Null if there is none.
mlir::Attribute getOptionDefault(mlir::Operation *op, llvm::StringRef name);

/// Adds the default `value` of option `name` to `comm.option_defaults` of
/// `module`.
void setOptionDefault(mlir::ModuleOp module, llvm::StringRef name,
                      mlir::Attribute value);

/// `settings`, with `comm.option_defaults` of the innermost module around `op`
/// that has this attribute for all values that are not set.
CostSettings applyCostDefaults(mlir::Operation *op, CostSettings settings);

/// Checks what can be known of `settings` without a program: names of hardware,
/// files, units and ranges, and what contradicts each other. Passes call this
/// function when they begin, so that a wrong option is an error even if no op
/// asks for a cost. Emits an error at `loc` and fails if a setting is wrong.
llvm::LogicalResult checkCostSettings(mlir::Location loc,
                                      const CostSettings &settings);

/// The cost options of `settings` and their defaults for the program around
/// `op`. The hardware is that of `settings`, or else `comm.machine` of the
/// innermost module that has one, or else the default. If a setting is wrong,
/// emits an error at `op` (or at the module) with the found and the expected
/// value, and fails.
llvm::FailureOr<CostOptions> resolveCostOptions(mlir::Operation *op,
                                                const CostSettings &settings);

/// The cost of an op without a body: time on the compute stream for compute,
/// time on the lane for starts, nothing for waits. The cost depends on the
/// program and the options alone, never on the rank.
///
/// The first of these sources gives the cost: `comm.cost_ns`, the measurements,
/// the model of collectives (for starts), the op's cost interface, the bytes of
/// the operands and results. `CostModel` computes the cost of bodies and calls.
class OpCostModel {
public:
  explicit OpCostModel(CostOptions options);
  ~OpCostModel();

  /// The cost of `op`; none if the callee or the regions of `op` give the cost.
  std::optional<Cost> getOpCost(mlir::Operation *op);

  /// The name of `source` in reports, such as "attribute" or "collective-model
  /// inductor".
  llvm::StringRef getSourceName(CostSource source) const;

  const CostOptions &getOptions() const { return options; }

  /// The resources that `op` uses while it runs, for a simulation with
  /// contention. All zero for waits, for ops with the cost of a body, and for
  /// ops without a model. `known` is the cost of `op`, if the caller has it.
  ResourceDemand getDemand(mlir::Operation *op,
                           std::optional<Cost> known = std::nullopt);

  /// The simulated machine, with a lane for each of `firstStarts`, the first
  /// start of each lane by its number. On GPUs, compute shares multiprocessors
  /// and memory with collectives, and launches take time. Communicators share
  /// the links of a rank within the node, or its network port if their members
  /// are on several nodes. Other hardware is a textbook machine without shared
  /// resources.
  MachineModel getMachine(llvm::ArrayRef<mlir::Operation *> firstStarts);

  /// The model of a collective within one node, or over several.
  const CollectiveCostModel &getCollectiveModel(int64_t numNodes) const;

  /// The properties of `op` that the models of collectives use.
  CollectiveCall describe(comm::CollectiveOpInterface op);

  /// The number of members of `group` as seen from `from`: the length of the
  /// longest list, or the world for `all` and for an unknown group.
  int64_t getGroupSize(mlir::Operation *from, mlir::FlatSymbolRefAttr group) {
    return getGroupShape(from, group).size;
  }

  /// The largest number of members, nodes and leaf switches of a communicator
  /// of `group` as seen from `from`.
  GroupShape getGroupShape(mlir::Operation *from,
                           mlir::FlatSymbolRefAttr group);

  /// How often `op` runs its regions, one after the other.
  int64_t getTripCount(mlir::Operation *op) const;

  /// The body of the function that `op` calls; null if `op` calls no known
  /// function.
  mlir::Region *getCalleeBody(mlir::Operation *op);

private:
  std::optional<Cost> getOwnCost(mlir::Operation *op);
  CollectiveTime estimateCollective(comm::CollectiveOpInterface op);
  /// The cost of all messages of a launch for the last one, 0 for the others:
  /// links carry both directions at once, so the longer one counts.
  Cost getBatchCost(comm::CollectiveOpInterface message);
  /// The measured ns of a collective as `op` with `bytes`; none if the
  /// calibration does not say.
  std::optional<double> getMeasuredNs(comm::CollectiveOpInterface op,
                                      double bytes);
  ResourceDemand getCollectiveDemand(comm::CollectiveOpInterface op);
  ResourceDemand getComputeDemand(mlir::Operation *op,
                                  std::optional<Cost> cost);
  /// The cost of a matmul by measurements of it, or of similar ones.
  std::optional<Cost> getMeasuredMatmulCost(mlir::Operation *op,
                                            const comm::Work &work);
  /// The most multiprocessors that `op` may take; 0 for all.
  static int64_t getMultiprocessors(mlir::Operation *op);

  CostOptions options;
  /// What reports call figures and rates of the calibration.
  std::string measuredName, nearbyName, rooflineName, defaultName;
  std::unique_ptr<CollectiveCostModel> intraNodeModel;
  std::unique_ptr<CollectiveCostModel> interNodeModel;
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Attribute>, GroupShape>
      groupShapes;
  mlir::SymbolTableCollection symbolTables;
  /// The costs of matmuls by rows, columns, depth, element, transposed operands
  /// and multiprocessors: programs have few shapes, and many matmuls of each.
  using MatmulKey = std::tuple<int64_t, int64_t, int64_t, int, int, int64_t>;
  std::map<MatmulKey, std::optional<Cost>> matmulCosts;
};

} // namespace braid

#endif // BRAID_COST_IR_OPCOSTMODEL_H
