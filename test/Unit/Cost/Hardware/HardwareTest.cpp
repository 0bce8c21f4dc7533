//===- HardwareTest.cpp - Machines ----------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Hardware/Hardware.h"

#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace braid;

TEST(Hardware, KnowsTheNamedMachines) {
  EXPECT_EQ(joinHardwareNames(),
            "v100x8 a100x8 h100x8 h200x8 b200x8 cpu ideal");
  EXPECT_EQ(getDefaultHardware().name, "h100x8");
  EXPECT_EQ(lookupHardware("h200x8")->memoryBandwidth, 4.8e12);
  EXPECT_EQ(lookupHardware("h200"), nullptr);
  EXPECT_EQ(lookupHardware(""), nullptr);
}

TEST(Hardware, NamesAreUniqueAndFiguresPositive) {
  llvm::StringSet<> names;
  for (const Hardware &hardware : getKnownHardware()) {
    EXPECT_TRUE(names.insert(hardware.name).second);
    EXPECT_FALSE(hardware.summary.empty());
    for (double peak : hardware.peakOpsPerSecond)
      EXPECT_GT(peak, 0.0);
    EXPECT_GT(hardware.memoryBandwidth, 0.0);
    EXPECT_GT(hardware.memoryBytes, 0);
    EXPECT_GT(hardware.ranksPerNode, 0);
    EXPECT_GT(hardware.intraNodeBandwidth, 0.0);
    EXPECT_GT(hardware.interNodeBandwidth, 0.0);
    EXPECT_GE(hardware.linkLatencyNs, 0.0);
    // GPUs have multiprocessors, launches and NCCL; nothing else has.
    bool isGpu = hardware.generation != GpuGeneration::None;
    EXPECT_EQ(hardware.hasNccl(), isGpu);
    EXPECT_EQ(hardware.multiprocessors > 0, isGpu);
    EXPECT_EQ(hardware.launchNs > 0, isGpu);
    EXPECT_EQ(hardware.defaultCollectiveModel,
              isGpu ? CollectiveModelKind::Nccl : CollectiveModelKind::Link);
  }
}

TEST(Hardware, KnowsTheCollectiveModels) {
  EXPECT_EQ(joinCollectiveModelNames(), "nccl inductor link");
  for (auto kind : {CollectiveModelKind::Nccl, CollectiveModelKind::Inductor,
                    CollectiveModelKind::Link})
    EXPECT_EQ(symbolizeCollectiveModel(stringifyCollectiveModel(kind)), kind);
  EXPECT_EQ(symbolizeCollectiveModel("gloo"), std::nullopt);
}

TEST(Hardware, PeaksAreDense) {
  // The datasheets' figures with 2:4 sparsity are twice as high.
  const Hardware &h100 = *lookupHardware("h100x8");
  EXPECT_EQ(h100.getPeak(ElementClass::BF16), 989.4e12);
  EXPECT_EQ(h100.getPeak(ElementClass::F8), 1978.9e12);
  EXPECT_EQ(h100.getPeak(ElementClass::F32), 67e12);
}

TEST(Hardware, TypesWithoutAUnitRunOnTheNextWider) {
  const Hardware &v100 = *lookupHardware("v100x8");
  EXPECT_EQ(v100.getPeak(ElementClass::BF16), v100.getPeak(ElementClass::F32));
  const Hardware &a100 = *lookupHardware("a100x8");
  EXPECT_EQ(a100.getPeak(ElementClass::F8), a100.getPeak(ElementClass::F16));
}
