//===- kernel_emulator.cpp - Kernels on the host --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs kernels that were compiled for the host from the LLVM IR for a GPU: one
// block after the other, the threads of a block in turns, each up to its next
// barrier or shuffle. Ends the process where the threads of a warp do not come
// to the same one, or those of a block to the same barrier.
//
//===----------------------------------------------------------------------===//

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>

namespace {

constexpr size_t kStackSize = 128 * 1024;
constexpr int kWarpSize = 32;

struct Thread {
  ucontext_t context;
  std::vector<char> stack;
  // 'b' for a barrier, 's' for a shuffle, 'm' for a product of matrices, 'e' at
  // the end; and how many before.
  char stop;
  long count;
  // What other threads of the warp read, of this shuffle and the one before.
  uint32_t slots[2];
  int32_t elements[2][6];
};

std::vector<Thread> threads;
ucontext_t scheduler;
int current, block;
void (*kernel)(void **);
void **kernelArguments;

void stop(char why) {
  Thread &thread = threads[current];
  thread.stop = why;
  ++thread.count;
  swapcontext(&thread.context, &scheduler);
}

void run() {
  kernel(kernelArguments);
  threads[current].stop = 'e';
  swapcontext(&threads[current].context, &scheduler);
}

void check() {
  const Thread &first = threads.front();
  for (size_t index = 0; index < threads.size(); ++index) {
    const Thread &thread = threads[index];
    const Thread &leader = threads[index / kWarpSize * kWarpSize];
    bool same = thread.stop == leader.stop && thread.count == leader.count;
    if (thread.stop == 'b' || first.stop == 'b')
      same &= thread.stop == first.stop;
    if (same)
      continue;
    std::fprintf(
        stderr, "block %d: thread %zu is at %c %ld, thread 0 at %c %ld\n",
        block, index, thread.stop, thread.count, first.stop, first.count);
    std::exit(1);
  }
}

} // namespace

extern "C" {

void emulate(void (*function)(void **), void **arguments, int blocks,
             int threadsOfBlock) {
  kernel = function;
  kernelArguments = arguments;
  threads.resize(threadsOfBlock);
  for (block = 0; block < blocks; ++block) {
    for (Thread &thread : threads) {
      thread.stack.resize(kStackSize);
      thread.stop = ' ';
      thread.count = 0;
      getcontext(&thread.context);
      thread.context.uc_stack = {thread.stack.data(), 0, kStackSize};
      thread.context.uc_link = &scheduler;
      makecontext(&thread.context, run, 0);
    }
    do {
      for (current = 0; current < threadsOfBlock; ++current)
        swapcontext(&scheduler, &threads[current].context);
      check();
    } while (threads.front().stop != 'e');
  }
}

int32_t nvvm_read_ptx_sreg_ctaid_x() { return block; }
int32_t nvvm_read_ptx_sreg_tid_x() { return current; }
void nvvm_barrier_cta_sync_aligned_all(int32_t) { stop('b'); }
// Kernels run one after the other.
void nvvm_griddepcontrol_wait() {}

int32_t nvvm_shfl_sync_bfly_i32(int32_t, int32_t value, int32_t mask, int32_t) {
  Thread &thread = threads[current];
  int parity = thread.count & 1;
  thread.slots[parity] = value;
  stop('s');
  return threads[current ^ mask].slots[parity];
}

float nvvm_shfl_sync_bfly_f32(int32_t all, float value, int32_t mask,
                              int32_t clamp) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = nvvm_shfl_sync_bfly_i32(all, bits, mask, clamp);
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

// To the 10 bits of TF32, ties away from zero.
int32_t nvvm_f2tf32_rna(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return (bits + 0x1000) & ~0x1fff;
}

// mma.m16n8k8 of TF32: `ours` are the thread's elements of A and B; adds to the
// elements of C.
void emulate_mma(const int32_t *ours, float *sums) {
  Thread &thread = threads[current];
  std::memcpy(thread.elements[thread.count & 1], ours, 6 * sizeof(int32_t));
  int parity = thread.count & 1;
  stop('m');
  int warp = current / kWarpSize * kWarpSize, lane = current % kWarpSize;
  auto get = [&](int owner, int element) {
    float value;
    std::memcpy(&value, &threads[warp + owner].elements[parity][element],
                sizeof value);
    return value;
  };
  for (int each = 0; each < 4; ++each)
    for (int term = 0; term < 8; ++term) {
      int row = lane / 4 + each / 2 * 8, column = lane % 4 * 2 + each % 2;
      sums[each] += get(row % 8 * 4 + term % 4, row / 8 + term / 4 * 2) *
                    get(column * 4 + term % 4, 4 + term / 4);
    }
}

float nvvm_ex2_approx_ftz_f32(float x) { return std::exp2(x); }
float nvvm_div_full(float x, float y) { return x / y; }
float __nv_expf(float x) { return std::exp(x); }
double __nv_exp(double x) { return std::exp(x); }
float __nv_rsqrtf(float x) { return 1 / std::sqrt(x); }
float __nv_sqrtf(float x) { return std::sqrt(x); }
double __nv_sqrt(double x) { return std::sqrt(x); }
float __nv_tanhf(float x) { return std::tanh(x); }
float __nv_fmaf(float x, float y, float z) { return std::fma(x, y, z); }
double __nv_fma(double x, double y, double z) { return std::fma(x, y, z); }
float __nv_fabsf(float x) { return std::fabs(x); }
double __nv_fabs(double x) { return std::fabs(x); }
float __nv_erff(float x) { return std::erf(x); }
float __nv_logf(float x) { return std::log(x); }
float __nv_sinf(float x) { return std::sin(x); }
float __nv_cosf(float x) { return std::cos(x); }
float __nv_powf(float x, float y) { return std::pow(x, y); }
float __nv_fmodf(float x, float y) { return std::fmod(x, y); }

// To nearest, ties to even: what code for bfloat16 calls. The 16 bits come
// where a float would; with the type __bf16 the compiler makes a call of this
// of it.
float __truncsfbf2(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = value != value ? 0x7fff : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}
}
