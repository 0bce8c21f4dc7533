//===- Device.cpp - The device of a rank ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Device.h"
#include "Base/Error.h"
#include "Engine/Attention.h"
#include "Engine/Convolution.h"
#include "Engine/Memory.h"

#include <cstring>

using namespace braid::rt;

Device::~Device() = default;

void Device::prepare(const braid_rt_program &) {}

void *Device::allocate(int64_t bytes) {
  void *pointer = allocateBlock(256, static_cast<size_t>(bytes));
  if (!pointer)
    throw Error("cannot allocate " + std::to_string(bytes) + " bytes");
  return pointer;
}

void Device::free(void *pointer) { freeBlock(pointer); }

void Device::copyToDevice(void *device, const void *host, int64_t bytes) {
  std::memcpy(device, host, static_cast<size_t>(bytes));
}

void Device::copyFromDevice(void *host, const void *device, int64_t bytes) {
  std::memcpy(host, device, static_cast<size_t>(bytes));
}

bool Device::detachBuffer(void *buffer) { return memory().detach(buffer); }

int64_t Device::releaseBuffers() { return memory().releaseAll(); }

void Device::runParts(int64_t parts, const std::function<void(int64_t)> &body) {
  for (int64_t part = 0; part < parts; ++part)
    body(part);
}

void Device::attend(const Attention &attention) {
  throw Error(attention.describe() +
              ": only a GPU has a library for attention, but the program runs "
              "on the host");
}

void Device::convolve(const Convolution &convolution) {
  throw Error(convolution.describe() +
              ": only a GPU has a library for convolutions, but the program "
              "runs on the host");
}

/// Fails a call of a program for a device. Programs for the host make no such
/// calls, and the target of a program is checked before it runs.
[[noreturn]] static void failOnHost(const char *what) {
  throw Error(std::string(what) + ", but the program runs on the host");
}

void *Device::arena(int64_t) { failOnHost("the program asks for an arena"); }

void *Device::allocateBuffer(int64_t) {
  failOnHost("the program allocates a buffer on a device");
}

void Device::freeBuffer(void *) {
  failOnHost("the program frees a buffer on a device");
}

void *Device::constant(const braid_rt_constant &) {
  failOnHost("the program asks for a constant on a device");
}

void Device::launch(const braid_rt_kernel &kernel, const LaunchSize &, void **,
                    int64_t) {
  failOnHost(
      ("the program launches kernel " + std::string(kernel.name)).c_str());
}

void Device::copy(void *, const void *, int64_t) {
  failOnHost("the program copies memory of a device");
}

bool Device::follow(void *) { return false; }

void Device::standIn(void *, int64_t, const void *, int64_t) {}

void Device::read(void *, const void *, int64_t) {
  failOnHost("the program reads memory of a device");
}

bool Device::repeat(const void *condition, int64_t, bool &hasRead) {
  bool isTrue = false;
  read(&isTrue, condition, sizeof(isTrue));
  hasRead = true;
  return isTrue;
}

int64_t Device::choose(const void *, int32_t, int32_t) {
  failOnHost("the program chooses by memory of a device");
}

void Device::write(void *, const void *, int64_t) {
  failOnHost("the program writes memory of a device");
}
