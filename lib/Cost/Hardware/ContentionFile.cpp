//===- ContentionFile.cpp - Contention described in files -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContentionFile.h"

#include "llvm/ADT/StringExtras.h"

using namespace braid;
using llvm::Error;
using llvm::Expected;
namespace json = llvm::json;

/// By `MultiprocessorModel`, `ComputeClass` and `LaneEngine`.
static constexpr llvm::StringLiteral models[] = {"share", "queue"};
static constexpr llvm::StringLiteral computeClasses[] = {"product",
                                                         "elementwise"};
static constexpr llvm::StringLiteral engines[] = {"kernel", "copy",
                                                  "one_way_kernel"};

/// The most of anything that a chip has.
static constexpr int64_t mostOfChip = 1024;

static Error readInterference(const JsonObjectReader &parent,
                              const json::Array &list,
                              ContentionFigures &contention) {
  const StrictJson &file = parent.getFile();
  bool isKnown[std::size(computeClasses)][std::size(engines)] = {};
  auto readPair = [&](JsonObjectReader &reader) -> Error {
    ComputeClass compute = {};
    LaneEngine engine = {};
    if (Error error = reader.readEnum("compute", computeClasses, compute))
      return error;
    if (Error error = reader.readEnum("engine", engines, engine))
      return error;
    auto [ofClass, ofEngine] = std::pair(size_t(compute), size_t(engine));
    Interference &both = contention.interference[ofClass][ofEngine];
    // Nothing is faster beside something else, and hardly 100 times slower.
    constexpr double least = 1, most = 100;
    if (Error error =
            reader.readRealInRange("compute_factor", both.compute, least, most))
      return error;
    if (Error error = reader.readRealInRange("collective_factor",
                                             both.communication, least, most))
      return error;
    if (std::exchange(isKnown[ofClass][ofEngine], true))
      return file.makeError(reader.getPath(),
                            "found compute \"" + computeClasses[ofClass] +
                                "\" beside engine \"" + engines[ofEngine] +
                                "\" a second time, expected it once");
    return Error::success();
  };
  if (Error error = parent.readObjects(list, "interference", readPair))
    return error;
  constexpr auto kernel = size_t(LaneEngine::Kernel),
                 oneWay = size_t(LaneEngine::OneWayKernel);
  for (auto [ofClass, compute] : llvm::enumerate(computeClasses)) {
    for (auto [ofEngine, engine] : llvm::enumerate(engines))
      if (!isKnown[ofClass][ofEngine] && ofEngine != oneWay)
        return file.makeError(parent.getPath("interference"),
                              "no factors of compute \"" + compute +
                                  "\" beside engine \"" + engine +
                                  "\", expected all four pairs");
    if (!isKnown[ofClass][oneWay])
      contention.interference[ofClass][oneWay] =
          contention.interference[ofClass][kernel];
  }
  return Error::success();
}

static Error readTakenFromPairs(const JsonObjectReader &parent,
                                const json::Array &list,
                                ContentionFigures &contention) {
  int64_t blocks = 0, multiprocessors = 0;
  return parent.readObjects(
      list, "taken_from_pairs", [&](JsonObjectReader &reader) -> Error {
        if (Error error =
                reader.readInteger("blocks", blocks, blocks + 1, mostOfChip))
          return error;
        if (Error error = reader.readInteger("multiprocessors", multiprocessors,
                                             std::max(blocks, multiprocessors),
                                             mostOfChip))
          return error;
        contention.takenFromPairs.push_back(
            {static_cast<int32_t>(blocks),
             static_cast<int32_t>(multiprocessors)});
        return Error::success();
      });
}

/// Reads how many of something a chip has.
static Error readCount(JsonObjectReader &reader, llvm::StringRef name,
                       int32_t &value, bool isOptional) {
  int64_t count = value;
  if (Error error = reader.readInteger(name, count, 0, mostOfChip, isOptional))
    return error;
  value = static_cast<int32_t>(count);
  return Error::success();
}

Error braid::readContention(JsonObjectReader &parent,
                            ContentionFigures &contention) {
  Expected<const json::Object *> object =
      parent.readObject("contention", /*isOptional=*/true);
  if (!object || !*object)
    return object.takeError();
  JsonObjectReader reader(parent.getFile(), **object,
                          parent.getPath("contention"));
  if (Error error =
          reader.readEnum("model", models, contention.multiprocessorModel))
    return error;
  bool isQueued = contention.multiprocessorModel == MultiprocessorModel::Queued;
  if (Error error =
          readCount(reader, "processor_groups", contention.processorGroups,
                    /*isOptional=*/!isQueued))
    return error;
  constexpr int64_t mostLaunchNs = 1'000'000'000;
  if (Error error =
          reader.readInteger("lane_launch_ns", contention.laneLaunchNs, 0,
                             mostLaunchNs, /*isOptional=*/true))
    return error;
  if (Error error = readCount(reader, "copy_multiprocessors",
                              contention.copyMultiprocessors,
                              /*isOptional=*/true))
    return error;
  Expected<const json::Array *> taken =
      reader.readArray("taken_from_pairs", /*isOptional=*/true);
  if (!taken)
    return taken.takeError();
  if (*taken) {
    contention.takenFromPairs.clear();
    if (Error error = readTakenFromPairs(reader, **taken, contention))
      return error;
  }
  Expected<const json::Array *> list =
      reader.readArray("interference", /*isOptional=*/!isQueued);
  if (!list)
    return list.takeError();
  if (*list)
    if (Error error = readInterference(reader, **list, contention))
      return error;
  return reader.finish();
}

void braid::writeContention(json::OStream &json,
                            const ContentionFigures &contention) {
  json.object([&]() {
    json.attribute("model", models[size_t(contention.multiprocessorModel)]);
    if (contention.multiprocessorModel != MultiprocessorModel::Queued)
      return;
    json.attribute("processor_groups", contention.processorGroups);
    json.attribute("lane_launch_ns", contention.laneLaunchNs);
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
