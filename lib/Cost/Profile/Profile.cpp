//===- Profile.cpp - Measured times of ops --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using llvm::StringRef;

namespace {
/// A measurement relative to the wanted signature.
struct Sample {
  /// The logarithm of the ratio of bytes to those of the wanted signature.
  double x;
  double logNs;
};

/// The samples that differ from the wanted signature in the same sizes, sorted
/// by x, which is never 0.
using Line = std::vector<Sample>;

/// An estimated time on a line.
struct Estimate {
  double logNs;
  /// True if the estimate is between two samples, false if it is beyond them.
  bool isInside;
  /// The distance of the two samples, or the distance to the nearest sample;
  /// smaller is better.
  double distance;
};
} // namespace

/// The sizes in which `sizes` and `wanted` differ, if all of them differ by the
/// same factor; none otherwise.
static std::optional<std::vector<bool>>
getScaledSizes(const std::vector<int64_t> &wanted,
               const std::vector<int64_t> &sizes) {
  std::vector<bool> scaled(wanted.size(), false);
  std::optional<size_t> first;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (sizes[i] == wanted[i])
      continue;
    scaled[i] = true;
    if (!first)
      first = i;
    // Compare the fractions exactly.
    else if (static_cast<unsigned __int128>(sizes[i]) * wanted[*first] !=
             static_cast<unsigned __int128>(sizes[*first]) * wanted[i])
      return std::nullopt;
  }
  return scaled;
}

/// The logarithm of the largest growth of the bytes of a type if the sizes in
/// `scaled` grow by e^logFactor.
static double getLogGrowth(const ParsedSignature &signature,
                           const std::vector<bool> &scaled, double logFactor) {
  unsigned most = 0, current = 0;
  for (size_t i = 0; i < scaled.size(); ++i) {
    if (i > 0 && signature.typeOfSize[i] != signature.typeOfSize[i - 1])
      current = 0;
    current += scaled[i];
    most = std::max(most, current);
  }
  return logFactor * most;
}

/// The time at 0 on `line`; none if it is too far from the samples.
static std::optional<Estimate> estimate(const Line &line, double maxSlope) {
  if (line.size() < 2)
    return std::nullopt;
  auto right =
      llvm::find_if(line, [](const Sample &sample) { return sample.x > 0; });
  if (right != line.begin() && right != line.end()) {
    const Sample &a = *std::prev(right), &b = *right;
    double t = -a.x / (b.x - a.x);
    return Estimate{a.logNs + t * (b.logNs - a.logNs), true, b.x - a.x};
  }
  bool isBelow = right == line.begin();
  const Sample &nearest = isBelow ? line[0] : line[line.size() - 1];
  const Sample &next = isBelow ? line[1] : line[line.size() - 2];
  // The tolerance keeps the limit itself in range despite rounding.
  if (std::abs(nearest.x) > std::log(Profile::maxExtrapolation) + 1e-9)
    return std::nullopt;
  double slope = std::clamp((nearest.logNs - next.logNs) / (nearest.x - next.x),
                            0.0, maxSlope);
  return Estimate{nearest.logNs - slope * nearest.x, false,
                  std::abs(nearest.x)};
}

/// `ns` as whole nanoseconds.
static int64_t roundNs(double ns) {
  constexpr double limit = 9.2e18;
  return std::llround(std::min(ns, limit));
}

std::optional<ProfiledTime> Profile::lookupLabel(StringRef label) const {
  auto it = labels.find(label);
  if (it == labels.end())
    return std::nullopt;
  return ProfiledTime{roundNs(it->second), ProfileMatch::Label};
}

std::optional<ProfiledTime> Profile::lookupSignature(StringRef text) const {
  std::string error;
  std::optional<ParsedSignature> signature =
      ParsedSignature::parse(text, error);
  if (!signature)
    return std::nullopt;
  auto familyIt = families.find(signature->family);
  if (familyIt == families.end())
    return std::nullopt;
  const Family &family = familyIt->second;
  if (auto exact = family.find(signature->sizes); exact != family.end())
    return ProfiledTime{roundNs(exact->second), ProfileMatch::Signature};

  std::map<std::vector<bool>, Line> lines;
  for (const auto &[sizes, ns] : family) {
    std::optional<std::vector<bool>> scaled =
        getScaledSizes(signature->sizes, sizes);
    if (!scaled)
      continue;
    size_t first = llvm::find(*scaled, true) - scaled->begin();
    double logFactor = std::log(static_cast<double>(sizes[first])) -
                       std::log(static_cast<double>(signature->sizes[first]));
    // A time below 1 ns counts as 1 ns.
    lines[*scaled].push_back({getLogGrowth(*signature, *scaled, logFactor),
                              std::log(std::max(ns, 1.0))});
  }

  // Prefer estimates between two measurements, then the nearest measurements.
  std::optional<Estimate> best;
  for (auto &[scaled, line] : lines) {
    llvm::sort(line,
               [](const Sample &a, const Sample &b) { return a.x < b.x; });
    std::optional<Estimate> current =
        estimate(line, signature->isCollective ? 1.0 : 1.5);
    if (!current)
      continue;
    if (!best || (current->isInside && !best->isInside) ||
        (current->isInside == best->isInside &&
         current->distance < best->distance))
      best = current;
  }
  if (!best)
    return std::nullopt;
  return ProfiledTime{roundNs(std::exp(best->logNs)),
                      best->isInside ? ProfileMatch::Interpolated
                                     : ProfileMatch::Extrapolated};
}

bool Profile::setLabel(StringRef label, double ns) {
  auto [it, isNew] = labels.try_emplace(label, ns);
  return isNew || it->second == ns;
}

void Profile::setSignature(const ParsedSignature &signature, double ns) {
  ops.insert(signature.op);
  families[signature.family][signature.sizes] = ns;
}
