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
#include "Core/Environment.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// What an engine adds to a device. The defaults are those of a rank alone.
class DeviceHooks {
public:
  virtual ~DeviceHooks();

  /// Device memory for arguments and the arena, aligned to at least 256 bytes;
  /// 0 where there is none. By default the driver's. The device's context is
  /// current.
  virtual DevicePointer allocate(const Driver &driver, int64_t bytes);
  virtual void free(const Driver &driver, DevicePointer pointer);

  /// Throws the Error with which the rank has to end, where there is one. The
  /// rank's thread, or the launcher's while the rank does not run, calls it
  /// repeatedly while it waits for work of `stream`.
  virtual void waitsFor(Stream stream) { (void)stream; }
  /// The thread that has called waitsFor waits no longer.
  virtual void endWait() {}

  /// Which of the algorithms of a product to use, by its place in the library's
  /// list, the same on all ranks: what the first rank to have measured has got
  /// from `measure`; by default 0, the library's own choice. `product`
  /// describes product and device. The rank's thread calls it at the first use
  /// of a product; a rank that never has the product never calls it. It must
  /// not wait for another rank's measurement, which may have to wait until this
  /// rank goes on.
  virtual int32_t chooseAlgorithm(const std::string &product,
                                  const std::function<int32_t()> &measure);
};

/// The engine's options that devices have.
struct DeviceOptions {
  bool graphs = false;         ///< cuda-graph=0|1
  bool tf32 = false;           ///< matmul-precision=f32|tf32
  bool measureProducts = true; ///< matmul-tuning=measure|heuristic
  /// matmul-multiprocessors=N: how many products count on that name no number
  /// themselves; 0: all.
  int32_t productMultiprocessors = 0;
  int64_t timeoutNs = 0; ///< Of a wait for the device; 0: none.
  bool trace = false;    ///< The configuration asks for a trace.
  int64_t createdNs = 0; ///< When the world was created.
  /// Where traces take their times from; null: from events. The engine sets it.
  std::shared_ptr<Activities> activities;

  /// The names of these options, for checkEngineOptions.
  static std::vector<std::string> names();
  /// Reads them; throws an Error that names option, found and expected.
  static DeviceOptions read(const Environment &environment);
};

/// A GPU with its primary context and a compute stream of the lowest priority,
/// which is not ordered with the legacy stream.
class Gpu {
public:
  /// `driver` and `hooks` live longer. Throws an Error where the machine has no
  /// such device.
  Gpu(const Driver &driver, int32_t ordinal, const DeviceOptions &options,
      DeviceHooks &hooks);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  /// Makes the primary context current on the calling thread.
  void makeCurrent() const;

  /// Waits on the host until `event`, recorded on `stream`, has happened, with
  /// the deadline of the options and the hooks' failures; `what` is for
  /// messages
  /// (`the program`).
  void waitOnHost(Event event, Stream stream, const char *what) const;

  /// The same for all that the compute stream was asked for.
  void synchronize(const char *what) const;

  /// Waits until the compute stream is idle or has failed, but no longer than
  /// `limitNs`. False where it is still busy.
  bool settle(int64_t limitNs) const;

  /// While the compute stream records a graph: throws an Error that says that
  /// `what` (`all_reduce`) broke the recording, where it did. Call it after
  /// what may.
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
  /// Whether the compute stream is recording a graph. No event may be queried
  /// then that the recording contains.
  bool capturing = false;
  /// For traces; null without one.
  std::unique_ptr<Timeline> timeline;
  std::string model;           ///< `NVIDIA H200`
  std::string name;            ///< `device 0 (NVIDIA H200)`
  int32_t multiprocessors = 0; ///< How many it has.
  int32_t capability = 0;      ///< 90 for compute capability 9.0.

private:
  int attribute(DeviceAttribute which) const;
  void openStream();
  void close();
  void pollEvent(Event event, Stream stream, const char *what) const;
  void checkActiveCapture(const char *what) const;

  Event reached = nullptr; ///< For synchronize.
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_GPU_H
