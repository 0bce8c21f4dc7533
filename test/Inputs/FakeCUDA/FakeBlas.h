//===- FakeBlas.h - Control of the fake cuBLASLt ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKECUDA_FAKEBLAS_H
#define BRAID_TEST_INPUTS_FAKECUDA_FAKEBLAS_H

#include <cstdint>

extern "C" {

/// Restores the defaults: three algorithms of 3000, 2000 and 1000 ns.
void fake_cublaslt_reset(void);

/// How long the algorithms take on the fake driver's clock, in the order of the
/// heuristic; a negative cost is an algorithm that is proposed and then fails.
void fake_cublaslt_set_costs(const int64_t *costs, int count);

/// Further algorithms, with the numbers that follow, which are proposed for
/// numbers of multiprocessors that are multiples of 8 only.
void fake_cublaslt_set_costs_of_whole_clusters(const int64_t *costs, int count);

/// The shape of the clusters of each algorithm, as cublasLtClusterShape_t
/// numbers the shapes; those without one have the shape 0.
void fake_cublaslt_set_cluster_shapes(const uint16_t *shapes, int count);

/// The call of `function` (`cublasLtMatmul`) after `skipped` others returns
/// `status` and does nothing else; later ones work.
void fake_cublaslt_fail(const char *function, unsigned status, int skipped);

/// How often the heuristic has been asked.
int fake_cublaslt_heuristic_calls(void);

/// The number of handles, descriptors, layouts and preferences that are alive.
int fake_cublaslt_leaks(void);
}

#endif // BRAID_TEST_INPUTS_FAKECUDA_FAKEBLAS_H
