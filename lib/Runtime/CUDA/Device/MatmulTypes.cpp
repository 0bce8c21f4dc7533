//===- MatmulTypes.cpp - Element types of matmuls -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/MatmulTypes.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

static const Arithmetic arithmetics[] = {
    {BRAID_RT_F16,
     R_16F,
     COMPUTE_32F,
     R_32F,
     {BRAID_RT_F16, BRAID_RT_F32, -1, -1}},
    {BRAID_RT_BF16,
     R_16BF,
     COMPUTE_32F,
     R_32F,
     {BRAID_RT_BF16, BRAID_RT_F32, -1, -1}},
    {BRAID_RT_F32, R_32F, COMPUTE_32F, R_32F, {BRAID_RT_F32, -1, -1, -1}},
    {BRAID_RT_F64, R_64F, COMPUTE_64F, R_64F, {BRAID_RT_F64, -1, -1, -1}},
    {BRAID_RT_COMPLEX_F32,
     C_32F,
     COMPUTE_32F,
     C_32F,
     {BRAID_RT_COMPLEX_F32, -1, -1, -1}},
    {BRAID_RT_COMPLEX_F64,
     C_64F,
     COMPUTE_64F,
     C_64F,
     {BRAID_RT_COMPLEX_F64, -1, -1, -1}},
    {BRAID_RT_F8E4M3FN,
     R_8F_E4M3,
     COMPUTE_32F,
     R_32F,
     {BRAID_RT_F16, BRAID_RT_BF16, BRAID_RT_F32, BRAID_RT_F8E4M3FN}},
};

const Arithmetic *cuda::findArithmetic(int32_t dtype) {
  for (const Arithmetic &arithmetic : arithmetics)
    if (arithmetic.dtype == dtype)
      return &arithmetic;
  return nullptr;
}

static std::string typeName(int32_t dtype) {
  const char *name = braid_rt_dtype_name(dtype);
  return name ? name : std::to_string(dtype);
}

const Arithmetic &cuda::checkTypes(const Matmul &matmul) {
  const Arithmetic *found = findArithmetic(matmul.dtype);
  if (!found)
    throw Error("matmul of " + typeName(matmul.dtype) +
                ", expected f16, bf16, f32, f64, complex<f32>, complex<f64> or "
                "f8E4M3FN");
  std::string names;
  for (int32_t result : found->results) {
    if (result == matmul.options.resultDtype)
      return *found;
    if (result >= 0)
      names += (names.empty() ? "" : " or ") + typeName(result);
  }
  throw Error("matmul of " + typeName(matmul.dtype) + " with a result of " +
              typeName(matmul.options.resultDtype) + ", expected " + names);
}

bool cuda::isTF32(const Matmul &matmul, bool isAllowed) {
  if (matmul.options.precision != BRAID_RT_PRECISION_F32 &&
      matmul.options.precision != BRAID_RT_PRECISION_TF32)
    throw Error("matmul with precision number " +
                std::to_string(matmul.options.precision) +
                ", expected 0 (f32) or 1 (tf32)");
  return matmul.dtype == BRAID_RT_F32 &&
         (isAllowed || matmul.options.precision == BRAID_RT_PRECISION_TF32);
}

std::string cuda::describeMatmul(const Matmul &p) {
  std::string details;
  auto add = [&](const std::string &detail) {
    details += (details.empty() ? "" : ", ") + detail;
  };
  if (p.batch != 1)
    add("batch of " + std::to_string(p.batch));
  if (p.transposeA)
    add("transposed A");
  if (p.transposeB)
    add("transposed B");
  if (p.options.resultDtype != p.dtype)
    add("result " + typeName(p.options.resultDtype));
  if (p.dtype == BRAID_RT_F32 && p.options.precision == BRAID_RT_PRECISION_TF32)
    add("tf32");
  if (p.beta != 0)
    add("beta " + std::to_string(p.beta));
  if (p.options.epilogue == BRAID_RT_EPILOGUE_RELU)
    add("relu");
  if (p.options.epilogue == BRAID_RT_EPILOGUE_GELU)
    add("gelu");
  if (p.options.bias)
    add("bias");
  return typeName(p.dtype) + " matrices of " + std::to_string(p.m) + " x " +
         std::to_string(p.k) + " and " + std::to_string(p.k) + " x " +
         std::to_string(p.n) + (details.empty() ? "" : " (" + details + ")");
}

std::string cuda::nameMatmul(const Matmul &p) {
  const char *dtype = braid_rt_dtype_name(p.dtype);
  return "matmul " + (p.batch == 1 ? "" : std::to_string(p.batch) + "x") +
         std::to_string(p.m) + "x" + std::to_string(p.n) + "x" +
         std::to_string(p.k) + " " + (dtype ? dtype : "?");
}
