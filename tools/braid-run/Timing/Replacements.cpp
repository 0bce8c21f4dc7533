//===- Replacements.cpp - Planned resources that are not used ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing/Replacements.h"
#include "Common/Bytes.h"
#include "Operations/Messages.h"

#include <algorithm>

using namespace braid::run;

static std::string ownReplacements(const Processes &processes,
                                   braid_rt_world *world) {
  ByteWriter writer;
  for (int32_t rank : processes.localRanks()) {
    const braid_rt_context *context = braid_rt_world_context(world, rank);
    braid_rt_replacement found;
    for (int64_t i = 0;
         braid_rt_find_replacement(context, i, &found) == BRAID_RT_OK; ++i) {
      writer.number(rank);
      for (const char *text :
           {found.resource, found.planned, found.reason, found.used})
        writer.text(text);
    }
  }
  return writer.bytes;
}

std::vector<Replacement>
braid::run::gatherReplacements(const Processes &processes,
                               braid_rt_world *world) {
  std::vector<Replacement> all;
  for (const std::string &bytes :
       processes.exchange(ownReplacements(processes, world))) {
    ByteReader reader(bytes);
    while (!reader.atEnd()) {
      auto rank = static_cast<int32_t>(reader.number());
      Replacement next;
      for (std::string Replacement::*field :
           {&Replacement::resource, &Replacement::planned, &Replacement::reason,
            &Replacement::used})
        next.*field = reader.text();
      auto same =
          std::find_if(all.begin(), all.end(), [&](const Replacement &other) {
            return other.resource == next.resource &&
                   other.planned == next.planned &&
                   other.reason == next.reason && other.used == next.used;
          });
      if (same == all.end())
        same = all.insert(all.end(), next);
      same->ranks.push_back(rank);
    }
  }
  return all;
}

std::string braid::run::describe(const std::vector<Replacement> &replacements,
                                 int32_t worldSize) {
  std::string text;
  for (const Replacement &each : replacements) {
    bool isEverywhere = static_cast<int32_t>(each.ranks.size()) == worldSize;
    text += "replaced: " + each.resource +
            (isEverywhere ? "" : " on " + rt::listRanks(each.ranks)) +
            ": planned " + each.planned + ", used instead: " + each.used +
            " (" + each.reason + ")\n";
  }
  return text;
}
