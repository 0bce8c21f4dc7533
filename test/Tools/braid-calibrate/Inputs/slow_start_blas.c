// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fake cuBLASLt at low clocks, until the first product gets a number of
// multiprocessors: all products take twice as long.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

void fake_cublaslt_set_costs(const int64_t *costs, int count);

__attribute__((constructor)) static void lowerClocks(void) {
  static const int64_t costs[] = {6000, 4000, 2000};
  fake_cublaslt_set_costs(costs, 3);
}

int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value,
                                   size_t bytes) {
  enum { smCountTarget = 15 };
  static const int64_t costs[] = {3000, 2000, 1000};
  int (*real)(void *, int, const void *, size_t) =
      (int (*)(void *, int, const void *, size_t))dlsym(
          RTLD_NEXT, "cublasLtMatmulDescSetAttribute");
  if (attribute == smCountTarget && *(const int32_t *)value > 0)
    fake_cublaslt_set_costs(costs, 3);
  return real(desc, attribute, value, bytes);
}
