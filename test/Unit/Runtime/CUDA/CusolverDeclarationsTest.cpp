//===- CusolverDeclarationsTest.cpp - Declarations against cusolverDn.h ---===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All is compared when this file is compiled, where there are headers.
//
//===----------------------------------------------------------------------===//

#ifdef BRAID_HAS_CUSOLVER_HEADER
#include <cublas_v2.h>
#include <cusolverDn.h>

#include "../OneInterface.h"
#include "CUDA/API/Cusolver.h"

#include <type_traits>

using namespace braid::rt::cuda;
using namespace braid::test;
using cusolver::Cusolver;

#define COMPARE(member, name, parameters)                                      \
  static_assert(HaveOneInterface<decltype(Cusolver::member.address),           \
                                 decltype(&name)>::value,                      \
                "the parameters of " #name);
BRAID_CUSOLVER_FUNCTIONS(COMPARE)
BRAID_CUBLAS_FUNCTIONS(COMPARE)
#undef COMPARE

#define COMPARE_TYPED(member, name)                                            \
  static_assert(HaveOneInterface<                                              \
                    decltype(decltype(Cusolver::member)::value_type::address), \
                    decltype(&name)>::value,                                   \
                "the parameters of " #name);
#define COMPARE(member, real, complex, parameters)                             \
  COMPARE_TYPED(member, cusolverDnS##real)                                     \
  COMPARE_TYPED(member, cusolverDnD##real)                                     \
  COMPARE_TYPED(member, cusolverDnC##complex)                                  \
  COMPARE_TYPED(member, cusolverDnZ##complex)
BRAID_CUSOLVER_TYPED_FUNCTIONS(COMPARE)
#undef COMPARE
#define COMPARE(member, symbol, parameters)                                    \
  COMPARE_TYPED(member, cublasS##symbol)                                       \
  COMPARE_TYPED(member, cublasD##symbol)                                       \
  COMPARE_TYPED(member, cublasC##symbol)                                       \
  COMPARE_TYPED(member, cublasZ##symbol)
BRAID_CUBLAS_TYPED_FUNCTIONS(COMPARE)
#undef COMPARE
static_assert(HaveOneInterface<decltype(Cusolver::getBlasStatusName),
                               decltype(&cublasGetStatusName)>::value);
static_assert(std::is_same_v<cusolver::Handle, cusolverDnHandle_t>);
static_assert(std::is_same_v<cusolver::BlasHandle, cublasHandle_t>);
static_assert(std::is_same_v<cusolver::EigenOptions, syevjInfo_t>);
static_assert(std::is_same_v<cusolver::SingularOptions, gesvdjInfo_t>);
static_assert(cusolver::STATUS_SUCCESS == unsigned(CUSOLVER_STATUS_SUCCESS));

// Positions of letters in the table of routines.
static_assert(CUBLAS_SIDE_LEFT == 0 && CUBLAS_SIDE_RIGHT == 1);
static_assert(CUBLAS_FILL_MODE_LOWER == 0 && CUBLAS_FILL_MODE_UPPER == 1);
static_assert(CUBLAS_OP_N == 0 && CUBLAS_OP_T == 1 &&
              CUBLAS_OP_C == cusolver::conjugateTransposed);
static_assert(CUBLAS_DIAG_NON_UNIT == 0 && CUBLAS_DIAG_UNIT == 1);
static_assert(CUSOLVER_EIG_MODE_NOVECTOR == 0 && CUSOLVER_EIG_MODE_VECTOR == 1);

#endif
