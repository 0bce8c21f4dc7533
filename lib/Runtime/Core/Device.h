//===- Device.h - Where a rank computes -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_DEVICE_H
#define BRAID_RUNTIME_CORE_DEVICE_H

#include "Core/Memory.h"
#include "braid-rt/Blas.h"
#include "braid-rt/Program.h"
#include "braid-rt/Types.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace braid::rt {

/// C = A B + beta C for row-major matrices, A of m x k, B of k x n, C of m x n,
/// each before the transposition; `batch` such products.
struct MatrixProduct {
  int32_t dtype;
  bool transposeA, transposeB;
  int64_t batch;
  int64_t m, n, k;
  int64_t lda, ldb; ///< Leading dimensions, in elements.
  double beta;
  int64_t ldc;
  int64_t strideA, strideB, strideC; ///< Between matrices, in elements.
  braid_rt_product_options options;
};

/// The blocks and threads of a launch.
struct LaunchSize {
  int64_t grid[3], block[3];
  int64_t sharedBytes;
};

/// Work of a compute stream in a trace.
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
/// all functions but those for the launcher, which are called while the rank
/// does not run. All throw Error.
///
/// The functions that a device of its own adds have defaults for the host,
/// where kernels are functions of the program.
class BRAID_RT_API Device {
public:
  virtual ~Device();

  //===--- For the launcher -----------------------------------------------===//

  /// What the device runs, as compilers name it, `sm_90`; empty for the host.
  virtual const char *chip() const { return ""; }

  /// Loads what a program brings for devices and makes room for its arena.
  /// Throws where the device cannot run the program.
  virtual void prepare(const braid_rt_program &program);

  /// Memory for arguments, aligned to at least 256 bytes.
  virtual void *allocate(int64_t bytes);
  virtual void free(void *pointer);

  /// Copies; done on return.
  virtual void copyToDevice(void *device, const void *host, int64_t bytes);
  virtual void copyFromDevice(void *host, const void *device, int64_t bytes);

  //===--- For invocations ------------------------------------------------===//

  /// The rank enters a program on the calling thread. Returns true when the
  /// device has run the whole invocation by itself (a graph that it has
  /// recorded): the entry is not called then.
  virtual bool beginInvocation(const braid_rt_entry &entry, void **args) = 0;

  /// The entry has returned and all its requests have been awaited. Returns
  /// when the device has done the work of the invocation.
  virtual void endInvocation() {}

  /// The invocation has failed; the device forgets what it has recorded.
  virtual void failInvocation() {}

  /// Drops all recorded graphs, as the same invocation will do other work from
  /// now on. No rank runs.
  virtual void forgetGraphs() {}

  /// The work of the last invocation in the order in which it ended: that of
  /// the compute stream, and after the replay of a graph the collectives too.
  /// Called after endInvocation where the configuration asks for a trace.
  virtual std::vector<DeviceEvent> takeEvents() { return {}; }

  /// Time of the last invocation on the device's clock, in ns; 0 where the host
  /// is the device.
  virtual int64_t deviceNs() const { return 0; }

  /// What compiled code allocates on the host.
  virtual MemoryPool &memory() = 0;

  /// Takes a buffer that compiled code has allocated out of the invocation's
  /// hands: its holder frees it with `free`. False when `buffer` is none that
  /// the invocation holds.
  virtual bool detachBuffer(void *buffer);

  /// Releases all buffers that the invocation still holds and returns their
  /// bytes.
  virtual int64_t releaseBuffers();

  /// The stream that kernels are launched on; nullptr where the host computes.
  virtual void *computeStream() { return nullptr; }

  /// Multiplies matrices, after checkProduct.
  virtual void multiply(const MatrixProduct &product, const void *a,
                        const void *b, void *c) = 0;

  // What braid-rt/Device.h describes.
  virtual void *arena(int64_t bytes);
  virtual void *allocateBuffer(int64_t bytes);
  virtual void freeBuffer(void *buffer);
  virtual void *constant(const braid_rt_constant &constant);
  virtual void launch(const braid_rt_kernel &kernel, const LaunchSize &size,
                      void **arguments, int64_t argumentCount);
  virtual void copy(void *destination, const void *source, int64_t bytes);
  virtual void read(void *host, const void *device, int64_t bytes);
  virtual void write(void *device, const void *host, int64_t bytes);
};

/// Throws an Error that names what is wrong with the sizes.
BRAID_RT_API void checkProduct(const MatrixProduct &product);

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_DEVICE_H
