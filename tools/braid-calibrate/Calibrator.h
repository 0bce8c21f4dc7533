//===- Calibrator.h - The measurements of a machine, in order ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_CALIBRATOR_H
#define BRAID_TOOLS_BRAID_CALIBRATE_CALIBRATOR_H

#include "Options.h"
#include "Progress.h"

#include <functional>
#include <optional>

namespace braid::calibrate {

/// The lanes of the collectives that run beside compute.
inline constexpr Lane symmetricLane = {LaneTransport::Symmetric, 8};
inline constexpr Lane copyLane = {LaneTransport::Copy, 0};

/// Measures what the options ask for, the most valuable first. A measurement
/// that fails, or for which the time is too short, is named in the result; the
/// others go on.
class Calibrator {
public:
  /// `save` is called after each measurement with what is known by then.
  Calibrator(const Options &options,
             std::function<void(const Calibrator &)> save)
      : options(options), save(std::move(save)),
        progress(options.limitSeconds) {}

  /// Fails if there are no ranks to measure, or if their GPUs differ.
  llvm::Error run();

  /// What has been measured so far.
  Calibration getResult() const;
  /// The launch of a lane in ns, if it has been measured.
  std::optional<int64_t> getMeasuredLaunch() const {
    return hasMeasuredLaunch ? std::optional(contention.laneLaunchNs)
                             : std::nullopt;
  }
  const std::string &getHardware() const { return hardware; }

private:
  struct Step {
    std::string name;
    double seconds = 0; ///< What it is expected to take.
    std::function<llvm::Error()> measure;
    Lane lane = {};
  };

  llvm::Error openWorld(Traces traces);
  llvm::Error identify();
  void planAlone();
  void planPairs();
  /// Runs all steps, and opens the world again after a failure. Steps begin
  /// only while `reserveSeconds` remain for what follows.
  llvm::Error runSteps(Traces traces, double reserveSeconds);
  /// The last step, in a world of its own. What fails here is left out.
  void runLaunches();
  void addMatmuls(int64_t multiprocessors);
  void addCurve(int32_t kind, const Lane &lane, const Grouping &grouping = {});

  llvm::Expected<double> timeMatmul(const MatmulCall &matmul);
  llvm::Error measureMatmul(const MatmulCall &matmul);
  /// `matmul` takes `ns`. If the last measured one of this shape takes longer
  /// on more multiprocessors, the clocks of a GPU were lower then: measures
  /// that one once more, and keeps the shorter time.
  llvm::Error remeasureOnMore(const MatmulCall &matmul, double ns);
  llvm::Error measureCurve(int32_t kind, const Lane &lane,
                           const Grouping &grouping);
  llvm::Error measureMemory();
  llvm::Error measureGap();
  llvm::Error measurePairOf(ComputeClass compute, LaneEngine engine);
  llvm::Error measureQueue();
  llvm::Error measureLaunch();
  llvm::Error measureHost();

  bool canMeasurePairs() const;
  bool hasBfloat16() const;
  bool usesLane(const Lane &lane) const;
  /// The load of a pair whose matmul leaves `room` multiprocessors, without
  /// numbers of operations.
  Load makePair(ComputeClass compute, LaneEngine engine, int64_t room) const;
  /// Measures a pair at the clocks at which its matmul was measured alone.
  llvm::Expected<MeasuredPair> measurePair(const Load &load);
  /// The matmul beside which collectives are measured.
  const MatmulCall *choosePairMatmul() const;
  void addSpread(double spread);
  void addMissing(const llvm::Twine &what) {
    result.missing.push_back(what.str());
  }

  const Options &options;
  const std::function<void(const Calibrator &)> save;
  Progress progress;
  std::unique_ptr<World> world;
  std::vector<Lane> lanes; ///< Without those that have failed.
  std::vector<Step> steps;
  std::string hardware;
  Calibration result;
  ContentionFigures contention;
  int64_t measuredPairs = 0;
  bool hasMeasuredLaunch = false;
  bool isRunning = true;
};

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_CALIBRATOR_H
