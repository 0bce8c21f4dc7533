//===- LaneOptions.h - Limits and transports of lanes -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_LANEOPTIONS_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_LANEOPTIONS_H

#include "CUDA/API/NCCL.h"
#include "Engine/Engine.h"

#include <map>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// The options `lane.NAME=ctas=N,transport=NAME`, which override the lanes of
/// the program.
class LaneOptions {
public:
  /// Throws an Error that names the option, the found and the expected value.
  explicit LaneOptions(const Environment &environment);

  /// The keys of these options that are set, for checkEngineOptions.
  std::vector<std::string> keys() const;

  /// Returns the lane with the overrides applied.
  LaneSpec apply(LaneSpec lane) const;

private:
  struct Override {
    int32_t ctas = -1, transport = -1; ///< -1: the program's.
  };
  std::map<std::string, Override> overrides;
};

/// True if operands must be in windows that all members have registered.
bool needsWindows(const LaneSpec &lane);

/// The configuration of a lane's communicator; `name` outlives its creation.
nccl::Config configOf(const LaneSpec &lane, const std::string &name,
                      bool blocking);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_LANEOPTIONS_H
