//===- Cusolver.h - The functions of cuSOLVER and cuBLAS --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The declarations of libcusolver.so.12, and of libcublas.so.13, which comes
// with it, that the engine `cuda` uses. A unit test compares them with
// cusolverDn.h and cublas_v2.h, if the headers are installed.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_API_CUSOLVER_H
#define BRAID_RUNTIME_CUDA_API_CUSOLVER_H

#include "CUDA/API/Blas.h"

#include <array>

// The tags are those of the libraries' headers.
struct cublasContext;
struct cusolverDnContext;
struct cusolverDnParams;
struct gesvdjInfo;
struct syevjInfo;

namespace braid::rt::cuda::cusolver {

using Handle = cusolverDnContext *;
using BlasHandle = cublasContext *;
using Params = cusolverDnParams *;
using EigenOptions = syevjInfo *;
using SingularOptions = gesvdjInfo *;
/// Numbers of the type of a function.
using Numbers = void *;
/// Real numbers of its width.
using Reals = void *;
/// An array of matrices.
using Matrices = void **;
/// A side, a triangle, a transposition, a diagonal, or whether vectors are
/// wanted: the position of the letter in the table of routines.
using Flag = unsigned;

enum Status : unsigned { STATUS_SUCCESS = 0 };

constexpr Flag conjugateTransposed = 2;

/// FUNCTION(member, symbol, parameters); all return a Status.
#define BRAID_CUSOLVER_FUNCTIONS(FUNCTION)                                     \
  FUNCTION(create, cusolverDnCreate, (Handle *))                               \
  FUNCTION(destroy, cusolverDnDestroy, (Handle))                               \
  FUNCTION(setStream, cusolverDnSetStream, (Handle, Stream))                   \
  FUNCTION(createEigenOptions, cusolverDnCreateSyevjInfo, (EigenOptions *))    \
  FUNCTION(destroyEigenOptions, cusolverDnDestroySyevjInfo, (EigenOptions))    \
  FUNCTION(createSingularOptions, cusolverDnCreateGesvdjInfo,                  \
           (SingularOptions *))                                                \
  FUNCTION(destroySingularOptions, cusolverDnDestroyGesvdjInfo,                \
           (SingularOptions))                                                  \
  FUNCTION(createParams, cusolverDnCreateParams, (Params *))                   \
  FUNCTION(destroyParams, cusolverDnDestroyParams, (Params))                   \
  FUNCTION(syevBatchedWork, cusolverDnXsyevBatched_bufferSize,                 \
           (Handle, Params, Flag, Flag, int64_t, DataType, const void *,       \
            int64_t, DataType, const void *, DataType, size_t *, size_t *,     \
            int64_t))                                                          \
  FUNCTION(syevBatched, cusolverDnXsyevBatched,                                \
           (Handle, Params, Flag, Flag, int64_t, DataType, Numbers, int64_t,   \
            DataType, Reals, DataType, void *, size_t, void *, size_t, int *,  \
            int64_t))

/// FUNCTION(member, symbol, parameters); all return a BlasStatus.
#define BRAID_CUBLAS_FUNCTIONS(FUNCTION)                                       \
  FUNCTION(createBlas, cublasCreate_v2, (BlasHandle *))                        \
  FUNCTION(destroyBlas, cublasDestroy_v2, (BlasHandle))                        \
  FUNCTION(setBlasStream, cublasSetStream_v2, (BlasHandle, Stream))            \
  FUNCTION(setBlasWorkspace, cublasSetWorkspace_v2,                            \
           (BlasHandle, void *, size_t))

/// FUNCTION(member, symbol for real numbers behind the letter of the type, the
/// same for complex numbers, parameters); all return a Status.
#define BRAID_CUSOLVER_TYPED_FUNCTIONS(FUNCTION)                               \
  FUNCTION(potrfWork, potrf_bufferSize, potrf_bufferSize,                      \
           (Handle, Flag, int, Numbers, int, int *))                           \
  FUNCTION(potrf, potrf, potrf,                                                \
           (Handle, Flag, int, Numbers, int, Numbers, int, int *))             \
  FUNCTION(potrfBatched, potrfBatched, potrfBatched,                           \
           (Handle, Flag, int, Matrices, int, int *, int))                     \
  FUNCTION(getrfWork, getrf_bufferSize, getrf_bufferSize,                      \
           (Handle, int, int, Numbers, int, int *))                            \
  FUNCTION(getrf, getrf, getrf,                                                \
           (Handle, int, int, Numbers, int, Numbers, int *, int *))            \
  FUNCTION(geqrfWork, geqrf_bufferSize, geqrf_bufferSize,                      \
           (Handle, int, int, Numbers, int, int *))                            \
  FUNCTION(geqrf, geqrf, geqrf,                                                \
           (Handle, int, int, Numbers, int, Numbers, Numbers, int, int *))     \
  FUNCTION(orgqrWork, orgqr_bufferSize, ungqr_bufferSize,                      \
           (Handle, int, int, int, Numbers, int, Numbers, int *))              \
  FUNCTION(                                                                    \
      orgqr, orgqr, ungqr,                                                     \
      (Handle, int, int, int, Numbers, int, Numbers, Numbers, int, int *))     \
  FUNCTION(ormqrWork, ormqr_bufferSize, unmqr_bufferSize,                      \
           (Handle, Flag, Flag, int, int, int, Numbers, int, Numbers, Numbers, \
            int, int *))                                                       \
  FUNCTION(ormqr, ormqr, unmqr,                                                \
           (Handle, Flag, Flag, int, int, int, Numbers, int, Numbers, Numbers, \
            int, Numbers, int, int *))                                         \
  FUNCTION(syevdWork, syevd_bufferSize, heevd_bufferSize,                      \
           (Handle, Flag, Flag, int, Numbers, int, Reals, int *))              \
  FUNCTION(                                                                    \
      syevd, syevd, heevd,                                                     \
      (Handle, Flag, Flag, int, Numbers, int, Reals, Numbers, int, int *))     \
  FUNCTION(syevjBatchedWork, syevjBatched_bufferSize, heevjBatched_bufferSize, \
           (Handle, Flag, Flag, int, Numbers, int, Reals, int *, EigenOptions, \
            int))                                                              \
  FUNCTION(syevjBatched, syevjBatched, heevjBatched,                           \
           (Handle, Flag, Flag, int, Numbers, int, Reals, Numbers, int, int *, \
            EigenOptions, int))                                                \
  FUNCTION(gesvdjWork, gesvdj_bufferSize, gesvdj_bufferSize,                   \
           (Handle, Flag, int, int, int, Numbers, int, Reals, Numbers, int,    \
            Numbers, int, int *, SingularOptions))                             \
  FUNCTION(gesvdj, gesvdj, gesvdj,                                             \
           (Handle, Flag, int, int, int, Numbers, int, Reals, Numbers, int,    \
            Numbers, int, Numbers, int, int *, SingularOptions))               \
  FUNCTION(gesvdjBatchedWork, gesvdjBatched_bufferSize,                        \
           gesvdjBatched_bufferSize,                                           \
           (Handle, Flag, int, int, Numbers, int, Reals, Numbers, int,         \
            Numbers, int, int *, SingularOptions, int))                        \
  FUNCTION(gesvdjBatched, gesvdjBatched, gesvdjBatched,                        \
           (Handle, Flag, int, int, Numbers, int, Reals, Numbers, int,         \
            Numbers, int, Numbers, int, int *, SingularOptions, int))

/// FUNCTION(member, symbol behind the letter of the type, parameters); all
/// return a BlasStatus.
#define BRAID_CUBLAS_TYPED_FUNCTIONS(FUNCTION)                                 \
  FUNCTION(trsm, trsm_v2,                                                      \
           (BlasHandle, Flag, Flag, Flag, Flag, int, int, const void *,        \
            Numbers, int, Numbers, int))                                       \
  FUNCTION(trsmBatched, trsmBatched,                                           \
           (BlasHandle, Flag, Flag, Flag, Flag, int, int, const void *,        \
            Matrices, int, Matrices, int, int))                                \
  FUNCTION(getrfBatched, getrfBatched,                                         \
           (BlasHandle, int, Matrices, int, int *, int *, int))                \
  FUNCTION(geqrfBatched, geqrfBatched,                                         \
           (BlasHandle, int, int, Matrices, int, Matrices, int *, int))

/// The names of the library.
const LibrarySpec &librarySpec();

/// A function for f32, f64, complex f32 and complex f64.
template <typename Signature>
using OfTypes = std::array<LibraryFunction<Signature>, 4>;

/// The functions, by their names without `cusolverDn` and `cublas`.
class Cusolver : public CheckedLibrary<Cusolver> {
public:
  /// Loads the library. Throws an Error that names the missing part.
  Cusolver();

#define BRAID_CUSOLVER_MEMBER(Result, member, symbol, parameters)              \
  LibraryFunction<Result parameters> member = {find(#symbol), #symbol};
#define BRAID_CUSOLVER_TYPED_MEMBER(Result, member, prefix, real, complex,     \
                                    parameters)                                \
  OfTypes<Result parameters> member = {                                        \
      {{find(prefix "S" real), prefix "S" real},                               \
       {find(prefix "D" real), prefix "D" real},                               \
       {find(prefix "C" complex), prefix "C" complex},                         \
       {find(prefix "Z" complex), prefix "Z" complex}}};
#define BRAID_CUSOLVER_FUNCTION(member, symbol, parameters)                    \
  BRAID_CUSOLVER_MEMBER(Status, member, symbol, parameters)
#define BRAID_CUBLAS_FUNCTION(member, symbol, parameters)                      \
  BRAID_CUSOLVER_MEMBER(BlasStatus, member, symbol, parameters)
#define BRAID_CUSOLVER_TYPED(member, real, complex, parameters)                \
  BRAID_CUSOLVER_TYPED_MEMBER(Status, member, "cusolverDn", #real, #complex,   \
                              parameters)
#define BRAID_CUBLAS_TYPED(member, symbol, parameters)                         \
  BRAID_CUSOLVER_TYPED_MEMBER(BlasStatus, member, "cublas", #symbol, #symbol,  \
                              parameters)
  BRAID_CUSOLVER_FUNCTIONS(BRAID_CUSOLVER_FUNCTION)
  BRAID_CUBLAS_FUNCTIONS(BRAID_CUBLAS_FUNCTION)
  BRAID_CUSOLVER_TYPED_FUNCTIONS(BRAID_CUSOLVER_TYPED)
  BRAID_CUBLAS_TYPED_FUNCTIONS(BRAID_CUBLAS_TYPED)
#undef BRAID_CUSOLVER_MEMBER
#undef BRAID_CUSOLVER_TYPED_MEMBER
#undef BRAID_CUSOLVER_FUNCTION
#undef BRAID_CUBLAS_FUNCTION
#undef BRAID_CUSOLVER_TYPED
#undef BRAID_CUBLAS_TYPED
  const char *(*getBlasStatusName)(BlasStatus) = find("cublasGetStatusName");

  /// Throws an Error unless `status` is a success.
  void check(Status status, const char *function) const;
  void check(BlasStatus status, const char *function) const;
};

} // namespace braid::rt::cuda::cusolver

#endif // BRAID_RUNTIME_CUDA_API_CUSOLVER_H
