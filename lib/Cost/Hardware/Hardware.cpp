//===- Hardware.cpp - Machines of the cost models -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Hardware/Hardware.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <array>
#include <vector>

using namespace braid;

static constexpr double tera = 1e12;
static constexpr double giga = 1e9;
static constexpr int64_t gibibyte = int64_t{1} << 30;

/// The launch gap between two kernels of a stream without CUDA graphs. A step
/// of some 40 kernels on H200s is 0.16 ms faster as one graph, 4 us for each
/// kernel. The model assigns half of this time to the stream, the rest to the
/// host.
static constexpr int64_t gpuLaunchNs = 2000;

// The result of NCCL's search (src/graph/search.cc) within a node: the highest
// speed with the most total bandwidth over all links of a GPU. The bandwidth of
// the links is NCCL's value for a link (src/graph/topo.h) times their number.
//
// | GPU  | links x GB/s | search  | doubled where fast |
// |------|--------------|---------|--------------------|
// | V100 | 6 x 20       | 6 x 20  | no                 |
// | A100 | 12 x 20      | 6 x 40  | 12 x 20            |
// | H100 | 18 x 20.6    | 6 x 60  | 12 x 30            |
// | B200 | 18 x 40.1    | 8 x 90  | 16 x 45            |
//
// The links of V100s form a cube without switches, so every channel has a path
// of its own. Hosts are those of DGX systems. The latency and the bandwidth of
// copy engines, 58 us and 345 GB/s, fit measurements on 8 H200s: all-gathers of
// 4 to 128 MiB took 65, 77, 115, 180, 241 and 392 us, within 21 % of the fit
// (within 13 % except for 32 MiB). H100s have the same links.
static NcclFigures getNcclFigures(GpuGeneration generation) {
  NcclFigures figures;
  switch (generation) {
  case GpuGeneration::None:
    return figures;
  case GpuGeneration::Volta:
    figures.numChannels = 6;
    figures.channelBandwidth = 20 * giga;
    figures.hasSameChannels = false;
    figures.hasNvSwitch = false;
    return figures;
  case GpuGeneration::Ampere:
    figures.numChannels = 12;
    figures.channelBandwidth = 20 * giga;
    figures.cpuVendor = CpuVendor::Amd;
    return figures;
  case GpuGeneration::Hopper:
    figures.numChannels = 12;
    figures.channelBandwidth = 30 * giga;
    figures.copyEngineLatencyNs = 58000;
    figures.copyEngineBandwidth = 345 * giga;
    return figures;
  case GpuGeneration::Blackwell:
    figures.numChannels = 16;
    figures.channelBandwidth = 45 * giga;
    return figures;
  }
  llvm_unreachable("unknown generation");
}

// Sources: NVIDIA's datasheets of V100 SXM2 32 GB, A100 SXM 80 GB, H100 SXM,
// H200 SXM and HGX B200, per GPU. Matrix rates are the dense ones: the
// datasheets of Hopper and Blackwell print the rates with 2:4 sparsity, which
// are twice as high. f32 is the rate without TF32, which programs do not use by
// default. V100 has no bf16 (computed in f32), V100 and A100 have no f8
// (computed in f16). NVLink is the rate of one direction, half of the rate in
// the datasheets. Between nodes each GPU has one port: EDR 100 Gb/s, HDR 200
// Gb/s, NDR 400 Gb/s. The latency of a message within a node is NCCL's NVLink
// hop for the LL protocol, 0.6 us.

/// A machine of 8 GPUs. The rates are those of `ElementClass` in Tops, the
/// bandwidths of memory, links and network in GB/s, the memory in GiB.
static Hardware makeGpus(const char *name, const char *summary,
                         std::array<double, numElementClasses> rates,
                         double memoryBandwidth, int64_t memory, double link,
                         double network, GpuGeneration generation,
                         int64_t multiprocessors) {
  constexpr int64_t ranksPerNode = 8;
  constexpr double linkLatencyNs = 600;
  Hardware result = {name,
                     summary,
                     {},
                     memoryBandwidth * giga,
                     memory * gibibyte,
                     ranksPerNode,
                     link * giga,
                     network * giga,
                     linkLatencyNs,
                     generation,
                     CollectiveModelKind::Nccl,
                     multiprocessors,
                     gpuLaunchNs,
                     getNcclFigures(generation)};
  llvm::transform(rates, result.peakOpsPerSecond,
                  [](double rate) { return rate * tera; });
  return result;
}

// `cpu` has one core of a server processor for each rank, and the network of a
// rehearsal on one host (20 us, 10 GB/s). `ideal` has round numbers for costs
// by hand: 1000 operations, 1000 bytes of memory or 100 bytes on a link take 1
// ns, and messages have no latency.
static std::vector<Hardware> makeOthers() {
  return {
      {"cpu",
       "one host, one core a rank",
       {0.05 * tera, 0.1 * tera, 0.1 * tera, 0.1 * tera, 0.1 * tera, 0.1 * tera,
        0.1 * tera},
       20 * giga,
       16 * gibibyte,
       8,
       10 * giga,
       10 * giga,
       20000,
       GpuGeneration::None,
       CollectiveModelKind::Link,
       0,
       0,
       {}},
      {"ideal",
       "round figures, for orders that are worked out by hand",
       {tera, tera, tera, tera, tera, tera, tera},
       1000 * giga,
       80 * gibibyte,
       8,
       100 * giga,
       100 * giga,
       0,
       GpuGeneration::None,
       CollectiveModelKind::Link,
       0,
       0,
       {}},
  };
}

static std::vector<Hardware> makeTable() {
  std::vector<Hardware> table = {
      makeGpus("v100x8", "8 NVIDIA V100 SXM2 32 GB with NVLink",
               {7.8, 15.7, 15.7, 125, 125, 62.8, 15.7}, 900, 32, 150, 12.5,
               GpuGeneration::Volta, 80),
      makeGpus("a100x8", "8 NVIDIA A100 SXM 80 GB with NVSwitch",
               {9.7, 19.5, 312, 312, 312, 624, 19.5}, 2039, 80, 300, 25,
               GpuGeneration::Ampere, 108),
      makeGpus("h100x8", "8 NVIDIA H100 SXM 80 GB with NVSwitch",
               {34, 67, 989.4, 989.4, 1978.9, 1978.9, 33.5}, 3350, 80, 450, 50,
               GpuGeneration::Hopper, 132),
      makeGpus("h200x8", "8 NVIDIA H200 SXM 141 GB with NVSwitch",
               {34, 67, 989.4, 989.4, 1978.9, 1978.9, 33.5}, 4800, 141, 450, 50,
               GpuGeneration::Hopper, 132),
      makeGpus("b200x8", "8 NVIDIA B200 180 GB with NVSwitch",
               {37, 75, 2250, 2250, 4500, 4500, 37.5}, 8000, 180, 900, 50,
               GpuGeneration::Blackwell, 148)};
  llvm::append_range(table, makeOthers());
  return table;
}

llvm::ArrayRef<Hardware> braid::getKnownHardware() {
  static const std::vector<Hardware> table = makeTable();
  return table;
}

const Hardware *braid::lookupHardware(llvm::StringRef name) {
  llvm::ArrayRef<Hardware> table = getKnownHardware();
  const auto *it =
      llvm::find_if(table, [&](const Hardware &h) { return h.name == name; });
  return it == table.end() ? nullptr : it;
}

const Hardware &braid::getDefaultHardware() {
  return *lookupHardware("h100x8");
}

std::string braid::joinHardwareNames() {
  return llvm::join(llvm::map_range(getKnownHardware(),
                                    [](const Hardware &h) { return h.name; }),
                    " ");
}

static constexpr CollectiveModelKind collectiveModels[] = {
    CollectiveModelKind::Nccl, CollectiveModelKind::Inductor,
    CollectiveModelKind::Link};

llvm::StringRef braid::stringifyCollectiveModel(CollectiveModelKind kind) {
  switch (kind) {
  case CollectiveModelKind::Nccl:
    return "nccl";
  case CollectiveModelKind::Inductor:
    return "inductor";
  case CollectiveModelKind::Link:
    return "link";
  }
  llvm_unreachable("unknown model of collectives");
}

std::optional<CollectiveModelKind>
braid::symbolizeCollectiveModel(llvm::StringRef name) {
  for (CollectiveModelKind kind : collectiveModels)
    if (name == stringifyCollectiveModel(kind))
      return kind;
  return std::nullopt;
}

std::string braid::joinCollectiveModelNames() {
  return llvm::join(llvm::map_range(collectiveModels, stringifyCollectiveModel),
                    " ");
}
