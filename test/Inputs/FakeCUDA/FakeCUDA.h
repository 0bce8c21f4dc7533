//===- FakeCUDA.h - Control of the fake CUDA driver -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A CUDA driver for tests on machines without a GPU. Device memory is memory of
// the host; every stream runs on a thread of its own. What a real driver leaves
// undefined ends the process with a message that starts with `fake CUDA:` and
// names the call and the rule:
//
// - calls without a current context, with a stream, event or kernel of another
//   context, or with a handle that was destroyed;
// - memory that was freed, is not a device's, or is another device's;
// - copies, fills and matmuls whose memory another stream may still use, as no
//   event orders the two (found by vector clocks, whatever the timing);
// - waits for an event that was never recorded;
// - allocations after fake_cuda_forbid_allocations.
//
// Errors that a real driver returns are returned, those of stream capture
// included. The variables FAKE_CUDA_DEVICES, FAKE_CUDA_MEMORY (bytes of a
// device), FAKE_CUDA_CAPABILITY (`90`) and FAKE_CUDA_FOREIGN_MEMORY (1: memory
// of the host that the driver has not allocated is that of any device) set what
// fake_cuda_reset restores.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKECUDA_FAKECUDA_H
#define BRAID_TEST_INPUTS_FAKECUDA_FAKECUDA_H

#include <cstddef>
#include <cstdint>

extern "C" {

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

/// Restores the defaults (8 devices of 1 GiB, compute capability 9.0,
/// CUDA 13.0), and clears the log, the kernels and what has been asked to fail.
/// Memory that is still allocated stays so.
void fake_cuda_reset(void);

void fake_cuda_set_devices(int count);
void fake_cuda_set_memory(size_t bytes);
void fake_cuda_set_capability(int capability);
void fake_cuda_set_version(int version); ///< 13000 for CUDA 13.0.

/// The call of `function` (`cuMemAlloc`) after `skipped` others returns
/// `result` and does nothing else; later ones work.
void fake_cuda_fail(const char *function, unsigned result, int skipped);

/// Whether allocations, streams, events and modules end the process.
void fake_cuda_forbid_allocations(int forbidden);

/// What has been submitted since the last reset, one line each: `stream 1:
/// kernel k0 grid 1 1 1 block 32 1 1 shared 0`. Valid until the next call.
const char *fake_cuda_log(void);
void fake_cuda_clear_log(void);

/// What has not been released: `2 allocations, 1 stream`; empty when nothing
/// is. Valid until the next call.
const char *fake_cuda_leaks(void);

/// What a kernel does, run by the stream's thread. `arguments` are pointers to
/// copies of the kernel's arguments.
typedef void (*fake_cuda_kernel)(void **arguments, const unsigned *grid,
                                 const unsigned *block);

/// Gives the kernels of this name in all modules a function and parameters of
/// the given sizes. Other kernels are logged only.
void fake_cuda_register_kernel(const char *name, const size_t *sizes, int count,
                               fake_cuda_kernel function);

/// Makes the streams of a device stand still, after what they do just now.
void fake_cuda_block(int device);
void fake_cuda_unblock(int device);

/// The number of a stream in the log and its priority.
int fake_cuda_stream_number(void *stream);
int fake_cuda_stream_priority(void *stream);

//===----------------------------------------------------------------------===//
// For other fake libraries
//===----------------------------------------------------------------------===//

/// Memory that an operation touches.
struct fake_cuda_access {
  const void *pointer;
  size_t bytes;
  int writes;
};

/// Puts an operation into a stream, or into the graph that the stream records:
/// it is then run once for each launch of the graph. Checks the accesses.
/// `release` is called when the operation is not needed any more. Returns the
/// driver's result.
unsigned fake_cuda_enqueue(void *stream, const char *what,
                           const fake_cuda_access *accesses, int accessCount,
                           int64_t costNs, void (*run)(void *),
                           void (*release)(void *), void *data);

/// What a stream has run.
struct fake_cuda_work {
  const char *what;       ///< `kernel k0`
  unsigned correlation;   ///< What `called` returned for the call.
  const void *node;       ///< Of an executable graph; null: launched by itself.
  int device, stream;     ///< The stream's number is that of the log.
  int64_t beginNs, endNs; ///< By the host's monotonic clock.
};

/// Hears what is asked for and what runs.
struct fake_cuda_tracer {
  /// A call, on its thread, that puts work into a stream or launches a graph.
  unsigned (*called)(void);
  /// A call, on its thread, that adds a node to a graph that is recorded.
  void (*recorded)(const void *node);
  /// The node of an executable graph that was made from another one.
  void (*cloned)(const void *node, const void *original);
  /// On a stream's thread.
  void (*ran)(const fake_cuda_work *work);
};

/// Sets who hears; nullptr for nobody.
void fake_cuda_trace(const fake_cuda_tracer *tracer);

/// The device of the calling thread's current context, of a stream, and of
/// memory, -1 for memory that is no device's.
int fake_cuda_current_device(const char *call);
int fake_cuda_stream_device(const char *call, void *stream);
int fake_cuda_memory_device(const void *pointer);

/// The allocation that holds `pointer`; false where there is none that is live.
int fake_cuda_find_allocation(const void *pointer, void **begin, size_t *bytes);

/// Ends the process unless the range is live memory of the device.
void fake_cuda_check_memory(const char *call, int device, const void *pointer,
                            size_t bytes);

/// Ends the process: `fake CUDA: CALL: WHY`.
[[noreturn]] void fake_cuda_abort(const char *call, const char *why);
}

#endif // BRAID_TEST_INPUTS_FAKECUDA_FAKECUDA_H
