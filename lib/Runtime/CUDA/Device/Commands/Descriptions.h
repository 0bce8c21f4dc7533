//===- Descriptions.h - What tells commands apart ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Commands with equal words enqueue the same work on the same memory.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_DESCRIPTIONS_H
#define BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_DESCRIPTIONS_H

#include "Engine/Attention.h"
#include "Engine/Convolution.h"
#include "Engine/Device.h"
#include "Engine/Routine.h"

#include <memory>
#include <vector>

namespace braid::rt::cuda {

/// What a command's first word says.
enum CommandKind : uint64_t {
  KernelCommand,
  MatmulCommand,
  CopyCommand,
  RoutineCommand,
  AttentionCommand,
  ConvolutionCommand,
  ControlMark
};

// Append the kind and all that tells the command from others.
void describe(const Matmul &matmul, const void *a, const void *b, const void *c,
              std::vector<uint64_t> &words);
void describe(const RoutineCall &call, std::vector<uint64_t> &words);
void describe(const Attention &attention, std::vector<uint64_t> &words);
void describe(const Convolution &convolution, std::vector<uint64_t> &words);

/// A call that outlives the sizes of the caller's views.
class KeptRoutineCall {
public:
  explicit KeptRoutineCall(const RoutineCall &call);
  KeptRoutineCall(const KeptRoutineCall &) = delete;
  KeptRoutineCall &operator=(const KeptRoutineCall &) = delete;

  RoutineCall call;

private:
  std::vector<std::vector<int64_t>> sizes;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_DESCRIPTIONS_H
