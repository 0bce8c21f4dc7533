// Finds the best order of a small program without any IR, with Braid's search
// and simulator.
#include "braid/Schedule/Schedule.h"

#include <cstdio>

using namespace braid;

static const char *const names[] = {"gather", "wait",   "product",
                                    "reduce", "wait 2", "sum"};

// Two collectives of one lane, each awaited at once, a matmul that needs
// neither of them, and a sum that needs both.
static SchedulingProblem makeProblem() {
  SchedulingProblem problem;
  ScheduleNode start, wait, compute;
  start.kind = NodeKind::Start;
  start.lane = 0;
  start.cost = 300;
  wait.kind = NodeKind::Wait;
  compute.cost = 500;
  ScheduleGraph &graph = problem.graph;
  unsigned gather = graph.addNode(start);
  unsigned gathered = graph.addNode(wait);
  graph.addNode(compute);
  unsigned reduce = graph.addNode(start);
  unsigned reduced = graph.addNode(wait);
  compute.cost = 100;
  unsigned sum = graph.addNode(compute);
  graph.addEdge(gather, gathered);
  graph.addEdge(reduce, reduced);
  graph.addEdge(gathered, sum);
  graph.addEdge(reduced, sum);
  graph.finalize();
  problem.awaits = {{gathered, gather}, {reduced, reduce}};
  return problem;
}

static void print(const SchedulingProblem &problem,
                  const ScheduleOrder &order) {
  Simulation simulation = simulateOrder(problem, order);
  for (size_t i = 0; i != order.size(); ++i)
    std::printf("  %4lld to %4lld ns: %s\n",
                (long long)simulation.times[i].startNs,
                (long long)simulation.times[i].endNs, names[order[i]]);
  for (const ExposureReason &reason : getExposureReasons(problem, order))
    std::printf("  %s exposed for %lld ns: %s\n", names[reason.start],
                (long long)reason.exposedNs,
                describeExposureReason(reason, [&](unsigned node) {
                  return std::string(names[node]);
                }).c_str());
}

int main() {
  SchedulingProblem problem = makeProblem();
  std::printf("the program:\n");
  print(problem, getProgramOrder(problem.graph));

  SearchResult result = searchSchedule(problem);
  std::printf("the best order: %lld ns, no order takes less than %lld ns\n",
              (long long)result.makespanNs, (long long)result.lowerBoundNs);
  print(problem, result.order);
}
