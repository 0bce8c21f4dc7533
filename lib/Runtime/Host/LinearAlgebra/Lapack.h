//===- Lapack.h - LAPACK's functions by element type ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OpenBLAS comes with LAPACK's Fortran functions and without a header of them.
// Fortran passes the length of each text behind all other arguments.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_HOST_LINEARALGEBRA_LAPACK_H
#define BRAID_RUNTIME_HOST_LINEARALGEBRA_LAPACK_H

#include <complex>
#include <cstddef>

namespace braid::rt {

using Text = const char *;
using Int = const int *;

/// The functions that have the same arguments for all types.
#define BRAID_LAPACK_COMMON(T, R, p, org, orm, sytrd)                          \
  void p##potrf_(Text, Int, T *, Int, int *, size_t);                          \
  void p##trsm_(Text, Text, Text, Text, Int, Int, const T *, const T *, Int,   \
                T *, Int, size_t, size_t, size_t, size_t);                     \
  void p##getrf_(Int, Int, T *, Int, int *, int *);                            \
  void p##geqrf_(Int, Int, T *, Int, T *, T *, Int, int *);                    \
  void p##org##qr_(Int, Int, Int, T *, Int, const T *, T *, Int, int *);       \
  void p##orm##qr_(Text, Text, Int, Int, Int, const T *, Int, const T *, T *,  \
                   Int, T *, Int, int *, size_t, size_t);                      \
  void p##gehrd_(Int, Int, Int, T *, Int, T *, T *, Int, int *);               \
  void p##sytrd##_(Text, Int, T *, Int, R *, R *, T *, T *, Int, int *,        \
                   size_t);                                                    \
  void p##gtsv_(Int, Int, T *, T *, T *, T *, Int, int *);

/// Routines that have more arguments for complex numbers.
#define BRAID_LAPACK_REAL(T, p)                                                \
  void p##geqp3_(Int, Int, T *, Int, int *, T *, T *, Int, int *);             \
  void p##syevd_(Text, Text, Int, T *, Int, T *, T *, Int, int *, Int, int *,  \
                 size_t, size_t);                                              \
  void p##gesdd_(Text, Int, Int, T *, Int, T *, T *, Int, T *, Int, T *, Int,  \
                 int *, int *, size_t);                                        \
  void p##gesvd_(Text, Text, Int, Int, T *, Int, T *, T *, Int, T *, Int, T *, \
                 Int, int *, size_t, size_t);                                  \
  void p##geev_(Text, Text, Int, T *, Int, T *, T *, T *, Int, T *, Int, T *,  \
                Int, int *, size_t, size_t);                                   \
  void p##gees_(Text, Text, void *, Int, T *, Int, int *, T *, T *, T *, Int,  \
                T *, Int, int *, int *, size_t, size_t);
#define BRAID_LAPACK_COMPLEX(T, R, p)                                          \
  void p##geqp3_(Int, Int, T *, Int, int *, T *, T *, Int, R *, int *);        \
  void p##heevd_(Text, Text, Int, T *, Int, R *, T *, Int, R *, Int, int *,    \
                 Int, int *, size_t, size_t);                                  \
  void p##gesdd_(Text, Int, Int, T *, Int, R *, T *, Int, T *, Int, T *, Int,  \
                 R *, int *, int *, size_t);                                   \
  void p##gesvd_(Text, Text, Int, Int, T *, Int, R *, T *, Int, T *, Int, T *, \
                 Int, R *, int *, size_t, size_t);                             \
  void p##geev_(Text, Text, Int, T *, Int, T *, T *, Int, T *, Int, T *, Int,  \
                R *, int *, size_t, size_t);                                   \
  void p##gees_(Text, Text, void *, Int, T *, Int, int *, T *, T *, Int, T *,  \
                Int, R *, int *, int *, size_t, size_t);

extern "C" {
BRAID_LAPACK_COMMON(float, float, s, org, orm, sytrd)
BRAID_LAPACK_COMMON(double, double, d, org, orm, sytrd)
BRAID_LAPACK_COMMON(std::complex<float>, float, c, ung, unm, hetrd)
BRAID_LAPACK_COMMON(std::complex<double>, double, z, ung, unm, hetrd)
BRAID_LAPACK_REAL(float, s)
BRAID_LAPACK_REAL(double, d)
BRAID_LAPACK_COMPLEX(std::complex<float>, float, c)
BRAID_LAPACK_COMPLEX(std::complex<double>, double, z)
}

/// LAPACK's functions for elements of type `T`.
template <typename T> struct Lapack;

#define BRAID_LAPACK_TYPE(T, R, p, org, orm, sy, isComplexType)                \
  template <> struct Lapack<T> {                                               \
    using Real = R;                                                            \
    static constexpr bool isComplex = isComplexType;                           \
    static constexpr auto potrf = p##potrf_;                                   \
    static constexpr auto trsm = p##trsm_;                                     \
    static constexpr auto getrf = p##getrf_;                                   \
    static constexpr auto geqrf = p##geqrf_;                                   \
    static constexpr auto geqp3 = p##geqp3_;                                   \
    static constexpr auto orgqr = p##org##qr_;                                 \
    static constexpr auto ormqr = p##orm##qr_;                                 \
    static constexpr auto gehrd = p##gehrd_;                                   \
    static constexpr auto sytrd = p##sy##trd_;                                 \
    static constexpr auto gtsv = p##gtsv_;                                     \
    static constexpr auto syevd = p##sy##evd_;                                 \
    static constexpr auto gesdd = p##gesdd_;                                   \
    static constexpr auto gesvd = p##gesvd_;                                   \
    static constexpr auto geev = p##geev_;                                     \
    static constexpr auto gees = p##gees_;                                     \
  };
BRAID_LAPACK_TYPE(float, float, s, org, orm, sy, false)
BRAID_LAPACK_TYPE(double, double, d, org, orm, sy, false)
BRAID_LAPACK_TYPE(std::complex<float>, float, c, ung, unm, he, true)
BRAID_LAPACK_TYPE(std::complex<double>, double, z, ung, unm, he, true)

#undef BRAID_LAPACK_COMMON
#undef BRAID_LAPACK_REAL
#undef BRAID_LAPACK_COMPLEX
#undef BRAID_LAPACK_TYPE

} // namespace braid::rt

#endif // BRAID_RUNTIME_HOST_LINEARALGEBRA_LAPACK_H
