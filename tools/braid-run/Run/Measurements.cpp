//===- Measurements.cpp - The file of --measurements ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Measurements.h"
#include "Run/Report.h"
#include "Timing/Figures.h"
#include "Timing/Trace.h"
#include "braid/Support/OutputFile.h"

#include <nlohmann/json.hpp>

using namespace braid::run;
using nlohmann::ordered_json;

static ordered_json toJson(const Numerics &numerics) {
  static constexpr const char *names[] = {"same bits", "other order of sums",
                                          "unknown"};
  ordered_json sums = ordered_json::array();
  for (const ReorderedSum &sum : numerics.sums)
    sums.push_back({{"operation", sum.operation},
                    {"site", sum.site},
                    {"reason", sum.reason}});
  return {{"class", names[numerics.kind]}, {"reordered_sums", sums}};
}

static ordered_json toJson(const Verifier &verifier) {
  ordered_json object = {{"by", verifier.isExact() ? "bits" : "tolerance"},
                         {"same_bits", verifier.isSameBits()},
                         {"largest_error", verifier.largestError()},
                         {"allowed_error", verifier.widestAllowance()}};
  if (const std::optional<Numerics> &numerics = verifier.numerics())
    object["numerics"] = toJson(*numerics);
  return object;
}

static ordered_json toJson(const Recording &recording) {
  const std::vector<Event> &events = recording.ranks[worstRank(recording)];
  Overlap overlap = measureOverlap(events, recording.isHostMemory);
  ordered_json collectives = ordered_json::object();
  for (const auto &[kind, traffic] : measureTraffic(recording))
    collectives[braid_rt_kind_name(kind)] = {
        {"count", traffic.count},
        {"bytes", traffic.bytes},
        {"ms", toMs(traffic.ns)},
        {"bus_gb_per_s", traffic.busBandwidth()}};
  return {{"compute_ms", toMs(overlap.computeNs)},
          {"communication_ms", toMs(overlap.communicationNs)},
          {"exposed_ms", toMs(overlap.exposedNs)},
          {"hidden_fraction", overlap.hiddenFraction()},
          {"collectives", collectives}};
}

static ordered_json programJson(const Measurements::Program &program) {
  const Subject &subject = *program.subject;
  const Timing &timing = subject.timing;
  ordered_json steps = ordered_json::array();
  for (const Measurement &run : timing.runs)
    steps.push_back(toMs(run.stepNs()));
  ordered_json object = {{"name", subject.name},
                         {"role", program.role},
                         {"step_ms", timing.stepMs()},
                         {"steps_ms", steps},
                         {"elapsed_ms", timing.median(&Measurement::elapsedNs)},
                         {"host_ms", timing.median(&Measurement::hostNs)},
                         {"peak_bytes", timing.peakBytes()},
                         {"numerics", toJson(subject.numerics)}};
  if (program.verifier)
    object["verified"] = toJson(*program.verifier);
  if (timing.hasDevice())
    object["device_ms"] = timing.median(&Measurement::deviceNs);
  if (subject.computeAloneMs)
    object["compute_alone_ms"] = *subject.computeAloneMs;
  if (subject.communicationAloneMs)
    object["communication_alone_ms"] = *subject.communicationAloneMs;
  if (subject.recording)
    object.update(toJson(*subject.recording));
  return object;
}

void braid::run::writeMeasurements(const std::string &file,
                                   const Measurements &measurements) {
  ordered_json object = {{"ranks", measurements.ranks},
                         {"repeat", measurements.repeat},
                         {"warmup", measurements.warmup}};
  if (measurements.largestError)
    object["largest_error"] = *measurements.largestError;
  object["replaced"] = toJson(measurements.replacements);
  for (const Measurements::Program &program : measurements.programs)
    object["programs"].push_back(programJson(program));
  // Names of programs may be no UTF-8.
  std::string text = object.dump(/*indent=*/1, ' ', /*ensure_ascii=*/false,
                                 ordered_json::error_handler_t::replace);
  if (std::string error = braid::writeWholeFile(file, text + "\n");
      !error.empty())
    throw RunError(error);
}
