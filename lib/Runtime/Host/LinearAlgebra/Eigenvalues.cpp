//===- Eigenvalues.cpp - Eigenvalues and singular values by LAPACK --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/LinearAlgebra/LinearAlgebra.h"

using namespace braid::rt;

template <typename T> static void symmetric(const MatrixCall<T> &matrix) {
  using Real = typename Lapack<T>::Real;
  int n = matrix.size('n'), lda = leading(n);
  T *a = matrix.output(0);
  Real *values = matrix.template output<Real>(1);
  // LAPACK gives three sizes of work in one query.
  T work = {};
  Real realWork = {};
  int intWork = 0;
  std::vector<T> allWork;
  std::vector<Real> allRealWork;
  std::vector<int> allIntWork;
  auto call = [&](T *work, int size, [[maybe_unused]] Real *realWork,
                  [[maybe_unused]] int realSize, int *intWork, int intSize) {
    if constexpr (Lapack<T>::isComplex)
      Lapack<T>::syevd(matrix.flag(0), matrix.flag(1), &n, a, &lda, values,
                       work, &size, realWork, &realSize, intWork, &intSize,
                       matrix.info(), 1, 1);
    else
      Lapack<T>::syevd(matrix.flag(0), matrix.flag(1), &n, a, &lda, values,
                       work, &size, intWork, &intSize, matrix.info(), 1, 1);
  };
  call(&work, -1, &realWork, -1, &intWork, -1);
  int size = leading(static_cast<int>(std::real(work)));
  int realSize = leading(static_cast<int>(realWork));
  int intSize = leading(intWork);
  allWork.resize(static_cast<size_t>(size));
  allRealWork.resize(static_cast<size_t>(realSize));
  allIntWork.resize(static_cast<size_t>(intSize));
  call(allWork.data(), size, allRealWork.data(), realSize, allIntWork.data(),
       intSize);
}

template <typename T>
static void singularValues(const MatrixCall<T> &matrix, bool divides, T *vt) {
  using Real = typename Lapack<T>::Real;
  int m = matrix.size('m'), n = matrix.size('n');
  int lda = leading(m), ldu = leading(m), ldvt = leading(matrix.size('v'));
  auto few = static_cast<size_t>(std::min(m, n)),
       many = static_cast<size_t>(std::max(m, n));
  T *a = matrix.output(0), *u = matrix.output(2);
  Real *values = matrix.template output<Real>(1);
  std::vector<int> intWork(divides ? 8 * few + 1 : 0);
  std::vector<Real> realWork;
  if constexpr (Lapack<T>::isComplex)
    realWork.resize(
        divides ? std::max({7 * few, 5 * few * few + 5 * few,
                            2 * many * few + 2 * few * few + few, size_t(1)})
                : 5 * few + 1);
  withWork<T>([&](T *work, int size) {
    const char *job = matrix.flag(0);
    int *info = matrix.info();
    if constexpr (Lapack<T>::isComplex) {
      if (divides)
        Lapack<T>::gesdd(job, &m, &n, a, &lda, values, u, &ldu, vt, &ldvt, work,
                         &size, realWork.data(), intWork.data(), info, 1);
      else
        Lapack<T>::gesvd(job, job, &m, &n, a, &lda, values, u, &ldu, vt, &ldvt,
                         work, &size, realWork.data(), info, 1, 1);
    } else if (divides) {
      Lapack<T>::gesdd(job, &m, &n, a, &lda, values, u, &ldu, vt, &ldvt, work,
                       &size, intWork.data(), info, 1);
    } else {
      Lapack<T>::gesvd(job, job, &m, &n, a, &lda, values, u, &ldu, vt, &ldvt,
                       work, &size, info, 1, 1);
    }
  });
}

/// The same with V, not with V^T.
template <typename T>
static void singularValuesJacobi(const MatrixCall<T> &matrix) {
  bool wantsVectors = *matrix.flag(0) != 'N';
  auto rows = static_cast<size_t>(matrix.size('v')),
       columns = static_cast<size_t>(matrix.size('n'));
  std::vector<T> vt(rows * columns + 1);
  singularValues(matrix, /*divides=*/false, vt.data());
  T *v = matrix.output(3);
  for (size_t row = 0; wantsVectors && row != rows; ++row)
    for (size_t column = 0; column != columns; ++column) {
      T value = vt[row + column * rows];
      if constexpr (Lapack<T>::isComplex)
        value = std::conj(value);
      v[column + row * columns] = value;
    }
}

/// Makes complex vectors of LAPACK's: the real and the imaginary part of a pair
/// of conjugate vectors stand in two columns.
template <typename Real>
static void joinPairs(int n, const Real *imaginary,
                      const std::vector<Real> &columns,
                      std::complex<Real> *vectors) {
  for (int j = 0; j < n; ++j) {
    const Real *column = columns.data() + static_cast<ptrdiff_t>(j) * n;
    std::complex<Real> *vector = vectors + static_cast<ptrdiff_t>(j) * n;
    bool isPair = imaginary[j] != 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) {
      Real part = isPair ? column[n + i] : 0;
      vector[i] = {column[i], part};
      if (isPair)
        vector[n + i] = {column[i], -part};
    }
    j += isPair;
  }
}

template <typename T> static void eigenvalues(const MatrixCall<T> &matrix) {
  using Real = typename Lapack<T>::Real;
  using Complex = std::complex<Real>;
  int n = matrix.size('n'), lda = leading(n);
  const char *left = matrix.flag(0), *right = matrix.flag(1);
  T *a = matrix.output(0);
  Complex *values = matrix.template output<Complex>(1),
          *vl = matrix.template output<Complex>(2),
          *vr = matrix.template output<Complex>(3);
  int *info = matrix.info();
  auto order = static_cast<size_t>(n);
  if constexpr (Lapack<T>::isComplex) {
    std::vector<Real> realWork(2 * order + 1);
    withWork<T>([&](T *work, int size) {
      Lapack<T>::geev(left, right, &n, a, &lda, values, vl, &lda, vr, &lda,
                      work, &size, realWork.data(), info, 1, 1);
    });
  } else {
    std::vector<Real> real(order), imaginary(order), lefts(order * order),
        rights(order * order);
    withWork<T>([&](T *work, int size) {
      Lapack<T>::geev(left, right, &n, a, &lda, real.data(), imaginary.data(),
                      lefts.data(), &lda, rights.data(), &lda, work, &size,
                      info, 1, 1);
    });
    for (size_t i = 0; i < order; ++i)
      values[i] = {real[i], imaginary[i]};
    if (*left == 'V')
      joinPairs(n, imaginary.data(), lefts, vl);
    if (*right == 'V')
      joinPairs(n, imaginary.data(), rights, vr);
  }
}

template <typename T> static void schur(const MatrixCall<T> &matrix) {
  using Real = typename Lapack<T>::Real;
  int n = matrix.size('n'), lda = leading(n), sorted = 0;
  auto order = static_cast<size_t>(n);
  T *a = matrix.output(0), *vectors = matrix.output(1);
  int *info = matrix.info();
  const char *wanted = matrix.flag(0), *unsorted = "N";
  std::vector<T> values(order);
  std::vector<Real> parts(order + 1);
  withWork<T>([&](T *work, int size) {
    if constexpr (Lapack<T>::isComplex)
      Lapack<T>::gees(wanted, unsorted, nullptr, &n, a, &lda, &sorted,
                      values.data(), vectors, &lda, work, &size, parts.data(),
                      nullptr, info, 1, 1);
    else
      Lapack<T>::gees(wanted, unsorted, nullptr, &n, a, &lda, &sorted,
                      values.data(), parts.data(), vectors, &lda, work, &size,
                      nullptr, info, 1, 1);
  });
}

template <typename T>
bool braid::rt::findEigenvalues(int32_t routine, const MatrixCall<T> &matrix) {
  switch (routine) {
  case BRAID_RT_ROUTINE_SYEVD:
    symmetric(matrix);
    return true;
  case BRAID_RT_ROUTINE_GESDD:
  case BRAID_RT_ROUTINE_GESVD:
    singularValues(matrix, routine == BRAID_RT_ROUTINE_GESDD, matrix.output(3));
    return true;
  case BRAID_RT_ROUTINE_GESVDJ:
    singularValuesJacobi(matrix);
    return true;
  case BRAID_RT_ROUTINE_GEEV:
    eigenvalues(matrix);
    return true;
  case BRAID_RT_ROUTINE_GEES:
    schur(matrix);
    return true;
  default:
    return false;
  }
}

template bool braid::rt::findEigenvalues(int32_t, const MatrixCall<float> &);
template bool braid::rt::findEigenvalues(int32_t, const MatrixCall<double> &);
template bool
braid::rt::findEigenvalues(int32_t, const MatrixCall<std::complex<float>> &);
template bool
braid::rt::findEigenvalues(int32_t, const MatrixCall<std::complex<double>> &);
