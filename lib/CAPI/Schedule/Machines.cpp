//===- Machines.cpp - Machines and times of collectives -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Objects.h"

#include "Cost/Profile/Calibration.h"
#include "Cost/Profile/Profile.h"
#include "braid/Cost/Collectives/CollectiveCost.h"
#include "braid/Cost/Hardware/HardwareMachine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace braid;

int64_t braid_machine_count(void) { return getKnownHardware().size(); }

const char *braid_machine_known_name(int64_t index) {
  if (index < 0 || index >= braid_machine_count())
    return nullptr;
  return getKnownHardware()[index].name.c_str();
}

const char *braid_machine_known_summary(int64_t index) {
  if (index < 0 || index >= braid_machine_count())
    return nullptr;
  return getKnownHardware()[index].summary.c_str();
}

braid_machine *braid_machine_create(const char *name, braid_error *error) {
  const Hardware *hardware = name ? lookupHardware(name) : nullptr;
  if (hardware)
    return new braid_machine{*hardware};
  fail(error, BRAID_UNKNOWN_NAME,
       "found no machine called '" + llvm::Twine(name ? name : "") +
           "', expected one of: " + joinHardwareNames());
  return nullptr;
}

braid_machine *braid_machine_parse(const char *json, const char *defaultName,
                                   braid_error *error) {
  llvm::Expected<Hardware> hardware =
      parseHardware(json ? json : "", defaultName ? defaultName : "machine");
  if (hardware)
    return new braid_machine{std::move(*hardware)};
  fail(error, BRAID_INVALID_ARGUMENT, llvm::toString(hardware.takeError()));
  return nullptr;
}

void braid_machine_destroy(braid_machine *machine) { delete machine; }

const char *braid_machine_name(const braid_machine *machine) {
  return machine ? machine->hardware.name.c_str() : nullptr;
}

int32_t braid_machine_get_figures(const braid_machine *machine,
                                  braid_machine_figures *figures,
                                  braid_error *error) {
  if (!isGiven(machine, "machine", error) ||
      !hasSize(figures, "figures", error))
    return BRAID_INVALID_ARGUMENT;
  const Hardware &hardware = machine->hardware;
  braid_machine_figures result = {};
  static_assert(sizeof(result.peak_ops_per_second) ==
                    sizeof(hardware.peakOpsPerSecond),
                "a peak for each class of elements");
  std::copy(std::begin(hardware.peakOpsPerSecond),
            std::end(hardware.peakOpsPerSecond), result.peak_ops_per_second);
  result.memory_bandwidth = hardware.memoryBandwidth;
  result.memory_bytes = hardware.memoryBytes;
  result.ranks_per_node = hardware.ranksPerNode;
  result.intra_node_bandwidth = hardware.intraNodeBandwidth;
  result.inter_node_bandwidth = hardware.interNodeBandwidth;
  result.multiprocessors = hardware.multiprocessors;
  result.launch_ns = hardware.launchNs;
  result.is_shared = hardware.hasNccl();
  write(result, *figures);
  return BRAID_OK;
}

static std::string joinCollectiveNames() {
  std::string names;
  for (uint32_t i = 0; i <= comm::getMaxEnumValForCollectiveKind(); ++i)
    names += (i ? " " : "") +
             comm::stringifyCollectiveKind(static_cast<comm::CollectiveKind>(i))
                 .str();
  return names;
}

/// The measured ns of `call`; none if the profile of `machine` does not say.
static std::optional<double> getMeasuredNs(const braid_machine &machine,
                                           const CollectiveCall &call,
                                           LaneTransport transport) {
  if (!machine.calibration || call.numNodes > 1)
    return std::nullopt;
  return machine.calibration->estimateCollectiveNs(
      comm::stringifyCollectiveKind(call.kind), call.groupSize,
      static_cast<double>(call.getWholeBytes()), transport, call.maxCtas);
}

/// The transport called `name`, null for the default one.
static std::optional<LaneTransport> symbolizeTransport(const char *name) {
  if (!name)
    return LaneTransport::Default;
  const auto *found = llvm::find(laneTransportNames, llvm::StringRef(name));
  if (found == std::end(laneTransportNames))
    return std::nullopt;
  return static_cast<LaneTransport>(found - std::begin(laneTransportNames));
}

static int64_t clampBytes(double bytes) {
  constexpr auto limit = std::numeric_limits<int64_t>::max();
  return bytes < static_cast<double>(limit) ? static_cast<int64_t>(bytes)
                                            : limit;
}

/// The shape of a group of `given`, whose numbers are in their ranges.
static GroupShape place(const Hardware &hardware,
                        const braid_collective &given) {
  if (given.stride > 0)
    return placeStridedRanks(hardware, given.group_size, given.stride);
  // Neighbouring nodes.
  GroupShape shape =
      placeStridedRanks(hardware, given.num_nodes, hardware.ranksPerNode);
  shape.size = given.group_size;
  return shape;
}

int32_t braid_collective_estimate(const braid_machine *machine,
                                  const char *model,
                                  const braid_collective *collective,
                                  braid_collective_time *time,
                                  braid_error *error) {
  if (!isGiven(machine, "machine", error) ||
      !hasSize(collective, "collective", error) ||
      !hasSize(time, "time", error))
    return BRAID_INVALID_ARGUMENT;
  const Hardware &hardware = machine->hardware;
  braid_collective given = read(*collective);
  llvm::StringRef kindName = given.kind ? given.kind : "";
  std::optional<comm::CollectiveKind> kind =
      comm::symbolizeCollectiveKind(kindName);
  if (!kind)
    return fail(error, BRAID_UNKNOWN_NAME,
                "found no collective called '" + kindName +
                    "', expected one of: " + joinCollectiveNames());
  CollectiveModelKind modelKind = hardware.defaultCollectiveModel;
  if (model) {
    std::optional<CollectiveModelKind> found = symbolizeCollectiveModel(model);
    if (!found)
      return fail(error, BRAID_UNKNOWN_NAME,
                  "found no model of collectives called '" +
                      llvm::Twine(model) +
                      "', expected one of: " + joinCollectiveModelNames());
    modelKind = *found;
  }
  if (modelKind == CollectiveModelKind::Nccl && !hardware.hasNccl())
    return fail(error, BRAID_INVALID_ARGUMENT,
                "found the model nccl on the machine '" + hardware.name +
                    "', expected a machine that NCCL runs on");
  if (given.stride < 0)
    return fail(error, BRAID_INVALID_ARGUMENT,
                "found a stride of " + llvm::Twine(given.stride) +
                    " ranks, expected at least 0");
  if (given.group_size < 1 ||
      (given.stride == 0 &&
       (given.num_nodes < 1 || given.num_nodes > given.group_size)))
    return fail(error, BRAID_INVALID_ARGUMENT,
                "found " + llvm::Twine(given.group_size) + " ranks on " +
                    llvm::Twine(given.num_nodes) +
                    " nodes, expected at least 1 of each, and no more nodes "
                    "than ranks");
  if (given.input_bytes < 0 || given.output_bytes < 0)
    return fail(error, BRAID_INVALID_ARGUMENT,
                "found a negative number of bytes");
  if (given.max_ctas < 0)
    return fail(error, BRAID_INVALID_ARGUMENT,
                "found a limit of " + llvm::Twine(given.max_ctas) +
                    " thread blocks, expected at least 0");
  std::optional<LaneTransport> transport = symbolizeTransport(given.transport);
  if (!transport)
    return fail(error, BRAID_UNKNOWN_NAME,
                "found no transport called '" + llvm::Twine(given.transport) +
                    "', expected one of: " +
                    llvm::join(llvm::ArrayRef(laneTransportNames), " "));
  GroupShape shape = place(hardware, given);
  CollectiveCall call = {
      *kind, given.group_size, static_cast<uint64_t>(given.input_bytes),
      static_cast<uint64_t>(given.output_bytes), shape.numNodes};
  call.network = getNetworkShare(hardware, *kind, shape);
  call.maxCtas = given.max_ctas;
  call.usesCopyEngine = *transport == LaneTransport::Copy;
  CollectiveTime estimated =
      createCollectiveModel(modelKind, hardware, hardware.linkLatencyNs,
                            shape.numNodes > 1 ? hardware.interNodeBandwidth
                                               : hardware.intraNodeBandwidth)
          ->estimate(call);
  braid_collective_time result = {};
  result.ns = estimated.ns;
  result.memory_bytes = clampBytes(getMemoryBytes(call));
  result.link_bytes = getSharedLinkBytes(call, estimated.linkBytes);
  result.link = getSharedLink(call);
  result.multiprocessors = estimated.channels;
  result.is_exact = estimated.exact;
  // Copy engines have no blocks.
  if (estimated.channels > 0)
    result.cluster_size = getClusterSize(hardware, call.maxCtas);
  result.is_one_way = isOneWay(*kind);
  std::optional<double> measuredNs;
  if (!model)
    measuredNs = getMeasuredNs(*machine, call, *transport);
  if (measuredNs) {
    result.ns = *measuredNs;
    result.is_exact = result.is_measured = 1;
  }
  write(result, *time);
  return BRAID_OK;
}

int32_t braid_machine_calibrate(braid_machine *machine, const char *json,
                                braid_error *error) {
  if (!isGiven(machine, "machine", error))
    return BRAID_INVALID_ARGUMENT;
  const std::string &name = machine->hardware.name;
  std::shared_ptr<const Calibration> calibration;
  if (json) {
    llvm::Expected<Profile> profile = readProfile(json);
    if (!profile)
      return fail(error, BRAID_INVALID_ARGUMENT,
                  llvm::toString(profile.takeError()));
    if (!profile->getHardware().empty() && profile->getHardware() != name)
      return fail(error, BRAID_INVALID_ARGUMENT,
                  "found a profile of the machine '" + profile->getHardware() +
                      "', expected one of '" + name + "'");
    calibration = profile->getCalibration();
    if (!calibration)
      return fail(error, BRAID_INVALID_ARGUMENT,
                  "found a profile without a machine, expected version 2");
  } else {
    calibration = getShippedCalibration(name);
    if (!calibration)
      return fail(error, BRAID_UNKNOWN_NAME,
                  "found no profile of the machine '" + name +
                      "' that Braid ships, expected " +
                      joinShippedHardwareNames());
  }
  machine->hardware = calibration->apply(machine->hardware);
  machine->calibration = std::move(calibration);
  return BRAID_OK;
}
