//===- ShippedProfiles.cpp - Machines that were measured ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"
#include "Profile.h"

#include "llvm/ADT/StringRef.h"

#include "ShippedProfiles.inc"

using namespace braid;

/// What the profile in `text` says of its machine.
static std::shared_ptr<const Calibration> read(llvm::StringRef text) {
  Profile profile = llvm::cantFail(readProfile(text));
  auto calibration = std::make_shared<Calibration>(*profile.getCalibration());
  calibration->origin = "measured on " + std::to_string(calibration->gpus) +
                        "x " + calibration->gpu + ", shipped";
  return calibration;
}

std::shared_ptr<const Calibration>
braid::getShippedCalibration(llvm::StringRef hardware) {
  static const std::shared_ptr<const Calibration> h200 = read(kH200x8Json);
  return hardware == "h200x8" ? h200 : nullptr;
}
