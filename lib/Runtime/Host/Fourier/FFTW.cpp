//===- FFTW.cpp - The functions of FFTW -----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/Fourier/FFTW.h"

using namespace braid::rt;
using namespace braid::rt::fftw;

template <typename Real> static LibrarySpec getSpec() {
  if constexpr (sizeof(Real) == sizeof(float))
    return {"FFTW for f32",
            "BRAID_FFTWF_LIBRARY",
            {"libfftw3f.so.3", "libfftw3f.so"},
            "install FFTW (Debian's package libfftw3-single3)"};
  else
    return {"FFTW for f64",
            "BRAID_FFTW_LIBRARY",
            {"libfftw3.so.3", "libfftw3.so"},
            "install FFTW (Debian's package libfftw3-double3)"};
}

template <typename Real>
fftw::Functions<Real>::Functions() : Library(getSpec<Real>()) {
  const std::string prefix = sizeof(Real) == sizeof(float) ? "fftwf_" : "fftw_";
  auto bind = [&](auto &function, const char *name) {
    function = find((prefix + name).c_str());
  };
  bind(planComplex, "plan_guru64_dft");
  bind(planToComplex, "plan_guru64_dft_r2c");
  bind(planToReal, "plan_guru64_dft_c2r");
  bind(execute, "execute");
  bind(destroy, "destroy_plan");
  checkComplete();
}

template <typename Real>
const fftw::Functions<Real> &fftw::Functions<Real>::get() {
  // Never destroyed: a thread may transform while the process ends.
  static const Functions *functions = new Functions();
  return *functions;
}

template struct braid::rt::fftw::Functions<float>;
template struct braid::rt::fftw::Functions<double>;
