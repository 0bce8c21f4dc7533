//===- Calibrations.cpp - Machines that were measured ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Objects.h"

#include "Cost/Profile/Calibration.h"
#include "Cost/Profile/Profile.h"

using namespace braid;

int32_t braid_machine_calibrate(braid_machine *machine, const char *json,
                                braid_error *error) {
  if (!isGiven(machine, "machine", error))
    return BRAID_INVALID_ARGUMENT;
  const std::string &name = machine->hardware.name;
  std::shared_ptr<const Calibration> calibration;
  if (json) {
    llvm::Expected<Profile> profile = readProfile(json);
    if (!profile)
      return fail(error, BRAID_INVALID_ARGUMENT,
                  llvm::toString(profile.takeError()));
    if (!profile->getHardware().empty() && profile->getHardware() != name)
      return fail(error, BRAID_INVALID_ARGUMENT,
                  "found a profile of the machine '" + profile->getHardware() +
                      "', expected one of '" + name + "'");
    calibration = profile->getCalibration();
    if (!calibration)
      return fail(error, BRAID_INVALID_ARGUMENT,
                  "found a profile without a machine, expected version 2");
  } else {
    calibration = getShippedCalibration(name);
    if (!calibration)
      return fail(error, BRAID_UNKNOWN_NAME,
                  "found no profile of the machine '" + name +
                      "' that Braid ships, expected " +
                      joinShippedHardwareNames());
  }
  machine->hardware = calibration->apply(machine->hardware);
  machine->calibration = std::move(calibration);
  return BRAID_OK;
}
