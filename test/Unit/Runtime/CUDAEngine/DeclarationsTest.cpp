//===- DeclarationsTest.cpp - Declarations against NCCL's header ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All is compared when this file is compiled, where there is a header.
//
//===----------------------------------------------------------------------===//

#ifdef BRAID_HAS_NCCL_HEADER
#include <nccl.h>
#endif

#include "../OneInterface.h"
#include "CUDA/API/NCCL.h"

#include <cstddef>

using namespace braid::rt;
using namespace braid::test;

#ifdef BRAID_HAS_NCCL_HEADER

#define COMPARE(member, name, result, parameters)                              \
  static_assert(HaveOneInterface<decltype(nccl::NCCL::member.address),         \
                                 decltype(&name)>::value,                      \
                "the parameters of " #name);
BRAID_NCCL_FUNCTIONS(COMPARE)
#undef COMPARE

static_assert(NCCL_VERSION_CODE >= nccl::leastVersion, "the header of 2.28");
static_assert(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));
static_assert(std::is_same_v<nccl::Comm, ncclComm_t>);
static_assert(std::is_same_v<nccl::Window, ncclWindow_t>);
static_assert(std::is_same_v<nccl::Stream, cudaStream_t>);

#define EQUAL(own, theirs) static_assert(int(nccl::own) == int(theirs))
EQUAL(Success, ncclSuccess);
EQUAL(UnhandledCudaError, ncclUnhandledCudaError);
EQUAL(SystemError, ncclSystemError);
EQUAL(InternalError, ncclInternalError);
EQUAL(InvalidArgument, ncclInvalidArgument);
EQUAL(InvalidUsage, ncclInvalidUsage);
EQUAL(RemoteError, ncclRemoteError);
EQUAL(InProgress, ncclInProgress);
EQUAL(Sum, ncclSum);
EQUAL(Prod, ncclProd);
EQUAL(Max, ncclMax);
EQUAL(Min, ncclMin);
EQUAL(Avg, ncclAvg);
EQUAL(Int8, ncclInt8);
EQUAL(Uint8, ncclUint8);
EQUAL(Int32, ncclInt32);
EQUAL(Uint32, ncclUint32);
EQUAL(Int64, ncclInt64);
EQUAL(Uint64, ncclUint64);
EQUAL(Float16, ncclFloat16);
EQUAL(Float32, ncclFloat32);
EQUAL(Float64, ncclFloat64);
EQUAL(Bfloat16, ncclBfloat16);
EQUAL(Float8e4m3, ncclFloat8e4m3);
EQUAL(Float8e5m2, ncclFloat8e5m2);
EQUAL(ScalarDevice, ncclScalarDevice);
EQUAL(ScalarHostImmediate, ncclScalarHostImmediate);
EQUAL(windowCollSymmetric, NCCL_WIN_COLL_SYMMETRIC);
EQUAL(ctaPolicyZero, NCCL_CTA_POLICY_ZERO);
EQUAL(undefinedInt, NCCL_CONFIG_UNDEF_INT);
#undef EQUAL

static_assert(sizeof(nccl::Config) == sizeof(ncclConfig_v22800));
#define SAME_PLACE(own, theirs)                                                \
  static_assert(offsetof(nccl::Config, own) ==                                 \
                offsetof(ncclConfig_v22800, theirs))
SAME_PLACE(size, size);
SAME_PLACE(magic, magic);
SAME_PLACE(version, version);
SAME_PLACE(blocking, blocking);
SAME_PLACE(cgaClusterSize, cgaClusterSize);
SAME_PLACE(minCTAs, minCTAs);
SAME_PLACE(maxCTAs, maxCTAs);
SAME_PLACE(netName, netName);
SAME_PLACE(splitShare, splitShare);
SAME_PLACE(trafficClass, trafficClass);
SAME_PLACE(commName, commName);
SAME_PLACE(collnetEnable, collnetEnable);
SAME_PLACE(ctaPolicy, CTAPolicy);
SAME_PLACE(shrinkShare, shrinkShare);
SAME_PLACE(nvlsCTAs, nvlsCTAs);
SAME_PLACE(nChannelsPerNetPeer, nChannelsPerNetPeer);
SAME_PLACE(nvlinkCentricSched, nvlinkCentricSched);
#undef SAME_PLACE

#endif // BRAID_HAS_NCCL_HEADER
