//===- Cufft.cpp - A cuFFT that transforms by the definition --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transform to real numbers overwrites its input, and each plan wants a work
// area. What the real library leaves undefined ends the process: plans that are
// not made or were destroyed, a work area that is missing, addresses that are
// less aligned than complex numbers.
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Cufft.h"
#include "FakeCUDA.h"

#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

using namespace braid::rt::cuda;
using cufft::Handle;

namespace {

using Number = std::complex<double>;

constexpr auto invalidPlan = static_cast<cufft::Result>(1);
constexpr auto invalidValue = static_cast<cufft::Result>(4);
constexpr auto invalidSize = static_cast<cufft::Result>(8);

struct Plan {
  std::vector<long long> sizes;
  DataType in = R_32F, out = R_32F;
  long long inDistance = 0, outDistance = 0, batch = 0;
  Stream stream = nullptr;
  void *work = nullptr;
  bool isMade = false, allocates = true;

  bool isDouble() const { return in == R_64F || in == C_64F; }
  size_t bytes(DataType type, long long distance) const {
    size_t width = isDouble() ? sizeof(double) : sizeof(float);
    bool isComplex = type == C_32F || type == C_64F;
    return static_cast<size_t>(distance * batch) * width * (isComplex ? 2 : 1);
  }
};

struct Fake {
  std::mutex mutex;
  std::map<Handle, Plan> plans;
  Handle next = 1;
};

struct Run {
  Plan plan;
  void *in, *out;
  int sign;

  void run();
};

} // namespace

static Fake &fake() {
  static auto *instance = new Fake;
  return *instance;
}

static Plan *find(Handle handle) {
  auto found = fake().plans.find(handle);
  return found == fake().plans.end() ? nullptr : &found->second;
}

static Number load(const void *data, DataType type, long long i) {
  switch (type) {
  case R_32F:
    return static_cast<const float *>(data)[i];
  case R_64F:
    return static_cast<const double *>(data)[i];
  case C_32F:
    return static_cast<const std::complex<float> *>(data)[i];
  default:
    return static_cast<const std::complex<double> *>(data)[i];
  }
}

static void store(void *data, DataType type, long long i, Number value) {
  switch (type) {
  case R_32F:
    static_cast<float *>(data)[i] = static_cast<float>(value.real());
    break;
  case R_64F:
    static_cast<double *>(data)[i] = value.real();
    break;
  case C_32F:
    static_cast<std::complex<float> *>(data)[i] = std::complex<float>(
        static_cast<float>(value.real()), static_cast<float>(value.imag()));
    break;
  default:
    static_cast<std::complex<double> *>(data)[i] = value;
  }
}

/// The number at `step` of `size` steps around the unit circle; quarters of the
/// circle are exact.
static Number getRoot(long long step, long long size) {
  constexpr Number quarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  step = (step % size + size) % size;
  if (4 * step % size == 0)
    return quarters[4 * step / size];
  const double circle = 2 * std::acos(-1.0);
  return std::polar(1.0, circle * static_cast<double>(step) /
                             static_cast<double>(size));
}

/// Transforms `values`, an array of `sizes`, along each dimension.
static void transform(std::vector<Number> &values,
                      const std::vector<long long> &sizes, int sign) {
  long long stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    long long size = sizes[dim];
    std::vector<Number> line(static_cast<size_t>(size));
    for (size_t first = 0; first != values.size(); ++first) {
      auto place = static_cast<long long>(first);
      if (place / stride % size != 0)
        continue;
      for (long long k = 0; k != size; ++k) {
        Number sum = 0;
        for (long long j = 0; j != size; ++j)
          sum += values[static_cast<size_t>(place + j * stride)] *
                 getRoot(sign * j * k, size);
        line[static_cast<size_t>(k)] = sum;
      }
      for (long long k = 0; k != size; ++k)
        values[static_cast<size_t>(place + k * stride)] =
            line[static_cast<size_t>(k)];
    }
    stride *= size;
  }
}

void Run::run() {
  bool isFromReal = plan.in == R_32F || plan.in == R_64F;
  bool isToReal = plan.out == R_32F || plan.out == R_64F;
  long long count = 1, last = plan.sizes.back();
  for (long long size : plan.sizes)
    count *= size;
  long long half = last / 2 + 1;
  for (long long array = 0; array != plan.batch; ++array) {
    std::vector<Number> values(static_cast<size_t>(count));
    for (long long i = 0; i != count; ++i) {
      Number &value = values[static_cast<size_t>(i)];
      if (!isToReal) {
        value = load(in, plan.in, array * plan.inDistance + i);
        continue;
      }
      // The second half of the complex numbers are conjugates of the first one,
      // at the negative place.
      long long place = i, column = i % last;
      bool isSecond = column >= half;
      if (isSecond) {
        long long mirrored = 0, rest = i, factor = 1;
        for (size_t dim = plan.sizes.size(); dim-- > 0;) {
          long long size = plan.sizes[dim], at = rest % size;
          mirrored += (size - at) % size * factor;
          factor *= size;
          rest /= size;
        }
        place = mirrored;
      }
      long long stored = place / last * half + place % last;
      value = load(in, plan.in, array * plan.inDistance + stored);
      if (isSecond)
        value = std::conj(value);
    }
    transform(values, plan.sizes, isFromReal ? -1 : isToReal ? 1 : sign);
    for (long long i = 0; i != count; ++i) {
      long long place = i;
      if (isFromReal) {
        if (i % last >= half)
          continue;
        place = i / last * half + i % last;
      }
      store(out, plan.out, array * plan.outDistance + place,
            values[static_cast<size_t>(i)]);
    }
  }
  if (isToReal)
    for (long long i = 0; i != plan.inDistance * plan.batch; ++i)
      store(in, plan.in, i, std::numeric_limits<double>::quiet_NaN());
}

// NOLINTBEGIN(readability-identifier-naming): cuFFT's own names.
extern "C" {

cufft::Result cufftCreate(Handle *handle) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  *handle = fake().next++;
  fake().plans[*handle];
  return cufft::RESULT_SUCCESS;
}

cufft::Result cufftDestroy(Handle handle) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  return fake().plans.erase(handle) ? cufft::RESULT_SUCCESS : invalidPlan;
}

cufft::Result cufftSetStream(Handle handle, Stream stream) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  Plan *plan = find(handle);
  if (!plan)
    return invalidPlan;
  plan->stream = stream;
  return cufft::RESULT_SUCCESS;
}

cufft::Result cufftSetAutoAllocation(Handle handle, int allocates) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  Plan *plan = find(handle);
  if (!plan || plan->isMade)
    return invalidPlan;
  plan->allocates = allocates != 0;
  return cufft::RESULT_SUCCESS;
}

cufft::Result cufftSetWorkArea(Handle handle, void *work) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  Plan *plan = find(handle);
  if (!plan || !plan->isMade)
    return invalidPlan;
  plan->work = work;
  return cufft::RESULT_SUCCESS;
}

cufft::Result cufftXtMakePlanMany(Handle handle, int rank, long long *sizes,
                                  long long *inEmbed, long long inStride,
                                  long long inDistance, DataType in,
                                  long long *outEmbed, long long outStride,
                                  long long outDistance, DataType out,
                                  long long batch, size_t *workBytes,
                                  DataType execution) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  Plan *plan = find(handle);
  if (!plan || plan->isMade)
    return invalidPlan;
  if (rank < 1 || rank > 3 || inEmbed || outEmbed || inStride != 1 ||
      outStride != 1 || (execution != C_32F && execution != C_64F))
    return invalidValue;
  plan->sizes.assign(sizes, sizes + rank);
  for (long long size : plan->sizes)
    if (size < 1)
      return invalidSize;
  plan->in = in;
  plan->out = out;
  plan->inDistance = inDistance;
  plan->outDistance = outDistance;
  plan->batch = batch;
  plan->isMade = true;
  *workBytes = 256;
  return cufft::RESULT_SUCCESS;
}

cufft::Result cufftXtExec(Handle handle, void *in, void *out, int direction) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  Plan *plan = find(handle);
  if (!plan || !plan->isMade)
    fake_cuda_abort("cufftXtExec", "the plan does not exist, or is not made");
  if (!plan->allocates && !plan->work)
    fake_cuda_abort("cufftXtExec", "the plan has no work area");
  size_t alignment = plan->isDouble() ? sizeof(Number) : sizeof(Number) / 2;
  for (const void *data : {in, out})
    if (reinterpret_cast<uintptr_t>(data) % alignment)
      fake_cuda_abort("cufftXtExec", "an address is not aligned");
  bool isToReal = plan->out == R_32F || plan->out == R_64F;
  const fake_cuda_access accesses[] = {
      {in, plan->bytes(plan->in, plan->inDistance), isToReal},
      {out, plan->bytes(plan->out, plan->outDistance), true},
      {plan->work, 256, true}};
  auto *run = new Run{*plan, in, out, direction};
  return fake_cuda_enqueue(
             plan->stream, "Fourier transform", accesses, plan->work ? 3 : 2,
             1000, [](void *data) { static_cast<Run *>(data)->run(); },
             [](void *data) { delete static_cast<Run *>(data); }, run) == 0
             ? cufft::RESULT_SUCCESS
             : static_cast<cufft::Result>(6);
}
}
// NOLINTEND(readability-identifier-naming)
