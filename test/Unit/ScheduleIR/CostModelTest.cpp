//===- CostModelTest.cpp - Time of any op ---------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/CostModel.h"

#include "Cost/Profile/Profile.h"
#include "braid/Cost/IR/CostExternalModels.h"
#include "braid/ScheduleIR/Timeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace mlir;

namespace {
class CostModelTest : public ::testing::Test {
protected:
  CostModelTest() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registry.insert<comm::CommDialect, arith::ArithDialect, func::FuncDialect,
                    linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
    registerCostExternalModels(registry);
    context.appendDialectRegistry(registry);
  }

  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }

  /// The first op called `name`.
  Operation *find(StringRef name) {
    Operation *found = nullptr;
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getName().getStringRef() != name)
        return WalkResult::advance();
      found = op;
      return WalkResult::interrupt();
    });
    EXPECT_TRUE(found) << name.str();
    return found;
  }

  static CostOptions ideal() {
    CostOptions options;
    options.hardware = lookupHardware("ideal");
    return options;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// An op that knows its time on one machine.
struct KnownDuration
    : public comm::CostOpInterface::ExternalModel<KnownDuration, func::CallOp> {
  comm::Work getWork(Operation *, const comm::SizeDefaults &) const {
    comm::Work work;
    work.addBytes(5000, 0);
    return work;
  }
  std::optional<int64_t> getDurationNs(Operation *, StringRef machine) const {
    return machine == "h100x8" ? std::optional<int64_t>(42) : std::nullopt;
  }
};
} // namespace

static constexpr StringLiteral call = R"mlir(
  func.func private @g(tensor<1000xf32>) -> tensor<1000xf32>
  func.func @f(%x: tensor<1000xf32>) -> tensor<1000xf32> {
    %r = func.call @g(%x) : (tensor<1000xf32>) -> tensor<1000xf32>
    return %r : tensor<1000xf32>
  }
)mlir";

TEST_F(CostModelTest, AsksTheInterfaceBeforeItGuesses) {
  parse(call);
  {
    CostModel model(ideal());
    Cost cost = model.getCost(find("func.call"));
    EXPECT_EQ(cost.ns, 8);
    EXPECT_EQ(cost.source, CostSource::Default);
  }
  func::CallOp::attachInterface<KnownDuration>(context);
  // The op knows its time on one machine, and its work on all others.
  CostModel h100({});
  Cost cost = h100.getCost(find("func.call"));
  EXPECT_EQ(cost.ns, 42);
  EXPECT_EQ(cost.source, CostSource::Interface);
  CostModel model(ideal());
  cost = model.getCost(find("func.call"));
  EXPECT_EQ(cost.ns, 5);
  EXPECT_EQ(cost.source, CostSource::Roofline);
}

TEST_F(CostModelTest, AMeasurementComesBeforeEveryEstimateButNotTheAttribute) {
  parse(R"mlir(
    func.func @f(%x: tensor<1000xf32>) -> tensor<1000xf32> {
      %a = math.exp %x : tensor<1000xf32>
      %b = math.cos %a {comm.cost_ns = 3 : i64} : tensor<1000xf32>
      %c = math.sin %b : tensor<1000xf32>
      return %c : tensor<1000xf32>
    }
  )mlir");
  CostOptions options = ideal();
  options.profile = [](Operation *op) -> std::optional<int64_t> {
    if (isa<math::SinOp>(op))
      return std::nullopt;
    return 77;
  };
  CostModel model(options);
  EXPECT_EQ(model.getCost(find("math.exp")).ns, 77);
  EXPECT_EQ(model.getCost(find("math.exp")).source, CostSource::Profile);
  EXPECT_EQ(model.getCost(find("math.cos")).ns, 3);
  EXPECT_EQ(model.getCost(find("math.cos")).source, CostSource::Attribute);
  EXPECT_EQ(model.getCost(find("math.sin")).ns, 8);
  EXPECT_EQ(model.getCost(find("math.sin")).source, CostSource::Roofline);
}

static constexpr StringLiteral allReduce = R"mlir(
  comm.group @world all
  comm.group @uneven [[0, 1], [2, 3, 4]]
  func.func @f(%x: tensor<262144xf32>) -> tensor<262144xf32> {
    %t = comm.all_reduce sum %x on @world : tensor<262144xf32>
    %r = comm.wait %t : !comm.token<tensor<262144xf32>>
    return %r : tensor<262144xf32>
  }
)mlir";

TEST_F(CostModelTest, AGroupOfAllIsTheWorld) {
  parse(allReduce);
  Operation *op = find("comm.all_reduce");
  auto world = FlatSymbolRefAttr::get(&context, "world");
  EXPECT_EQ(CostModel({}).getGroupSize(op, world), 8);
  CostOptions options;
  options.ranks = 3;
  CostModel model(options);
  EXPECT_EQ(model.getGroupSize(op, world), 3);
  EXPECT_EQ(model.getGroupSize(op, FlatSymbolRefAttr::get(&context, "uneven")),
            3);
  // The second answer comes from memory, and is the same.
  EXPECT_EQ(model.getGroupSize(op, world), 3);
  EXPECT_EQ(model.getGroupSize(op, FlatSymbolRefAttr::get(&context, "none")),
            3);
}

TEST_F(CostModelTest, TheLinkModelKnowsTheLinksOfTheHardware) {
  parse(allReduce);
  Operation *op = find("comm.all_reduce");
  CostOptions options;
  options.collectiveModel = CollectiveModelKind::Link;
  // Within a node: 14 steps of 600 ns, 2 * 7/8 MiB over 450 GB/s.
  EXPECT_EQ(CostModel(options).getCost(op).ns, 8400 + 4078);
  // Between nodes: 30 steps, 2 * 15/16 MiB over 50 GB/s.
  options.ranks = 16;
  EXPECT_EQ(CostModel(options).getCost(op).ns, 18000 + 39322);
  // What is asked for holds for both.
  options.linkLatencyNs = 0;
  options.linkBandwidth = 1e9;
  EXPECT_EQ(CostModel(options).getCost(op).ns, 1966080);
}

// One rank in each of two nodes: small, and yet between nodes.
TEST_F(CostModelTest, RanksOfDifferentNodesTalkOverTheNetwork) {
  parse(R"mlir(
    comm.group @across [[0, 8], [1, 9]]
    comm.group @inside [[0, 1], [8, 9]]
    comm.group @three [[0, 15, 31], [1, 2, 3]]
    func.func @f(%x: tensor<262144xf32>) -> tensor<262144xf32> {
      %t = comm.all_reduce sum %x on @across : tensor<262144xf32>
      %r = comm.wait %t : !comm.token<tensor<262144xf32>>
      return %r : tensor<262144xf32>
    }
  )mlir");
  Operation *op = find("comm.all_reduce");
  CostOptions options;
  options.collectiveModel = CollectiveModelKind::Link;
  CostModel model(options);
  auto numNodes = [&](StringRef group) {
    return model.getGroupShape(op, FlatSymbolRefAttr::get(&context, group))
        .numNodes;
  };
  EXPECT_EQ(numNodes("across"), 2);
  EXPECT_EQ(numNodes("inside"), 1);
  EXPECT_EQ(numNodes("three"), 3);
  // 2 steps of 600 ns, 1 MiB over 50 GB/s.
  EXPECT_EQ(model.getCost(op).ns, 1200 + 20972);
}

TEST_F(CostModelTest, AStartTakesItsLinkAndMemory) {
  parse(allReduce);
  CostOptions options;
  options.collectiveModel = CollectiveModelKind::Link;
  CostModel model(options);
  ResourceDemand demand = model.getDemand(find("comm.all_reduce"));
  // 2 * 7/8 of 1 MiB on the link, 2.5 times that in memory.
  EXPECT_EQ(demand.linkBytes, 1835008);
  EXPECT_EQ(demand.memoryBytes, 4587520);
  EXPECT_EQ(demand.multiprocessors, 0);
  EXPECT_EQ(model.getDemand(find("comm.wait")).linkBytes, 0);
}

// What a ring of 24 CTAs takes of 8 H100s, and one over two nodes.
TEST_F(CostModelTest, ACollectiveOfNcclHoldsMultiprocessors) {
  parse(R"mlir(
    comm.group @world all
    func.func @f(%x: tensor<16777216xf32>) -> tensor<16777216xf32> {
      %t = comm.all_reduce sum %x on @world : tensor<16777216xf32>
      %r = comm.wait %t : !comm.token<tensor<16777216xf32>>
      return %r : tensor<16777216xf32>
    }
  )mlir");
  Operation *op = find("comm.all_reduce");
  CostModel model({});
  EXPECT_EQ(model.getCost(op).ns, 382224);
  EXPECT_EQ(model.getCost(op).source, CostSource::Collective);
  ResourceDemand demand = model.getDemand(op);
  EXPECT_EQ(demand.multiprocessors, 24);
  EXPECT_EQ(demand.linkBytes, 117440512);   // 2 * 7/8 of 64 MiB
  EXPECT_EQ(demand.memoryBytes, 293601280); // 2.5 times that
  CostOptions options;
  options.ranks = 16;
  demand = CostModel(options).getDemand(op);
  EXPECT_EQ(demand.multiprocessors, 16);
  EXPECT_EQ(demand.linkBytes, 15728640); // 2 * 15/16 of it by 8 ports
  EXPECT_EQ(demand.memoryBytes, 314572800);
}

TEST_F(CostModelTest, NamesTheSources) {
  CostModel nccl({});
  EXPECT_EQ(nccl.getSourceName(CostSource::Collective),
            "collective-model nccl");
  EXPECT_EQ(nccl.getSourceName(CostSource::StandIn),
            "collective-model nccl (stand-in)");
  CostOptions options;
  options.collectiveModel = CollectiveModelKind::Inductor;
  CostModel inductor(options);
  EXPECT_EQ(inductor.getSourceName(CostSource::Collective),
            "collective-model inductor");
  EXPECT_EQ(inductor.getSourceName(CostSource::StandIn),
            "collective-model inductor (stand-in)");
  CostModel link(ideal());
  EXPECT_EQ(link.getSourceName(CostSource::Collective),
            "collective-model link");
  EXPECT_EQ(link.getSourceName(CostSource::Attribute), "attribute");
  EXPECT_EQ(link.getSourceName(CostSource::Profile), "profile");
  EXPECT_EQ(link.getSourceName(CostSource::Default), "default");
}

TEST_F(CostModelTest, SettingsComeBeforeTheProgram) {
  parse(R"mlir(
    module attributes {comm.machine = "a100x8"} {
      func.func @f() { return }
    }
  )mlir");
  Operation *function = find("func.func");
  EXPECT_EQ(resolveCostOptions(function, {})->hardware->name, "a100x8");
  CostSettings settings;
  settings.machine = "h200x8";
  settings.ranks = 4;
  settings.dynamicSize = 7;
  settings.collectiveModel = CollectiveModelKind::Link;
  settings.linkLatency = "2us";
  settings.linkBandwidth = "3GB/s";
  FailureOr<CostOptions> options = resolveCostOptions(function, settings);
  ASSERT_TRUE(succeeded(options));
  EXPECT_EQ(options->hardware->name, "h200x8");
  EXPECT_EQ(options->ranks, 4);
  EXPECT_EQ(options->sizes.dynamicSize, 7);
  EXPECT_EQ(options->collectiveModel, CollectiveModelKind::Link);
  EXPECT_EQ(options->linkLatencyNs, 2000.0);
  EXPECT_EQ(options->linkBandwidth, 3e9);
  parse("func.func @f() { return }");
  EXPECT_EQ(resolveCostOptions(find("func.func"), {})->hardware->name,
            "h100x8");
}

TEST_F(CostModelTest, CountsTripsOfUnsignedLoops) {
  parse(R"mlir(
    func.func @f() {
      %c0 = arith.constant 0 : i8
      %c3 = arith.constant 3 : i8
      %c200 = arith.constant 200 : i8
      scf.for unsigned %i = %c0 to %c200 step %c3 : i8 {}
      return
    }
  )mlir");
  EXPECT_EQ(CostModel(ideal()).getTripCount(find("scf.for")), 67);
}

TEST_F(CostModelTest, CountsTripsBetweenAnyTwoIntegers) {
  parse(R"mlir(
    func.func @f() {
      %least = arith.constant -9223372036854775808 : i64
      %most = arith.constant 9223372036854775807 : i64
      %step = arith.constant 4611686018427387904 : i64
      scf.for %i = %least to %most step %step : i64 {}
      return
    }
  )mlir");
  EXPECT_EQ(CostModel(ideal()).getTripCount(find("scf.for")), 4);
}

TEST_F(CostModelTest, CountsTrips) {
  parse(R"mlir(
    func.func @f(%n: index) {
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c7 = arith.constant 7 : index
      scf.parallel (%i, %j) = (%c0, %c0) to (%c7, %c3) step (%c3, %c3) {}
      scf.for %i = %c7 to %c0 step %c3 {}
      scf.while : () -> () {
        %p = arith.constant false
        scf.condition(%p)
      } do {
        scf.yield
      }
      return
    }
  )mlir");
  CostOptions options = ideal();
  options.sizes.tripCount = 5;
  CostModel model(options);
  EXPECT_EQ(model.getTripCount(find("scf.parallel")), 3);
  EXPECT_EQ(model.getTripCount(find("scf.for")), 0);
  EXPECT_EQ(model.getTripCount(find("scf.while")), 5);
  EXPECT_EQ(model.getTripCount(find("func.return")), 1);
}

// Whatever the program, the parts of a timeline add up.
TEST_F(CostModelTest, TimelinesAddUp) {
  parse(R"mlir(
    comm.group @world all
    comm.group @pair [[0, 1]]
    func.func @f(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %s = comm.all_reduce sum %x on @pair : tensor<4xf32>
      %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
        %t = comm.all_reduce sum %a on @world : tensor<4xf32>
        %b = scf.if %p -> tensor<4xf32> {
          %u = comm.all_reduce sum %a on @pair : tensor<4xf32>
          %v = comm.wait %u : !comm.token<tensor<4xf32>>
          scf.yield %v : tensor<4xf32>
        } else {
          %k = comm.compute "k"(%a) {comm.cost_ns = 7000 : i64} : (tensor<4xf32>) -> tensor<4xf32>
          scf.yield %k : tensor<4xf32>
        }
        %w = comm.wait %t : !comm.token<tensor<4xf32>>
        %c = arith.addf %w, %b : tensor<4xf32>
        scf.yield %c : tensor<4xf32>
      }
      %w = comm.wait %s : !comm.token<tensor<4xf32>>
      %y = arith.addf %r, %w : tensor<4xf32>
      return %y : tensor<4xf32>
    }
  )mlir");
  CostOptions options;
  options.collectiveModel = CollectiveModelKind::Nccl;
  Hardware hardware = getDefaultHardware();
  hardware.launchNs = 0;
  hardware.multiprocessors = 0;
  options.hardware = &hardware;
  CostModel model(options);
  auto function = cast<func::FuncOp>(find("func.func"));
  const TimelineTotals &totals = model.getTimeline(function.getBody()).totals;
  EXPECT_EQ(totals.makespanNs, totals.computeNs + totals.exposedNs);
  EXPECT_LE(totals.lowerBoundNs, totals.makespanNs);
  // 2 ranks take 7800 ns, 8 take 15000, and the condition takes its longer arm.
  EXPECT_EQ(totals.communicationNs, 7800 + 5 * (15000 + 7800));
  EXPECT_EQ(totals.makespanNs, 5 * (15000 + 1) + 1);
}

TEST_F(CostModelTest, MeasurementsComeBeforeWhatTheEmbedderKnows) {
  parse(R"mlir(
    func.func @f(%x: tensor<1000xf32>) {
      %0 = math.exp %x : tensor<1000xf32>
      %1 = math.cos %0 {comm.label = "c"} : tensor<1000xf32>
      %2 = math.sin %1 {comm.cost_ns = 3 : i64, comm.label = "c"} : tensor<1000xf32>
      %3 = math.tan %2 : tensor<1000xf32>
      return
    }
  )mlir");
  llvm::Expected<Profile> profile =
      readProfile(R"json({"version": 1, "entries": [
    {"signature": "math.exp(500xf32) -> (500xf32)", "ns": 100},
    {"signature": "math.exp(2000xf32) -> (2000xf32)", "ns": 400},
    {"label": "c", "ns": 9}]})json");
  ASSERT_TRUE(static_cast<bool>(profile));
  CostOptions options = ideal();
  options.measurements = std::make_shared<const Profile>(std::move(*profile));
  options.profile = [](Operation *) { return 77; };
  CostModel model(options);
  auto expectCost = [&](StringRef op, int64_t ns, StringRef source) {
    Cost cost = model.getCost(find(op));
    EXPECT_EQ(cost.ns, ns) << op.str();
    EXPECT_EQ(model.getSourceName(cost.source), source) << op.str();
  };
  expectCost("math.exp", 200, "profile interpolated");
  expectCost("math.cos", 9, "profile label");
  expectCost("math.sin", 3, "attribute");
  expectCost("math.tan", 77, "profile");
}

//===----------------------------------------------------------------------===//
// What compute takes of the machine
//===----------------------------------------------------------------------===//

TEST_F(CostModelTest, MatmulsDemandMultiprocessorsInTiles) {
  parse(R"mlir(
    func.func @f(%a: tensor<8192x8192xbf16>, %d: tensor<8192x8192xbf16>) {
      %0 = linalg.matmul ins(%a, %a : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
        outs(%d : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
      %1 = linalg.matmul {comm.cost_ns = 3000000 : i64, comm.label = "given"}
        ins(%0, %a : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
        outs(%d : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
      return
    }
  )mlir");
  CostOptions options;
  options.hardware = lookupHardware("h200x8");
  CostModel model(options);
  Operation *matmul = find("linalg.matmul");
  ResourceDemand demand = model.getDemand(matmul);
  // 16 waves of 132 tiles, of which there are 2048.
  EXPECT_EQ(model.getCost(matmul).ns, 1146019);
  EXPECT_EQ(demand.arithmeticNs, 1146019);
  EXPECT_EQ(demand.tiles, 2048);
  // One operand twice, what is added to, and the result.
  EXPECT_EQ(demand.memoryBytes, int64_t{3} * 8192 * 8192 * 2);
  EXPECT_EQ(demand.multiprocessors, 0);
  // A cost that is given is that of the same arithmetic at another speed.
  demand = model.getDemand(matmul->getNextNode());
  EXPECT_EQ(demand.arithmeticNs, 3000000);
  EXPECT_EQ(demand.tiles, 2048);
  // Without multiprocessors there are no tiles.
  CostModel idealModel(ideal());
  EXPECT_EQ(idealModel.getDemand(matmul).tiles, 0);
}

TEST_F(CostModelTest, MemoryBoundOpsDemandLittleArithmetic) {
  parse(R"mlir(
    func.func @f(%x: tensor<4096x4096xf32>) {
      %0 = linalg.exp ins(%x : tensor<4096x4096xf32>) outs(%x : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
      %1 = linalg.log {comm.cost_ns = 80130 : i64} ins(%x : tensor<4096x4096xf32>)
        outs(%x : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
      return
    }
  )mlir");
  CostModel model({});
  // 2^24 operations at 67 Tops, 2^27 bytes at 3350 GB/s.
  ResourceDemand demand = model.getDemand(find("linalg.exp"));
  EXPECT_EQ(model.getCost(find("linalg.exp")).ns, 40065);
  EXPECT_EQ(demand.arithmeticNs, 250);
  EXPECT_EQ(demand.tiles, 0);
  EXPECT_EQ(demand.memoryBytes, 1 << 27);
  // Twice as slow as the estimate, in both.
  EXPECT_EQ(model.getDemand(find("linalg.log")).arithmeticNs, 501);
}

TEST_F(CostModelTest, OpaqueKernelsAreTakenByWhatTheyCost) {
  parse(R"mlir(
    func.func @f(%s: tensor<4xf32>, %x: tensor<4096x4096xf32>) {
      %0 = comm.compute "computes"(%s) {comm.cost_ns = 5000 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      %1 = linalg.exp ins(%s : tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
      %t = comm.compute async "moves"(%x) : (tensor<4096x4096xf32>) -> tensor<4xf32>
      %2 = comm.wait %t : !comm.token<tensor<4xf32>>
      return
    }
  )mlir");
  CostModel model({});
  // Its 32 bytes do not take 5000 ns: it computes, nobody knows in which tiles.
  Operation *computes = find("comm.compute");
  EXPECT_EQ(model.getDemand(computes).arithmeticNs, 5000);
  EXPECT_EQ(model.getDemand(computes).tiles, 0);
  EXPECT_EQ(model.getDemand(computes).memoryBytes, 32);
  // All that is known of the other are its bytes.
  Operation *moves = computes->getNextNode()->getNextNode();
  EXPECT_EQ(model.getDemand(moves).arithmeticNs, 0);
  EXPECT_EQ(model.getDemand(moves).memoryBytes, (1 << 26) + 16);
  ResourceDemand wait = model.getDemand(find("comm.wait"));
  EXPECT_EQ(wait.arithmeticNs, 0);
  EXPECT_EQ(wait.memoryBytes, 0);
}

TEST_F(CostModelTest, BodiesDemandNothingThemselves) {
  parse(R"mlir(
    func.func @f(%x: tensor<4096x4096xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c7 = arith.constant 7 : index
      %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x) -> tensor<4096x4096xf32> {
        %e = math.exp %a : tensor<4096x4096xf32>
        scf.yield %e : tensor<4096x4096xf32>
      }
      return
    }
  )mlir");
  CostModel model({});
  EXPECT_GT(model.getCost(find("scf.for")).ns, 0);
  ResourceDemand demand = model.getDemand(find("scf.for"));
  EXPECT_EQ(demand.arithmeticNs, 0);
  EXPECT_EQ(demand.memoryBytes, 0);
}
