//===- World.h - The ranks that measure -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_WORLD_H
#define BRAID_TOOLS_BRAID_CALIBRATE_WORLD_H

#include "Cost/Profile/Calibration.h"
#include "Load.h"
#include "Trace.h"
#include "braid-rt/Host.h"
#include "llvm/Support/Error.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace braid::calibrate {

/// A lane of a group.
struct Lane {
  LaneTransport transport = LaneTransport::Default;
  int64_t ctas = 0;

  bool operator==(const Lane &other) const {
    return transport == other.transport && ctas == other.ctas;
  }
  /// `symmetric-8`; empty for the default lane.
  std::string name() const;
};

/// Groups of `ranks` ranks, `stride` apart, into which all ranks fall; without
/// `ranks`, the group of all ranks.
struct Grouping {
  int64_t ranks = 0, stride = 1;

  bool operator==(const Grouping &other) const {
    return ranks == other.ranks && stride == other.stride;
  }
};

/// The bytes of the operands of loads.
struct OperandSizes {
  int64_t left = 0, right = 0, result = 0;
  int64_t collective = 0;
};

/// Ranks as threads of this process, a GPU each.
class World {
public:
  /// Connects the ranks of all groups, each in a lane, and fills the operands
  /// with random numbers. `takeTrace` gives times from the source `traces`.
  static llvm::Expected<std::unique_ptr<World>>
  open(int64_t ranks, llvm::ArrayRef<std::pair<Lane, Grouping>> groups,
       const OperandSizes &sizes, Traces traces);
  ~World();

  int64_t ranks() const { return static_cast<int64_t>(contexts.size()); }

  /// The groups with the lane; null if they are not open.
  const braid_rt_group *group(const Lane &lane,
                              const Grouping &grouping = {}) const;

  /// Runs the load on all ranks. The time on each rank's device, or of each
  /// rank's thread until it has issued the load, in ns.
  llvm::Expected<std::vector<double>> run(const Load &load,
                                          bool ofHost = false);

  /// The matmuls, elementwise kernels and collectives of the last load on one
  /// rank, in the order of their ends.
  std::vector<TracedSpan> takeTrace(int64_t rank) const;

  /// A property of a rank's device (braid_rt_device_property); empty if the
  /// engine does not know it.
  std::string property(int64_t rank, const char *name) const;

private:
  World() = default;
  llvm::Error create(int64_t ranks, Traces traces);
  llvm::Error prepare(llvm::ArrayRef<std::pair<Lane, Grouping>> wanted);
  llvm::Error allocate(const OperandSizes &sizes);
  llvm::Error fill(braid_rt_context *context, void *memory, int64_t bytes);

  /// Groups with a lane as the runtime has them; nothing moves them.
  struct RuntimeGroup {
    Lane lane;
    Grouping grouping;
    std::string name, laneName;
    std::vector<int32_t> offsets, members;
    braid_rt_lane runtimeLane = {};
    braid_rt_group runtimeGroup = {};
  };

  braid_rt_world *world = nullptr;
  std::vector<braid_rt_context *> contexts;
  std::deque<RuntimeGroup> groups;
  std::vector<const braid_rt_group *> runtimeGroups;
  braid_rt_program program = {};
  std::vector<RankMemory> memories;
  std::vector<std::vector<void *>> requests;
};

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_WORLD_H
