//===- LinearAlgebra.cpp - Routines of LAPACK on batches ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/LinearAlgebra/LinearAlgebra.h"
#include "Base/Error.h"
#include "Host/HostDevice.h"

#include <climits>

using namespace braid::rt;

template <typename T> void MatrixCall<T>::check(int info) const {
  if (info != 0)
    throw Error(std::string(call.name()) + ": LAPACK does not take argument " +
                std::to_string(-info));
}

template <typename T> static void run(const RoutineCall &call) {
  for (int64_t number = 0, count = call.batch(); number < count; ++number) {
    MatrixCall<T> matrix(call, number);
    if (!factorize(call.routine, matrix) &&
        !findEigenvalues(call.routine, matrix))
      throw Error(std::string(call.name()) + ": LAPACK has no such routine");
  }
}

void braid::rt::callLapack(const RoutineCall &call) {
  for (int64_t size : call.shape.sizes)
    if (size > INT_MAX)
      throw Error(std::string(call.name()) + ": a size is " +
                  std::to_string(size) + ", expected 0 to 2147483647");
  switch (call.shape.dtype) {
  case BRAID_RT_F32:
    return run<float>(call);
  case BRAID_RT_F64:
    return run<double>(call);
  case BRAID_RT_COMPLEX_F32:
    return run<std::complex<float>>(call);
  default:
    return run<std::complex<double>>(call);
  }
}

template class braid::rt::MatrixCall<float>;
template class braid::rt::MatrixCall<double>;
template class braid::rt::MatrixCall<std::complex<float>>;
template class braid::rt::MatrixCall<std::complex<double>>;
