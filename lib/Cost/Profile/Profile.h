//===- Profile.h - Measured times of ops ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Profiles: what ops took when they were measured, and what follows from that
// for sizes in between. docs/profiles.md describes the file format. It knows
// nothing of IR; ProfileSignature.h writes the signature of an op.
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

/// What a signature says: what is computed, and on what sizes. Two forms:
///
///     linalg.matmul(64x128xbf16, 128x32xbf16) -> (64x32xbf16)
///     comm.all_reduce sum bf16, 8 ranks, 33554432 bytes
///
/// The first lists the types of what is read and of what is written. Of the
/// second only the bytes are a size.
struct ParsedSignature {
  /// The name of the op: the text up to the first blank, '#', '(' or ','.
  std::string op;
  /// The signature with `?` for all sizes. Only measurements of one family can
  /// say something of each other.
  std::string family;
  /// All sizes, in the order of the text; at least 1 each.
  std::vector<int64_t> sizes;
  /// For each size the number of the type that it belongs to.
  std::vector<unsigned> typeOfSize;
  /// True for the second form.
  bool isCollective = false;

  /// Takes `text` apart; none, and in `error` what was expected, if it is not
  /// of either form.
  static std::optional<ParsedSignature> parse(llvm::StringRef text,
                                              std::string &error);
};

/// How a profile came to a time.
enum class ProfileMatch { Label, Signature, Interpolated, Extrapolated };

/// A time out of a profile.
struct ProfiledTime {
  int64_t ns;
  ProfileMatch match;
};

/// Measured times, by label and by signature. The answers depend on the
/// measurements alone, not on their order.
///
/// A signature that was not measured itself is worked out from measurements of
/// its family whose sizes differ from its own by one common factor, each size
/// being either the same or multiplied by it: matmuls that differ in one
/// dimension, cubes, collectives of any size. Between two of them the time is
/// linear in log(bytes) and log(ns). Beyond the largest or below the smallest,
/// up to `maxExtrapolation` times, the line through the nearest two goes on;
/// its slope is kept between 0 (constant time) and 1 for collectives (constant
/// bandwidth) or 1.5 for compute (a matrix product's operations for its bytes).
/// A single measurement says nothing of other sizes.
class Profile {
public:
  /// How many times as many bytes as the nearest measurement, or how many times
  /// fewer, a time is extrapolated to.
  static constexpr double maxExtrapolation = 4.0;

  /// The machine that the times were measured on; empty if the profile does not
  /// say.
  llvm::StringRef getHardware() const { return hardware; }

  /// True if there is a signature of an op called `op`: without, there is no
  /// need to ask for one.
  bool hasSignatureOf(llvm::StringRef op) const { return ops.contains(op); }

  /// The time of what is labelled `label`.
  std::optional<ProfiledTime> lookupLabel(llvm::StringRef label) const;

  /// The time of `signature`, measured or worked out; none for a text that is
  /// no signature.
  std::optional<ProfiledTime> lookupSignature(llvm::StringRef signature) const;

  /// Sets the time of what is labelled `label`; false, and nothing is changed,
  /// if it has another one already.
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
  /// Nanoseconds by sizes.
  using Family = std::map<std::vector<int64_t>, double>;

  std::string hardware;
  llvm::StringMap<double> labels;
  llvm::StringMap<Family> families;
  llvm::StringSet<> ops;
  std::shared_ptr<const Calibration> calibration;
};

/// Reads a profile, whose `origin` is what reports say of figures of the
/// machine in it. Fails with a `JsonError` that says where in `text` what was
/// found and what was expected.
llvm::Expected<Profile> readProfile(llvm::StringRef text,
                                    llvm::StringRef origin = "from a profile");

} // namespace braid

#endif // BRAID_LIB_COST_PROFILE_PROFILE_H
