//===- FlightRecorder.h - The last operations of a rank ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_DIAGNOSIS_FLIGHTRECORDER_H
#define BRAID_RUNTIME_DIAGNOSIS_FLIGHTRECORDER_H

#include "Base/Environment.h"
#include "Operations/Call.h"
#include "Operations/Communicator.h"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace braid::rt {

/// The last operations that a rank has started, for reports of failures. Any
/// thread may ask for them. Only one thread at a time records, without a lock
/// where that is possible, because small operations take less than a
/// microsecond.
class BRAID_RT_API FlightRecorder {
public:
  static constexpr size_t capacity = 256;

  /// The start of an operation.
  struct Start {
    std::shared_ptr<const Call> call;
    const CommunicatorSpec *communicator = nullptr; ///< Outlives the records.
    int64_t startedNs = 0;
    int64_t sequence = 0;  ///< In its communicator or pair; 0: counted here.
    bool captured = false; ///< Into a graph.
  };

  void beginInvocation();
  void endInvocation();
  /// The invocation has failed with this message.
  void fail(const std::string &message);

  /// Records a start. Returns the number of the entry, for the next functions.
  int64_t start(Start start);
  /// Sets the time of a start that had none.
  void setStarted(int64_t number, int64_t nowNs);
  /// The rank waits for the operation.
  void await(int64_t number);
  void finish(int64_t number, int64_t nowNs);
  /// The engine has refused to start the operation.
  void refuse(int64_t number);

  /// Forgets everything, before the world is used again after a failure.
  void clear();

  /// The entries as JSON, the oldest first. `reason` says why they are written;
  /// after a failure of the rank the failure is the reason.
  std::string toJson(int32_t rank, int32_t worldSize,
                     const std::string &reason) const;

  /// The last `count` as lines of text, the oldest first.
  std::string describeLast(size_t count) const;

  /// Writes the entries to the file of the rank, if the environment names one,
  /// and the last ones to the log: with `always`, or else at the level INFO.
  void dump(const Environment &environment, int32_t rank, int32_t worldSize,
            const std::string &reason, bool always = false) const;

private:
  enum class State { Started, Awaited, Finished, Recorded, Refused };
  struct Entry {
    Start start;
    int64_t number = 0; ///< Of all starts of the rank, from 1.
    int64_t invocation = 0;
    std::atomic<int64_t> startedNs{0}, finishedNs{0};
    std::atomic<State> state{State::Started};
  };
  /// A communicator and, for messages, the member and the direction.
  using CountKey = std::pair<const CommunicatorSpec *, int64_t>;
  using Groups = std::map<const CommunicatorSpec *, size_t>;

  template <typename Visit> void forEach(size_t most, Visit visit) const;
  int64_t &countOf(const CountKey &key);
  Entry *find(int64_t number);
  static const char *nameOf(State state);
  static std::string toJson(const Entry &entry, size_t group);

  /// Guards everything but the atomic members of entries.
  mutable std::mutex mutex;
  std::array<Entry, capacity> entries;
  int64_t started = 0;
  int64_t begun = 0, ended = 0; ///< Invocations.
  std::string error;            ///< Of the present invocation; empty: none.
  std::map<CountKey, int64_t> counts; ///< Of starts.
  /// The count of the last start: most starts need no search.
  std::map<CountKey, int64_t>::value_type *lastCount = nullptr;
};

/// Throws an Error if the environment names files in a folder that does not
/// exist.
void checkFlightFolder(const Environment &environment);

} // namespace braid::rt

#endif // BRAID_RUNTIME_DIAGNOSIS_FLIGHTRECORDER_H
