//===- Values.cpp - The values of options -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options/Values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace braid::run;

/// Parses a number of at least 0 with one of `units`, `20us`.
static double
parseWithUnit(const std::string &text,
              std::initializer_list<std::pair<const char *, double>> units) {
  double value = 0;
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || !std::isfinite(value) || value < 0)
    throw UsageError("'" + text +
                     "' does not start with a number that is not negative");
  std::string rest(next, end), known;
  for (auto [name, factor] : units) {
    if (rest == name)
      return value * factor;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError("'" + text + "' has " +
                   (rest.empty() ? "no unit" : "the unit '" + rest + "'") +
                   ", expected one of " + known);
}

int64_t braid::run::parseDuration(const std::string &text) {
  double ns =
      parseWithUnit(text, {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}});
  if (ns > 1e18)
    throw UsageError("'" + text + "' is too long");
  return static_cast<int64_t>(ns + 0.5);
}

int64_t braid::run::parseCount(const std::string &text, int64_t least,
                               int64_t largest) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || next != end || value < least || value > largest)
    throw UsageError("found '" + text + "', expected a number from " +
                     std::to_string(least) + " to " + std::to_string(largest));
  return value;
}

/// The parts between commas; one empty part for an empty text.
static std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

static double parseBandwidth(const std::string &text) {
  double rate = parseWithUnit(text, {{"B/s", 1},
                                     {"kB/s", 1e3},
                                     {"MB/s", 1e6},
                                     {"GB/s", 1e9},
                                     {"TB/s", 1e12},
                                     {"Gbit/s", 1.25e8}});
  if (rate == 0)
    throw UsageError("a link needs a bandwidth above 0");
  return rate;
}

void braid::run::parseLink(const std::string &text, Options &options) {
  options.link = true;
  for (const std::string &part : splitAtCommas(text)) {
    size_t equals = std::min(part.find('='), part.size());
    std::string key = part.substr(0, equals);
    std::string value = part.substr(std::min(equals + 1, part.size()));
    if (key == "latency")
      options.linkLatencyNs =
          parseFor(key, [&] { return parseDuration(value); });
    else if (key == "bandwidth")
      options.linkBandwidth =
          parseFor(key, [&] { return parseBandwidth(value); });
    else
      throw UsageError("found '" + part +
                       "', expected latency=TIME or bandwidth=RATE");
  }
}

Tolerance braid::run::parseTolerance(const std::string &text) {
  if (text == "auto")
    return {Tolerance::Auto, 0};
  if (text == "exact")
    return {Tolerance::Exact, 0};
  double value = 0;
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || next != end || !std::isfinite(value) || value < 0)
    throw UsageError("found '" + text +
                     "', expected exact, auto or a number that is not "
                     "negative");
  return {Tolerance::Given, value};
}

std::pair<std::string, std::string>
braid::run::parseLane(const std::string &text) {
  size_t colon = text.find(':');
  bool isWhole = colon != std::string::npos && colon > 0;
  std::string value = isWhole ? text.substr(colon + 1) : "";
  for (const std::string &part : splitAtCommas(value))
    if (part.rfind("ctas=", 0) == 0)
      parseFor("ctas", [&] { return parseCount(part.substr(5), 1, 64); });
    else if (part != "transport=default" && part != "transport=symmetric" &&
             part != "transport=copy")
      isWhole = false;
  if (!isWhole)
    throw UsageError("found '" + text +
                     "', expected NAME:ctas=NUMBER,transport=KIND with "
                     "default, symmetric or copy");
  return {"lane." + text.substr(0, colon), value};
}

std::pair<std::string, std::string>
braid::run::parseEngineOption(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("found '" + text + "', expected KEY=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string braid::run::checkOneOf(const std::string &value,
                                   const std::vector<std::string> &words) {
  std::string expected;
  for (const std::string &word : words) {
    if (value == word)
      return value;
    expected += (expected.empty()         ? ""
                 : &word == &words.back() ? " or "
                                          : ", ") +
                word;
  }
  throw UsageError("found '" + value + "', expected " + expected);
}
