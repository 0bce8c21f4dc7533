//===- RoutineReference.cpp - Routines of libraries, plainly --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoutineReference.h"

#include "braid-rt/Routines.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using namespace braid::interpreter;

using Complex = std::complex<double>;

namespace {
/// A matrix in LAPACK's order.
struct Matrix {
  RoutineElements &elements;
  int64_t rows;

  Complex &operator()(int64_t i, int64_t j) const {
    return elements[static_cast<size_t>(j * rows + i)];
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

/// Transforms `values` of `sizes` along dimension `dim`.
static void transformAlong(RoutineElements &values,
                           const std::vector<int64_t> &sizes, size_t dim,
                           bool isInverse) {
  int64_t size = sizes[dim], stride = 1;
  for (size_t i = dim + 1; i < sizes.size(); ++i)
    stride *= sizes[i];
  const double turn = (isInverse ? 2 : -2) * std::acos(-1.0);
  RoutineElements before = values;
  auto count = static_cast<int64_t>(values.size());
  for (int64_t position = 0; position < count; ++position) {
    int64_t k = position / stride % size;
    Complex sum = 0;
    for (int64_t j = 0; j < size; ++j) {
      double angle =
          turn * static_cast<double>(j * k % size) / static_cast<double>(size);
      sum += before[static_cast<size_t>(position + (j - k) * stride)] *
             std::polar(1.0, angle);
    }
    values[static_cast<size_t>(position)] =
        isInverse ? sum / static_cast<double>(size) : sum;
  }
}

/// The spectrum of `size` real numbers, of the first half of it.
static RoutineElements completeSpectrum(const Complex *half, int64_t size) {
  RoutineElements whole(half, half + size / 2 + 1);
  for (int64_t k = size / 2 + 1; k < size; ++k)
    whole.push_back(std::conj(half[size - k]));
  return whole;
}

static void transform(RoutineOnce &call) {
  int32_t routine = call.request.routine;
  bool isInverse =
      routine == BRAID_RT_ROUTINE_IFFT || routine == BRAID_RT_ROUTINE_IRFFT;
  RoutineElements values = call.inputs[0];
  if (routine == BRAID_RT_ROUTINE_IRFFT) {
    std::vector<int64_t> stored = call.sizes;
    int64_t last = stored.back();
    stored.back() = last / 2 + 1;
    for (size_t dim = 0; dim + 1 < stored.size(); ++dim)
      transformAlong(values, stored, dim, isInverse);
    RoutineElements result;
    for (size_t begin = 0; begin < values.size();
         begin += static_cast<size_t>(stored.back())) {
      RoutineElements row = completeSpectrum(&values[begin], last);
      // The spectrum of real numbers is real at its ends: drop what is not.
      row.front() = row.front().real();
      if (last % 2 == 0)
        row[static_cast<size_t>(last / 2)] =
            row[static_cast<size_t>(last / 2)].real();
      transformAlong(row, {last}, 0, isInverse);
      result.insert(result.end(), row.begin(), row.end());
    }
    call.outputs[0] = std::move(result);
    return;
  }
  for (size_t dim = 0; dim < call.sizes.size(); ++dim)
    transformAlong(values, call.sizes, dim, isInverse);
  if (routine != BRAID_RT_ROUTINE_RFFT) {
    call.outputs[0] = std::move(values);
    return;
  }
  RoutineElements half;
  int64_t last = call.sizes.back();
  for (auto begin = values.begin(); begin != values.end(); begin += last)
    half.insert(half.end(), begin, begin + last / 2 + 1);
  call.outputs[0] = std::move(half);
}

//===----------------------------------------------------------------------===//
// Factors and solves
//===----------------------------------------------------------------------===//

static void cholesky(RoutineOnce &call) {
  int64_t n = call.shape['n'];
  Matrix a{call.outputs[0], n};
  bool isLower = call.request.flags[0] == 'L';
  auto get = [&](int64_t i, int64_t j) {
    return isLower ? a(i, j) : std::conj(a(j, i));
  };
  auto set = [&](int64_t i, int64_t j, Complex value) {
    (isLower ? a(i, j) : a(j, i)) = isLower ? value : std::conj(value);
  };
  call.outputs[1][0] = 0;
  for (int64_t j = 0; j < n; ++j) {
    double pivot = get(j, j).real();
    for (int64_t k = 0; k < j; ++k)
      pivot -= std::norm(get(j, k));
    if (!(pivot > 0)) {
      set(j, j, pivot);
      call.outputs[1][0] = static_cast<double>(j + 1);
      return;
    }
    pivot = std::sqrt(pivot);
    set(j, j, pivot);
    for (int64_t i = j + 1; i < n; ++i) {
      Complex sum = get(i, j);
      for (int64_t k = 0; k < j; ++k)
        sum -= get(i, k) * std::conj(get(j, k));
      set(i, j, sum / pivot);
    }
  }
}

static void triangularSolve(RoutineOnce &call) {
  int64_t m = call.shape['m'], n = call.shape['n'], size = call.shape['a'];
  bool isLeft = call.request.flags[0] == 'L';
  char transposed = call.request.flags[2];
  bool isUnit = call.request.flags[3] == 'U';
  // From the right: the transposed triangle from the left, row by row.
  bool isTransposed = (transposed != 'N') == isLeft;
  bool isLower = (call.request.flags[1] == 'L') != isTransposed;
  Matrix triangle{call.inputs[0], size}, sides{call.outputs[0], m};
  auto element = [&](int64_t i, int64_t j) {
    Complex value = isTransposed ? triangle(j, i) : triangle(i, j);
    return transposed == 'C' ? std::conj(value) : value;
  };
  for (int64_t side = 0; side < (isLeft ? n : m); ++side) {
    auto x = [&](int64_t i) -> Complex & {
      return isLeft ? sides(i, side) : sides(side, i);
    };
    for (int64_t step = 0; step < size; ++step) {
      int64_t i = isLower ? step : size - 1 - step;
      for (int64_t known = 0; known < step; ++known) {
        int64_t j = isLower ? known : size - 1 - known;
        x(i) -= element(i, j) * x(j);
      }
      if (!isUnit)
        x(i) /= element(i, i);
    }
  }
}

static void lu(RoutineOnce &call) {
  int64_t m = call.shape['m'], n = call.shape['n'];
  Matrix a{call.outputs[0], m};
  auto size = [](Complex value) {
    return std::abs(value.real()) + std::abs(value.imag());
  };
  call.outputs[2][0] = 0;
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < m; ++i)
      if (size(a(i, j)) > size(a(pivot, j)))
        pivot = i;
    call.outputs[1][static_cast<size_t>(j)] = static_cast<double>(pivot + 1);
    if (a(pivot, j) == Complex(0)) {
      if (call.outputs[2][0] == Complex(0))
        call.outputs[2][0] = static_cast<double>(j + 1);
      continue;
    }
    for (int64_t k = 0; pivot != j && k < n; ++k)
      std::swap(a(j, k), a(pivot, k));
    for (int64_t i = j + 1; i < m; ++i) {
      a(i, j) /= a(j, j);
      for (int64_t k = j + 1; k < n; ++k)
        a(i, k) -= a(i, j) * a(j, k);
    }
  }
}

/// Applies the reflector 1 - tau v v^H, whose v stands in column `j` of
/// `reflectors` below a 1 in row `j`, to the columns of `a` from `first`.
static void reflect(const Matrix &reflectors, int64_t j, Complex tau,
                    const Matrix &a, int64_t first, int64_t columns) {
  auto v = [&](int64_t i) { return i == j ? Complex(1) : reflectors(i, j); };
  for (int64_t k = first; k < columns; ++k) {
    Complex sum = 0;
    for (int64_t i = j; i < a.rows; ++i)
      sum += std::conj(v(i)) * a(i, k);
    for (int64_t i = j; i < a.rows; ++i)
      a(i, k) -= tau * sum * v(i);
  }
}

static void qr(RoutineOnce &call) {
  int64_t m = call.shape['m'], n = call.shape['n'];
  Matrix a{call.outputs[0], m};
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    Complex alpha = a(j, j);
    double rest = 0;
    for (int64_t i = j + 1; i < m; ++i)
      rest += std::norm(a(i, j));
    Complex &tau = call.outputs[1][static_cast<size_t>(j)];
    tau = 0;
    if (rest == 0 && alpha.imag() == 0)
      continue;
    double beta =
        -std::copysign(std::sqrt(std::norm(alpha) + rest), alpha.real());
    tau = {(beta - alpha.real()) / beta, -alpha.imag() / beta};
    for (int64_t i = j + 1; i < m; ++i)
      a(i, j) /= alpha - beta;
    reflect(a, j, std::conj(tau), a, j + 1, n);
    a(j, j) = beta;
  }
}

static void productOfReflectors(RoutineOnce &call) {
  int64_t m = call.shape['m'], n = call.shape['n'], k = call.shape['k'];
  RoutineElements result(call.outputs[0].size());
  Matrix reflectors{call.outputs[0], m}, q{result, m};
  for (int64_t j = 0; j < n; ++j)
    q(j, j) = 1;
  for (int64_t j = k; j-- > 0;)
    reflect(reflectors, j, call.inputs[0][static_cast<size_t>(j)], q, 0, n);
  call.outputs[0] = std::move(result);
}

bool RoutineOnce::run() {
  switch (request.routine) {
  case BRAID_RT_ROUTINE_FFT:
  case BRAID_RT_ROUTINE_IFFT:
  case BRAID_RT_ROUTINE_RFFT:
  case BRAID_RT_ROUTINE_IRFFT:
    transform(*this);
    return true;
  case BRAID_RT_ROUTINE_POTRF:
    cholesky(*this);
    return true;
  case BRAID_RT_ROUTINE_TRSM:
    triangularSolve(*this);
    return true;
  case BRAID_RT_ROUTINE_GETRF:
    lu(*this);
    return true;
  case BRAID_RT_ROUTINE_GEQRF:
    qr(*this);
    return true;
  case BRAID_RT_ROUTINE_ORGQR:
    productOfReflectors(*this);
    return true;
  default:
    return false;
  }
}
