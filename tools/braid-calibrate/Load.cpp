//===- Load.cpp - What ranks run during a measurement ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Load.h"

#include "braid-rt/Blas.h"
#include "braid-rt/Collectives.h"
#include "braid-rt/Device.h"

using namespace braid;
using namespace braid::calibrate;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A matmul of two arrays of f32, 16 bytes for each thread, as Braid's own
/// elementwise kernels read and write them; and a kernel that does nothing. As
/// PTX, so that every GPU since Ampere can run them.
static constexpr char ptx[] = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry braid_multiply(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{
  .reg .b32 %r<5>;
  .reg .b64 %a<9>;
  .reg .f32 %f<13>;
  ld.param.u64 %a1, [p0];
  ld.param.u64 %a2, [p1];
  ld.param.u64 %a3, [p2];
  cvta.to.global.u64 %a1, %a1;
  cvta.to.global.u64 %a2, %a2;
  cvta.to.global.u64 %a3, %a3;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %a4, %r4, 16;
  add.s64 %a5, %a1, %a4;
  add.s64 %a6, %a2, %a4;
  add.s64 %a7, %a3, %a4;
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%a5];
  ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%a6];
  mul.f32 %f9, %f1, %f5;
  mul.f32 %f10, %f2, %f6;
  mul.f32 %f11, %f3, %f7;
  mul.f32 %f12, %f4, %f8;
  st.global.v4.f32 [%a7], {%f9, %f10, %f11, %f12};
  ret;
}

.visible .entry braid_nothing()
{
  ret;
}
)";

// The text starts behind the newline.
static constexpr braid_rt_image image = {ptx + 1, sizeof(ptx) - 1, "ptx"};
static constexpr const braid_rt_image *images[] = {&image};
static constexpr braid_rt_kernel multiplyKernel = {&image, "braid_multiply"};
static constexpr braid_rt_kernel emptyKernel = {&image, "braid_nothing"};
const braid_rt_device_program braid::calibrate::loadKernels = {
    1, images, 0, nullptr, 0, 0};

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

static ElementClass classOf(int32_t dtype) {
  return dtype == BRAID_RT_F16   ? ElementClass::F16
         : dtype == BRAID_RT_F32 ? ElementClass::F32
                                 : ElementClass::BF16;
}

MatmulShape braid::calibrate::shapeOf(const MatmulCall &matmul) {
  return {matmul.rows, matmul.columns, matmul.depth, classOf(matmul.dtype),
          matmul.transposed};
}

// Errors of the runtime leave these functions by longjmp, so they must not have
// anything to destroy.

static constexpr braid_rt_site site = {};

static void multiplyMatrices(const MatmulCall &call, const RankMemory &memory) {
  braid_rt_matmul_options options = {};
  options.resultDtype = call.dtype;
  options.multiprocessors = call.multiprocessors;
  bool isLeft = isLeftTransposed(call.transposed);
  bool isRight = isRightTransposed(call.transposed);
  braid_rt_fused_matmul(call.dtype, isLeft, isRight, 1, call.rows, call.columns,
                        call.depth, memory.left,
                        isLeft ? call.rows : call.depth, 0, memory.right,
                        isRight ? call.depth : call.columns, 0, 0.0,
                        memory.result, call.columns, 0, &options, &site);
}

static void multiplyElements(int64_t bytes, const RankMemory &memory) {
  constexpr int64_t threads = 256, bytesPerThread = 16;
  const int64_t grid[] = {bytes / (threads * bytesPerThread), 1, 1};
  const int64_t block[] = {threads, 1, 1};
  void *left = memory.left, *right = memory.right, *result = memory.result;
  void *arguments[] = {&left, &right, &result};
  braid_rt_launch(&multiplyKernel, grid, block, 0, arguments, 3, &site);
}

static void launchNothing() {
  const int64_t one[] = {1, 1, 1}, block[] = {32, 1, 1};
  braid_rt_launch(&emptyKernel, one, block, 0, nullptr, 0, &site);
}

static void *start(const CollectiveCall &call, const RankMemory &memory) {
  constexpr int64_t elementBytes = 2;
  const int64_t all = call.bytes / elementBytes, part = all / call.ranks;
  braid_rt_view wholeSource = {memory.source, &all, BRAID_RT_BF16, 1};
  braid_rt_view partSource = {memory.source, &part, BRAID_RT_BF16, 1};
  braid_rt_view whole = {memory.destination, &all, BRAID_RT_BF16, 1};
  braid_rt_view ownPart = {memory.destination, &part, BRAID_RT_BF16, 1};
  switch (call.kind) {
  case BRAID_RT_ALL_GATHER:
    return braid_rt_all_gather(call.group, 1, &partSource, &whole, 0, &site);
  case BRAID_RT_REDUCE_SCATTER:
    return braid_rt_reduce_scatter(call.group, 1, &wholeSource, &ownPart,
                                   BRAID_RT_SUM, nullptr, 0, &site);
  case BRAID_RT_ALL_TO_ALL:
    return braid_rt_all_to_all(call.group, 1, &wholeSource, &whole, &site);
  case BRAID_RT_BROADCAST:
    return braid_rt_broadcast(call.group, 1, &wholeSource, &whole, 0, &site);
  case BRAID_RT_REDUCE:
    return braid_rt_reduce(call.group, 1, &wholeSource, &whole, BRAID_RT_SUM,
                           nullptr, 0, &site);
  default:
    return braid_rt_all_reduce(call.group, 1, &wholeSource, &whole,
                               BRAID_RT_SUM, nullptr, &site);
  }
}

static void startAll(int64_t count, const CollectiveCall &call,
                     const RankMemory &memory) {
  for (int64_t i = 0; i < count; ++i)
    memory.requests[i] = start(call, memory);
}

static void awaitAll(int64_t count, const RankMemory &memory) {
  for (int64_t i = 0; i < count; ++i)
    braid_rt_wait(memory.requests[i], &site);
}

static void runLoad(void **args) {
  const Load &load = *static_cast<const Load *>(args[0]);
  const RankMemory &memory = *static_cast<const RankMemory *>(args[1]);
  for (int64_t i = 0; i < load.leads; ++i)
    if (load.leadsAreMatmuls)
      multiplyMatrices(load.matmul, memory);
    else
      multiplyElements(load.elementwiseBytes, memory);
  startAll(load.collectives, load.collective, memory);
  for (int64_t i = 0; i < load.matmuls; ++i)
    multiplyMatrices(load.matmul, memory);
  for (int64_t i = 0; i < load.elementwise; ++i)
    multiplyElements(load.elementwiseBytes, memory);
  for (int64_t i = 0; i < load.empty; ++i)
    launchNothing();
  awaitAll(load.collectives, memory);
  for (int64_t i = 0; i < load.rounds; ++i) {
    void *request = start(load.collective, memory);
    multiplyMatrices(load.matmul, memory);
    braid_rt_wait(request, &site);
  }
}

const braid_rt_entry braid::calibrate::loadEntry = {"calibrate", runLoad, 0,
                                                    nullptr, nullptr};
