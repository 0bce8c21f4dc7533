//===- ContentionCellsTest.cpp - Matmuls beside collectives, measured ----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates the measurements of ContentionCells.json. The times of matmuls and
// collectives alone, and the four cells marked `is_input`, are what the model
// is given; it predicts the others.
//
//===----------------------------------------------------------------------===//

#include "TestProblems/SimulatedOps.h"
#include "braid/Schedule/Simulation/Simulator.h"
#include "gtest/gtest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using namespace braid::test;
namespace json = llvm::json;

namespace {

struct Matmul {
  std::string name;
  int64_t target, tiles, us;
};

struct Collective {
  std::string name;
  int64_t ctas, cluster, us;
};

struct Cell {
  std::string matmul;
  int64_t target;
  std::string collective;
  double matmulFactor, collectiveFactor;
  bool isInput;
};

struct Measurements {
  int64_t multiprocessors, processorGroups;
  std::vector<Matmul> matmuls;
  std::vector<Collective> collectives;
  std::vector<Cell> cells;
};

} // namespace

namespace llvm::json {
static bool fromJSON(const Value &value, Matmul &matmul, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("name", matmul.name) &&
         map.map("target", matmul.target) && map.map("tiles", matmul.tiles) &&
         map.map("us", matmul.us);
}

static bool fromJSON(const Value &value, Collective &collective, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("name", collective.name) &&
         map.map("ctas", collective.ctas) &&
         map.map("cluster", collective.cluster) && map.map("us", collective.us);
}

static bool fromJSON(const Value &value, Cell &cell, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("matmul", cell.matmul) &&
         map.map("target", cell.target) &&
         map.map("collective", cell.collective) &&
         map.map("matmul_factor", cell.matmulFactor) &&
         map.map("collective_factor", cell.collectiveFactor) &&
         map.map("is_input", cell.isInput);
}

static bool fromJSON(const Value &value, Measurements &result, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("multiprocessors", result.multiprocessors) &&
         map.map("processor_groups", result.processorGroups) &&
         map.map("matmuls", result.matmuls) &&
         map.map("collectives", result.collectives) &&
         map.map("cells", result.cells);
}
} // namespace llvm::json

static Measurements readMeasurements() {
  auto buffer = llvm::MemoryBuffer::getFile(BRAID_CONTENTION_CELLS);
  if (!buffer)
    llvm::report_fatal_error("cannot read " BRAID_CONTENTION_CELLS);
  return llvm::cantFail(
      json::parse<Measurements>((*buffer)->getBuffer(), "measurements"));
}

static const Matmul &getMatmul(const Measurements &measured, const Cell &cell) {
  for (const Matmul &matmul : measured.matmuls)
    if (matmul.name == cell.matmul && matmul.target == cell.target)
      return matmul;
  llvm::report_fatal_error("no time of " + llvm::Twine(cell.matmul));
}

static const Collective &getCollective(const Measurements &measured,
                                       const Cell &cell) {
  for (const Collective &collective : measured.collectives)
    if (collective.name == cell.collective)
      return collective;
  llvm::report_fatal_error("no time of " + llvm::Twine(cell.collective));
}

static MachineModel getMachine(const Measurements &measured) {
  MachineModel machine;
  machine.multiprocessors = int32_t(measured.multiprocessors);
  machine.processorGroups = int32_t(measured.processorGroups);
  machine.multiprocessorModel = MultiprocessorModel::Queued;
  for (const Cell &cell : measured.cells)
    if (cell.isInput) {
      auto ofClass = getMatmul(measured, cell).tiles > 0
                         ? ComputeClass::Matmul
                         : ComputeClass::Elementwise;
      auto engine = getCollective(measured, cell).ctas > 0
                        ? LaneEngine::Kernel
                        : LaneEngine::CopyEngine;
      machine.interference[size_t(ofClass)][size_t(engine)] = {
          cell.matmulFactor, cell.collectiveFactor};
    }
  return machine;
}

/// As the program that measured does: `numCollectives` on a stream of their
/// own, 0.1 ms later `numMatmuls`. Nanoseconds of one of each.
static std::pair<double, double> simulateCell(const MachineModel &machine,
                                              const Matmul &matmul,
                                              const Collective &collective,
                                              unsigned numMatmuls,
                                              unsigned numCollectives) {
  constexpr int64_t nsPerUs = 1000;
  std::vector<SimulatedOp> ops;
  for (unsigned i = 0; i != numCollectives; ++i) {
    SimulatedOp &op = ops.emplace_back(start(collective.us * nsPerUs));
    op.demand.multiprocessors = int32_t(collective.ctas);
    op.demand.clusterSize = int32_t(collective.cluster);
    op.demand.linkBytes = 1 << 25;
  }
  ops.push_back(compute(100 * nsPerUs));
  unsigned firstMatmul = ops.size();
  for (unsigned i = 0; i != numMatmuls; ++i) {
    SimulatedOp &op = ops.emplace_back(compute(matmul.us * nsPerUs));
    if (matmul.tiles > 0) {
      op.demand.arithmeticNs = op.costNs;
      op.demand.tiles = matmul.tiles;
      op.demand.blocks = int32_t(matmul.target);
      op.demand.isPersistent = true;
    } else {
      op.demand.memoryBytes = 3 << 26;
    }
  }
  Simulation simulation = simulate(ops, machine);
  double matmulNs = double(simulation.times.back().endNs -
                           simulation.times[firstMatmul].issuedNs) /
                    numMatmuls;
  double collectiveNs =
      double(simulation.times[numCollectives - 1].endNs) / numCollectives;
  return {matmulNs, collectiveNs};
}

/// Of the matmul and of the collective: how many times as long they take
/// beside each other, each measured as in the program, with counts in ms.
static std::pair<double, double> predict(const MachineModel &machine,
                                         const Matmul &matmul,
                                         const Collective &collective) {
  double matmulMs = double(matmul.us) / 1e3;
  double collectiveMs = double(collective.us) / 1e3;
  unsigned numMatmuls = std::max(4u, unsigned(8 / matmulMs));
  double matmulNs =
      simulateCell(
          machine, matmul, collective, numMatmuls,
          unsigned(1 + (numMatmuls * matmulMs * 2.2 + 1) / collectiveMs))
          .first;
  auto numCollectives = unsigned(1 + 6 / collectiveMs);
  double collectiveNs =
      simulateCell(
          machine, matmul, collective,
          unsigned(1 + (numCollectives * collectiveMs * 2.5 + 1) / matmulMs),
          numCollectives)
          .second;
  return {matmulNs / 1e6 / matmulMs, collectiveNs / 1e6 / collectiveMs};
}

TEST(ContentionCells, PredictsWhatWasMeasured) {
  Measurements measured = readMeasurements();
  ASSERT_EQ(measured.cells.size(), 22u);
  MachineModel machine = getMachine(measured);
  std::vector<double> errors;
  std::string table;
  for (const Cell &cell : measured.cells) {
    auto [matmul, collective] = predict(machine, getMatmul(measured, cell),
                                        getCollective(measured, cell));
    table += llvm::formatv("{0,14} {1,3} {2,18}: matmul {3:f3} {4:f2}, "
                           "collective {5:f3} {6:f2}{7}\n",
                           cell.matmul, cell.target, cell.collective, matmul,
                           cell.matmulFactor, collective, cell.collectiveFactor,
                           cell.isInput ? ", given" : "")
                 .str();
    if (cell.isInput)
      continue;
    errors.push_back(std::abs(matmul / cell.matmulFactor - 1));
    errors.push_back(std::abs(collective / cell.collectiveFactor - 1));
  }
  llvm::sort(errors);
  ASSERT_EQ(errors.size(), 36u);
  EXPECT_LE(errors[errors.size() / 2], 0.07) << table;
  EXPECT_LE(errors.back(), 0.20) << table;
}
