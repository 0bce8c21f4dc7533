//===- LaneOptions.cpp - Limits and transports of lanes -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/LaneOptions.h"
#include "Base/Error.h"

#include <cstdlib>
#include <sstream>

using namespace braid::rt;
using namespace braid::rt::cuda;

static constexpr const char prefix[] = "lane.";

[[noreturn]] static void refuse(const std::string &key,
                                const std::string &value) {
  throw Error("option '" + key + "' of engine cuda is '" + value +
              "', expected ctas=N, with N from 1 to 64, and "
              "transport=default|symmetric|copy, one or both, with a comma "
              "between");
}

/// The number of a transport; -1 for an unknown name.
static int32_t findTransport(const std::string &name) {
  static constexpr const char *names[] = {"default", "symmetric", "copy"};
  for (int32_t i = 0; i < 3; ++i)
    if (name == names[i])
      return i;
  return -1;
}

LaneOptions::LaneOptions(const Environment &environment) {
  for (const auto &[key, value] : environment.engineOptions) {
    if (key.rfind(prefix, 0) != 0)
      continue;
    Override &lane = overrides[key.substr(sizeof(prefix) - 1)];
    std::istringstream items(value);
    for (std::string item; std::getline(items, item, ',');) {
      if (item.rfind("ctas=", 0) == 0) {
        char *end = nullptr;
        long ctas = std::strtol(item.c_str() + 5, &end, 10);
        if (*end != '\0' || ctas < 1 || ctas > 64)
          refuse(key, value);
        lane.ctas = static_cast<int32_t>(ctas);
      } else if (item.rfind("transport=", 0) == 0) {
        lane.transport = findTransport(item.substr(10));
        if (lane.transport < 0)
          refuse(key, value);
      } else {
        refuse(key, value);
      }
    }
    if (lane.ctas < 0 && lane.transport < 0)
      refuse(key, value);
  }
}

std::vector<std::string> LaneOptions::keys() const {
  std::vector<std::string> result;
  for (const auto &entry : overrides)
    result.push_back(prefix + entry.first);
  return result;
}

LaneSpec LaneOptions::apply(LaneSpec lane) const {
  auto found = overrides.find(lane.name);
  if (found == overrides.end())
    return lane;
  if (found->second.ctas >= 0)
    lane.ctas = found->second.ctas;
  if (found->second.transport >= 0)
    lane.transport = found->second.transport;
  return lane;
}

bool braid::rt::cuda::needsWindows(const LaneSpec &lane) {
  return lane.transport != BRAID_RT_TRANSPORT_DEFAULT;
}

/// The thread blocks of a cluster of kernels with at most `ctas` thread blocks.
/// A cluster needs several free multiprocessors at once, which are not
/// available during a matmul. But matmuls come in pairs, too: a matmul that
/// leaves 4 multiprocessors leaves two pairs, and single blocks would stand in
/// four. Eight single blocks stand in four pairs on their own, and find room
/// where a matmul in clusters of 8 leaves no pairs (docs/design/simulator.md).
static int clusterSizeOf(int32_t ctas) {
  constexpr int32_t mostInPairs = 4;
  return ctas <= mostInPairs && ctas % 2 == 0 ? 2 : 0;
}

nccl::Config braid::rt::cuda::configOf(const LaneSpec &lane,
                                       const std::string &name, bool blocking) {
  nccl::Config config;
  config.blocking = blocking;
  config.commName = name.c_str();
  if (lane.ctas > 0) {
    config.maxCTAs = lane.ctas;
    config.cgaClusterSize = clusterSizeOf(lane.ctas);
  }
  if (lane.transport == BRAID_RT_TRANSPORT_COPY)
    config.ctaPolicy = nccl::ctaPolicyZero;
  return config;
}
