//===- BlasKernels.h - The kernels that OpenBLAS takes ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_HOST_BLASKERNELS_H
#define BRAID_RUNTIME_HOST_BLASKERNELS_H

#include "braid-rt/Types.h"

#include <string_view>

namespace braid::rt {

/// What a processor can run, as far as OpenBLAS has kernels for it.
struct VectorInstructions {
  bool hasAVX2;
  /// The foundation, and the sets CD, BW, DQ and VL.
  bool hasAVX512;
};

/// The value of OPENBLAS_CORETYPE for which OpenBLAS has faster kernels than
/// for `core`, the one that it has detected; null if `core` is fine. OpenBLAS
/// detects processors by their model numbers, and takes kernels of 2004 or of
/// 2013 for models that are younger than the library.
BRAID_RT_API const char *chooseBlasKernels(std::string_view core,
                                           VectorInstructions instructions);

} // namespace braid::rt

#endif // BRAID_RUNTIME_HOST_BLASKERNELS_H
