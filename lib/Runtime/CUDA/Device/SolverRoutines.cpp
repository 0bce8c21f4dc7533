//===- SolverRoutines.cpp - LAPACK's routines with cuSOLVER ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/SolverRoutines.h"

#include <algorithm>
#include <complex>

using namespace braid::rt;
using namespace braid::rt::cuda;

struct cuda::SolverCall {
  const RoutineCall &call;
  LinearAlgebra &algebra;
  const cusolver::Cusolver &library = *algebra.library;
  const bool isDouble = call.shape.dtype == BRAID_RT_F64 ||
                        call.shape.dtype == BRAID_RT_COMPLEX_F64;
  const bool isComplex = call.shape.dtype == BRAID_RT_COMPLEX_F32 ||
                         call.shape.dtype == BRAID_RT_COMPLEX_F64;
  const size_t type = (isComplex ? 2 : 0) + (isDouble ? 1 : 0);
  const int batch = static_cast<int>(call.batch());

  /// A size of the table of routines.
  int operator[](char letter) const {
    return static_cast<int>(call.shape[letter]);
  }

  /// The libraries' number of flag number `index`.
  cusolver::Flag flag(size_t index) const {
    return static_cast<cusolver::Flag>(call.flagPosition(index));
  }

  void *input(size_t index, int64_t number = 0) const {
    return find(call.inputs[index], number);
  }
  void *output(size_t index, int64_t number = 0) const {
    return find(call.outputs[index], number);
  }
  /// The last output.
  int *info(int64_t number = 0) const {
    return static_cast<int *>(output(call.outputs.size() - 1, number));
  }
  void **inputs(size_t index) const {
    return algebra.getAddresses(call, call.inputs[index]);
  }
  void **outputs(size_t index) const {
    return algebra.getAddresses(call, call.outputs[index]);
  }

  /// 0 or 1 in the type of the routine.
  const void *scalar(bool isOne) const {
    static const std::complex<float> floats[] = {0, 1};
    static const std::complex<double> doubles[] = {0, 1};
    return isDouble ? static_cast<const void *>(&doubles[isOne])
                    : &floats[isOne];
  }

  template <typename Query> LinearAlgebra::Work getWork(Query query) const {
    return algebra.getWork(call, query);
  }

  /// Calls the function of this type.
  template <typename Signature, typename... Arguments>
  void solve(const cusolver::OfTypes<Signature> &function,
             Arguments... arguments) const {
    library.call(function[type], algebra.handle, arguments...);
  }
  template <typename Signature, typename... Arguments>
  void multiply(const cusolver::OfTypes<Signature> &function,
                Arguments... arguments) const {
    library.call(function[type], algebra.blas, arguments...);
  }

private:
  void *find(const braid_rt_view &view, int64_t number) const {
    return static_cast<char *>(view.data) + number * (countBytes(view) / batch);
  }
};

//===----------------------------------------------------------------------===//
// Factors and solutions
//===----------------------------------------------------------------------===//

static void runPotrf(const SolverCall &x, int64_t number) {
  int n = x['n'];
  void *a = x.output(0, number);
  LinearAlgebra::Work work = x.getWork([&](int *count) {
    x.solve(x.library.potrfWork, x.flag(0), n, a, n, count);
  });
  x.solve(x.library.potrf, x.flag(0), n, a, n, work.data, work.count,
          x.info(number));
}

static bool runAllPotrf(const SolverCall &x) {
  void **all = x.outputs(0);
  if (all)
    x.solve(x.library.potrfBatched, x.flag(0), x['n'], all, x['n'], x.info(),
            x.batch);
  return all;
}

static void runTrsm(const SolverCall &x, int64_t number) {
  x.multiply(x.library.trsm, x.flag(0), x.flag(1), x.flag(2), x.flag(3), x['m'],
             x['n'], x.scalar(true), x.input(0, number), x['a'],
             x.output(0, number), x['m']);
}

static bool runAllTrsm(const SolverCall &x) {
  void **triangles = x.inputs(0), **sides = x.outputs(0);
  if (!triangles || !sides)
    return false;
  x.multiply(x.library.trsmBatched, x.flag(0), x.flag(1), x.flag(2), x.flag(3),
             x['m'], x['n'], x.scalar(true), triangles, x['a'], sides, x['m'],
             x.batch);
  return true;
}

static void runGetrf(const SolverCall &x, int64_t number) {
  int m = x['m'], n = x['n'];
  void *a = x.output(0, number);
  LinearAlgebra::Work work = x.getWork(
      [&](int *count) { x.solve(x.library.getrfWork, m, n, a, m, count); });
  x.solve(x.library.getrf, m, n, a, m, work.data,
          static_cast<int *>(x.output(1, number)), x.info(number));
}

static bool runAllGetrf(const SolverCall &x) {
  // cuBLAS factors all square ones at once sooner than cuSOLVER does one after
  // the other. JAX has the same bound.
  bool areSmall = x['m'] == x['n'] && x['n'] / 128 <= x.batch;
  void **all = areSmall ? x.outputs(0) : nullptr;
  if (all)
    x.multiply(x.library.getrfBatched, x['n'], all, x['n'],
               static_cast<int *>(x.output(1)), x.info(), x.batch);
  return all;
}

static void runGeqrf(const SolverCall &x, int64_t number) {
  int m = x['m'], n = x['n'];
  void *a = x.output(0, number);
  LinearAlgebra::Work work = x.getWork(
      [&](int *count) { x.solve(x.library.geqrfWork, m, n, a, m, count); });
  x.solve(x.library.geqrf, m, n, a, m, x.output(1, number), work.data,
          work.count, work.info);
}

/// Whether cuBLAS, which has one block for each matrix, factors all sooner than
/// cuSOLVER does one after the other: the bound of PyTorch, whose developers
/// measured both (github.com/pytorch/pytorch/pull/56253). cuBLAS takes 238 ms
/// for four matrices of 512 x 512 on an H200, 0.27 ms for 64 of 32 x 32.
static bool areManyShortOnes(const SolverCall &x) {
  constexpr int mostRows = 256, rowsForOne = 16;
  int rows = x['m'];
  return rows <= mostRows && x.batch >= rows / rowsForOne;
}

static bool runAllGeqrf(const SolverCall &x) {
  if (!areManyShortOnes(x))
    return false;
  void **all = x.outputs(0), **scales = x.outputs(1);
  if (!all || !scales)
    return false;
  int info = 0; // Of the arguments; on the host.
  x.multiply(x.library.geqrfBatched, x['m'], x['n'], all, x['m'], scales, &info,
             x.batch);
  return true;
}

static void runOrgqr(const SolverCall &x, int64_t number) {
  int m = x['m'], n = x['n'], k = x['k'];
  void *a = x.output(0, number), *scales = x.input(0, number);
  LinearAlgebra::Work work = x.getWork([&](int *count) {
    x.solve(x.library.orgqrWork, m, n, k, a, m, scales, count);
  });
  x.solve(x.library.orgqr, m, n, k, a, m, scales, work.data, work.count,
          work.info);
}

static void runOrmqr(const SolverCall &x, int64_t number) {
  int m = x['m'], n = x['n'], k = x['k'], lda = x['a'];
  void *a = x.input(0, number), *scales = x.input(1, number),
       *c = x.output(0, number);
  cusolver::Flag side = x.flag(0), transposed = x.flag(1);
  // LAPACK calls the conjugate transpose of real numbers the transpose.
  if (transposed)
    transposed = x.isComplex ? cusolver::conjugateTransposed : 1;
  LinearAlgebra::Work work = x.getWork([&](int *count) {
    x.solve(x.library.ormqrWork, side, transposed, m, n, k, a, lda, scales, c,
            m, count);
  });
  x.solve(x.library.ormqr, side, transposed, m, n, k, a, lda, scales, c, m,
          work.data, work.count, work.info);
}

//===----------------------------------------------------------------------===//
// Eigenvalues and singular values
//===----------------------------------------------------------------------===//

static void runSyevd(const SolverCall &x, int64_t number) {
  int n = x['n'];
  cusolver::Flag vectors = x.flag(0), triangle = x.flag(1);
  void *a = x.output(0, number), *values = x.output(1, number);
  LinearAlgebra::Work work = x.getWork([&](int *count) {
    x.solve(x.library.syevdWork, vectors, triangle, n, a, n, values, count);
  });
  x.solve(x.library.syevd, vectors, triangle, n, a, n, values, work.data,
          work.count, x.info(number));
}

/// For matrices of any size.
static void runSyevBatched(const SolverCall &x) {
  static constexpr DataType types[] = {R_32F, R_64F, C_32F, C_64F};
  const cusolver::Cusolver &library = x.library;
  DataType type = types[x.type], real = types[x.isDouble];
  cusolver::Handle handle = x.algebra.handle;
  cusolver::Params params = x.algebra.params;
  int64_t n = x['n'], bytes = braid_rt_dtype_size(x.call.shape.dtype);
  cusolver::Flag vectors = x.flag(0), triangle = x.flag(1);
  void *a = x.output(0), *values = x.output(1);
  std::vector<char> &onHost = x.algebra.hostWork;
  LinearAlgebra::Work work = x.getWork([&](int *count) {
    size_t ofDevice = 0, ofHost = 0;
    library.call(library.syevBatchedWork, handle, params, vectors, triangle, n,
                 type, static_cast<const void *>(a), n, real,
                 static_cast<const void *>(values), type, &ofDevice, &ofHost,
                 int64_t(x.batch));
    if (ofHost > onHost.size()) {
      // The stream may still use what there is.
      x.algebra.gpu.synchronize("cusolverDnXsyevBatched");
      onHost.resize(ofHost);
    }
    *count = static_cast<int>((ofDevice + bytes - 1) / bytes);
  });
  library.call(library.syevBatched, handle, params, vectors, triangle, n, type,
               a, n, real, values, type, work.data,
               static_cast<size_t>(work.count * bytes),
               static_cast<void *>(onHost.data()), onHost.size(), x.info(),
               int64_t(x.batch));
}

/// Large matrices fill the GPU alone: on an H200 two of 1,024 rows take 21 ms
/// one after the other and 67 at once, four of 512 rows 19 and 31, but eight of
/// 128 rows 10.8 and 0.7.
static bool areFewLargeOnes(const SolverCall &x) {
  constexpr int rows = 400, matrices = 6;
  return x['n'] >= rows && x.batch < matrices;
}

static bool runAllSyevd(const SolverCall &x) {
  int n = x['n'];
  if (areFewLargeOnes(x))
    return false;
  // syevjBatched gives wrong vectors of complex matrices
  // (github.com/pytorch/pytorch/issues/192483).
  if (n > BRAID_RT_JACOBI_ORDER || x.isComplex) {
    runSyevBatched(x);
    return true;
  }
  cusolver::Flag vectors = x.flag(0), triangle = x.flag(1);
  cusolver::EigenOptions options = x.algebra.eigenOptions;
  void *a = x.output(0), *values = x.output(1);
  LinearAlgebra::Work work = x.getWork([&](int *count) {
    x.solve(x.library.syevjBatchedWork, vectors, triangle, n, a, n, values,
            count, options, x.batch);
  });
  x.solve(x.library.syevjBatched, vectors, triangle, n, a, n, values, work.data,
          work.count, x.info(), options, x.batch);
  return true;
}

static bool wantsVectors(const SolverCall &x) { return x.call.flags[0] != 'N'; }

static void runGesvdj(const SolverCall &x, int64_t number) {
  int m = x['m'], n = x['n'], isThin = x.call.flags[0] == 'S';
  cusolver::Flag vectors = wantsVectors(x);
  cusolver::SingularOptions options = x.algebra.singularOptions;
  void *a = x.output(0, number), *values = x.output(1, number),
       *u = x.output(2, number), *v = x.output(3, number);
  LinearAlgebra::Work work = x.getWork([&](int *count) {
    x.solve(x.library.gesvdjWork, vectors, isThin, m, n, a, m, values, u, m, v,
            n, count, options);
  });
  x.solve(x.library.gesvdj, vectors, isThin, m, n, a, m, values, u, m, v, n,
          work.data, work.count, x.info(number), options);
}

static bool runAllGesvdj(const SolverCall &x) {
  int m = x['m'], n = x['n'];
  cusolver::Flag vectors = wantsVectors(x);
  // The library gives all columns of U and V.
  if (std::max(m, n) > BRAID_RT_JACOBI_ORDER ||
      (vectors && (x['u'] != m || x['v'] != n)))
    return false;
  cusolver::SingularOptions options = x.algebra.singularOptions;
  void *a = x.output(0), *values = x.output(1), *u = x.output(2),
       *v = x.output(3);
  LinearAlgebra::Work work = x.getWork([&](int *count) {
    x.solve(x.library.gesvdjBatchedWork, vectors, m, n, a, m, values, u, m, v,
            n, count, options, x.batch);
  });
  x.solve(x.library.gesvdjBatched, vectors, m, n, a, m, values, u, m, v, n,
          work.data, work.count, x.info(), options, x.batch);
  return true;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr SolverRoutine routines[] = {
    {BRAID_RT_ROUTINE_POTRF, runPotrf, runAllPotrf},
    {BRAID_RT_ROUTINE_TRSM, runTrsm, runAllTrsm},
    {BRAID_RT_ROUTINE_GETRF, runGetrf, runAllGetrf},
    {BRAID_RT_ROUTINE_GEQRF, runGeqrf, runAllGeqrf},
    {BRAID_RT_ROUTINE_ORGQR, runOrgqr, nullptr},
    {BRAID_RT_ROUTINE_ORMQR, runOrmqr, nullptr},
    {BRAID_RT_ROUTINE_SYEVD, runSyevd, runAllSyevd},
    {BRAID_RT_ROUTINE_GESVDJ, runGesvdj, runAllGesvdj},
};

const SolverRoutine *cuda::findSolverRoutine(int32_t routine) {
  const SolverRoutine *found = std::find_if(
      std::begin(routines), std::end(routines),
      [&](const SolverRoutine &row) { return row.routine == routine; });
  return found == std::end(routines) ? nullptr : found;
}

void cuda::runSolverRoutine(const SolverRoutine &routine,
                            const RoutineCall &call, LinearAlgebra &algebra) {
  SolverCall solver{call, algebra};
  if (solver.batch > 1 && routine.runAll && routine.runAll(solver))
    return;
  for (int64_t number = 0; number != solver.batch; ++number)
    routine.run(solver, number);
}
