//===- FakeNCCL.h - Control of the fake NCCL --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NCCL for tests on machines without a GPU, on the streams of the fake CUDA
// driver. It moves real data between the ranks of a process, and between
// processes where FAKE_NCCL_DIRECTORY names a folder that all of them use. What
// NCCL leaves undefined ends the process with a message that starts with `fake
// CUDA: nccl`:
//
// - a call of a communicator by two threads at once, or while a call of it is
//   in progress, or after its end;
// - streams and memory of another device than the communicator's;
// - a buffer in a window that was freed without its registration being undone;
// - a communicator that is destroyed while its operations are under way;
// - a recorded collective on memory that an exchange has registered before.
//
// Members that start different operations wait for ever, as with NCCL.
// Reductions combine operands in the order of the ranks, backwards: results of
// floats need not have the bits of the host's. Calls on communicators that do
// not block end after a random number of looks.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKENCCL_FAKENCCL_H
#define BRAID_TEST_INPUTS_FAKENCCL_FAKENCCL_H

extern "C" {

/// Forgets what has been asked to fail, and the log.
void fake_nccl_reset(void);

/// The call of `function` (`ncclAllReduce`) after `skipped` others returns
/// `result` and does nothing else; later ones work.
void fake_nccl_fail(const char *function, int result, int skipped);

/// From now on the ranks of communicators refuse what these words, with commas
/// between, say: `ctas` (a limit of CTAs), `copy` (copy engines), `windows`
/// (all windows, with an error), `nowindows` (the same with success, but no
/// window). `copy@1`: only rank 1 of a communicator. The variable
/// FAKE_NCCL_REFUSE says the same to processes.
void fake_nccl_refuse(const char *words);

/// The communicators of this device report an error of their own.
void fake_nccl_break(int device, int result);

/// What has been started since the last reset, a line for each call in each
/// communicator: `tp latency: ncclAllReduce 4 on device 0, CTAs 8, kernel`;
/// `copy engines` or `symmetric kernel` where the buffers are in windows. Valid
/// until the next call.
const char *fake_nccl_log(void);

/// The number of communicators that have not been destroyed or aborted.
int fake_nccl_communicators(void);

/// The number of buffers that are registered with them (ncclCommRegister).
int fake_nccl_registrations(void);
}

#endif // BRAID_TEST_INPUTS_FAKENCCL_FAKENCCL_H
