//===- Transforms.cpp - Fourier transforms of the host by FFTW ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "Engine/Routine.h"
#include "Host/Fourier/FFTW.h"
#include "Host/HostDevice.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

using namespace braid::rt;

namespace {
/// The transforms of one call.
struct Layout {
  std::vector<fftw::Dimension> sizes;
  fftw::Dimension batch;
};
} // namespace

static Layout getLayout(const RoutineCall &call) {
  const braid_rt_view &in = call.inputs[0], &out = call.outputs[0];
  Layout layout;
  int64_t inner = call.dimensions;
  for (int64_t size : call.transformSizes()) {
    --inner;
    layout.sizes.push_back(
        {size, countElements(in, inner), countElements(out, inner)});
  }
  layout.batch = {call.batch(), countElements(in, call.dimensions),
                  countElements(out, call.dimensions)};
  return layout;
}

template <typename Real> static void run(const RoutineCall &call) {
  using Complex = std::complex<Real>;
  const auto &functions = fftw::Functions<Real>::get();
  const Layout layout = getLayout(call);
  auto rank = static_cast<int>(layout.sizes.size());
  void *in = call.inputs[0].data, *out = call.outputs[0].data;

  // A transform to real numbers overwrites its input.
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<void, Free> copy;
  if (call.givesRealNumbers()) {
    size_t bytes =
        static_cast<size_t>(layout.batch.size * layout.batch.inStride) *
        sizeof(Complex);
    constexpr size_t alignment = 64;
    copy.reset(std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                 alignment * alignment));
    if (!copy)
      throw Error(std::string(call.name()) + ": cannot allocate " +
                  std::to_string(bytes) + " bytes");
    std::copy_n(static_cast<const char *>(in), bytes,
                static_cast<char *>(copy.get()));
    in = copy.get();
  }

  // Estimates measure nothing, so all ranks have one plan.
  const unsigned flags = fftw::estimate;
  static std::mutex planning;
  fftw::Plan plan;
  {
    std::lock_guard<std::mutex> lock(planning);
    if (call.routine == BRAID_RT_ROUTINE_RFFT)
      plan = functions.planToComplex(rank, layout.sizes.data(), 1,
                                     &layout.batch, static_cast<Real *>(in),
                                     static_cast<Complex *>(out), flags);
    else if (call.givesRealNumbers())
      plan = functions.planToReal(rank, layout.sizes.data(), 1, &layout.batch,
                                  static_cast<Complex *>(in),
                                  static_cast<Real *>(out),
                                  flags | fftw::destroyInput);
    else
      plan = functions.planComplex(
          rank, layout.sizes.data(), 1, &layout.batch,
          static_cast<Complex *>(in), static_cast<Complex *>(out),
          call.isForward() ? fftw::forward : fftw::backward, flags);
  }
  if (!plan)
    throw Error(std::string(call.name()) + ": FFTW has no plan for the sizes");
  functions.execute(plan);
  {
    std::lock_guard<std::mutex> lock(planning);
    functions.destroy(plan);
  }

  // FFTW does not divide by the number of elements.
  if (call.routine != BRAID_RT_ROUTINE_IFFT &&
      call.routine != BRAID_RT_ROUTINE_IRFFT)
    return;
  ptrdiff_t elements = 1;
  for (const fftw::Dimension &dimension : layout.sizes)
    elements *= dimension.size;
  const Real scale = 1 / static_cast<Real>(elements);
  auto *values = static_cast<Real *>(out);
  ptrdiff_t parts = call.routine == BRAID_RT_ROUTINE_IFFT ? 2 : 1;
  for (ptrdiff_t i = 0,
                 count = layout.batch.size * layout.batch.outStride * parts;
       i < count; ++i)
    values[i] *= scale;
}

void braid::rt::transform(const RoutineCall &call) {
  for (const braid_rt_view *view : {&call.inputs[0], &call.outputs[0]})
    if (countElements(*view, view->rank) == 0)
      return;
  if (call.shape.dtype == BRAID_RT_COMPLEX_F64)
    run<double>(call);
  else
    run<float>(call);
}
