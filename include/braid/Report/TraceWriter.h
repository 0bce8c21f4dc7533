//===- TraceWriter.h - Traces for viewers and tools -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces in Chrome's JSON format, of runs and of predictions. Names of fields
// and values are those of Kineto (libkineto/src/output_json.cpp) and of
// PyTorch's process groups. Holistic Trace Analysis counts every event with a
// `stream` as work of the GPU, and names that begin with "nccl" as
// communication.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_REPORT_TRACEWRITER_H
#define BRAID_REPORT_TRACEWRITER_H

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace braid {

/// A collective in a trace. Names are those of the dialect: `all_reduce`,
/// `sum`, `bf16`; the reduction and the label may be empty.
struct TracedCollective {
  std::string kind, reduction, elementType, label;
  uint64_t inputElements = 0, outputElements = 0;
  std::string group;
  /// The ranks of the group: `[0, 1]`.
  std::string ranks;
  int64_t groupSize = 0, rank = 0, sequence = 0, bytes = 0;

  /// `ncclDevKernel_AllReduce_Sum_f32(label)`.
  std::string getEventName() const;
  /// Adds the fields of collectives to the arguments of an event.
  void appendTo(nlohmann::ordered_json &args) const;
};

/// Writes the events of a trace. A process has rows; all times are ns.
class TraceWriter {
public:
  /// The row of the program.
  static constexpr int64_t programRow = 0;
  /// The number of the compute stream in traces of PyTorch. Lanes follow.
  static constexpr int64_t computeRow = 7;

  /// Gives a process or one of its rows a name or another property:
  /// `process_name`, `thread_sort_index`; `key` is `name`, `sort_index`.
  void describe(int64_t process, int64_t row, const std::string &property,
                const std::string &key, const nlohmann::ordered_json &value);
  /// `args` may be empty.
  void addSlice(int64_t process, int64_t row, const std::string &category,
                const std::string &name, int64_t startNs, int64_t durationNs,
                const nlohmann::ordered_json &args);
  void addBytes(int64_t process, const std::string &counter, int64_t ns,
                int64_t bytes);
  /// One end of arrow `id`: at the awaited slice (`isStart`), or at the wait.
  void addArrowEnd(int64_t id, bool isStart, int64_t process, int64_t row,
                   int64_t ns);

  /// The trace: the fields of `head`, and the events.
  std::string finish(nlohmann::ordered_json head) const;

private:
  void add(const nlohmann::ordered_json &event);

  std::string events;
};

/// Microseconds, the unit of times in traces.
inline double toTraceTime(int64_t ns) { return static_cast<double>(ns) / 1000; }

} // namespace braid

#endif // BRAID_REPORT_TRACEWRITER_H
