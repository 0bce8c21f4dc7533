//===- ContentionCellsTest.cpp - Products beside collectives, measured ----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates the measurements of ContentionCells.json. The times of products and
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

struct Product {
  std::string name;
  int64_t target, tiles, us;
};

struct Collective {
  std::string name;
  int64_t ctas, cluster, us;
};

struct Cell {
  std::string product;
  int64_t target;
  std::string collective;
  double productFactor, collectiveFactor;
  bool isInput;
};

struct Measurements {
  int64_t multiprocessors, processorGroups;
  std::vector<Product> products;
  std::vector<Collective> collectives;
  std::vector<Cell> cells;
};

} // namespace

namespace llvm::json {
static bool fromJSON(const Value &value, Product &product, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("name", product.name) &&
         map.map("target", product.target) && map.map("tiles", product.tiles) &&
         map.map("us", product.us);
}

static bool fromJSON(const Value &value, Collective &collective, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("name", collective.name) &&
         map.map("ctas", collective.ctas) &&
         map.map("cluster", collective.cluster) && map.map("us", collective.us);
}

static bool fromJSON(const Value &value, Cell &cell, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("product", cell.product) &&
         map.map("target", cell.target) &&
         map.map("collective", cell.collective) &&
         map.map("product_factor", cell.productFactor) &&
         map.map("collective_factor", cell.collectiveFactor) &&
         map.map("is_input", cell.isInput);
}

static bool fromJSON(const Value &value, Measurements &result, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("multiprocessors", result.multiprocessors) &&
         map.map("processor_groups", result.processorGroups) &&
         map.map("products", result.products) &&
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

static const Product &getProduct(const Measurements &measured,
                                 const Cell &cell) {
  for (const Product &product : measured.products)
    if (product.name == cell.product && product.target == cell.target)
      return product;
  llvm::report_fatal_error("no time of " + llvm::Twine(cell.product));
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
      auto ofClass = getProduct(measured, cell).tiles > 0
                         ? ComputeClass::Product
                         : ComputeClass::Elementwise;
      auto engine = getCollective(measured, cell).ctas > 0
                        ? LaneEngine::Kernel
                        : LaneEngine::CopyEngine;
      machine.interference[size_t(ofClass)][size_t(engine)] = {
          cell.productFactor, cell.collectiveFactor};
    }
  return machine;
}

/// As the program that measured does: `numCollectives` on a stream of their
/// own, 0.1 ms later `numProducts`. Nanoseconds of one of each.
static std::pair<double, double> simulateCell(const MachineModel &machine,
                                              const Product &product,
                                              const Collective &collective,
                                              unsigned numProducts,
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
  unsigned firstProduct = ops.size();
  for (unsigned i = 0; i != numProducts; ++i) {
    SimulatedOp &op = ops.emplace_back(compute(product.us * nsPerUs));
    if (product.tiles > 0) {
      op.demand.arithmeticNs = op.costNs;
      op.demand.tiles = product.tiles;
      op.demand.blocks = int32_t(product.target);
      op.demand.isPersistent = true;
    } else {
      op.demand.memoryBytes = 3 << 26;
    }
  }
  Simulation simulation = simulate(ops, machine);
  double productNs = double(simulation.times.back().endNs -
                            simulation.times[firstProduct].issuedNs) /
                     numProducts;
  double collectiveNs =
      double(simulation.times[numCollectives - 1].endNs) / numCollectives;
  return {productNs, collectiveNs};
}

/// Of the product and of the collective: how many times as long they take
/// beside each other, each measured as in the program, with counts in ms.
static std::pair<double, double> predict(const MachineModel &machine,
                                         const Product &product,
                                         const Collective &collective) {
  double productMs = double(product.us) / 1e3;
  double collectiveMs = double(collective.us) / 1e3;
  unsigned numProducts = std::max(4u, unsigned(8 / productMs));
  double productNs =
      simulateCell(
          machine, product, collective, numProducts,
          unsigned(1 + (numProducts * productMs * 2.2 + 1) / collectiveMs))
          .first;
  auto numCollectives = unsigned(1 + 6 / collectiveMs);
  double collectiveNs =
      simulateCell(
          machine, product, collective,
          unsigned(1 + (numCollectives * collectiveMs * 2.5 + 1) / productMs),
          numCollectives)
          .second;
  return {productNs / 1e6 / productMs, collectiveNs / 1e6 / collectiveMs};
}

TEST(ContentionCells, PredictsWhatWasMeasured) {
  Measurements measured = readMeasurements();
  ASSERT_EQ(measured.cells.size(), 22u);
  MachineModel machine = getMachine(measured);
  std::vector<double> errors;
  std::string table;
  for (const Cell &cell : measured.cells) {
    auto [product, collective] = predict(machine, getProduct(measured, cell),
                                         getCollective(measured, cell));
    table += llvm::formatv("{0,14} {1,3} {2,18}: product {3:f3} {4:f2}, "
                           "collective {5:f3} {6:f2}{7}\n",
                           cell.product, cell.target, cell.collective, product,
                           cell.productFactor, collective,
                           cell.collectiveFactor, cell.isInput ? ", given" : "")
                 .str();
    if (cell.isInput)
      continue;
    errors.push_back(std::abs(product / cell.productFactor - 1));
    errors.push_back(std::abs(collective / cell.collectiveFactor - 1));
  }
  llvm::sort(errors);
  ASSERT_EQ(errors.size(), 36u);
  EXPECT_LE(errors[errors.size() / 2], 0.07) << table;
  EXPECT_LE(errors.back(), 0.20) << table;
}
