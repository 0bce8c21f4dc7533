//===- ComputeCalls.h - Calls of a program as data --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_COMPUTECALLS_H
#define BRAID_RUNTIME_CUDA_DEVICE_COMPUTECALLS_H

#include "CUDA/API/Driver.h"
#include "Engine/Attention.h"
#include "Engine/Convolution.h"
#include "Engine/Device.h"

#include <cstdint>
#include <vector>

namespace braid::rt::cuda {

class Attentions;
class Convolutions;
class DeviceMemory;
class Modules;
class Matmuls;

/// A call that puts work into the compute stream, with all its arguments. Equal
/// words are equal calls.
using CallWords = std::vector<uint64_t>;

// Each function replaces the contents of `words` by a call.

/// `sizes` are the bytes of each argument.
void encodeLaunch(CallWords &words, const braid_rt_kernel &kernel,
                  const LaunchSize &size, void **arguments,
                  const std::vector<size_t> &sizes);
void encodeMatmul(CallWords &words, const Matmul &matmul, const void *a,
                  const void *b, void *c);
void encodeAttention(CallWords &words, const Attention &attention);
void encodeConvolution(CallWords &words, const Convolution &convolution);
void encodeCopy(CallWords &words, DevicePointer destination,
                DevicePointer source, int64_t bytes);
void encodeWrite(CallWords &words, DevicePointer device, const void *host,
                 int64_t bytes);

/// The parts of a device that make these calls.
struct CallTargets {
  Modules &modules;
  Matmuls &matmuls;
  Attentions &attentions;
  Convolutions &convolutions;
  DeviceMemory &memory;
};

/// Makes the call that begins at `words`. Throws the Error of the call.
void makeCall(const CallTargets &targets, const uint64_t *words);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_COMPUTECALLS_H
