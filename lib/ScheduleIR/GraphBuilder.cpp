//===- GraphBuilder.cpp - Build the graph of a block ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/GraphBuilder.h"

#include "Analysis/Memory/BlockEffects.h"
#include "Analysis/Memory/TransparentOps.h"
#include "Analysis/Memory/TypeSize.h"
#include "DependenceTracker.h"
#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// True if the blocks in `op` are scheduled. Bodies of linalg ops, of kernels
/// and of `comm.compute` are not.
static bool hasSchedulableRegions(Operation *op) {
  // Access the regions last, because they are not in the cache yet.
  return op->getNumRegions() != 0 &&
         !isa<linalg::LinalgOp, gpu::LaunchOp, comm::ComputeOp>(op) &&
         !op->hasTrait<OpTrait::SymbolTable>() && hasNestedOps(op);
}

static void findBlocks(Region &region,
                       SmallVectorImpl<SchedulableBlock> &blocks) {
  bool isGraph = mayBeGraphRegion(region);
  for (Block &block : region) {
    // The position of the block in the list, or `nowhere`.
    constexpr size_t nowhere = ~size_t(0);
    size_t index = nowhere, numOps = 0;
    for (Operation &op : block) {
      ++numOps;
      if (index == nowhere && !isGraph &&
          (isa<comm::WaitOp>(op) || comm::getAsyncStart(&op))) {
        index = blocks.size();
        blocks.push_back({&block, 0});
      } else if (hasSchedulableRegions(&op)) {
        for (Region &nested : op.getRegions())
          findBlocks(nested, blocks);
      }
    }
    if (index != nowhere)
      blocks[index].numOps = numOps;
  }
}

SmallVector<SchedulableBlock>
braid::findSchedulableBlocks(Operation *function) {
  SmallVector<SchedulableBlock> blocks;
  for (Region &region : function->getRegions())
    findBlocks(region, blocks);
  return blocks;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// The bytes of a value of `type`, or of the value of a token of this type,
/// dynamic sizes counted as 1; 0 for types other than tensors and memrefs.
static int64_t getBytes(Type type) {
  if (auto token = dyn_cast<comm::TokenType>(type))
    type = token.getValueType();
  if (!type)
    return 0;
  comm::SizeDefaults sizes;
  sizes.dynamicSize = 1;
  return static_cast<int64_t>(std::min<uint64_t>(
      getTypeBytes(type, sizes), std::numeric_limits<int64_t>::max()));
}

/// The bytes of the tensors that `op` computes, of the values of its tokens,
/// and of the buffers that it allocates.
static int64_t getCreatedBytes(Operation *op) {
  int64_t sum = 0;
  auto add = [&](Type type) {
    if (llvm::AddOverflow(sum, getBytes(type), sum))
      sum = std::numeric_limits<int64_t>::max();
  };
  // The value of a wait is live since its start.
  if (isa<comm::WaitOp>(op))
    return 0;
  for (OpResult result : op->getResults())
    if (!isa<BaseMemRefType>(result.getType()) ||
        BufferResolver::isAllocation(result))
      add(result.getType());
  return sum;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

namespace {

/// Keeps each exchange of a point-to-point lane together. The runtime issues
/// starts with no wait of the lane between them as one group; with a wait
/// between them ranks could block each other. A wait stays after the starts
/// that it follows, and before a group of several starts that it precedes. So
/// groups of one start may merge.
class ExchangeTracker {
public:
  explicit ExchangeTracker(ScheduleGraph &graph) : graph(graph) {}

  void addStart(unsigned node, Attribute lane) {
    addStart(node, getLane(lane));
  }
  /// Adds a wait of a token of `lane`, or of any lane if `lane` is null.
  void addWait(unsigned node, Attribute lane) {
    if (lane)
      return addWait(node, getLane(lane));
    for (auto &[other, state] : lanes)
      addWait(node, state);
    unknownWaits.push_back(node);
  }
  /// Adds an op with nested starts, on any lane.
  void addNestedStart(unsigned node) {
    for (auto &[lane, state] : lanes)
      addStart(node, state);
  }

private:
  struct Lane {
    /// The first start, the last start and the number of starts of the last
    /// group.
    unsigned first = 0, last = 0, size = 0;
    /// True if a wait follows the last group, so that the next start opens
    /// another group.
    bool closed = true;
    /// Waits between the last group of several starts and the last group.
    SmallVector<unsigned> waits;
  };

  Lane &getLane(Attribute attribute) {
    auto [it, isNew] = lanes.insert({attribute, Lane()});
    if (isNew)
      it->second.waits = unknownWaits;
    return it->second;
  }

  void addStart(unsigned node, Lane &lane) {
    if (lane.size != 0)
      graph.addEdge(lane.last, node);
    if (lane.closed) {
      lane.first = node;
      lane.size = 0;
      lane.closed = false;
    }
    lane.last = node;
    if (++lane.size == 1)
      return;
    for (unsigned wait : lane.waits)
      graph.addEdge(wait, lane.first);
    lane.waits.clear();
  }

  void addWait(unsigned node, Lane &lane) {
    lane.closed = true;
    lane.waits.push_back(node);
    if (lane.size != 0)
      graph.addEdge(lane.last, node);
  }

  ScheduleGraph &graph;
  llvm::MapVector<Attribute, Lane> lanes;
  SmallVector<unsigned> unknownWaits;
};

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

class GraphBuilder {
public:
  GraphBuilder(Block &block, CostFunction cost, CallEffects &calls,
               RankUniformity &uniformity, size_t expectedOps)
      : cost(cost), calls(calls), dependences(result.graph),
        exchanges(result.graph), waitOrder(result.graph, block, uniformity) {
    result.block = &block;
    result.effects = std::make_shared<BlockEffects>();
    result.effects->reserve(expectedOps);
    result.graph.reserve(expectedOps);
    result.ops.reserve(expectedOps);
    result.opPlaces.reserve(expectedOps);
    places.reserve(expectedOps);
  }

  FailureOr<BlockGraph> build();

private:
  using Nodes = SmallVector<unsigned, 2>;
  /// A place among the nodes or the transparent ops.
  struct UsedOp {
    unsigned index;
    bool isTransparent;
  };

  void addTransparent(Operation *op, Nodes producers);
  LogicalResult addNode(Operation *op, const Nodes &producers);
  /// The nodes that `op` and its nested ops use, also through transparent ops.
  /// Appends the transparent ops that they use directly to `result.uses`.
  Nodes getProducers(Operation *op);
  int64_t takeUnusedBytes(Operation *op);
  bool isDeadUserOfWait(Operation *op, const Nodes &producers) const;

  LogicalResult addNumber(unsigned node, Operation *op);
  void addEffects(unsigned node, const BlockEffects::Entry &effects);
  void addCommunicator(unsigned node, bool isStart);
  void addBarrier(unsigned node);

  /// A transparent op that depends on more nodes than this becomes a node
  /// itself, so that edges stay linear in the program.
  static constexpr size_t maxProducers = 8;

  CostFunction cost;
  CallEffects &calls;
  BlockGraph result;
  DependenceTracker dependences;
  ExchangeTracker exchanges;
  WaitOrderTracker waitOrder;
  /// The places of the nodes and the transparent ops with uses; most ops on
  /// buffers have none.
  llvm::DenseMap<Operation *, UsedOp> places;
  /// The nodes that each transparent op uses.
  std::vector<Nodes> producersOf;
  /// The place of the present op.
  BlockGraph::Place place{0, 0, 0};
  llvm::MapVector<Attribute, int32_t> lanes;
  /// The bytes of allocations that no node uses yet.
  llvm::DenseMap<Operation *, int64_t> unusedBytes;

  /// The last op ordered against everything, if any, and the first after it.
  std::optional<unsigned> barrier;
  unsigned firstSinceBarrier = 0;
  /// The last op that communicates inside, and the starts after it.
  std::optional<unsigned> communicator;
  SmallVector<unsigned> startsSince;
  /// The last start with a number.
  std::optional<unsigned> numbered;
  int64_t lastNumber = 0;
};

} // namespace

GraphBuilder::Nodes GraphBuilder::getProducers(Operation *op) {
  Nodes producers, uses;
  auto add = [&](Operation *user) {
    for (Value operand : user->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || producer->getBlock() != result.block)
        continue;
      auto used = places.find(producer);
      if (used == places.end())
        continue;
      unsigned index = used->second.index;
      if (used->second.isTransparent) {
        llvm::append_range(producers, producersOf[index]);
        uses.push_back(index);
      } else {
        producers.push_back(index);
      }
    }
  };
  if (hasNestedOps(op))
    op->walk(add);
  else
    add(op);
  // Most ops have at most two; avoid the call of sort for these.
  if (producers.size() == 2) {
    if (producers[0] > producers[1])
      std::swap(producers[0], producers[1]);
    else if (producers[0] == producers[1])
      producers.pop_back();
  } else if (producers.size() > 2) {
    llvm::sort(producers);
    producers.erase(llvm::unique(producers), producers.end());
  }
  place.usesBegin = result.uses.size();
  llvm::append_range(result.uses, uses);
  place.usesEnd = result.uses.size();
  return producers;
}

/// True if `op` is dead and uses a wait. A dead op must not pull the wait up.
bool GraphBuilder::isDeadUserOfWait(Operation *op,
                                    const Nodes &producers) const {
  return isUnneededCompute(op) && llvm::any_of(producers, [&](unsigned node) {
           return result.graph[node].kind == NodeKind::Wait;
         });
}

void GraphBuilder::addTransparent(Operation *op, Nodes producers) {
  bool isLeading =
      result.ops.empty() && result.numLeading == result.transparent.size();
  unsigned index = result.transparent.size();
  result.transparent.push_back(op);
  if (!op->use_empty())
    places[op] = {index, /*isTransparent=*/true};
  result.transparentPlaces.push_back(place);
  result.numLeading += isLeading;
  producersOf.push_back(std::move(producers));
  if (!op->getResults().empty() &&
      BufferResolver::isAllocation(op->getResult(0)))
    unusedBytes[op] = getCreatedBytes(op);
}

/// The bytes of the buffers whose first user is `op`.
int64_t GraphBuilder::takeUnusedBytes(Operation *op) {
  int64_t bytes = 0;
  if (unusedBytes.empty())
    return bytes;
  op->walk([&](Operation *user) {
    for (Value operand : user->getOperands()) {
      // Most buffers are used directly or through one view.
      const BufferRange &range = result.effects->getBuffers().resolve(operand);
      auto it =
          unusedBytes.find(range.root ? range.root.getDefiningOp() : nullptr);
      if (it == unusedBytes.end())
        continue;
      if (llvm::AddOverflow(bytes, it->second, bytes))
        bytes = std::numeric_limits<int64_t>::max();
      unusedBytes.erase(it);
    }
  });
  return bytes;
}

FailureOr<BlockGraph> GraphBuilder::build() {
  Block &block = *result.block;
  bool hasTerminator =
      !block.empty() && block.back().mightHaveTrait<OpTrait::IsTerminator>();
  auto end = hasTerminator ? std::prev(block.end()) : block.end();
  for (Operation &op : llvm::make_range(block.begin(), end)) {
    Nodes producers = getProducers(&op);
    // An op with a measured time is no transparent op.
    bool isTransparent =
        producers.size() <= maxProducers && isTransparentOp(&op) &&
        (op.hasTrait<OpTrait::ConstantLike>() || cost(&op) <= 0);
    if (isTransparent || isDeadUserOfWait(&op, producers))
      addTransparent(&op, std::move(producers));
    else if (failed(addNode(&op, producers)))
      return failure();
    ++place.position;
  }
  result.graph.finalize();
  return std::move(result);
}

LogicalResult GraphBuilder::addNode(Operation *op, const Nodes &producers) {
  comm::AsyncStartOpInterface start = comm::getAsyncStart(op);
  auto wait = dyn_cast<comm::WaitOp>(op);
  OpEffects effects = getOpEffects(op, calls);

  ScheduleNode info;
  if (llvm::AddOverflow(getCreatedBytes(op), takeUnusedBytes(op), info.bytes))
    info.bytes = std::numeric_limits<int64_t>::max();
  info.cost = std::max<int64_t>(0, cost(op));
  if (start) {
    auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
    info.kind = NodeKind::Start;
    info.pointToPoint = collective && collective.isPointToPoint();
    info.lane =
        lanes.insert({start.getLane(), static_cast<int32_t>(lanes.size())})
            .first->second;
  } else if (wait) {
    info.kind = NodeKind::Wait;
  } else if (effects.hasSideEffects()) {
    info.kind = NodeKind::Opaque;
  }
  unsigned node = result.graph.addNode(info);
  result.ops.push_back(op);
  result.opPlaces.push_back(place);
  if (!op->use_empty())
    places[op] = {node, /*isTransparent=*/false};

  for (unsigned producer : producers)
    result.graph.addEdge(producer, node);
  if (barrier)
    result.graph.addEdge(*barrier, node);
  addEffects(node, result.effects->add(place.position, op, effects));

  if (start) {
    addCommunicator(node, /*isStart=*/true);
    if (isa<comm::CollectiveOpInterface>(op))
      waitOrder.addStart(node, op,
                         info.pointToPoint ? start.getLane() : Attribute());
    if (info.pointToPoint)
      exchanges.addStart(node, start.getLane());
    return addNumber(node, op);
  }
  if (wait) {
    comm::AsyncStartOpInterface awaited = wait.getStart();
    auto collective = dyn_cast_or_null<comm::CollectiveOpInterface>(
        awaited ? awaited.getOperation() : nullptr);
    if (!awaited)
      exchanges.addWait(node, /*lane=*/{});
    else if (collective && collective.isPointToPoint())
      exchanges.addWait(node, awaited.getLane());
    waitOrder.addWait(node, wait);
    return success();
  }
  if (effects.hasStart || effects.hasWait) {
    addCommunicator(node, /*isStart=*/false);
    if (effects.hasStart) {
      exchanges.addNestedStart(node);
      waitOrder.addNestedStart(node, effects.hasMessage);
    }
    if (effects.hasWait)
      exchanges.addWait(node, /*lane=*/{});
  }
  return success();
}

/// Adds edges between starts with `comm.order`, whose numbers must ascend.
LogicalResult GraphBuilder::addNumber(unsigned node, Operation *op) {
  auto number =
      op->getAttrOfType<IntegerAttr>(comm::CommDialect::kOrderAttrName);
  if (!number)
    return success();
  if (numbered) {
    if (number.getInt() <= lastNumber) {
      InFlightDiagnostic diagnostic =
          op->emitOpError()
          << "has " << comm::CommDialect::kOrderAttrName << " = "
          << number.getInt() << " and follows a start that has " << lastNumber
          << ", expected a number greater than that; comm-order-collectives "
             "numbers the starts anew";
      diagnostic.attachNote(result.ops[*numbered]->getLoc())
          << "the start before it";
      return diagnostic;
    }
    result.graph.addEdge(*numbered, node);
  }
  numbered = node;
  lastNumber = number.getInt();
  return success();
}

void GraphBuilder::addEffects(unsigned node,
                              const BlockEffects::Entry &effects) {
  if (effects.isUnknown)
    addBarrier(node);
  for (const BlockEffects::Access &access :
       result.effects->getAccesses(effects))
    dependences.access(node, access);
  for (const OpEffects::ResourceAccess &access :
       result.effects->getResources(effects))
    dependences.accessResource(node, access.resource, access.isWrite);
}

void GraphBuilder::addBarrier(unsigned node) {
  for (unsigned before = firstSinceBarrier; before != node; ++before)
    result.graph.addEdge(before, node);
  barrier = node;
  firstSinceBarrier = node + 1;
  waitOrder.addBarrier();
}

void GraphBuilder::addCommunicator(unsigned node, bool isStart) {
  if (communicator)
    result.graph.addEdge(*communicator, node);
  if (isStart) {
    startsSince.push_back(node);
    return;
  }
  for (unsigned start : startsSince)
    result.graph.addEdge(start, node);
  startsSince.clear();
  communicator = node;
}

FailureOr<BlockGraph> braid::buildBlockGraph(Block &block, CostFunction cost,
                                             CallEffects &calls,
                                             RankUniformity &uniformity,
                                             size_t expectedOps) {
  return GraphBuilder(block, cost, calls, uniformity, expectedOps).build();
}
