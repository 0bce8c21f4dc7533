//===- ShippedProfiles.cpp - Machines that were measured ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"
#include "Profile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

#include "ShippedProfiles.inc"

using namespace braid;

/// How many GPUs were measured: "2x and 8x". Each curve is of as many as it has
/// ranks; all else is of the fewest.
static std::string describeCounts(const Calibration &calibration) {
  std::set<int64_t> counts;
  for (const CollectiveCurve &curve : calibration.collectives)
    counts.insert(curve.ranks);
  if (counts.empty())
    counts.insert(calibration.gpus);
  return llvm::join(
      llvm::map_range(
          counts, [](int64_t count) { return std::to_string(count) + "x"; }),
      " and ");
}

/// What the profile in `text` says of its machine.
static std::shared_ptr<const Calibration> read(llvm::StringRef text) {
  Profile profile = llvm::cantFail(readProfile(text));
  auto calibration = std::make_shared<Calibration>(*profile.getCalibration());
  calibration->origin = "measured on " + describeCounts(*calibration) + " " +
                        calibration->gpu + ", shipped";
  return calibration;
}

namespace {
/// A machine with a profile, which is read when it is first asked for.
struct ShippedProfile {
  llvm::StringLiteral hardware;
  std::shared_ptr<const Calibration> (*get)();
};
} // namespace

static constexpr ShippedProfile shippedProfiles[] = {
    {"h100x8",
     [] {
       static const auto calibration = read(kH100x8Json);
       return calibration;
     }},
    {"h200x8", [] {
       static const auto calibration = read(kH200x8Json);
       return calibration;
     }}};

std::shared_ptr<const Calibration>
braid::getShippedCalibration(llvm::StringRef hardware) {
  for (const ShippedProfile &profile : shippedProfiles)
    if (profile.hardware == hardware)
      return profile.get();
  return nullptr;
}

std::string braid::joinShippedHardwareNames() {
  return llvm::join(llvm::map_range(shippedProfiles,
                                    [](const ShippedProfile &profile) {
                                      return profile.hardware;
                                    }),
                    " or ");
}
