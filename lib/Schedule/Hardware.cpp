//===- Hardware.cpp - Machines that costs are estimated for ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Hardware.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace braid;

static constexpr double tera = 1e12;
static constexpr double giga = 1e9;
static constexpr int64_t gibibyte = int64_t{1} << 30;

// Sources: NVIDIA's datasheets of V100 SXM2 32 GB, A100 SXM 80 GB, H100 SXM,
// H200 SXM and HGX B200, per GPU. Matrix rates are the dense ones: the
// datasheets of Hopper and Blackwell print the rates with 2:4 sparsity, which
// are twice as high. f32 is the rate without TF32, which programs do not get
// unless they ask for it. V100 has no bf16 (computed in f32), V100 and A100 no
// f8 (computed in f16). NVLink is the rate of one direction, half of what the
// datasheets print. Between nodes each GPU has one port: EDR 100 Gb/s, HDR 200
// Gb/s, NDR 400 Gb/s. The latency of a message within a node is NCCL's NVLink
// hop for the LL protocol, 0.6 us.
//
// `cpu` is one core of a server processor a rank, with the network that a
// rehearsal on one host assumes (20 us, 10 GB/s). `ideal` has round figures, so
// that a cost can be worked out by hand: 1000 operations, 1000 bytes of memory
// or 100 bytes on a link take 1 ns, and messages have no latency.
static constexpr Hardware knownHardware[] = {
    //                 f64          f32          bf16         f16
    //                 f8           i8           other integers
    {"v100x8",
     "8 NVIDIA V100 SXM2 32 GB with NVLink",
     {7.8 * tera, 15.7 * tera, 15.7 * tera, 125 * tera, 125 * tera, 62.8 * tera,
      15.7 * tera},
     900 * giga,
     32 * gibibyte,
     8,
     150 * giga,
     12.5 * giga,
     600,
     GpuGeneration::Volta,
     CollectiveModelKind::Inductor},
    {"a100x8",
     "8 NVIDIA A100 SXM 80 GB with NVSwitch",
     {9.7 * tera, 19.5 * tera, 312 * tera, 312 * tera, 312 * tera, 624 * tera,
      19.5 * tera},
     2039 * giga,
     80 * gibibyte,
     8,
     300 * giga,
     25 * giga,
     600,
     GpuGeneration::Ampere,
     CollectiveModelKind::Inductor},
    {"h100x8",
     "8 NVIDIA H100 SXM 80 GB with NVSwitch",
     {34 * tera, 67 * tera, 989.4 * tera, 989.4 * tera, 1978.9 * tera,
      1978.9 * tera, 33.5 * tera},
     3350 * giga,
     80 * gibibyte,
     8,
     450 * giga,
     50 * giga,
     600,
     GpuGeneration::Hopper,
     CollectiveModelKind::Inductor},
    {"h200x8",
     "8 NVIDIA H200 SXM 141 GB with NVSwitch",
     {34 * tera, 67 * tera, 989.4 * tera, 989.4 * tera, 1978.9 * tera,
      1978.9 * tera, 33.5 * tera},
     4800 * giga,
     141 * gibibyte,
     8,
     450 * giga,
     50 * giga,
     600,
     GpuGeneration::Hopper,
     CollectiveModelKind::Inductor},
    {"b200x8",
     "8 NVIDIA B200 180 GB with NVSwitch",
     {37 * tera, 75 * tera, 2250 * tera, 2250 * tera, 4500 * tera, 4500 * tera,
      37.5 * tera},
     8000 * giga,
     180 * gibibyte,
     8,
     900 * giga,
     50 * giga,
     600,
     GpuGeneration::Blackwell,
     CollectiveModelKind::Inductor},
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
     CollectiveModelKind::Link},
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
     CollectiveModelKind::Link},
};

llvm::ArrayRef<Hardware> braid::getKnownHardware() { return knownHardware; }

const Hardware *braid::lookupHardware(llvm::StringRef name) {
  const auto *it = llvm::find_if(
      knownHardware, [&](const Hardware &h) { return h.name == name; });
  return it == std::end(knownHardware) ? nullptr : it;
}

const Hardware &braid::getDefaultHardware() {
  return *lookupHardware("h100x8");
}

std::string braid::joinHardwareNames() {
  return llvm::join(
      llvm::map_range(knownHardware,
                      [](const Hardware &h) { return h.name.str(); }),
      " ");
}

llvm::StringRef braid::stringifyCollectiveModel(CollectiveModelKind kind) {
  return kind == CollectiveModelKind::Inductor ? "inductor" : "link";
}
