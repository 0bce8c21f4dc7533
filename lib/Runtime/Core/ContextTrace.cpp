//===- ContextTrace.cpp - The recorded events of one rank -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Context.h"
#include "Operations/Messages.h"

using namespace braid::rt;

bool Context::tracesDevice() const {
  return environment.config.trace && !engine.capabilities().hostMemory;
}

void Context::addEvent(braid_rt_event_category category,
                       const EngineRequest &request,
                       const Communicator &communicator, int64_t beginNs,
                       int64_t endNs) {
  TraceEvent event;
  const Operation &operation = request.operation;
  event.signature = operation.signature();
  event.lane = describeLane(communicator.spec, operation);
  event.ranks = communicator.spec.ranks;
  event.event = {category,
                 operation.kind,
                 operation.site.label ? operation.site.label
                                      : braid_rt_kind_name(operation.kind),
                 nullptr,
                 nullptr,
                 beginNs,
                 endNs,
                 request.sequence,
                 operation.linkBytes(),
                 operation.site};
  event.event.dtype =
      operation.operands.empty() ? -1 : operation.operands[0].dtype;
  event.event.reduction = operation.reduction;
  for (const Operand &operand : operation.operands) {
    event.event.sourceElements += elementCount(operand.sourceSizes);
    event.event.destinationElements += elementCount(operand.destinationSizes);
  }
  events.push_back(std::move(event));
}

/// An event without an operation.
static braid_rt_event plainEvent(braid_rt_event_category category,
                                 int64_t beginNs, int64_t endNs) {
  braid_rt_event event = {};
  event.category = category;
  event.kind = event.dtype = event.reduction = -1;
  event.beginNs = beginNs;
  event.endNs = endNs;
  return event;
}

void Context::addDeviceEvents() {
  for (TracedRequest &traced : tracedRequests) {
    EngineRequest &request = *traced.request;
    traced.communicator->measure(request);
    addEvent(BRAID_RT_EVENT_COLLECTIVE, request, *traced.communicator,
             request.beginNs, request.endNs);
    if (request.recorded)
      recordedEvents[request.recorded].push_back(events.back());
  }
  tracedRequests.clear();
  for (DeviceEvent &done : device.takeEvents()) {
    if (done.recorded) {
      for (TraceEvent event : recordedEvents[done.recorded]) {
        event.event.beginNs = done.beginNs;
        event.event.endNs = done.endNs;
        events.push_back(std::move(event));
      }
      continue;
    }
    TraceEvent event;
    event.event =
        plainEvent(static_cast<braid_rt_event_category>(done.category),
                   done.beginNs, done.endNs);
    event.event.bytes = done.bytes;
    event.event.site = done.site;
    event.name = std::move(done.name);
    event.lane = "compute";
    events.push_back(std::move(event));
  }
}

void Context::addInvocation(const braid_rt_entry &entry, int64_t beginNs) {
  TraceEvent event;
  event.event =
      plainEvent(BRAID_RT_EVENT_INVOCATION, beginNs, environment.now());
  event.name = entry.name;
  if (entry.site)
    event.event.site = *entry.site;
  events.push_back(std::move(event));
}

const braid_rt_event *Context::trace(int64_t *count) {
  exportedEvents.clear();
  for (const TraceEvent &event : events) {
    exportedEvents.push_back(event.event);
    braid_rt_event &exported = exportedEvents.back();
    if (!event.name.empty())
      exported.name = event.name.c_str();
    exported.signature = event.signature.c_str();
    exported.lane = event.lane.c_str();
    exported.groupSize = static_cast<int32_t>(event.ranks.size());
    exported.ranks = event.ranks.data();
  }
  *count = static_cast<int64_t>(exportedEvents.size());
  return exportedEvents.data();
}
