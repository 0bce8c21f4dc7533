//===- Device.h - The device of a rank --------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_ENGINE_DEVICE_H
#define BRAID_RUNTIME_ENGINE_DEVICE_H

#include "braid-rt/Blas.h"
#include "braid-rt/Program.h"
#include "braid-rt/Types.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace braid::rt {

class MemoryPool;
struct Attention;
struct Convolution;
struct RoutineCall;

/// `batch` matmuls C = A B + beta C of row-major matrices: A is m x k, B k x
/// n, C m x n, before transposition.
struct Matmul {
  int32_t dtype;
  bool transposeA, transposeB;
  int64_t batch;
  int64_t m, n, k;
  int64_t lda, ldb; ///< Leading dimensions, in elements.
  double beta;
  int64_t ldc;
  int64_t strideA, strideB, strideC; ///< Between matrices, in elements.
  braid_rt_matmul_options options;
};

/// The blocks and threads of a launch.
struct LaunchSize {
  int64_t grid[3], block[3];
  int64_t sharedBytes;
};

/// An event of a compute stream in a trace.
struct DeviceEvent {
  int32_t category;    ///< BRAID_RT_EVENT_KERNEL, _COPY or _COLLECTIVE.
  std::string name;    ///< The kernel's, or `matmul 64x32x16 bf16`.
  int64_t beginNs = 0; ///< Since the world was created.
  int64_t endNs = 0;
  int64_t bytes = 0;       ///< Of a copy.
  braid_rt_site site = {}; ///< Of the op, where it is known.
  /// The `recorded` of the collective's request. Only replays of graphs have
  /// collectives among their events.
  int64_t recorded = 0;
};

/// The memory and the compute stream of one rank. The rank's own thread calls
/// all functions except those for the launcher, which launchers call while the
/// rank does not run. All functions throw Error.
///
/// Functions that only devices with memory of their own need have defaults for
/// the host, where kernels are functions of the program.
class BRAID_RT_API Device {
public:
  virtual ~Device();

  //===--- For the launcher -----------------------------------------------===//

  /// The chip of the device, as compilers name it, `sm_90`; empty for the host.
  virtual const char *chip() const { return ""; }

  /// A property of the device or of a library that it uses, by the names of
  /// braid_rt_device_property; empty if the device does not know it.
  virtual std::string property(const std::string &) const { return {}; }

  /// Loads the device part of a program and allocates its arena. Throws if the
  /// device cannot run the program.
  virtual void prepare(const braid_rt_program &program);

  /// Memory for arguments, aligned to at least 256 bytes.
  virtual void *allocate(int64_t bytes);
  virtual void free(void *pointer);

  /// Copies, and returns after the copy.
  virtual void copyToDevice(void *device, const void *host, int64_t bytes);
  virtual void copyFromDevice(void *host, const void *device, int64_t bytes);

  //===--- For invocations ------------------------------------------------===//

  /// The rank enters a program on the calling thread. Returns true if the
  /// device has run the whole invocation as a recorded graph; then the entry is
  /// not called.
  virtual bool beginInvocation(const braid_rt_entry &entry, void **args) = 0;

  /// Why the device does not record the invocation that it has begun, although
  /// the other ranks do; then the entry is not called. Null: it is called.
  virtual const std::string *recordingProblem() const { return nullptr; }

  /// The entry has returned and has awaited all its requests. Returns when the
  /// device has finished the work of the invocation.
  virtual void endInvocation() {}

  /// The next invocation follows the work of `stream`, which is the caller's,
  /// and later work of `stream` follows the invocation, whose end endInvocation
  /// does not await. False if the device cannot do that.
  virtual bool follow(void *stream);

  /// Whether the work of the last invocation may still be running.
  virtual bool isAhead() const { return false; }

  /// The invocation has failed; the device drops its recorded graphs.
  virtual void failInvocation() {}

  /// Drops all recorded graphs, because the same invocation will do other work
  /// from now on. No rank may be running.
  virtual void forgetGraphs() {}

  /// The events of the last invocation in the order of their ends: the work of
  /// the compute stream, and after the replay of a graph also the collectives.
  /// Called after endInvocation if the configuration enables traces.
  virtual std::vector<DeviceEvent> takeEvents() { return {}; }

  /// The time of the last invocation on the device's clock, in ns; 0 if the
  /// host is the device. Awaits its end.
  virtual int64_t deviceNs() { return 0; }

  /// The allocations of compiled code on the host.
  virtual MemoryPool &memory() = 0;

  /// Transfers a buffer that compiled code has allocated from the invocation to
  /// the caller, who frees it with `free`. False if `buffer` does not belong to
  /// the invocation.
  virtual bool detachBuffer(void *buffer);

  /// Frees all remaining buffers of the invocation and returns their bytes.
  virtual int64_t releaseBuffers();

  /// The stream of kernels; nullptr if the host computes.
  virtual void *computeStream() { return nullptr; }

  /// Multiplies matrices, after checkMatmul.
  virtual void multiply(const Matmul &matmul, const void *a, const void *b,
                        void *c) = 0;

  /// Calls `body(0)` to `body(parts - 1)`, on all threads of the rank on hosts.
  virtual void runParts(int64_t parts,
                        const std::function<void(int64_t)> &body);

  /// Runs a routine of a library.
  virtual void callRoutine(const RoutineCall &call) = 0;

  /// Computes attention or its gradients. The default refuses: only a GPU has a
  /// library for them.
  virtual void attend(const Attention &attention);

  /// Computes a convolution or a gradient. The default refuses: only a GPU has
  /// a library for them.
  virtual void convolve(const Convolution &convolution);

  // The functions of braid-rt/Device.h.
  virtual void *arena(int64_t bytes);
  virtual void *allocateBuffer(int64_t bytes);
  virtual void freeBuffer(void *buffer);
  virtual void *constant(const braid_rt_constant &constant);
  virtual void launch(const braid_rt_kernel &kernel, const LaunchSize &size,
                      void **arguments, int64_t argumentCount);
  virtual void copy(void *destination, const void *source, int64_t bytes);

  /// Fills the result of a collective that the invocation skips with the bytes
  /// of its operand, repeated. The power of a GPU, and with it its clock,
  /// depends on the data of matmuls, so the work that remains needs data like
  /// those of a whole invocation. Not part of `deviceNs`. The default does
  /// nothing: the results stay as they are.
  virtual void standIn(void *result, int64_t resultBytes, const void *operand,
                       int64_t operandBytes);
  virtual void read(void *host, const void *device, int64_t bytes);
  /// `hasRead`: whether the host has read the condition.
  virtual bool repeat(const void *condition, int64_t loop, bool &hasRead);
  /// The case that braid_rt_choose runs, or `allCases`: the device chooses, and
  /// the caller runs all cases, between which it calls `nextCase`, and calls
  /// `endChoice` then.
  virtual int64_t choose(const void *selector, int32_t bytes, int32_t cases);
  virtual void nextCase() {}
  virtual void endChoice() {}
  static constexpr int64_t allCases = -1;
  virtual void write(void *device, const void *host, int64_t bytes);
};

/// Throws an Error that names an invalid size.
BRAID_RT_API void checkMatmul(const Matmul &matmul);

} // namespace braid::rt

#endif // BRAID_RUNTIME_ENGINE_DEVICE_H
