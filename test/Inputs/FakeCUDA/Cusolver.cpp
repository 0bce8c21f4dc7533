//===- Cusolver.cpp - A cuSOLVER and cuBLAS that call LAPACK --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Batches of Cholesky factors lose the other triangle. Eigenvalues and singular
// values are errors in recordings. What the real library leaves undefined ends
// the process: a work area that is too small, and a cuBLAS without a workspace.
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Cusolver.h"
#include "FakeCUDA.h"
#include "Host/LinearAlgebra/LinearAlgebra.h"

#include <complex>
#include <functional>
#include <limits>
#include <vector>

using namespace braid::rt;
using namespace braid::rt::cuda;
using SolverBlas = cusolver::BlasHandle;
using cusolver::EigenOptions;
using cusolver::Flag;
using cusolver::Handle;
using cusolver::Matrices;
using cusolver::Numbers;
using cusolver::Reals;
using cusolver::SingularOptions;
using cusolver::Status;

struct cusolverDnContext {
  Stream stream = nullptr;
};
struct cublasContext {
  Stream stream = nullptr;
  void *workspace = nullptr;
};
struct cusolverDnParams {};
struct syevjInfo {};
struct gesvdjInfo {};

extern "C" Result cuStreamIsCapturing(Stream stream, CaptureStatus *status);

constexpr auto invalidValue = static_cast<Status>(3);
constexpr auto internalError = static_cast<Status>(7);

/// The elements that each query of a work area gives.
constexpr int workCount = 5;

using Accesses = std::vector<fake_cuda_access>;

template <typename T>
static fake_cuda_access accessTo(void *data, int64_t count, bool writes) {
  return {data, static_cast<size_t>(count) * sizeof(T), writes};
}

/// Puts `run` into the stream, or into the graph that it records.
static bool enqueue(Stream stream, const char *what, const Accesses &accesses,
                    std::function<void()> run) {
  return fake_cuda_enqueue(
             stream, what, accesses.data(), static_cast<int>(accesses.size()),
             1000,
             [](void *data) {
               (*static_cast<std::function<void()> *>(data))();
             },
             [](void *data) {
               delete static_cast<std::function<void()> *>(data);
             },
             new std::function<void()>(std::move(run))) == 0;
}

static Status solve(Handle handle, const char *what, const Accesses &accesses,
                    std::function<void()> run) {
  return enqueue(handle->stream, what, accesses, std::move(run))
             ? cusolver::STATUS_SUCCESS
             : internalError;
}

static BlasStatus multiply(SolverBlas handle, const char *what,
                           const Accesses &accesses,
                           std::function<void()> run) {
  if (!handle->workspace)
    fake_cuda_abort(what, "the handle has no workspace");
  return enqueue(handle->stream, what, accesses, std::move(run))
             ? BLAS_SUCCESS
             : BLAS_EXECUTION_FAILED;
}

static bool isRecording(Handle handle) {
  CaptureStatus status = CAPTURE_NONE;
  cuStreamIsCapturing(handle->stream, &status);
  return status != CAPTURE_NONE;
}

/// The accesses to all matrices of a batch and to the array of their addresses.
template <typename T>
static void addBatch(Accesses &accesses, Matrices matrices, int batch,
                     int64_t count, bool writes) {
  accesses.push_back(
      accessTo<void *>(static_cast<void *>(matrices), batch, false));
  for (int i = 0; i != batch; ++i)
    accesses.push_back(accessTo<T>(matrices[i], count, writes));
}

namespace {
/// The functions for elements of type `T`.
template <typename T> struct Fake {
  using Real = typename Lapack<T>::Real;

  static T *at(void *data, int64_t element = 0) {
    return static_cast<T *>(data) + element;
  }

  static Status potrf(Handle handle, Flag fill, int n, Numbers a, int lda,
                      Numbers work, int count, int *info) {
    return solve(
        handle, "potrf",
        {accessTo<T>(a, int64_t(n) * lda, true), accessTo<T>(work, count, true),
         accessTo<int>(info, 1, true)},
        [=]() { Lapack<T>::potrf(&"LU"[fill], &n, at(a), &lda, info, 1); });
  }

  static Status potrfBatched(Handle handle, Flag fill, int n, Matrices all,
                             int lda, int *infos, int batch) {
    Accesses accesses = {accessTo<int>(infos, batch, true)};
    addBatch<T>(accesses, all, batch, int64_t(n) * lda, true);
    return solve(handle, "potrfBatched", accesses, [=]() {
      for (int i = 0; i != batch; ++i) {
        T *a = at(all[i]);
        Lapack<T>::potrf(&"LU"[fill], &n, a, &lda, &infos[i], 1);
        for (int column = 0; column != n; ++column)
          for (int row = 0; row != n; ++row)
            if (fill == 0 ? row < column : row > column)
              a[row + column * lda] = std::numeric_limits<Real>::quiet_NaN();
      }
    });
  }

  static Status getrf(Handle handle, int m, int n, Numbers a, int lda,
                      Numbers work, int *pivots, int *info) {
    return solve(
        handle, "getrf",
        {accessTo<T>(a, int64_t(n) * lda, true),
         accessTo<T>(work, workCount, true),
         accessTo<int>(pivots, std::min(m, n), true),
         accessTo<int>(info, 1, true)},
        [=]() { Lapack<T>::getrf(&m, &n, at(a), &lda, pivots, info); });
  }

  static BlasStatus getrfBatched(SolverBlas handle, int n, Matrices all,
                                 int lda, int *pivots, int *infos, int batch) {
    Accesses accesses = {accessTo<int>(infos, batch, true),
                         accessTo<int>(pivots, int64_t(n) * batch, true)};
    addBatch<T>(accesses, all, batch, int64_t(n) * lda, true);
    return multiply(handle, "getrfBatched", accesses, [=]() {
      for (int i = 0; i != batch; ++i)
        Lapack<T>::getrf(&n, &n, at(all[i]), &lda, pivots + i * n, &infos[i]);
    });
  }

  static void reflect(int m, int n, T *a, int lda, T *scales) {
    int info = 0;
    withWork<T>([&](T *work, int size) {
      Lapack<T>::geqrf(&m, &n, a, &lda, scales, work, &size, &info);
    });
  }

  static Status geqrf(Handle handle, int m, int n, Numbers a, int lda,
                      Numbers scales, Numbers work, int count, int *info) {
    return solve(handle, "geqrf",
                 {accessTo<T>(a, int64_t(n) * lda, true),
                  accessTo<T>(work, count, true),
                  accessTo<T>(scales, std::min(m, n), true),
                  accessTo<int>(info, 1, true)},
                 [=]() { reflect(m, n, at(a), lda, at(scales)); });
  }

  static BlasStatus geqrfBatched(SolverBlas handle, int m, int n, Matrices all,
                                 int lda, Matrices scales, int *info,
                                 int batch) {
    *info = 0;
    Accesses accesses;
    addBatch<T>(accesses, all, batch, int64_t(n) * lda, true);
    addBatch<T>(accesses, scales, batch, std::min(m, n), true);
    return multiply(handle, "geqrfBatched", accesses, [=]() {
      for (int i = 0; i != batch; ++i)
        reflect(m, n, at(all[i]), lda, at(scales[i]));
    });
  }

  static Status orgqr(Handle handle, int m, int n, int k, Numbers a, int lda,
                      Numbers scales, Numbers work, int count, int *info) {
    return solve(handle, "orgqr",
                 {accessTo<T>(a, int64_t(n) * lda, true),
                  accessTo<T>(work, count, true), accessTo<T>(scales, k, false),
                  accessTo<int>(info, 1, true)},
                 [=]() {
                   withWork<T>([&](T *own, int size) {
                     Lapack<T>::orgqr(&m, &n, &k, at(a), &lda, at(scales), own,
                                      &size, info);
                   });
                 });
  }

  static Status ormqr(Handle handle, Flag side, Flag transposed, int m, int n,
                      int k, Numbers a, int lda, Numbers scales, Numbers c,
                      int ldc, Numbers work, int count, int *info) {
    return solve(handle, "ormqr",
                 {accessTo<T>(a, int64_t(k) * lda, false),
                  accessTo<T>(work, count, true), accessTo<T>(scales, k, false),
                  accessTo<T>(c, int64_t(n) * ldc, true),
                  accessTo<int>(info, 1, true)},
                 [=]() {
                   withWork<T>([&](T *own, int size) {
                     Lapack<T>::ormqr(&"LR"[side], &"NTC"[transposed], &m, &n,
                                      &k, at(a), &lda, at(scales), at(c), &ldc,
                                      own, &size, info, 1, 1);
                   });
                 });
  }

  static void findEigenvalues(Flag vectors, Flag fill, int n, T *a, int lda,
                              Real *values, int *info) {
    int size = 2 * n * n + 64 * n + 64, realSize = 3 * size, intSize = size;
    std::vector<T> work(static_cast<size_t>(size));
    std::vector<Real> realWork(static_cast<size_t>(realSize));
    std::vector<int> intWork(static_cast<size_t>(intSize));
    const char *job = &"NV"[vectors], *triangle = &"LU"[fill];
    if constexpr (Lapack<T>::isComplex)
      Lapack<T>::syevd(job, triangle, &n, a, &lda, values, work.data(), &size,
                       realWork.data(), &realSize, intWork.data(), &intSize,
                       info, 1, 1);
    else
      Lapack<T>::syevd(job, triangle, &n, a, &lda, values, work.data(), &size,
                       intWork.data(), &intSize, info, 1, 1);
  }

  static Status syevjBatched(Handle handle, Flag vectors, Flag fill, int n,
                             Numbers a, int lda, Reals values, Numbers work,
                             int count, int *infos, EigenOptions,
                             int batch = 1) {
    if (isRecording(handle))
      return internalError;
    int64_t matrix = int64_t(n) * lda;
    return solve(
        handle, "syevd",
        {accessTo<T>(a, matrix * batch, true),
         accessTo<Real>(values, int64_t(n) * batch, true),
         accessTo<T>(work, count, true), accessTo<int>(infos, batch, true)},
        [=]() {
          for (int i = 0; i != batch; ++i)
            findEigenvalues(vectors, fill, n, at(a, i * matrix), lda,
                            static_cast<Real *>(values) + i * n, &infos[i]);
        });
  }

  static void findSingularValues(Flag vectors, int isThin, int m, int n, T *a,
                                 Real *values, T *u, T *v, int *info) {
    int columns = isThin ? std::min(m, n) : n;
    const char *job = &"NAS"[vectors ? 1 + isThin : 0];
    auto few = static_cast<size_t>(std::min(m, n));
    std::vector<Real> realWork(5 * few);
    std::vector<T> vt(static_cast<size_t>(columns) * static_cast<size_t>(n));
    withWork<T>([&](T *work, int size) {
      if constexpr (Lapack<T>::isComplex)
        Lapack<T>::gesvd(job, job, &m, &n, a, &m, values, u, &m, vt.data(),
                         &columns, work, &size, realWork.data(), info, 1, 1);
      else
        Lapack<T>::gesvd(job, job, &m, &n, a, &m, values, u, &m, vt.data(),
                         &columns, work, &size, info, 1, 1);
    });
    for (int row = 0; vectors && row != n; ++row)
      for (int column = 0; column != columns; ++column) {
        T value = vt[static_cast<size_t>(column + row * columns)];
        if constexpr (Lapack<T>::isComplex)
          value = std::conj(value);
        v[row + column * n] = value;
      }
  }

  static Status gesvdjBatched(Handle handle, Flag vectors, int m, int n,
                              Numbers a, int lda, Reals values, Numbers u,
                              int ldu, Numbers v, int ldv, Numbers work,
                              int count, int *infos, SingularOptions,
                              int batch = 1, int isThin = 0) {
    if (isRecording(handle))
      return internalError;
    if (lda != m || (vectors && (ldu != m || ldv != n)))
      return invalidValue;
    int few = std::min(m, n);
    int64_t matrix = int64_t(m) * n, left = int64_t(m) * (isThin ? few : m),
            right = int64_t(n) * (isThin ? few : n);
    Accesses accesses = {accessTo<T>(a, matrix * batch, true),
                         accessTo<Real>(values, int64_t(few) * batch, true),
                         accessTo<T>(work, count, true),
                         accessTo<int>(infos, batch, true)};
    if (vectors) {
      accesses.push_back(accessTo<T>(u, left * batch, true));
      accesses.push_back(accessTo<T>(v, right * batch, true));
    }
    return solve(handle, "gesvdj", accesses, [=]() {
      for (int i = 0; i != batch; ++i)
        findSingularValues(vectors, isThin, m, n, at(a, i * matrix),
                           static_cast<Real *>(values) + i * few,
                           at(u, i * left), at(v, i * right), &infos[i]);
    });
  }

  static BlasStatus trsm(SolverBlas handle, Flag side, Flag fill,
                         Flag transposed, Flag diagonal, int m, int n,
                         const void *scale, Numbers a, int lda, Numbers b,
                         int ldb) {
    T factor = *static_cast<const T *>(scale);
    int order = side == 0 ? m : n;
    return multiply(handle, "trsm",
                    {accessTo<T>(a, int64_t(order) * lda, false),
                     accessTo<T>(b, int64_t(n) * ldb, true)},
                    [=]() {
                      Lapack<T>::trsm(&"LR"[side], &"LU"[fill],
                                      &"NTC"[transposed], &"NU"[diagonal], &m,
                                      &n, &factor, at(a), &lda, at(b), &ldb, 1,
                                      1, 1, 1);
                    });
  }

  static BlasStatus trsmBatched(SolverBlas handle, Flag side, Flag fill,
                                Flag transposed, Flag diagonal, int m, int n,
                                const void *scale, Matrices a, int lda,
                                Matrices b, int ldb, int batch) {
    BlasStatus status = BLAS_SUCCESS;
    for (int i = 0; i != batch && status == BLAS_SUCCESS; ++i)
      status = trsm(handle, side, fill, transposed, diagonal, m, n, scale, a[i],
                    lda, b[i], ldb);
    return status;
  }
};
} // namespace

// NOLINTBEGIN(readability-identifier-naming): NVIDIA's own names.
extern "C" {

Status cusolverDnCreate(Handle *handle) {
  *handle = new cusolverDnContext;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnDestroy(Handle handle) {
  delete handle;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnSetStream(Handle handle, Stream stream) {
  handle->stream = stream;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnCreateParams(cusolver::Params *params) {
  *params = new cusolverDnParams;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnDestroyParams(cusolver::Params params) {
  delete params;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnCreateSyevjInfo(EigenOptions *options) {
  *options = new syevjInfo;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnDestroySyevjInfo(EigenOptions options) {
  delete options;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnCreateGesvdjInfo(SingularOptions *options) {
  *options = new gesvdjInfo;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnDestroyGesvdjInfo(SingularOptions options) {
  delete options;
  return cusolver::STATUS_SUCCESS;
}

BlasStatus cublasCreate_v2(SolverBlas *handle) {
  *handle = new cublasContext;
  return BLAS_SUCCESS;
}

BlasStatus cublasDestroy_v2(SolverBlas handle) {
  delete handle;
  return BLAS_SUCCESS;
}

BlasStatus cublasSetStream_v2(SolverBlas handle, Stream stream) {
  *handle = {stream, nullptr};
  return BLAS_SUCCESS;
}

BlasStatus cublasSetWorkspace_v2(SolverBlas handle, void *workspace, size_t) {
  handle->workspace = workspace;
  return BLAS_SUCCESS;
}

const char *cublasGetStatusName(BlasStatus status) {
  return status == BLAS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : status == BLAS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                        : "CUBLAS_STATUS_EXECUTION_FAILED";
}

Status cusolverDnXsyevBatched_bufferSize(Handle, cusolver::Params, Flag, Flag,
                                         int64_t, DataType, const void *,
                                         int64_t, DataType, const void *,
                                         DataType, size_t *onDevice,
                                         size_t *onHost, int64_t) {
  *onDevice = workCount * sizeof(std::complex<double>);
  *onHost = workCount;
  return cusolver::STATUS_SUCCESS;
}

Status cusolverDnXsyevBatched(Handle handle, cusolver::Params params,
                              Flag vectors, Flag fill, int64_t n, DataType type,
                              Numbers a, int64_t lda, DataType realType,
                              Reals values, DataType computeType, void *work,
                              size_t onDevice, void *workOnHost, size_t onHost,
                              int *infos, int64_t batch) {
  bool isDouble = type == R_64F || type == C_64F;
  if (!params || computeType != type ||
      realType != (isDouble ? R_64F : R_32F) ||
      onDevice < workCount * sizeof(std::complex<double>) ||
      onHost < size_t(workCount))
    return invalidValue;
  static_cast<char *>(workOnHost)[onHost - 1] = 0;
  auto run = [&](auto element) {
    return Fake<decltype(element)>::syevjBatched(
        handle, vectors, fill, static_cast<int>(n), a, static_cast<int>(lda),
        values, work, workCount, infos, nullptr, static_cast<int>(batch));
  };
  switch (type) {
  case R_32F:
    return run(float());
  case R_64F:
    return run(double());
  case C_32F:
    return run(std::complex<float>());
  case C_64F:
    return run(std::complex<double>());
  default:
    return invalidValue;
  }
}

#define FAKE_QUERY(name, parameters)                                           \
  Status cusolverDn##name##_bufferSize parameters {                            \
    *count = workCount;                                                        \
    return cusolver::STATUS_SUCCESS;                                           \
  }
#define FAKE_ROUTINES(p, T, org, orm, sy)                                      \
  FAKE_QUERY(p##potrf, (Handle, Flag, int, Numbers, int, int *count))          \
  FAKE_QUERY(p##getrf, (Handle, int, int, Numbers, int, int *count))           \
  FAKE_QUERY(p##geqrf, (Handle, int, int, Numbers, int, int *count))           \
  FAKE_QUERY(p##org,                                                           \
             (Handle, int, int, int, Numbers, int, Numbers, int *count))       \
  FAKE_QUERY(p##orm, (Handle, Flag, Flag, int, int, int, Numbers, int,         \
                      Numbers, Numbers, int, int *count))                      \
  FAKE_QUERY(p##sy##evd,                                                       \
             (Handle, Flag, Flag, int, Numbers, int, Reals, int *count))       \
  FAKE_QUERY(p##sy##evjBatched, (Handle, Flag, Flag, int, Numbers, int, Reals, \
                                 int *count, EigenOptions, int))               \
  FAKE_QUERY(p##gesvdj,                                                        \
             (Handle, Flag, int, int, int, Numbers, int, Reals, Numbers, int,  \
              Numbers, int, int *count, SingularOptions))                      \
  FAKE_QUERY(p##gesvdjBatched,                                                 \
             (Handle, Flag, int, int, Numbers, int, Reals, Numbers, int,       \
              Numbers, int, int *count, SingularOptions, int))                 \
  Status cusolverDn##p##potrf(Handle h, Flag f, int n, Numbers a, int lda,     \
                              Numbers w, int c, int *i) {                      \
    return Fake<T>::potrf(h, f, n, a, lda, w, c, i);                           \
  }                                                                            \
  Status cusolverDn##p##potrfBatched(Handle h, Flag f, int n, Matrices a,      \
                                     int lda, int *i, int b) {                 \
    return Fake<T>::potrfBatched(h, f, n, a, lda, i, b);                       \
  }                                                                            \
  Status cusolverDn##p##getrf(Handle h, int m, int n, Numbers a, int lda,      \
                              Numbers w, int *q, int *i) {                     \
    return Fake<T>::getrf(h, m, n, a, lda, w, q, i);                           \
  }                                                                            \
  Status cusolverDn##p##geqrf(Handle h, int m, int n, Numbers a, int lda,      \
                              Numbers t, Numbers w, int c, int *i) {           \
    return Fake<T>::geqrf(h, m, n, a, lda, t, w, c, i);                        \
  }                                                                            \
  Status cusolverDn##p##org(Handle h, int m, int n, int k, Numbers a, int lda, \
                            Numbers t, Numbers w, int c, int *i) {             \
    return Fake<T>::orgqr(h, m, n, k, a, lda, t, w, c, i);                     \
  }                                                                            \
  Status cusolverDn##p##orm(Handle h, Flag s, Flag f, int m, int n, int k,     \
                            Numbers a, int lda, Numbers t, Numbers x, int ldx, \
                            Numbers w, int c, int *i) {                        \
    return Fake<T>::ormqr(h, s, f, m, n, k, a, lda, t, x, ldx, w, c, i);       \
  }                                                                            \
  Status cusolverDn##p##sy##evd(Handle h, Flag v, Flag f, int n, Numbers a,    \
                                int lda, Reals s, Numbers w, int c, int *i) {  \
    return Fake<T>::syevjBatched(h, v, f, n, a, lda, s, w, c, i, nullptr);     \
  }                                                                            \
  Status cusolverDn##p##sy##evjBatched(Handle h, Flag v, Flag f, int n,        \
                                       Numbers a, int lda, Reals s, Numbers w, \
                                       int c, int *i, EigenOptions o, int b) { \
    return Fake<T>::syevjBatched(h, v, f, n, a, lda, s, w, c, i, o, b);        \
  }                                                                            \
  Status cusolverDn##p##gesvdj(Handle h, Flag f, int e, int m, int n,          \
                               Numbers a, int lda, Reals s, Numbers u,         \
                               int ldu, Numbers v, int ldv, Numbers w, int c,  \
                               int *i, SingularOptions o) {                    \
    return Fake<T>::gesvdjBatched(h, f, m, n, a, lda, s, u, ldu, v, ldv, w, c, \
                                  i, o, 1, e);                                 \
  }                                                                            \
  Status cusolverDn##p##gesvdjBatched(                                         \
      Handle h, Flag f, int m, int n, Numbers a, int lda, Reals s, Numbers u,  \
      int ldu, Numbers v, int ldv, Numbers w, int c, int *i,                   \
      SingularOptions o, int b) {                                              \
    return Fake<T>::gesvdjBatched(h, f, m, n, a, lda, s, u, ldu, v, ldv, w, c, \
                                  i, o, b);                                    \
  }                                                                            \
  BlasStatus cublas##p##trsm_v2(SolverBlas h, Flag s, Flag f, Flag t, Flag d,  \
                                int m, int n, const void *x, Numbers a,        \
                                int lda, Numbers b, int ldb) {                 \
    return Fake<T>::trsm(h, s, f, t, d, m, n, x, a, lda, b, ldb);              \
  }                                                                            \
  BlasStatus cublas##p##trsmBatched(                                           \
      SolverBlas h, Flag s, Flag f, Flag t, Flag d, int m, int n,              \
      const void *x, Matrices a, int lda, Matrices b, int ldb, int c) {        \
    return Fake<T>::trsmBatched(h, s, f, t, d, m, n, x, a, lda, b, ldb, c);    \
  }                                                                            \
  BlasStatus cublas##p##getrfBatched(SolverBlas h, int n, Matrices a, int lda, \
                                     int *q, int *i, int b) {                  \
    return Fake<T>::getrfBatched(h, n, a, lda, q, i, b);                       \
  }                                                                            \
  BlasStatus cublas##p##geqrfBatched(SolverBlas h, int m, int n, Matrices a,   \
                                     int lda, Matrices t, int *i, int b) {     \
    return Fake<T>::geqrfBatched(h, m, n, a, lda, t, i, b);                    \
  }

FAKE_ROUTINES(S, float, orgqr, ormqr, sy)
FAKE_ROUTINES(D, double, orgqr, ormqr, sy)
FAKE_ROUTINES(C, std::complex<float>, ungqr, unmqr, he)
FAKE_ROUTINES(Z, std::complex<double>, ungqr, unmqr, he)
}
// NOLINTEND(readability-identifier-naming)
