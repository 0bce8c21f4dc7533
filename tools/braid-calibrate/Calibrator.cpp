//===- Calibrator.cpp - The measurements of a machine, in order -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibrator.h"

#include "braid/Cost/Hardware/Hardware.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using namespace braid::calibrate;
using llvm::Error;
using llvm::Expected;

/// The seconds that pairs need, with a world of their own.
static constexpr double pairsSeconds = 40;
/// The seconds that the launch of a lane needs, with a world of its own.
static constexpr double launchSeconds = 5;
/// The measurements of pairs, with the queue.
static constexpr int64_t allPairs = 7;
/// How often the world is opened again after a failure.
static constexpr int mostFailures = 4;

/// A rate with the four digits that a measurement is good for.
static double roundRate(double rate) {
  constexpr double digits = 4;
  double unit =
      std::pow(10, std::floor(std::log10(std::max(rate, 1.0))) + 1 - digits);
  return std::max(1.0, std::round(std::round(rate / unit) * unit));
}

static std::string describe(const MatmulCall &matmul) {
  return "matmul " + std::to_string(matmul.rows) + "x" +
         std::to_string(matmul.columns) + "x" + std::to_string(matmul.depth) +
         " " + braid_rt_dtype_name(matmul.dtype) +
         (matmul.transposed == TransposedOperands::None
              ? ""
              : ", transposed: " +
                    transposedOperandNames[size_t(matmul.transposed)].str()) +
         (matmul.multiprocessors
              ? " on " + std::to_string(matmul.multiprocessors) +
                    " multiprocessors"
              : "");
}

static std::string describe(int32_t kind, const Lane &lane,
                            const Grouping &grouping) {
  std::string name = lane.name();
  return std::string(braid_rt_kind_name(kind)) +
         (grouping.ranks ? ", groups of " + std::to_string(grouping.ranks) +
                               ", stride " + std::to_string(grouping.stride)
                         : "") +
         (name.empty() ? "" : ", lane " + name);
}

/// Groups have one lane of each transport: links that groups share slow down
/// all limits alike.
static bool isForGroups(const Lane &lane) {
  return lane == Lane() || lane == symmetricLane || lane == copyLane;
}

//===----------------------------------------------------------------------===//
// The world
//===----------------------------------------------------------------------===//

Error Calibrator::openWorld(Traces traces) {
  world.reset();
  static constexpr const char *names[] = {"connecting",
                                          "connecting, with traces",
                                          "connecting, with traces by CUPTI"};
  progress.show(names[size_t(traces)]);
  OperandSizes sizes;
  for (const MatmulCall &matmul : options.matmuls) {
    int64_t bytes = braid_rt_dtype_size(matmul.dtype);
    sizes.left = std::max(sizes.left, matmul.rows * matmul.depth * bytes);
    sizes.right = std::max(sizes.right, matmul.depth * matmul.columns * bytes);
    sizes.result = std::max(sizes.result, matmul.rows * matmul.columns * bytes);
  }
  for (int64_t *bytes : {&sizes.left, &sizes.right, &sizes.result})
    *bytes = std::max(*bytes, options.elementwiseBytes);
  if (options.ranks > 1) {
    sizes.collective = options.pairBytes;
    for (const auto &[kind, ofKind] : options.collectives)
      sizes.collective = std::max(sizes.collective, ofKind.back());
  }
  std::vector<std::pair<Lane, Grouping>> wanted;
  for (const Lane &lane : lanes) {
    if (traces == Traces::None || lane == symmetricLane || lane == copyLane)
      wanted.emplace_back(lane, Grouping());
    if (traces == Traces::None && isForGroups(lane))
      for (const Grouping &grouping : options.groupings)
        wanted.emplace_back(lane, grouping);
  }
  Expected<std::unique_ptr<World>> opened =
      World::open(options.ranks, wanted, sizes, traces);
  if (!opened)
    return opened.takeError();
  world = std::move(*opened);
  return Error::success();
}

/// The driver's version, if the system reports it.
static std::string readDriverVersion() {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFileAsStream("/proc/driver/nvidia/version");
  if (!file)
    return "";
  // NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ...
  llvm::SmallVector<llvm::StringRef> words;
  (*file)->getBuffer().split('\n').first.split(words, ' ', -1, false);
  for (llvm::StringRef word : words)
    if (word.contains('.') &&
        llvm::all_of(word, [](char c) { return c == '.' || llvm::isDigit(c); }))
      return word.str();
  return "";
}

Error Calibrator::identify() {
  for (const char *name :
       {"gpu", "multiprocessors", "cuda", "cublaslt", "nccl"}) {
    std::string value = world->property(0, name);
    for (int64_t rank = 1; rank < world->ranks(); ++rank)
      if (std::string other = world->property(rank, name); other != value)
        return llvm::createStringError(
            llvm::Twine(name) + ": found '" + other + "' on rank " +
            llvm::Twine(rank) + " and '" + value +
            "' on rank 0, expected the same on all ranks");
    if (name == llvm::StringRef("gpu"))
      result.gpu = value;
    else if (name == llvm::StringRef("multiprocessors"))
      result.multiprocessors = std::stoll(value);
    else if (!value.empty())
      result.software.emplace_back(name, value);
  }
  if (std::string driver = readDriverVersion(); !driver.empty())
    result.software.emplace_back("driver", driver);
  llvm::sort(result.software);
  result.gpus = world->ranks();
  hardware = options.machine;
  if (const Hardware *known = findHardwareOfGpu(result.gpu);
      known && hardware.empty())
    hardware = known->name;
  if (hardware.empty())
    return llvm::createStringError("found GPU '" + result.gpu +
                                   "', which no known machine has; expected "
                                   "--machine=NAME with one of: " +
                                   joinHardwareNames());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The order of measurements
//===----------------------------------------------------------------------===//

void Calibrator::addMatmuls(int64_t multiprocessors) {
  for (MatmulCall matmul : options.matmuls) {
    // Steps in bf16 are the ones that targets are for.
    if (multiprocessors != 0 && matmul.dtype != BRAID_RT_BF16 && hasBfloat16())
      continue;
    matmul.multiprocessors = static_cast<int32_t>(multiprocessors);
    constexpr double overhead = 0.3;
    steps.push_back(
        {describe(matmul),
         overhead +
             (options.durations.matmulWarmNs + options.durations.idleNs) * 1e-9,
         [this, matmul]() { return measureMatmul(matmul); }});
  }
}

void Calibrator::addCurve(int32_t kind, const Lane &lane,
                          const Grouping &grouping) {
  if (!usesLane(lane))
    return;
  // Symmetric kernels and copy engines know some kinds only.
  bool isReduction = kind == BRAID_RT_ALL_REDUCE ||
                     kind == BRAID_RT_REDUCE_SCATTER || kind == BRAID_RT_REDUCE;
  bool isExchange = kind == BRAID_RT_ALL_TO_ALL || kind == BRAID_RT_BROADCAST;
  if ((lane.transport == LaneTransport::Copy && isReduction) ||
      (lane.transport == LaneTransport::Symmetric && isExchange))
    return;
  constexpr double ofPoint = 0.05;
  auto points = static_cast<double>(options.collectives.at(kind).size());
  steps.push_back({describe(kind, lane, grouping), ofPoint * points,
                   [this, kind, lane, grouping]() {
                     return measureCurve(kind, lane, grouping);
                   },
                   lane});
}

void Calibrator::planAlone() {
  steps.clear();
  steps.push_back({"memory", 0.2, [this]() { return measureMemory(); }});
  addMatmuls(0);
  steps.push_back({"launch gap", 0.2, [this]() { return measureGap(); }});
  if (options.ranks > 1) {
    steps.push_back({"host times", 0.2, [this]() { return measureHost(); }});
    for (const auto &[kind, sizes] : options.collectives)
      addCurve(kind, Lane());
  }
  for (int64_t spared : options.spared)
    if (spared < result.multiprocessors)
      addMatmuls(result.multiprocessors - spared);
  for (const Grouping &grouping : options.groupings)
    for (const Lane &lane : options.lanes)
      if (isForGroups(lane))
        for (const auto &[kind, sizes] : options.collectives)
          addCurve(kind, lane, grouping);
  if (options.ranks > 1)
    for (const Lane &lane : llvm::ArrayRef(options.lanes).drop_front())
      for (const auto &[kind, sizes] : options.collectives)
        addCurve(kind, lane);
}

void Calibrator::planPairs() {
  steps.clear();
  if (!canMeasurePairs()) {
    addMissing("contention: it takes two ranks, a matmul, and the lanes "
               "symmetric-8 and copy");
    return;
  }
  constexpr double ofPair = 6;
  for (auto [compute, ofCompute] :
       {std::pair(ComputeClass::Matmul, "matmul"),
        std::pair(ComputeClass::Elementwise, "elementwise")})
    for (auto [engine, ofEngine] :
         {std::pair(LaneEngine::Kernel, "kernel"),
          std::pair(LaneEngine::CopyEngine, "copy"),
          std::pair(LaneEngine::OneWayKernel, "one-way kernel")})
      steps.push_back(
          {std::string(ofCompute) + " beside " + ofEngine, ofPair,
           [this, compute = compute, engine = engine]() {
             return measurePairOf(compute, engine);
           },
           engine == LaneEngine::CopyEngine ? copyLane : symmetricLane});
  steps.push_back({"matmul on all multiprocessors beside kernel", ofPair,
                   [this]() { return measureQueue(); }, symmetricLane});
}

bool Calibrator::canMeasurePairs() const {
  return options.ranks > 1 && usesLane(symmetricLane) && usesLane(copyLane) &&
         choosePairMatmul();
}

bool Calibrator::hasBfloat16() const {
  return llvm::any_of(options.matmuls, [](const MatmulCall &matmul) {
    return matmul.dtype == BRAID_RT_BF16;
  });
}

bool Calibrator::usesLane(const Lane &lane) const {
  return llvm::is_contained(lanes, lane);
}

Error Calibrator::runSteps(Traces traces, double reserveSeconds) {
  if (steps.empty())
    return Error::success();
  int failures = 0;
  std::vector<std::string> late;
  for (auto [index, step] : llvm::enumerate(steps)) {
    if (!(step.lane == Lane()) && !usesLane(step.lane)) {
      addMissing(step.name + ": an earlier collective of the lane has failed");
      continue;
    }
    if (progress.seconds() + step.seconds + reserveSeconds >
        options.limitSeconds) {
      late.push_back(step.name);
      continue;
    }
    progress.show(step.name, index, steps.size());
    Error error = step.measure();
    if (!error) {
      save(*this);
      continue;
    }
    addMissing(step.name + ": " + llvm::toString(std::move(error)));
    progress.warn(result.missing.back());
    if (++failures == mostFailures)
      return llvm::createStringError("too many measurements have failed");
    if (!(step.lane == Lane()))
      llvm::erase(lanes, step.lane);
    if (Error again = openWorld(traces))
      return again;
  }
  for (const std::string &name : late)
    addMissing(name + ": the time is over (--limit)");
  return Error::success();
}

void Calibrator::runLaunches() {
  steps.clear();
  if (measuredPairs != allPairs || !usesLane(symmetricLane))
    return;
  steps.push_back({"launch of a lane", launchSeconds,
                   [this]() { return measureLaunch(); }, symmetricLane});
  Error error = openWorld(Traces::Activities);
  if (!error)
    error = runSteps(Traces::Activities, /*reserveSeconds=*/0);
  if (error)
    addMissing(steps.front().name + ": " + llvm::toString(std::move(error)));
}

Error Calibrator::run() {
  lanes = options.lanes;
  if (Error error = openWorld(Traces::None))
    return error;
  if (Error error = identify())
    return error;
  planAlone();
  Error failed = runSteps(Traces::None, canMeasurePairs() ? pairsSeconds : 0);
  if (!failed) {
    planPairs();
    if (!steps.empty())
      failed = openWorld(Traces::Events);
    if (!failed)
      failed = runSteps(Traces::Events, launchSeconds);
  }
  if (!failed)
    runLaunches();
  // What was measured before a failure is worth keeping.
  if (failed) {
    addMissing("the rest: " + llvm::toString(std::move(failed)));
    progress.warn(result.missing.back());
  }
  isRunning = false;
  // The end of a failed world may end the process.
  save(*this);
  world.reset();
  progress.end();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

void Calibrator::addSpread(double spread) {
  result.spread = std::min(1.0, std::max(result.spread, spread));
}

Expected<double> Calibrator::timeMatmul(const MatmulCall &matmul) {
  Load load;
  load.matmul = matmul;
  Meter meter(*world, options.durations);
  Expected<MeasuredTime> time =
      meter.measure(load, &Load::matmuls, options.durations.matmulWarmNs,
                    options.durations.idleNs);
  if (!time)
    return time.takeError();
  addSpread(time->spread);
  return time->ns;
}

Error Calibrator::measureMatmul(const MatmulCall &matmul) {
  Expected<double> ns = timeMatmul(matmul);
  if (!ns)
    return ns.takeError();
  Error error = remeasureOnMore(matmul, *ns);
  result.matmuls.push_back({shapeOf(matmul), matmul.multiprocessors, *ns});
  return error;
}

Error Calibrator::remeasureOnMore(const MatmulCall &matmul, double ns) {
  // More than two calibrations differ by.
  constexpr double atLowerClocks = 1.03;
  MatmulTime *more = nullptr;
  for (MatmulTime &known : result.matmuls)
    if (known.shape == shapeOf(matmul))
      more = &known;
  bool isOnMore = more && (more->multiprocessors == 0 ||
                           more->multiprocessors > matmul.multiprocessors);
  if (!isOnMore || more->ns <= atLowerClocks * ns)
    return Error::success();
  MatmulCall again = matmul;
  again.multiprocessors = more->multiprocessors;
  Expected<double> secondNs = timeMatmul(again);
  if (!secondNs)
    return secondNs.takeError();
  more->ns = std::min(more->ns, *secondNs);
  return Error::success();
}

Error Calibrator::measureMemory() {
  Load load;
  load.elementwiseBytes = options.elementwiseBytes;
  Meter meter(*world, options.durations);
  Expected<MeasuredTime> time =
      meter.measure(load, &Load::elementwise, options.durations.otherWarmNs);
  if (!time)
    return time.takeError();
  // Two operands and a result.
  constexpr double operands = 3;
  result.memoryBandwidth =
      roundRate(operands * static_cast<double>(options.elementwiseBytes) /
                std::max(time->ns, 1.0) * 1e9);
  addSpread(time->spread);
  return Error::success();
}

Error Calibrator::measureGap() {
  const MatmulCall *matmul = choosePairMatmul();
  if (!matmul)
    return llvm::createStringError("it takes a matmul");
  Meter meter(*world, options.durations);
  Expected<MeasuredTime> gap = meter.measureGap(*matmul);
  if (!gap)
    return gap.takeError();
  result.launchNs = std::llround(gap->ns);
  return Error::success();
}

/// Drops sizes that took more than twice as long as a larger one: something
/// else has run meanwhile. Returns them.
static std::vector<double>
dropContradictions(std::vector<std::pair<double, double>> &points) {
  std::vector<double> dropped;
  for (size_t i = points.size(); i-- > 1;)
    if (points[i - 1].second > 2 * points[i].second) {
      dropped.push_back(points[i - 1].first);
      points.erase(points.begin() + static_cast<ptrdiff_t>(i - 1));
    }
  return dropped;
}

Error Calibrator::measureCurve(int32_t kind, const Lane &lane,
                               const Grouping &grouping) {
  CollectiveCurve curve;
  curve.kind = braid_rt_kind_name(kind);
  curve.ranks = grouping.ranks ? grouping.ranks : options.ranks;
  curve.groups = options.ranks / curve.ranks;
  curve.stride = grouping.stride;
  curve.transport = lane.transport;
  curve.ctas = lane.ctas;
  Meter meter(*world, options.durations);
  for (int64_t bytes : options.collectives.at(kind)) {
    Load load;
    load.collective = {world->group(lane, grouping), curve.ranks, kind, bytes};
    Expected<MeasuredTime> time =
        meter.measure(load, &Load::collectives, options.durations.otherWarmNs);
    if (!time)
      return time.takeError();
    curve.points.emplace_back(static_cast<double>(bytes),
                              std::max(1.0, time->ns));
    addSpread(time->spread);
  }
  for (double bytes : dropContradictions(curve.points))
    addMissing(describe(kind, lane, grouping) + ", " +
               llvm::Twine(static_cast<int64_t>(bytes)) +
               " bytes: it took more than twice as long as a larger size");
  constexpr size_t fewest = 2;
  if (curve.points.size() < fewest) {
    addMissing(describe(kind, lane, grouping) + ": a curve needs two sizes");
    return Error::success();
  }
  result.collectives.push_back(std::move(curve));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

Calibration Calibrator::getResult() const {
  Calibration all = result;
  if (isRunning)
    all.missing.emplace_back("the rest: the measurement was still running");
  if (measuredPairs == allPairs)
    all.contention = contention;
  // The rate that waves multiply: that of the matmuls that fill them.
  constexpr double full = 2.0 * 4096 * 4096 * 4096;
  for (const MatmulTime &matmul : all.matmuls) {
    double operations = matmul.shape.countOperations();
    double rate = roundRate(operations / std::max(matmul.ns, 1.0) * 1e9);
    double &best = all.matmulRate[size_t(matmul.shape.element)];
    if (matmul.multiprocessors == 0 && operations >= full)
      best = std::max(best, rate);
  }
  return all;
}
