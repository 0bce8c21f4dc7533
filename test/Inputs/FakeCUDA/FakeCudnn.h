//===- FakeCudnn.h - Control of the fake cuDNN ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cuDNN that runs graphs of operations one operation after the other. What
// the real one leaves undefined ends the process: descriptors that were
// destroyed or are not finalized, attributes that are missing, memory that is
// not a device's or less aligned than the graph says.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKECUDA_FAKECUDNN_H
#define BRAID_TEST_INPUTS_FAKECUDA_FAKECUDNN_H

#include <cstddef>
#include <cstdint>

extern "C" {

/// Restores the defaults: version 9.20.0, one deterministic engine, a workspace
/// of 1024 bytes.
void fake_cudnn_reset(void);

void fake_cudnn_set_version(size_t version); ///< 92000 for 9.20.0.
void fake_cudnn_set_workspace(int64_t bytes);

/// What a proposed engine is like.
enum fake_cudnn_engine {
  FAKE_CUDNN_DETERMINISTIC,
  FAKE_CUDNN_NONDETERMINISTIC, ///< It says so in its notes.
  FAKE_CUDNN_UNSUPPORTED,      ///< No plan can be built for it.
  FAKE_CUDNN_TENSOR_CORE,      ///< It rounds operands of f32 to TF32.
  FAKE_CUDNN_DOWN_CONVERTING   ///< It rounds operands to smaller types.
};

/// The engines that heuristics of the modes A and B propose, of mode B alone,
/// and of mode FALLBACK.
void fake_cudnn_set_engines(const enum fake_cudnn_engine *engines, int count);
void fake_cudnn_set_engines_of_mode_b(const enum fake_cudnn_engine *engines,
                                      int count);
void fake_cudnn_set_fallbacks(const enum fake_cudnn_engine *engines, int count);

/// How long engines take on the fake driver's clock, by their numbers; a
/// negative cost is an engine whose plans can be built and do not run. Engines
/// without a cost take 1000 ns.
void fake_cudnn_set_costs(const int64_t *costs, int count);

/// The call of `function` (`cudnnBackendExecute`) after `skipped` others
/// returns `status` and does nothing else; later ones work.
void fake_cudnn_fail(const char *function, unsigned status, int skipped);

/// How many plans have been built.
int fake_cudnn_plans(void);

/// The number of handles and descriptors that are alive.
int fake_cudnn_leaks(void);
}

#endif // BRAID_TEST_INPUTS_FAKECUDA_FAKECUDNN_H
