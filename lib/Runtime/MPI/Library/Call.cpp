//===- Call.cpp - Calls of the MPI library ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Library/Call.h"
#include "Base/Error.h"

using namespace braid::rt;

void braid::rt::failMPI(int code, const std::string &call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(call.substr(0, call.find('(')) +
              " of the MPI library failed: " + text);
}

MPI_Datatype braid::rt::nativeType(int32_t dtype, int32_t reduction) {
  // C defines overflow for unsigned integers only.
  bool wraps = reduction == BRAID_RT_SUM || reduction == BRAID_RT_PRODUCT;
  switch (dtype) {
  case BRAID_RT_I1:
    return MPI_UINT8_T;
  case BRAID_RT_I8:
    return MPI_INT8_T;
  case BRAID_RT_I16:
    return MPI_INT16_T;
  case BRAID_RT_I32:
    return wraps ? MPI_UINT32_T : MPI_INT32_T;
  case BRAID_RT_I64:
    return wraps ? MPI_UINT64_T : MPI_INT64_T;
  case BRAID_RT_F32:
    return MPI_FLOAT;
  case BRAID_RT_F64:
    return MPI_DOUBLE;
  case BRAID_RT_COMPLEX_F32:
    return MPI_C_FLOAT_COMPLEX;
  case BRAID_RT_COMPLEX_F64:
    return MPI_C_DOUBLE_COMPLEX;
  default:
    return MPI_DATATYPE_NULL;
  }
}

MPI_Op braid::rt::nativeOperator(int32_t dtype, int32_t reduction) {
  if (nativeType(dtype, reduction) == MPI_DATATYPE_NULL)
    return MPI_OP_NULL;
  bool isFloat = dtype == BRAID_RT_F32 || dtype == BRAID_RT_F64;
  bool isInteger = dtype <= BRAID_RT_I64;
  // With vector instructions Open MPI 4.1 saturates sums of 8 and 16 bits.
  bool isNarrow = dtype <= BRAID_RT_I16;
  switch (reduction) {
  case BRAID_RT_SUM:
    return isNarrow ? MPI_OP_NULL : MPI_SUM;
  case BRAID_RT_PRODUCT:
    return isNarrow ? MPI_OP_NULL : MPI_PROD;
  case BRAID_RT_MIN:
    return isInteger ? MPI_MIN : MPI_OP_NULL;
  case BRAID_RT_MAX:
    return isInteger ? MPI_MAX : MPI_OP_NULL;
  case BRAID_RT_BAND:
    return MPI_BAND;
  case BRAID_RT_BOR:
    return MPI_BOR;
  case BRAID_RT_BXOR:
    return MPI_BXOR;
  case BRAID_RT_AVG:
  case BRAID_RT_PREMUL_SUM:
    return isFloat ? MPI_SUM : MPI_OP_NULL;
  default:
    return MPI_OP_NULL;
  }
}

bool braid::rt::testAll(Requests &requests) {
  int done = 0;
  CHECK_MPI(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                        &done, MPI_STATUSES_IGNORE));
  if (done) {
    requests.clear();
    requests.kept.clear();
  }
  return done != 0;
}

void braid::rt::exchangeWith(MPI_Comm comm, int64_t member, const void *own,
                             Tag ownTag, void *other, Tag otherTag,
                             int64_t bytes, Requests &requests) {
  auto count = static_cast<int>(bytes), peer = static_cast<int>(member);
  CHECK_MPI(MPI_Irecv(other, count, MPI_BYTE, peer, otherTag, comm,
                      addRequest(requests)));
  CHECK_MPI(MPI_Isend(own, count, MPI_BYTE, peer, ownTag, comm,
                      addRequest(requests)));
}
