//===- Gpu.h - A GPU, its context and compute stream ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_GPU_H
#define BRAID_RUNTIME_CUDA_DEVICE_GPU_H

#include "CUDA/API/Driver.h"
#include "CUDA/Trace/Activities.h"
#include "CUDA/Trace/Timeline.h"
#include "Engine/Engine.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// The calls of a device to its engine. The defaults suit a single rank.
class DeviceHooks {
public:
  virtual ~DeviceHooks();

  /// Allocates device memory for arguments and the arena, aligned to at least
  /// 256 bytes; 0 if there is not enough memory. By default the driver
  /// allocates. The device's context is current.
  virtual DevicePointer allocate(const Driver &driver, int64_t bytes);
  virtual void free(const Driver &driver, DevicePointer pointer);

  /// Throws an Error if the rank must end. The rank's thread, or the launcher's
  /// thread while the rank does not run, calls this function repeatedly while
  /// it waits for work of `stream`.
  virtual void waitsFor(Stream stream) { (void)stream; }
  /// The thread that has called waitsFor has stopped waiting.
  virtual void endWait() {}

  /// Work of the program is about to be put into the compute stream. The driver
  /// blocks the thread if the stream holds too much work.
  virtual void enqueues() {}

  /// Calls `launch`, which launches a graph with collectives. Throws an Error
  /// if the world has failed; it cannot fail unnoticed in the meantime.
  virtual void launchesGraph(const std::function<void()> &launch) { launch(); }

  /// Chooses the algorithm of an operation, a matmul or a convolution, by its
  /// position in the library's list. All ranks get the result of `measure` on
  /// the rank that finishes first. The default is 0, the library's own choice.
  /// `operation` describes the operation, the library and the device. The
  /// rank's thread calls this function at the first use of an operation; a rank
  /// without the operation never calls it. The function must not wait for
  /// another rank's measurement, which may depend on this rank.
  virtual int32_t chooseAlgorithm(const std::string &operation,
                                  const std::function<int32_t()> &measure);

  /// The rank uses something else than the program plans. Called once for each
  /// such resource, on the rank's thread.
  virtual void replaces(const Replacement &replacement) { (void)replacement; }
};

/// Whether invocations run as graphs: never, where all ranks of this process
/// can, or always, with an error where one cannot.
enum class GraphUse { Off, Auto, On };

/// The options of the engine for devices.
struct DeviceOptions {
  GraphUse graphs = GraphUse::Off; ///< cuda-graph=auto|0|1
  bool tf32 = false;               ///< matmul-precision=f32|tf32
  /// attention-gradients=deterministic|fast
  bool fastAttentionGradients = false;
  /// matmul-tuning=measure|heuristic, also of convolutions
  bool measureAlgorithms = true;
  /// matmul-multiprocessors=N: the multiprocessors of matmuls without a number
  /// of their own; 0: all.
  int32_t matmulMultiprocessors = 0;
  int64_t timeoutNs = 0; ///< Of a wait for the device; 0: none.
  bool trace = false;    ///< The configuration enables traces.
  int64_t createdNs = 0; ///< When the world was created.
  /// The source of the times of traces, set by the engine; null: events.
  std::shared_ptr<Activities> activities;

  /// The names of these options, for checkEngineOptions.
  static std::vector<std::string> names();
  /// Reads these options. Throws an Error that names the option, the found and
  /// the expected value.
  static DeviceOptions read(const Environment &environment);
};

/// A GPU with its primary context and a compute stream of the lowest priority.
/// The compute stream is not synchronized with the legacy stream.
class Gpu {
public:
  /// `driver` and `hooks` must outlive the GPU. Throws an Error if the machine
  /// has no such device.
  Gpu(const Driver &driver, int32_t ordinal, const DeviceOptions &options,
      DeviceHooks &hooks);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  /// An attribute of the GPU, in the driver's unit. Throws an Error if the
  /// driver does not know it.
  int attribute(DeviceAttribute which) const;

  /// Makes the primary context current on the calling thread.
  void makeCurrent() const;

  /// Waits on the host for `event`, recorded on `stream`. Fails after the
  /// timeout of the options, or if the hooks report a failure. `what` is for
  /// messages
  /// (`the program`).
  void waitOnHost(Event event, Stream stream, const char *what) const;

  /// The same for all work of the compute stream.
  void synchronize(const char *what) const;

  /// Waits until a stream is idle or has failed, for at most `limitNs`.
  void settle(Stream which, int64_t limitNs) const;

  /// Begins a recording of the compute stream. Calls of other threads, such as
  /// allocations of other ranks, do not matter to it.
  void beginCapture();
  /// The same, into `graph`, behind its nodes `last`.
  void beginCapture(Graph graph, const std::vector<GraphNode> &last);
  /// Sets `last` to the nodes that what is recorded next will follow.
  Result findLastCaptured(std::vector<GraphNode> &last) const;
  /// Ends the recording. Gives the driver's result, and what was recorded; null
  /// if the recording is broken.
  Result endCapture(Graph &graph);

  /// Throws an Error that names `what` (`all_reduce`) if the present recording
  /// is broken. Callers call this function after operations that may break a
  /// recording.
  void checkCapture(const char *what) const {
    if (capturing)
      checkActiveCapture(what);
  }

  const Driver &driver;
  const DeviceOptions options;
  DeviceHooks &hooks;
  const int32_t ordinal;
  DeviceHandle device = 0;
  ContextHandle context = nullptr;
  Stream stream = nullptr; ///< The compute stream.
  /// True while the compute stream records a graph. Events in the recording
  /// must not be queried.
  std::atomic<bool> capturing{false};
  /// True while an invocation runs as a graph, whose operations no host call
  /// starts.
  std::atomic<bool> replaying{false};
  /// True from the launch of a graph with loops of the GPU until the host has
  /// waited for the GPU: nobody knows how long they take, so that the timeout
  /// does not count.
  mutable std::atomic<bool> repeats{false};
  /// The next kernel of a recording follows a loop or a choice, or begins a
  /// body: drivers do not start such a kernel early, but wait forever.
  mutable bool followsControl = false;
  /// For traces; null without one.
  std::unique_ptr<Timeline> timeline;
  std::string model;           ///< `NVIDIA H200`
  std::string name;            ///< `device 0 (NVIDIA H200)`
  int32_t multiprocessors = 0; ///< The number of multiprocessors.
  int32_t capability = 0;      ///< 90 for compute capability 9.0.

private:
  void openStream();
  void close();
  void pollEvent(Event event, Stream stream, const char *what) const;
  void checkActiveCapture(const char *what) const;

  Event reached = nullptr; ///< For synchronize.
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_GPU_H
