//===- EngineOptions.cpp - Options of engines -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/EngineOptions.h"
#include "Base/Error.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace braid::rt;

void braid::rt::checkEngineOptions(const Environment &environment,
                                   const std::vector<std::string> &known) {
  for (const auto &option : environment.engineOptions) {
    if (std::find(known.begin(), known.end(), option.first) != known.end())
      continue;
    std::string names;
    for (const std::string &name : known)
      names += name + ", ";
    names += "flight-recorder";
    throw Error("engine " + environment.engineName + " has no option '" +
                option.first + "', expected one of " + names);
  }
}

std::string braid::rt::getEngineOption(const Environment &environment,
                                       const std::string &key,
                                       const std::string &fallback) {
  std::string value = fallback;
  for (const auto &option : environment.engineOptions)
    if (option.first == key)
      value = option.second;
  return value;
}

double braid::rt::getEngineNumber(const Environment &environment,
                                  const std::string &key, double fallback,
                                  double least, double most) {
  std::string text = getEngineOption(environment, key, "");
  if (text.empty())
    return fallback;
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  // Also false for a NaN.
  if (*end == '\0' && value >= least && value <= most)
    return value;
  char range[96];
  std::snprintf(range, sizeof(range), "a number from %.15g to %.15g", least,
                most);
  throw Error("option '" + key + "' of engine " + environment.engineName +
              " is '" + text + "', expected " + range);
}

bool braid::rt::isFirstChoice(const Environment &environment,
                              const std::string &key, const std::string &first,
                              const std::string &second) {
  std::string value = getEngineOption(environment, key, first);
  if (value != first && value != second)
    throw Error("option '" + key + "' of engine " + environment.engineName +
                " is '" + value + "', expected " + first + " or " + second);
  return value == first;
}
