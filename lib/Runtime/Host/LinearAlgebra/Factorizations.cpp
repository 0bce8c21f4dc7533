//===- Factorizations.cpp - Factors of matrices by LAPACK -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/LinearAlgebra/LinearAlgebra.h"

using namespace braid::rt;

/// Products of reflectors with a matrix. LAPACK calls the conjugate transpose
/// of real reflectors the transpose.
template <typename T> static void applyReflectors(const MatrixCall<T> &matrix) {
  int m = matrix.size('m'), n = matrix.size('n'), k = matrix.size('k');
  int lda = leading(matrix.size('a')), ldc = leading(m), info = 0;
  char transpose = *matrix.flag(1);
  if (transpose != 'N')
    transpose = Lapack<T>::isComplex ? 'C' : 'T';
  withWork<T>([&](T *work, int size) {
    Lapack<T>::ormqr(matrix.flag(0), &transpose, &m, &n, &k, matrix.input(0),
                     &lda, matrix.input(1), matrix.output(0), &ldc, work, &size,
                     &info, 1, 1);
  });
  matrix.check(info);
}

template <typename T> static void pivotedQR(const MatrixCall<T> &matrix) {
  int m = matrix.size('m'), n = matrix.size('n'), lda = leading(m), info = 0;
  T *a = matrix.output(0), *tau = matrix.output(2);
  int *pivots = matrix.template output<int>(1);
  withWork<T>([&](T *work, int size) {
    if constexpr (Lapack<T>::isComplex) {
      std::vector<typename Lapack<T>::Real> realWork(
          static_cast<size_t>(2 * std::max(1, n)));
      Lapack<T>::geqp3(&m, &n, a, &lda, pivots, tau, work, &size,
                       realWork.data(), &info);
    } else {
      Lapack<T>::geqp3(&m, &n, a, &lda, pivots, tau, work, &size, &info);
    }
  });
  matrix.check(info);
}

template <typename T>
bool braid::rt::factorize(int32_t routine, const MatrixCall<T> &matrix) {
  using Real = typename Lapack<T>::Real;
  int m = matrix.size('m'), n = matrix.size('n'), k = matrix.size('k');
  int lda = leading(std::max(m, n)), info = 0;
  switch (routine) {
  case BRAID_RT_ROUTINE_POTRF:
    Lapack<T>::potrf(matrix.flag(0), &n, matrix.output(0), &lda, matrix.info(),
                     1);
    return true;
  case BRAID_RT_ROUTINE_TRSM: {
    const T one(1);
    int ldTriangle = leading(matrix.size('a'));
    lda = leading(matrix.rows(0));
    Lapack<T>::trsm(matrix.flag(0), matrix.flag(1), matrix.flag(2),
                    matrix.flag(3), &m, &n, &one, matrix.input(0), &ldTriangle,
                    matrix.output(0), &lda, 1, 1, 1, 1);
    return true;
  }
  case BRAID_RT_ROUTINE_GETRF:
    lda = leading(m);
    Lapack<T>::getrf(&m, &n, matrix.output(0), &lda,
                     matrix.template output<int>(1), matrix.info());
    return true;
  case BRAID_RT_ROUTINE_GEQRF:
    lda = leading(m);
    withWork<T>([&](T *work, int size) {
      Lapack<T>::geqrf(&m, &n, matrix.output(0), &lda, matrix.output(1), work,
                       &size, &info);
    });
    matrix.check(info);
    return true;
  case BRAID_RT_ROUTINE_GEQP3:
    pivotedQR(matrix);
    return true;
  case BRAID_RT_ROUTINE_ORGQR:
    lda = leading(m);
    withWork<T>([&](T *work, int size) {
      Lapack<T>::orgqr(&m, &n, &k, matrix.output(0), &lda, matrix.input(0),
                       work, &size, &info);
    });
    matrix.check(info);
    return true;
  case BRAID_RT_ROUTINE_ORMQR:
    applyReflectors(matrix);
    return true;
  case BRAID_RT_ROUTINE_GEHRD: {
    const int first = 1;
    withWork<T>([&](T *work, int size) {
      Lapack<T>::gehrd(&n, &first, &n, matrix.output(0), &lda, matrix.output(1),
                       work, &size, matrix.info());
    });
    return true;
  }
  case BRAID_RT_ROUTINE_SYTRD:
    withWork<T>([&](T *work, int size) {
      Lapack<T>::sytrd(matrix.flag(0), &n, matrix.output(0), &lda,
                       matrix.template output<Real>(1),
                       matrix.template output<Real>(2), matrix.output(3), work,
                       &size, matrix.info(), 1);
    });
    return true;
  case BRAID_RT_ROUTINE_GTSV:
    // The first element below the diagonal stands in the second row.
    Lapack<T>::gtsv(&n, &k, matrix.output(0) + (n > 0 ? 1 : 0),
                    matrix.output(1), matrix.output(2), matrix.output(3), &lda,
                    matrix.info());
    return true;
  default:
    return false;
  }
}

template bool braid::rt::factorize(int32_t, const MatrixCall<float> &);
template bool braid::rt::factorize(int32_t, const MatrixCall<double> &);
template bool braid::rt::factorize(int32_t,
                                   const MatrixCall<std::complex<float>> &);
template bool braid::rt::factorize(int32_t,
                                   const MatrixCall<std::complex<double>> &);
