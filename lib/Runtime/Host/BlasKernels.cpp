//===- BlasKernels.cpp - The kernels that OpenBLAS takes ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/BlasKernels.h"

#include <cblas.h>
#include <cstdint>
#include <cstdlib>
#include <link.h>

using namespace braid::rt;

static constexpr const char *coreVariable = "OPENBLAS_CORETYPE";

const char *braid::rt::chooseBlasKernels(std::string_view core,
                                         VectorInstructions instructions) {
  bool isOldest = core == "Prescott";
  if (instructions.hasAVX512 &&
      (isOldest || core == "Haswell" || core == "Zen"))
    return "SkylakeX";
  return instructions.hasAVX2 && isOldest ? "Haswell" : nullptr;
}

#if defined(__x86_64__)

// A build of OpenBLAS for one processor lacks these functions.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}
// NOLINTEND(readability-identifier-naming)

/// Which of two places in shared objects the dynamic linker has loaded first.
struct LoadOrder {
  uintptr_t first, second;
  bool isFirstBefore;
};

/// True if `object` contains `address`.
static bool contains(const dl_phdr_info &object, uintptr_t address) {
  for (const auto *segment = object.dlpi_phdr,
                  *end = segment + object.dlpi_phnum;
       segment != end; ++segment)
    if (segment->p_type == PT_LOAD &&
        address - (object.dlpi_addr + segment->p_vaddr) < segment->p_memsz)
      return true;
  return false;
}

static int visitObject(dl_phdr_info *object, size_t, void *data) {
  auto &order = *static_cast<LoadOrder *>(data);
  order.isFirstBefore = contains(*object, order.first);
  return order.isFirstBefore || contains(*object, order.second);
}

/// Runs when this library is loaded, after OpenBLAS has detected the processor.
/// OpenBLAS reads the variable alone, and only then.
[[gnu::constructor]] static void setBlasKernels() {
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit ||
      std::getenv(coreVariable))
    return;
  bool hasAVX2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool hasAVX512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const char *kernels =
      chooseBlasKernels(openblas_get_corename(), {hasAVX2, hasAVX512});
  if (!kernels)
    return;
  // A process that had OpenBLAS before may be multiplying in another thread.
  LoadOrder order = {reinterpret_cast<uintptr_t>(&setBlasKernels),
                     reinterpret_cast<uintptr_t>(&openblas_get_corename),
                     false};
  dl_iterate_phdr(visitObject, &order);
  if (!order.isFirstBefore)
    return;
  gotoblas_dynamic_quit();
  setenv(coreVariable, kernels, 0);
  gotoblas_dynamic_init();
  unsetenv(coreVariable);
}

#endif
