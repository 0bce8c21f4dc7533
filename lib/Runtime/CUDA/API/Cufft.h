//===- Cufft.h - The functions of cuFFT -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The declarations of libcufft.so that the engine `cuda` uses.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_API_CUFFT_H
#define BRAID_RUNTIME_CUDA_API_CUFFT_H

#include "CUDA/API/Blas.h"

namespace braid::rt::cuda::cufft {

/// A plan. The library numbers them.
using Handle = int;

enum Result : unsigned { RESULT_SUCCESS = 0 };

enum Direction : int { FORWARD = -1, INVERSE = 1 };

/// FUNCTION(member, symbol, parameters); all return a Result.
#define BRAID_CUFFT_FUNCTIONS(FUNCTION)                                        \
  FUNCTION(create, cufftCreate, (Handle *))                                    \
  FUNCTION(destroy, cufftDestroy, (Handle))                                    \
  FUNCTION(setStream, cufftSetStream, (Handle, Stream))                        \
  FUNCTION(setAutoAllocation, cufftSetAutoAllocation, (Handle, int))           \
  FUNCTION(setWorkArea, cufftSetWorkArea, (Handle, void *))                    \
  FUNCTION(makePlan, cufftXtMakePlanMany,                                      \
           (Handle, int, long long *, long long *, long long, long long,       \
            DataType, long long *, long long, long long, DataType, long long,  \
            size_t *, DataType))                                               \
  FUNCTION(execute, cufftXtExec, (Handle, void *, void *, int))

/// The names of the library.
const LibrarySpec &librarySpec();

/// The functions, by their names without `cufft` and `cufftXt`.
class Cufft : public CheckedLibrary<Cufft> {
public:
  /// Loads the library. Throws an Error that names the missing part.
  Cufft();

#define BRAID_CUFFT_MEMBER(member, symbol, parameters)                         \
  LibraryFunction<Result parameters> member = {find(#symbol), #symbol};
  BRAID_CUFFT_FUNCTIONS(BRAID_CUFFT_MEMBER)
#undef BRAID_CUFFT_MEMBER

  /// Throws an Error unless `result` is RESULT_SUCCESS.
  void check(Result result, const char *function) const;
};

} // namespace braid::rt::cuda::cufft

#endif // BRAID_RUNTIME_CUDA_API_CUFFT_H
