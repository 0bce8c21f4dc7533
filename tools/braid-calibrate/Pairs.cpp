//===- Pairs.cpp - Collectives beside compute -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The measurements of a Calibrator in which something runs beside something
// else: how they slow each other down, and how they get multiprocessors.
//
//===----------------------------------------------------------------------===//

#include "Calibrator.h"

#include "braid/Cost/Hardware/Hardware.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using namespace braid::calibrate;
using llvm::Error;
using llvm::Expected;

/// The fewest multiprocessors that matmuls leave to copies: NCCL copies a
/// rank's own part with a kernel.
static constexpr int64_t copyRoom = 4;

const MatmulCall *Calibrator::choosePairMatmul() const {
  static const double wanted = std::log(2.0 * 4096 * 4096 * 4096);
  const MatmulCall *best = nullptr;
  double bestDistance = 0;
  for (const MatmulCall &matmul : options.matmuls) {
    double distance =
        std::abs(std::log(shapeOf(matmul).countOperations()) - wanted);
    if (matmul.dtype == BRAID_RT_F32 || (best && distance >= bestDistance))
      continue;
    best = &matmul;
    bestDistance = distance;
  }
  return best;
}

Load Calibrator::makePair(ComputeClass compute, LaneEngine engine,
                          int64_t room) const {
  Load load;
  load.leadsAreMatmuls = compute == ComputeClass::Matmul;
  load.elementwiseBytes = options.elementwiseBytes;
  load.matmul = *choosePairMatmul();
  if (room < result.multiprocessors)
    load.matmul.multiprocessors =
        static_cast<int32_t>(result.multiprocessors - room);
  bool isCopy = engine == LaneEngine::CopyEngine;
  load.collective = {
      world->group(isCopy ? copyLane : symmetricLane), options.ranks,
      engine == LaneEngine::Kernel ? BRAID_RT_ALL_REDUCE : BRAID_RT_ALL_GATHER,
      options.pairBytes};
  return load;
}

Expected<MeasuredPair> Calibrator::measurePair(const Load &load) {
  const MatmulTime *alone =
      load.leadsAreMatmuls
          ? result.findMatmul(shapeOf(load.matmul), load.matmul.multiprocessors)
          : nullptr;
  return calibrate::measurePair(*world, options.durations, load,
                                alone ? alone->ns : 0);
}

Error Calibrator::measurePairOf(ComputeClass compute, LaneEngine engine) {
  // A collective that takes so many times as long as alone waits for matmuls
  // to end: those leave too few multiprocessors. A gather by copy engines,
  // which copies the own part with a kernel, took 2.3 times as long beside
  // matmuls that leave 4 multiprocessors on H100s, and 1.4 times with 8; on
  // H200s 1.4 times with 4.
  constexpr double late = 1.8;
  bool isMatmul = compute == ComputeClass::Matmul;
  bool isCopy = engine == LaneEngine::CopyEngine;
  llvm::SmallVector<int64_t, 3> rooms = {isCopy ? copyRoom
                                                : symmetricLane.ctas};
  if (isMatmul)
    rooms.append(isCopy ? std::initializer_list<int64_t>{2 * copyRoom}
                        : std::initializer_list<int64_t>{12, 16});
  std::optional<MeasuredPair> best;
  for (int64_t room : rooms) {
    Expected<MeasuredPair> pair = measurePair(makePair(compute, engine, room));
    if (!pair)
      return pair.takeError();
    if (best && pair->collective >= best->collective)
      continue;
    best = *pair;
    if (isMatmul && isCopy)
      contention.copyMultiprocessors = static_cast<int32_t>(room);
    if (best->collective <= late)
      break;
  }
  // The reader refuses what no machine does; so does a fake one's noise.
  constexpr double most = 100;
  contention.interference[size_t(compute)][size_t(engine)] = {
      std::min(best->compute, most), std::min(best->collective, most)};
  addSpread(best->spread);
  ++measuredPairs;
  return Error::success();
}

/// Where matmuls hold their multiprocessors to their end, a collective beside
/// a matmul on all of them waits for that end.
Error Calibrator::measureQueue() {
  Load load =
      makePair(ComputeClass::Matmul, LaneEngine::Kernel, symmetricLane.ctas);
  load.matmul.multiprocessors = 0;
  for (const MatmulCall &matmul : options.matmuls)
    if (matmul.dtype != BRAID_RT_F32 &&
        shapeOf(matmul).countOperations() >
            shapeOf(load.matmul).countOperations())
      load.matmul = matmul;
  Expected<MeasuredPair> pair = measurePair(load);
  if (!pair)
    return pair.takeError();
  double withRoom = contention
                        .interference[size_t(ComputeClass::Matmul)]
                                     [size_t(LaneEngine::Kernel)]
                        .communication;
  constexpr double clear = 1.5;
  bool queues = pair->collective > clear * withRoom;
  contention.multiprocessorModel =
      queues ? MultiprocessorModel::Queued : MultiprocessorModel::Taken;
  // GPCs cannot be measured, but counted. What single blocks take from pairs
  // follows from them; an H100 gave these numbers. Launches of lanes are
  // measured last, with CUPTI; without it that in the trace of a step on an
  // H200 counts.
  const Hardware *known = lookupHardware(hardware);
  constexpr int32_t hopperGroups = 8;
  constexpr int64_t hopperLaunchNs = 4600;
  if (known && known->generation == GpuGeneration::Hopper) {
    contention.processorGroups = hopperGroups;
    contention.laneLaunchNs = hopperLaunchNs;
    contention.takenFromPairs = {{4, 8}, {8, 8}, {16, 24}, {24, 24}};
  }
  ++measuredPairs;
  return Error::success();
}

Error Calibrator::measureHost() {
  Load load;
  load.collective = {world->group(Lane()), options.ranks, BRAID_RT_ALL_REDUCE,
                     bytesPerRank * options.ranks};
  Meter meter(*world, options.durations);
  for (auto [count, ns] :
       {std::pair(&Load::empty, &contention.hostLaunchNs),
        std::pair(&Load::collectives, &contention.hostStartNs)}) {
    Expected<MeasuredTime> host = meter.measureHost(load, count);
    if (!host)
      return host.takeError();
    *ns = std::llround(host->ns);
  }
  return Error::success();
}

Error Calibrator::measureLaunch() {
  Load load =
      makePair(ComputeClass::Matmul, LaneEngine::Kernel, symmetricLane.ctas);
  // Shorter than the matmul, so that the next one is started behind a matmul.
  constexpr int64_t units = 64;
  load.collective.bytes =
      std::min(options.pairBytes, units * bytesPerRank * options.ranks);
  Expected<MeasuredTime> launch =
      measureLaneLaunch(*world, options.durations, load);
  if (!launch)
    return launch.takeError();
  contention.laneLaunchNs = std::llround(launch->ns);
  hasMeasuredLaunch = true;
  return Error::success();
}
