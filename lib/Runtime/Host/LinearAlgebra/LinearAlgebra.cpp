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
#include <cmath>
#include <exception>
#include <mutex>

using namespace braid::rt;

template <typename T> void MatrixCall<T>::check(int info) const {
  if (info != 0)
    throw Error(std::string(call.name()) + ": LAPACK does not take argument " +
                std::to_string(-info));
}

static int64_t countElementsOfMatrix(const RoutineCall &call) {
  const braid_rt_view &view = call.outputs[0];
  return countElements(view, view.rank -
                                 static_cast<int64_t>(call.shape.batch.size()));
}

namespace {
/// How a call is divided: into parts of `matrices` of its batch, or of
/// `columns` of one matrix, in the letter of its size.
struct Division {
  int64_t matrices, columns;
  char letter;
};
} // namespace

/// Depends on the sizes alone, as the bits of results may depend on parts.
static Division divide(const RoutineCall &call) {
  // A core takes some 50 us for this many terms of small matrices, and 100 us
  // for those of right sides.
  constexpr int64_t leastTerms = 1 << 18, leastTermsOfSides = 1 << 22,
                    termsOfCall = 1 << 12, leastColumns = 32;
  int64_t elements = countElementsOfMatrix(call);
  auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
  Division division = {
      std::max<int64_t>(1, leastTerms / (elements * side + termsOfCall)), 1, 0};
  if (call.routine != BRAID_RT_ROUTINE_TRSM)
    return division;
  // A triangle on the left takes the columns of its right sides one by one, and
  // one on the right their rows.
  int64_t order = std::max<int64_t>(1, call.shape['a']);
  division.letter = call.flags[0] == 'L' ? 'n' : 'm';
  division.columns =
      std::max(leastColumns, divideUp(leastTermsOfSides, order * order));
  division.matrices = std::max<int64_t>(
      1, division.columns / std::max<int64_t>(1, call.shape[division.letter]));
  return division;
}

template <typename T>
static void runMatrix(const RoutineCall &call, int64_t number) {
  MatrixCall<T> matrix(call, number);
  if (!factorize(call.routine, matrix) &&
      !findEigenvalues(call.routine, matrix))
    throw Error(std::string(call.name()) + ": LAPACK has no such routine");
}

/// Runs the routine on the columns (or rows) `begin` to `end` of right sides.
template <typename T>
static void runColumns(RoutineCall call, char letter, int64_t number,
                       int64_t begin, int64_t end) {
  braid_rt_view &sides = call.outputs[0];
  int64_t step = letter == 'n' ? sides.sizes[sides.rank - 1] : 1;
  sides.data = static_cast<T *>(sides.data) + begin * step;
  call.shape.sizes[letter - 'a'] = end - begin;
  runMatrix<T>(call, number);
}

template <typename T>
static void runLapack(const RoutineCall &call, const RunParts &runParts) {
  Division division = divide(call);
  int64_t columns = division.letter ? call.shape[division.letter] : 1,
          pieces = std::max<int64_t>(1, divideUp(columns, division.columns)),
          count = call.batch(),
          parts = divideUp(count, division.matrices) * pieces;
  std::mutex mutex;
  std::exception_ptr failure;
  runParts(parts, [&](int64_t part) {
    int64_t begin = part / pieces * division.matrices,
            column = part % pieces * division.columns;
    try {
      for (int64_t number = begin,
                   end = std::min(count, begin + division.matrices);
           number < end; ++number)
        if (pieces == 1)
          runMatrix<T>(call, number);
        else
          runColumns<T>(call, division.letter, number, column,
                        std::min(columns, column + division.columns));
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      failure = std::current_exception();
    }
  });
  if (failure)
    std::rethrow_exception(failure);
}

bool braid::rt::wantsBlasThreads(const RoutineCall &call) {
  // These threads wait for each other many times in one routine: while other
  // programs have the cores, a matrix takes up to a hundred times as long.
  constexpr int64_t leastElements = 512 * 512;
  return call.routine != BRAID_RT_ROUTINE_TRSM &&
         countElementsOfMatrix(call) >= leastElements;
}

void braid::rt::callLapack(const RoutineCall &call, const RunParts &runParts) {
  for (int64_t size : call.shape.sizes)
    if (size > INT_MAX)
      throw Error(std::string(call.name()) + ": a size is " +
                  std::to_string(size) + ", expected 0 to 2147483647");
  switch (call.shape.dtype) {
  case BRAID_RT_F32:
    return runLapack<float>(call, runParts);
  case BRAID_RT_F64:
    return runLapack<double>(call, runParts);
  case BRAID_RT_COMPLEX_F32:
    return runLapack<std::complex<float>>(call, runParts);
  default:
    return runLapack<std::complex<double>>(call, runParts);
  }
}

template class braid::rt::MatrixCall<float>;
template class braid::rt::MatrixCall<double>;
template class braid::rt::MatrixCall<std::complex<float>>;
template class braid::rt::MatrixCall<std::complex<double>>;
