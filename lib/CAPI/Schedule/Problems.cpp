//===- Problems.cpp - Problems from flat arrays ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Objects.h"

#include "braid/Cost/Hardware/HardwareMachine.h"

#include <limits>
#include <memory>

using namespace braid;
using llvm::Twine;

namespace {

/// Builds one problem, and stops at the first thing that is wrong.
class ProblemBuilder {
public:
  ProblemBuilder(const braid_problem_description &given, braid_error *error)
      : given(given), error(error) {}

  bool build(SchedulingProblem &problem);

private:
  bool fail(const Twine &text, int64_t node = -1, int64_t other = -1,
            braid_code code = BRAID_INVALID_ARGUMENT) {
    braid::fail(error, code, text, node, other);
    return false;
  }
  bool checkArrays();
  bool checkNode(int64_t node);
  bool isNode(int64_t node) const {
    return node >= 0 && node < given.num_nodes;
  }
  bool addToSum(int64_t &sum, int64_t amount, llvm::StringRef what,
                int64_t node);
  bool addNodes(SchedulingProblem &problem);
  bool addEdges(SchedulingProblem &problem);
  bool addAwaits(SchedulingProblem &problem);
  bool addBuffers(SchedulingProblem &problem);
  bool addTransients(SchedulingProblem &problem);
  void addBlocks(ResourceDemand &demand, int64_t node);
  bool addMachine(SchedulingProblem &problem);
  bool addLimits(SchedulingProblem &problem);

  const braid_problem_description &given;
  braid_error *error;
  int64_t bytesInAll = 0;
};

} // namespace

bool ProblemBuilder::checkArrays() {
  // Nodes are 32-bit numbers; some algorithms multiply them by a few.
  constexpr int64_t mostNodes = int64_t(1) << 28;
  if (given.num_nodes < 0 || given.num_nodes > mostNodes)
    return fail("found " + Twine(given.num_nodes) +
                " nodes, expected 0 to 2^28");
  if (given.num_edges < 0 || given.num_awaits < 0 || given.num_buffers < 0 ||
      given.num_lanes < 0 || given.num_transients < 0)
    return fail("found a negative number of edges, awaits, buffers, lanes or "
                "transients");
  auto has = [](int64_t count, const void *array) { return !count || array; };
  if (!has(given.num_nodes, given.kinds) ||
      !has(given.num_nodes, given.lanes) ||
      !has(given.num_nodes, given.costs) ||
      !has(given.num_edges, given.edges) ||
      !has(given.num_awaits, given.awaits) ||
      !has(given.num_buffers, given.buffer_bytes) ||
      !has(given.num_buffers, given.buffer_begin) ||
      !has(given.num_transients, given.transients))
    return fail("found no array where there are elements");
  return !given.num_nodes || !given.demands ||
         hasSize(given.demands, "demands", error);
}

/// Sums of all that there is must not overflow.
bool ProblemBuilder::addToSum(int64_t &sum, int64_t amount,
                              llvm::StringRef what, int64_t node) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max() / 4;
  if (amount < 0)
    return fail("found " + Twine(amount) + " " + what + ", expected at least 0",
                node);
  if (amount > most - sum)
    return fail("all " + what + " add up to more than 2^61", node);
  sum += amount;
  return true;
}

bool ProblemBuilder::checkNode(int64_t node) {
  int8_t kind = given.kinds[node];
  if (kind < BRAID_COMPUTE || kind > BRAID_OPAQUE)
    return fail("node " + Twine(node) + " has the kind " + Twine(int(kind)) +
                    ", expected 0 to 3",
                node);
  int32_t lane = given.lanes[node];
  if (kind == BRAID_START && (lane < 0 || lane >= given.num_lanes))
    return fail("node " + Twine(node) + " is a start on lane " + Twine(lane) +
                    ", expected 0 to " + Twine(given.num_lanes - 1),
                node);
  if (kind == BRAID_WAIT && given.costs[node] != 0)
    return fail("node " + Twine(node) + " is a wait that takes " +
                    Twine(given.costs[node]) + " ns, expected 0",
                node);
  return true;
}

bool ProblemBuilder::addNodes(SchedulingProblem &problem) {
  int64_t nsInAll = 0;
  problem.graph.reserve(given.num_nodes);
  for (int64_t node = 0; node != given.num_nodes; ++node) {
    int64_t bytes = given.bytes ? given.bytes[node] : 0;
    int64_t bytesOfNodes = 0;
    if (!checkNode(node) || !addToSum(nsInAll, given.costs[node], "ns", node) ||
        !addToSum(bytesOfNodes, bytes, "bytes", node))
      return false;
    ScheduleNode added;
    added.kind = static_cast<NodeKind>(given.kinds[node]);
    if (added.kind == NodeKind::Start)
      added.lane = given.lanes[node];
    added.cost = given.costs[node];
    added.bytes = bytes;
    problem.graph.addNode(added);
  }
  return true;
}

bool ProblemBuilder::addEdges(SchedulingProblem &problem) {
  for (int64_t i = 0; i != given.num_edges; ++i) {
    int64_t from = given.edges[2 * i], to = given.edges[2 * i + 1];
    if (!isNode(from) || !isNode(to))
      return fail("found an edge from " + Twine(from) + " to " + Twine(to) +
                  ", expected nodes from 0 to " + Twine(given.num_nodes - 1));
    if (from >= to)
      return fail("found an edge from " + Twine(from) + " to " + Twine(to) +
                      ", expected edges that lead to higher numbers",
                  from, to, BRAID_CYCLE);
    problem.graph.addEdge(from, to);
  }
  return true;
}

bool ProblemBuilder::addAwaits(SchedulingProblem &problem) {
  problem.awaits.reserve(given.num_awaits);
  for (int64_t i = 0; i != given.num_awaits; ++i) {
    int64_t node = given.awaits[2 * i], start = given.awaits[2 * i + 1];
    if (!isNode(node) || !isNode(start) || start >= node ||
        given.kinds[start] != BRAID_START || given.kinds[node] == BRAID_START)
      return fail("found that " + Twine(node) + " awaits " + Twine(start) +
                      ", expected a node that is no start and a start before "
                      "it",
                  node, start);
    problem.awaits.emplace_back(node, start);
    problem.graph.addEdge(start, node);
  }
  llvm::sort(problem.awaits);
  problem.awaits.erase(llvm::unique(problem.awaits), problem.awaits.end());
  return true;
}

bool ProblemBuilder::addBuffers(SchedulingProblem &problem) {
  if (!addToSum(bytesInAll, given.live_bytes, "bytes", -1))
    return false;
  problem.liveBytes = given.live_bytes;
  problem.buffers.reserve(given.num_buffers);
  for (int64_t i = 0; i != given.num_buffers; ++i) {
    int64_t begin = given.buffer_begin[i], end = given.buffer_begin[i + 1];
    if (begin < 0 || begin >= end || (i == 0 && begin != 0))
      return fail("buffer " + Twine(i) + " has its users from " + Twine(begin) +
                  " to " + Twine(end) + ", expected at least one");
    GraphBuffer buffer;
    buffer.bytes = given.buffer_bytes[i];
    buffer.escapes = given.buffer_escapes && given.buffer_escapes[i];
    for (int64_t place = begin; place != end; ++place) {
      int64_t user = given.buffer_users[place];
      if (!isNode(user))
        return fail("buffer " + Twine(i) + " has the user " + Twine(user) +
                    ", expected nodes from 0 to " + Twine(given.num_nodes - 1));
      buffer.users.push_back(user);
    }
    llvm::sort(buffer.users);
    buffer.users.erase(llvm::unique(buffer.users), buffer.users.end());
    if (!addToSum(bytesInAll, buffer.bytes, "bytes", buffer.users.front()))
      return false;
    problem.buffers.push_back(std::move(buffer));
  }
  return true;
}

bool ProblemBuilder::addTransients(SchedulingProblem &problem) {
  int64_t last = -1;
  for (int64_t i = 0; i != given.num_transients; ++i) {
    int64_t node = given.transients[2 * i], bytes = given.transients[2 * i + 1];
    if (!isNode(node) || node <= last)
      return fail("found transient bytes of node " + Twine(node) +
                  ", expected ascending nodes");
    if (!addToSum(bytesInAll, bytes, "bytes", node))
      return false;
    problem.transientBytes.emplace_back(node, bytes);
    last = node;
  }
  return true;
}

void ProblemBuilder::addBlocks(ResourceDemand &demand, int64_t node) {
  int32_t blocks = given.blocks ? given.blocks[node] : 0;
  if (given.kinds[node] == BRAID_START) {
    demand.clusterSize = std::max(blocks, 0);
    return;
  }
  demand.isPersistent = blocks != 0;
  demand.blocks = std::max(blocks, 0);
}

bool ProblemBuilder::addMachine(SchedulingProblem &problem) {
  if (!given.machine)
    return true;
  MachineModel &machine = problem.machine;
  machine = getMachineModel(given.machine->hardware);
  if (machine.linkBandwidth.empty())
    return true;
  for (int32_t lane = 0; lane != given.num_lanes; ++lane) {
    int32_t link = given.lane_links ? given.lane_links[lane] : BRAID_LINK_OWN;
    auto numLinks = static_cast<int32_t>(machine.linkBandwidth.size());
    if (link < BRAID_LINK_OWN || link >= numLinks)
      return fail("lane " + Twine(lane) + " has the link " + Twine(link) +
                  ", expected -1 to " + Twine(numLinks - 1));
    machine.linkOfLane.push_back(link);
  }
  if (!given.demands || !machine.hasContention())
    return true;
  problem.demands.reserve(given.num_nodes);
  size_t size = given.num_nodes ? given.demands->struct_size : 0;
  for (int64_t node = 0; node != given.num_nodes; ++node) {
    braid_demand demand = read(getElement(given.demands, size, node), size);
    if (demand.arithmetic_ns < 0 || demand.tiles < 0 ||
        demand.memory_bytes < 0 || demand.link_bytes < 0 ||
        demand.multiprocessors < 0)
      return fail("node " + Twine(node) + " has a negative demand", node);
    ResourceDemand added;
    added.arithmeticNs = std::min(demand.arithmetic_ns, given.costs[node]);
    added.tiles = demand.tiles;
    added.memoryBytes = demand.memory_bytes;
    added.linkBytes = demand.link_bytes;
    added.multiprocessors = static_cast<int32_t>(
        std::min<int64_t>(demand.multiprocessors, machine.multiprocessors));
    added.isOneWay = given.one_way && given.one_way[node] &&
                     given.kinds[node] == BRAID_START;
    addBlocks(added, node);
    problem.demands.push_back(added);
  }
  return true;
}

bool ProblemBuilder::addLimits(SchedulingProblem &problem) {
  constexpr int64_t mostInFlight = std::numeric_limits<int32_t>::max();
  if (given.max_memory < -1 || given.max_in_flight < 0 ||
      given.max_in_flight > mostInFlight)
    return fail("found the limits " + Twine(given.max_memory) + " bytes and " +
                Twine(given.max_in_flight) +
                " in flight, expected at least -1 and 0 to " +
                Twine(mostInFlight));
  if (given.max_memory >= 0)
    problem.maxMemory = given.max_memory;
  problem.maxInFlight = static_cast<unsigned>(given.max_in_flight);
  problem.keepOrderOfStarts = given.keep_order != 0;
  return true;
}

bool ProblemBuilder::build(SchedulingProblem &problem) {
  if (!checkArrays() || !addNodes(problem) || !addEdges(problem) ||
      !addAwaits(problem))
    return false;
  problem.graph.finalize();
  if (!addBuffers(problem) || !addTransients(problem) || !addMachine(problem) ||
      !addLimits(problem))
    return false;
  if (llvm::Error wrong = problem.check())
    return fail(llvm::toString(std::move(wrong)));
  return true;
}

braid_problem *
braid_problem_create(const braid_problem_description *description,
                     braid_error *error) {
  if (!hasSize(description, "description", error))
    return nullptr;
  braid_problem_description given = read(*description);
  auto problem = std::make_unique<braid_problem>();
  if (!ProblemBuilder(given, error).build(problem->problem))
    return nullptr;
  return problem.release();
}

void braid_problem_destroy(braid_problem *problem) { delete problem; }

std::optional<ScheduleOrder> braid::readOrder(const SchedulingProblem &problem,
                                              const int64_t *order,
                                              braid_error *error) {
  ScheduleOrder result;
  std::string reason = "found no order";
  unsigned size = problem.graph.size();
  for (unsigned place = 0; order && place != size; ++place)
    result.push_back(order[place] >= 0 && order[place] < size ? order[place]
                                                              : size);
  if (order && llvm::is_contained(result, size))
    reason = "the order names a node that there is not";
  else if (order && isAllowedOrder(problem, result, &reason))
    return result;
  fail(error, BRAID_INVALID_ARGUMENT, reason);
  return std::nullopt;
}

void braid::writeOrder(llvm::ArrayRef<unsigned> order, int64_t *target) {
  llvm::copy(order, target);
}

int32_t braid_problem_check_order(const braid_problem *problem,
                                  const int64_t *order, braid_error *error) {
  if (!isGiven(problem, "problem", error) || !isGiven(order, "order", error))
    return BRAID_INVALID_ARGUMENT;
  return readOrder(problem->problem, order, error) ? BRAID_OK
                                                   : BRAID_INVALID_ARGUMENT;
}
