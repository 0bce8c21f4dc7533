//===- ContentionFile.cpp - Contention described in files -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContentionFile.h"

using namespace braid;
namespace json = llvm::json;

/// By `MultiprocessorModel`, `ComputeClass` and `LaneEngine`.
static constexpr llvm::StringLiteral models[] = {"share", "queue"};
static constexpr llvm::StringLiteral computeClasses[] = {"matmul",
                                                         "elementwise"};
static constexpr llvm::StringLiteral engines[] = {"kernel", "copy",
                                                  "one_way_kernel"};

/// The most of anything that a chip has.
static constexpr int64_t mostOfChip = 1024;

static void readInterference(JsonObjectReader &parent, bool isOptional,
                             ContentionFigures &contention) {
  bool isKnown[std::size(computeClasses)][std::size(engines)] = {};
  auto readPair = [&](JsonObjectReader &reader) {
    ComputeClass compute = {};
    LaneEngine engine = {};
    reader.readEnum("compute", computeClasses, compute);
    reader.readEnum("engine", engines, engine);
    auto [ofClass, ofEngine] = std::pair(size_t(compute), size_t(engine));
    Interference &both = contention.interference[ofClass][ofEngine];
    // Nothing is faster beside something else, and hardly 100 times slower.
    constexpr double least = 1, most = 100;
    reader.readRealInRange("compute_factor", both.compute, least, most);
    reader.readRealInRange("collective_factor", both.communication, least,
                           most);
    if (std::exchange(isKnown[ofClass][ofEngine], true))
      reader.fail("found compute \"" + computeClasses[ofClass] +
                  "\" beside engine \"" + engines[ofEngine] +
                  "\" a second time, expected it once");
  };
  if (!parent.readObjects("interference", isOptional, readPair))
    return;
  constexpr auto kernel = size_t(LaneEngine::Kernel),
                 oneWay = size_t(LaneEngine::OneWayKernel);
  for (auto [ofClass, compute] : llvm::enumerate(computeClasses)) {
    for (auto [ofEngine, engine] : llvm::enumerate(engines))
      if (!isKnown[ofClass][ofEngine] && ofEngine != oneWay)
        parent.fail("no factors of compute \"" + compute +
                    "\" beside engine \"" + engine +
                    "\", expected all four pairs");
    if (!isKnown[ofClass][oneWay])
      contention.interference[ofClass][oneWay] =
          contention.interference[ofClass][kernel];
  }
}

/// Reads how many of something a chip has.
static void readCount(JsonObjectReader &reader, llvm::StringRef name,
                      int32_t &value, bool isOptional) {
  int64_t count = value;
  reader.readInteger(name, count, 0, mostOfChip, isOptional);
  value = static_cast<int32_t>(count);
}

bool braid::readContention(JsonObjectReader &parent,
                           ContentionFigures &contention) {
  return parent.readObject(
      "contention", /*isOptional=*/true, [&](auto &reader) {
        reader.readEnum("model", models, contention.multiprocessorModel);
        bool isQueued =
            contention.multiprocessorModel == MultiprocessorModel::Queued;
        readCount(reader, "processor_groups", contention.processorGroups,
                  /*isOptional=*/!isQueued);
        constexpr int64_t mostLaunchNs = 1'000'000'000;
        for (auto [name, ns] :
             {std::pair("lane_launch_ns", &contention.laneLaunchNs),
              std::pair("host_launch_ns", &contention.hostLaunchNs),
              std::pair("host_start_ns", &contention.hostStartNs)})
          reader.readInteger(name, *ns, 0, mostLaunchNs, /*isOptional=*/true);
        readCount(reader, "copy_multiprocessors",
                  contention.copyMultiprocessors,
                  /*isOptional=*/true);
        std::vector<TakenFromPairs> taken;
        int64_t blocks = 0, multiprocessors = 0;
        auto readTaken = [&](JsonObjectReader &pair) {
          pair.readInteger("blocks", blocks, blocks + 1, mostOfChip);
          pair.readInteger("multiprocessors", multiprocessors,
                           std::max(blocks, multiprocessors), mostOfChip);
          taken.push_back({static_cast<int32_t>(blocks),
                           static_cast<int32_t>(multiprocessors)});
        };
        if (reader.readObjects("taken_from_pairs", /*isOptional=*/true,
                               readTaken))
          contention.takenFromPairs.assign(taken.begin(), taken.end());
        readInterference(reader, /*isOptional=*/!isQueued, contention);
      });
}

void braid::writeContention(json::OStream &json,
                            const ContentionFigures &contention) {
  json.object([&]() {
    json.attribute("model", models[size_t(contention.multiprocessorModel)]);
    if (contention.multiprocessorModel != MultiprocessorModel::Queued)
      return;
    json.attribute("processor_groups", contention.processorGroups);
    json.attribute("lane_launch_ns", contention.laneLaunchNs);
    json.attribute("host_launch_ns", contention.hostLaunchNs);
    json.attribute("host_start_ns", contention.hostStartNs);
    json.attribute("copy_multiprocessors", contention.copyMultiprocessors);
    if (!contention.takenFromPairs.empty())
      json.attributeArray("taken_from_pairs", [&]() {
        for (const TakenFromPairs &entry : contention.takenFromPairs)
          json.object([&]() {
            json.attribute("blocks", entry.blocks);
            json.attribute("multiprocessors", entry.multiprocessors);
          });
      });
    json.attributeArray("interference", [&]() {
      for (auto [ofClass, compute] : llvm::enumerate(computeClasses))
        for (auto [ofEngine, engine] : llvm::enumerate(engines)) {
          const Interference &both = contention.interference[ofClass][ofEngine];
          json.object([&, compute = compute, engine = engine]() {
            json.attribute("compute", compute);
            json.attribute("engine", engine);
            json.attribute("compute_factor", both.compute);
            json.attribute("collective_factor", both.communication);
          });
        }
    });
  });
}
