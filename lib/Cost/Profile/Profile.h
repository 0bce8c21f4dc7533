//===- Profile.h - Measured times of ops ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Profiles: measured times of ops, and estimates for sizes between the measured
// ones. docs/reference/profile-files.md describes the file format.
// Cost/IR/ProfileSignature.h computes the signature of an op.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_PROFILE_PROFILE_H
#define BRAID_LIB_COST_PROFILE_PROFILE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid {

struct Calibration;

/// A signature: a computation and its sizes. There are two forms:
///
///     linalg.matmul(64x128xbf16, 128x32xbf16) -> (64x32xbf16)
///     comm.all_reduce sum bf16, 8 ranks, 33554432 bytes
///
/// The first form lists the types of the values that the op reads and writes.
/// In the second form only the bytes are a size.
struct ParsedSignature {
  /// The name of the op: the text up to the first blank, '#', '(' or ','.
  std::string op;
  /// The signature with `?` for all sizes. Estimates use measurements of one
  /// family.
  std::string family;
  /// All sizes, in the order of the text; at least 1 each.
  std::vector<int64_t> sizes;
  /// The number of the type of each size.
  std::vector<unsigned> typeOfSize;
  /// True for the second form.
  bool isCollective = false;

  /// Parses `text`. Returns none, and writes the expected text to `error`, if
  /// `text` has neither form.
  static std::optional<ParsedSignature> parse(llvm::StringRef text,
                                              std::string &error);
};

/// The source of a time in a profile.
enum class ProfileMatch { Label, Signature, Interpolated, Extrapolated };

/// A time in a profile.
struct ProfiledTime {
  int64_t ns;
  ProfileMatch match;
};

/// Measured times, by label and by signature. The results do not depend on the
/// order of the measurements.
///
/// The time of a signature without a measurement follows from measurements of
/// its family whose sizes differ by one common factor: each size is either
/// equal or multiplied by the factor. Examples are matmuls that differ in one
/// dimension, cubes, and collectives of any size. Between two measurements
/// log(ns) is linear in log(bytes). Beyond the largest and below the smallest
/// measurement, up to a factor of `maxExtrapolation`, the line through the
/// nearest two measurements continues. Its slope is limited to 0 (constant
/// time) to 1 for collectives (constant bandwidth), or to 1.5 for compute (the
/// operations of a matmul by its bytes). A single measurement gives no other
/// time.
class Profile {
public:
  /// The largest ratio of bytes to those of the nearest measurement, or of the
  /// inverse, for an extrapolation.
  static constexpr double maxExtrapolation = 4.0;

  /// The machine of the measurements; empty if unknown.
  llvm::StringRef getHardware() const { return hardware; }

  /// True if the profile has a signature of an op called `op`. Otherwise
  /// callers need not compute signatures of this op.
  bool hasSignatureOf(llvm::StringRef op) const { return ops.contains(op); }

  /// The time of ops with the label `label`.
  std::optional<ProfiledTime> lookupLabel(llvm::StringRef label) const;

  /// The measured or estimated time of `signature`; none if `signature` is not
  /// valid.
  std::optional<ProfiledTime> lookupSignature(llvm::StringRef signature) const;

  /// Sets the time of ops with the label `label`. Returns false, and changes
  /// nothing, if the label already has another time.
  bool setLabel(llvm::StringRef label, double ns);

  /// Sets the time of `signature`.
  void setSignature(const ParsedSignature &signature, double ns);

  /// What was measured of the machine; null if the profile does not say.
  const std::shared_ptr<const Calibration> &getCalibration() const {
    return calibration;
  }
  void setCalibration(std::shared_ptr<const Calibration> value) {
    calibration = std::move(value);
  }

  void setHardware(llvm::StringRef name) { hardware = name.str(); }

private:
  /// Nanoseconds, by sizes.
  using Family = std::map<std::vector<int64_t>, double>;

  std::string hardware;
  llvm::StringMap<double> labels;
  llvm::StringMap<Family> families;
  llvm::StringSet<> ops;
  std::shared_ptr<const Calibration> calibration;
};

/// Reads a profile. Reports show `origin` for figures of the machine. The
/// error gives the field, the found and the expected value.
llvm::Expected<Profile> readProfile(llvm::StringRef text,
                                    llvm::StringRef origin = "from a profile");

} // namespace braid

#endif // BRAID_LIB_COST_PROFILE_PROFILE_H
