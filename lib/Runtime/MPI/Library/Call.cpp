//===- Call.cpp - Calls of the MPI library ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Library/Call.h"
#include "Base/Error.h"

#include <algorithm>

using namespace braid::rt;

void braid::rt::failMPI(int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string(call) + " of the MPI library failed: " + text);
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
  if (requests.empty())
    return true;
  int done = 0;
  checkMPI(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                       &done, MPI_STATUSES_IGNORE),
           "MPI_Testall");
  return done != 0;
}

bool braid::rt::cancelReceives(Requests &requests) {
  bool allDone = true;
  for (size_t i = 0; i < requests.receives; ++i) {
    int done = 0;
    if (requests[i] == MPI_REQUEST_NULL)
      continue;
    checkMPI(MPI_Cancel(&requests[i]), "MPI_Cancel");
    checkMPI(MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE), "MPI_Test");
    allDone &= done != 0;
  }
  return allDone;
}

/// The length of the messages for `bytes`, equal for sender and receiver.
/// Libraries send messages of up to 4 KiB at once. Longer messages need a
/// rendezvous, which takes as long as copying 16 KiB.
static int64_t messageBytes(int64_t bytes) {
  constexpr int64_t atOnceBytes = 3840, mostAtOnceBytes = 16 * 1024;
  return bytes <= mostAtOnceBytes ? atOnceBytes : mostMessageBytes;
}

void braid::rt::sendMessage(MPI_Comm comm, int64_t member, const char *source,
                            int64_t bytes, Requests &requests, int tag) {
  checkMPI(MPI_Isend(source, static_cast<int>(bytes), MPI_BYTE,
                     static_cast<int>(member), tag, comm, addRequest(requests)),
           "MPI_Isend");
}

void braid::rt::receiveMessage(MPI_Comm comm, int64_t member, char *destination,
                               int64_t mostBytes, Requests &requests, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  checkMPI(MPI_Irecv(destination, static_cast<int>(mostBytes), MPI_BYTE,
                     static_cast<int>(member), tag, comm, &request),
           "MPI_Irecv");
  requests.makeRoom();
  auto place = requests.begin() + static_cast<ptrdiff_t>(requests.receives++);
  requests.insert(place, request);
}

void braid::rt::sendTo(MPI_Comm comm, int64_t member, const char *source,
                       int64_t bytes, Requests &requests, int tag) {
  int64_t length = messageBytes(bytes);
  for (int64_t begin = 0; begin < bytes; begin += length)
    sendMessage(comm, member, source + begin, std::min(length, bytes - begin),
                requests, tag);
}

void braid::rt::receiveFrom(MPI_Comm comm, int64_t member, char *destination,
                            int64_t bytes, Requests &requests, int tag) {
  int64_t length = messageBytes(bytes);
  for (int64_t begin = 0; begin < bytes; begin += length)
    receiveMessage(comm, member, destination + begin,
                   std::min(length, bytes - begin), requests, tag);
}
