//===- Blas.h - Matrix multiplication ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_BLAS_H
#define BRAID_RUNTIME_CORE_BLAS_H

#include "braid-rt/Host.h"

namespace braid::rt {

/// Gives the BLAS library the threads that the configuration asks for. The
/// setting is the process's.
void configureBlas(const braid_rt_config &config);

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_BLAS_H
