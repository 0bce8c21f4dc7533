//===- Contention.cpp - How ops slow each other down ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contention.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace braid;

double braid::getArithmeticStretch(const ResourceDemand &demand,
                                   const MachineModel &machine, int64_t held) {
  int64_t all = machine.multiprocessors;
  if (all <= 0 || held <= 0)
    return 1;
  int64_t left = all - std::min(held, all - 1);
  if (demand.tiles <= 0)
    return double(all) / double(left);
  return double(llvm::divideCeil(uint64_t(demand.tiles), uint64_t(left))) /
         double(llvm::divideCeil(uint64_t(demand.tiles), uint64_t(all)));
}

double braid::getComputeRate(int64_t costNs, const ResourceDemand &demand,
                             const MachineModel &machine, int64_t held) {
  if (isPersistentOn(demand, machine))
    return 1;
  // No more than the cost: the rest of the cost does not stretch.
  double arithmetic = double(std::min(demand.arithmeticNs, costNs)) *
                      getArithmeticStretch(demand, machine, held);
  return arithmetic > double(costNs) ? double(costNs) / arithmetic : 1;
}

Interference braid::getInterference(int64_t costNs,
                                    const ResourceDemand &compute,
                                    const ResourceDemand &onLane,
                                    const MachineModel &machine) {
  bool computes = compute.arithmeticNs > 0 || compute.memoryBytes > 0;
  bool isOnEngine = onLane.multiprocessors > 0;
  bool moves = isOnEngine || onLane.memoryBytes > 0 || onLane.linkBytes > 0;
  if (!machine.isQueued() || !computes || !moves)
    return {};
  // An op whose arithmetic takes less than half of its time waits for memory.
  auto computeClass = compute.arithmeticNs >= costNs - compute.arithmeticNs
                          ? ComputeClass::Matmul
                          : ComputeClass::Elementwise;
  auto engine = !isOnEngine       ? LaneEngine::CopyEngine
                : onLane.isOneWay ? LaneEngine::OneWayKernel
                                  : LaneEngine::Kernel;
  return machine.interference[size_t(computeClass)][size_t(engine)];
}

double braid::getMemoryDemand(int64_t costNs, const ResourceDemand &demand,
                              const MachineModel &machine) {
  if (machine.memoryBandwidth <= 0)
    return 0;
  return std::min(double(demand.memoryBytes) / double(costNs),
                  machine.memoryBandwidth);
}

double braid::getLinkDemand(int64_t costNs, const ResourceDemand &demand,
                            const MachineModel &machine, int32_t link) {
  if (link < 0 || machine.linkBandwidth[link] <= 0)
    return 0;
  return std::min(double(demand.linkBytes) / double(costNs),
                  machine.linkBandwidth[link]);
}

bool braid::isShared(const ResourceDemand &demand,
                     const MachineModel &machine) {
  return machine.hasHost() ||
         (machine.multiprocessors > 0 && demand.multiprocessors > 0) ||
         (machine.memoryBandwidth > 0 && demand.memoryBytes > 0) ||
         demand.linkBytes > 0;
}

/// Slows down the op on the stream and the operations beside it.
static void interfere(llvm::MutableArrayRef<RunningOp> running,
                      const MachineModel &machine) {
  auto *compute =
      llvm::find_if(running, [](const RunningOp &op) { return op.lane < 0; });
  if (compute == running.end())
    return;
  double slowdown = 1;
  for (RunningOp &op : running) {
    if (op.lane < 0)
      continue;
    Interference both =
        getInterference(compute->costNs, *compute->demand, *op.demand, machine);
    slowdown = std::max(slowdown, both.compute);
    op.rate /= both.communication;
  }
  compute->rate /= slowdown;
}

void braid::shareMachine(llvm::MutableArrayRef<RunningOp> running,
                         const MachineModel &machine,
                         std::vector<double> &linkDemand) {
  linkDemand.assign(machine.linkBandwidth.size(), 0);
  int64_t held = 0;
  for (RunningOp &op : running) {
    op.rate = 1;
    if (op.lane < 0)
      continue;
    held = addNs(held, std::max(op.demand->multiprocessors, 0));
    if (int32_t link = getLink(machine, op.lane); link >= 0)
      linkDemand[link] += getLinkDemand(op.costNs, *op.demand, machine, link);
  }

  double memoryDemand = 0;
  for (RunningOp &op : running) {
    if (op.lane < 0) {
      op.rate = getComputeRate(op.costNs, *op.demand, machine, held);
    } else if (int32_t link = getLink(machine, op.lane);
               link >= 0 && op.demand->linkBytes > 0 &&
               machine.linkBandwidth[link] > 0 &&
               linkDemand[link] > machine.linkBandwidth[link]) {
      op.rate = machine.linkBandwidth[link] / linkDemand[link];
    }
    memoryDemand += getMemoryDemand(op.costNs, *op.demand, machine) * op.rate;
  }
  if (memoryDemand > machine.memoryBandwidth)
    for (RunningOp &op : running)
      if (op.demand->memoryBytes > 0)
        op.rate *= machine.memoryBandwidth / memoryDemand;
  if (machine.isQueued())
    interfere(running, machine);
}
