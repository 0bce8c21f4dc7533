//===- LinearAlgebra.h - Routines of LAPACK on batches ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_HOST_LINEARALGEBRA_LINEARALGEBRA_H
#define BRAID_RUNTIME_HOST_LINEARALGEBRA_LINEARALGEBRA_H

#include "Engine/Routine.h"
#include "Host/LinearAlgebra/Lapack.h"

#include <algorithm>

namespace braid::rt {

/// The call of a routine for one matrix of its batch.
template <typename T> class MatrixCall {
public:
  using Real = typename Lapack<T>::Real;
  static constexpr bool isComplex = Lapack<T>::isComplex;

  MatrixCall(const RoutineCall &call, int64_t number)
      : call(call), number(number) {}

  /// A size of the table of routines, at most 2147483647.
  int size(char letter) const { return static_cast<int>(call.shape[letter]); }
  /// A pointer to flag number `index`.
  const char *flag(size_t index) const { return &call.flags[index]; }

  template <typename Element = T> Element *input(size_t index) const {
    return find<Element>(call.inputs[index]);
  }
  template <typename Element = T> Element *output(size_t index) const {
    return find<Element>(call.outputs[index]);
  }
  /// The rows of a matrix of which the call may have a part.
  int rows(size_t index) const {
    const braid_rt_view &view = call.outputs[index];
    return static_cast<int>(view.sizes[view.rank - 1]);
  }
  /// LAPACK's info, the last output.
  int *info() const { return output<int>(call.outputs.size() - 1); }

  /// Throws an Error unless `info` of a routine that has no such output is 0.
  void check(int info) const;

private:
  template <typename Element> Element *find(const braid_rt_view &view) const {
    int64_t elements = 1;
    for (auto i = static_cast<int64_t>(call.shape.batch.size()); i < view.rank;
         ++i)
      elements *= view.sizes[i];
    return static_cast<Element *>(view.data) + number * elements;
  }

  const RoutineCall &call;
  const int64_t number;
};

/// The leading dimension of a matrix with this many rows.
inline int leading(int rows) { return std::max(1, rows); }

/// Calls `function` first with a query of the work that LAPACK wants, then with
/// this work: `function(work, size)`.
template <typename T, typename Function> void withWork(Function function) {
  T wanted = {};
  function(&wanted, -1);
  int size = std::max(1, static_cast<int>(std::real(wanted)));
  std::vector<T> work(static_cast<size_t>(size));
  function(work.data(), size);
}

/// Runs a routine that gives factors of a matrix, or solves with these. False
/// if it is no such routine.
template <typename T>
bool factorize(int32_t routine, const MatrixCall<T> &matrix);

/// Runs a routine that gives eigenvalues or singular values. False if it is no
/// such routine.
template <typename T>
bool findEigenvalues(int32_t routine, const MatrixCall<T> &matrix);

} // namespace braid::rt

#endif // BRAID_RUNTIME_HOST_LINEARALGEBRA_LINEARALGEBRA_H
