//===- Load.h - What ranks run during a measurement -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_LOAD_H
#define BRAID_TOOLS_BRAID_CALIBRATE_LOAD_H

#include "Cost/Profile/Calibration.h"
#include "braid-rt/Program.h"
#include "braid-rt/Types.h"

namespace braid::calibrate {

/// A matmul of row-major matrices, of which some are stored transposed, and
/// the multiprocessors that it may count on; 0: all.
struct MatmulCall {
  int64_t rows = 0, columns = 0, depth = 0;
  int32_t dtype = BRAID_RT_BF16;
  TransposedOperands transposed = TransposedOperands::None;
  int32_t multiprocessors = 0;
};

/// The shape of a matmul, as profiles have it.
MatmulShape shapeOf(const MatmulCall &matmul);

/// A collective of `bytes` bytes of the whole operation, in bf16.
struct CollectiveCall {
  const braid_rt_group *group = nullptr;
  /// The members of one communicator of the group.
  int64_t ranks = 1;
  int32_t kind = BRAID_RT_ALL_REDUCE;
  int64_t bytes = 0;
};

/// The work of one invocation, on every rank: `leads` matmuls or elementwise
/// kernels, then the collectives, all started behind them, and beside the
/// collectives the rest, and then the waits; then `rounds` times a collective,
/// a matmul beside it, and the wait.
struct Load {
  int64_t leads = 0;
  int64_t collectives = 0;
  int64_t matmuls = 0;
  int64_t elementwise = 0;
  /// Kernels that do nothing.
  int64_t empty = 0;
  int64_t rounds = 0;
  CollectiveCall collective;
  MatmulCall matmul;
  /// Of one operand of an elementwise kernel, a multiple of 4096.
  int64_t elementwiseBytes = 0;
  /// Whether the leads are matmuls.
  bool leadsAreMatmuls = true;
};

/// The most collectives of an invocation.
constexpr int64_t mostCollectives = 512;

/// The memory of one rank on its device. Matmuls and elementwise kernels share
/// operands, as they never run together.
struct RankMemory {
  void *left = nullptr, *right = nullptr, *result = nullptr;
  void *source = nullptr, *destination = nullptr;
  /// `mostCollectives` of them, on the host.
  void **requests = nullptr;
};

/// The entry that runs a load. Its arguments are a Load and a RankMemory.
extern const braid_rt_entry loadEntry;
/// The kernels of loads.
extern const braid_rt_device_program loadKernels;

/// Bytes of the whole operation have to be a multiple of this for each rank.
constexpr int64_t bytesPerRank = 256;

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_LOAD_H
