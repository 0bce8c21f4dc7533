//===- Events.cpp - Recorded events of the ranks ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing/Events.h"
#include "Common/Bytes.h"
#include "Timing/Clock.h"

#include <algorithm>
#include <climits>

using namespace braid::run;

static std::string siteText(const braid_rt_site &site) {
  return site.file ? std::string(site.file) + ":" + std::to_string(site.line) +
                         ":" + std::to_string(site.column)
                   : "";
}

static void writeEvent(ByteWriter &writer, int64_t rank,
                       const braid_rt_event &event, int64_t createdNs) {
  for (int64_t value :
       {rank, static_cast<int64_t>(event.category),
        static_cast<int64_t>(event.kind), createdNs + event.beginNs,
        createdNs + event.endNs, event.sequence, event.bytes,
        static_cast<int64_t>(event.dtype),
        static_cast<int64_t>(event.reduction), event.sourceElements,
        event.destinationElements, static_cast<int64_t>(event.groupSize)})
    writer.number(value);
  for (int32_t i = 0; i < event.groupSize; ++i)
    writer.number(event.ranks[i]);
  for (const char *text : {event.name, event.signature, event.lane})
    writer.text(text ? text : "");
  writer.text(siteText(event.site));
}

static Event readEvent(ByteReader &reader, const ClockOffset &offset) {
  Event event;
  event.category = static_cast<int32_t>(reader.number());
  event.kind = static_cast<int32_t>(reader.number());
  event.beginNs = reader.number() + offset.ns;
  event.endNs = reader.number() + offset.ns;
  event.sequence = reader.number();
  event.bytes = reader.number();
  event.dtype = static_cast<int32_t>(reader.number());
  event.reduction = static_cast<int32_t>(reader.number());
  event.sourceElements = reader.number();
  event.destinationElements = reader.number();
  for (int64_t count = reader.number(); count > 0; --count)
    event.ranks.push_back(static_cast<int32_t>(reader.number()));
  event.name = reader.text();
  event.signature = reader.text();
  event.lane = reader.text();
  event.where = reader.text();
  return event;
}

/// The events of this process's ranks.
static std::string ownEvents(const Processes &processes,
                             braid_rt_world *world) {
  ByteWriter writer, events;
  int64_t total = 0, createdNs = braid_rt_world_created_ns(world);
  for (int32_t rank : processes.localRanks()) {
    int64_t count = 0;
    const braid_rt_event *first =
        braid_rt_trace(braid_rt_world_context(world, rank), &count);
    for (int64_t k = 0; k < count; ++k)
      writeEvent(events, rank, first[k], createdNs);
    total += count;
  }
  writer.number(total);
  writer.bytes += events.bytes;
  return writer.bytes;
}

int64_t Recording::beginNs() const {
  int64_t first = INT64_MAX;
  for (const std::vector<Event> &events : ranks)
    for (const Event &event : events)
      first = std::min(first, event.beginNs);
  return first == INT64_MAX ? 0 : first;
}

/// The name of the group in a lane's text, such as `world latency p2p`. The
/// longest one if the text fits several groups, the first word if it fits none.
static std::string findGroup(const std::string &lane,
                             const braid_rt_program &program) {
  std::string found;
  for (int64_t i = 0; i < program.groupCount; ++i) {
    const braid_rt_group &group = *program.groups[i];
    std::string text = group.name;
    if (group.lane && group.lane->name && *group.lane->name)
      text += std::string(" ") + group.lane->name;
    if ((lane == text || lane == text + " p2p") &&
        found.size() < std::strlen(group.name))
      found = group.name;
  }
  return found.empty() ? lane.substr(0, lane.find(' ')) : found;
}

void braid::run::nameGroups(Recording &recording,
                            const braid_rt_program &program) {
  for (std::vector<Event> &events : recording.ranks)
    for (Event &event : events)
      if (event.category == BRAID_RT_EVENT_COLLECTIVE)
        event.group = findGroup(event.lane, program);
}

Recording braid::run::gatherEvents(const Processes &processes,
                                   braid_rt_world *world) {
  std::vector<ClockOffset> offsets = measureOffsets(processes);
  std::vector<std::string> all =
      processes.exchange(ownEvents(processes, world));
  Recording recording;
  recording.isHostMemory = braid_rt_world_has(world, "host-memory");
  recording.hasActivities = braid_rt_world_has(world, "activities");
  recording.replacements = gatherReplacements(processes, world);
  recording.ranks.resize(processes.worldSize());
  processes.together([&]() {
    for (size_t process = 0; process < all.size(); ++process) {
      ByteReader reader(all[process]);
      recording.clockErrorNs =
          std::max(recording.clockErrorNs, offsets[process].errorNs);
      for (int64_t count = reader.number(); count > 0; --count) {
        int64_t rank = reader.number();
        recording.ranks.at(rank).push_back(readEvent(reader, offsets[process]));
      }
    }
  });
  return recording;
}
