//===- Call.cpp - An entry with its arguments -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Call.h"
#include "Options/Options.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace braid::run;

/// The words of a memref descriptor: allocated, aligned, offset, sizes,
/// strides.
static std::vector<int64_t> makeDescriptor(const void *data,
                                           const std::vector<int64_t> &sizes) {
  auto address = reinterpret_cast<int64_t>(data);
  std::vector<int64_t> words = {address, address, 0};
  words.insert(words.end(), sizes.begin(), sizes.end());
  size_t rank = sizes.size();
  words.resize(3 + 2 * rank);
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    words[3 + rank + i] = stride;
    stride *= sizes[i];
  }
  return words;
}

static bool isDynamic(const braid_rt_argument &argument) {
  return std::count(argument.sizes, argument.sizes + argument.rank,
                    BRAID_RT_DYNAMIC) > 0;
}

namespace {
/// Memory of a rank's device.
class DeviceMemory {
public:
  DeviceMemory(braid_rt_context *context, int64_t bytes)
      : context(context), bytes(bytes) {
    char error[4096] = "";
    data = braid_rt_device_alloc(context, bytes, error, sizeof(error));
    if (!data)
      throw RunError(error);
    owner.reset(data, [context](void *memory) {
      braid_rt_device_free(context, memory);
    });
  }

  /// Takes ownership of `allocated`, which has `bytes` bytes of a result at
  /// `data`.
  DeviceMemory(braid_rt_context *context, void *allocated, void *data,
               int64_t bytes)
      : context(context), bytes(bytes),
        owner(
            allocated,
            [context](void *memory) { braid_rt_device_free(context, memory); }),
        data(data) {}

  void *get() const { return data; }

  void write(const void *host) {
    char error[4096] = "";
    if (bytes && braid_rt_copy_to_device(context, get(), host, bytes, error,
                                         sizeof(error)) != BRAID_RT_OK)
      throw RunError(error);
  }
  void read(void *host) const {
    char error[4096] = "";
    if (bytes && braid_rt_copy_from_device(context, host, get(), bytes, error,
                                           sizeof(error)) != BRAID_RT_OK)
      throw RunError(error);
  }

private:
  braid_rt_context *context;
  int64_t bytes;
  std::shared_ptr<void> owner;
  void *data = nullptr;
};

/// One argument of one rank.
struct Slot {
  const braid_rt_argument *argument = nullptr;
  Tensor input; ///< The value of an IN or INOUT argument.
  Tensor host;  ///< The argument of the program, in host memory.
  std::optional<DeviceMemory> memory; ///< The same on a device of its own.
  std::vector<int64_t> memref;        ///< The descriptor's words.

  bool isResult() const { return argument->direction == BRAID_RT_OUT; }
};
} // namespace

/// The arguments of one rank, for the entry's function.
class Call::Frame {
public:
  Frame(const braid_rt_entry &entry, const std::vector<Tensor> &inputs,
        braid_rt_context *context, bool isHostMemory);

  void prepare();
  void takeResults();
  std::vector<Tensor> results();
  void **args() { return pointers.data(); }

private:
  void add(Slot slot);

  braid_rt_context *context;
  bool isHostMemory;
  std::vector<Slot> slots;
  std::vector<void *> pointers;
};

Call::Frame::Frame(const braid_rt_entry &entry,
                   const std::vector<Tensor> &inputs, braid_rt_context *context,
                   bool isHostMemory)
    : context(context), isHostMemory(isHostMemory) {
  size_t next = 0;
  for (int64_t i = 0; i < entry.argumentCount; ++i) {
    Slot slot;
    slot.argument = &entry.arguments[i];
    const braid_rt_argument &argument = *slot.argument;
    std::vector<int64_t> sizes(argument.sizes, argument.sizes + argument.rank);
    if (!slot.isResult())
      slot.input = slot.host = inputs[next++];
    else if (!isDynamic(argument))
      slot.host = Tensor(argument.dtype, sizes);
    add(std::move(slot));
  }
  for (Slot &slot : slots)
    pointers.push_back(slot.argument->passing == BRAID_RT_MEMREF
                           ? static_cast<void *>(slot.memref.data())
                           : slot.host.data);
}

void Call::Frame::add(Slot slot) {
  const braid_rt_argument &argument = *slot.argument;
  if (slot.isResult() && isDynamic(argument)) {
    slot.memref.resize(3 + 2 * static_cast<size_t>(argument.rank));
  } else if (argument.passing == BRAID_RT_MEMREF && !isHostMemory) {
    slot.memory.emplace(context, slot.host.bytes());
    // Elements that a program does not write must be equal in all runs.
    if (slot.isResult())
      std::memset(slot.host.data, 0, static_cast<size_t>(slot.host.bytes()));
    slot.memory->write(slot.host.data);
    slot.memref = makeDescriptor(slot.memory->get(), slot.host.sizes);
  } else {
    // The program may overwrite the argument, so pass a copy.
    if (argument.direction == BRAID_RT_INOUT)
      slot.host = Tensor(slot.input.dtype, slot.input.sizes);
    if (argument.passing == BRAID_RT_MEMREF)
      slot.memref = makeDescriptor(slot.host.data, slot.host.sizes);
  }
  slots.push_back(std::move(slot));
}

void Call::Frame::prepare() {
  for (Slot &slot : slots) {
    if (slot.argument->direction == BRAID_RT_IN)
      continue;
    if (slot.isResult() && isDynamic(*slot.argument)) {
      slot.memory.reset();
      std::fill(slot.memref.begin(), slot.memref.end(), 0);
    } else if (slot.memory && !slot.isResult())
      slot.memory->write(slot.input.data);
    else if (!slot.memory && slot.isResult())
      std::memset(slot.host.data, 0, static_cast<size_t>(slot.host.bytes()));
    else if (!slot.memory)
      std::memcpy(slot.host.data, slot.input.data,
                  static_cast<size_t>(slot.host.bytes()));
  }
}

void Call::Frame::takeResults() {
  for (Slot &slot : slots) {
    const braid_rt_argument &argument = *slot.argument;
    if (!slot.isResult() || !isDynamic(argument))
      continue;
    auto *memref = reinterpret_cast<braid_rt_memref *>(slot.memref.data());
    const int64_t *sizes = slot.memref.data() + 3;
    std::vector<int64_t> found(sizes, sizes + argument.rank);
    void *data = static_cast<char *>(memref->aligned) +
                 memref->offset * braid_rt_dtype_size(argument.dtype);
    if (isHostMemory) {
      slot.host = Tensor(argument.dtype, found, memref->allocated, data);
    } else {
      slot.host = Tensor(argument.dtype, found);
      slot.memory.emplace(context, memref->allocated, data, slot.host.bytes());
    }
  }
}

std::vector<Tensor> Call::Frame::results() {
  std::vector<Tensor> results;
  for (Slot &slot : slots) {
    if (!slot.isResult())
      continue;
    if (slot.memory)
      slot.memory->read(slot.host.data);
    results.push_back(slot.host);
  }
  return results;
}

Call::Call(const braid_rt_entry &entry,
           const std::vector<std::vector<Tensor>> &inputs,
           const std::vector<braid_rt_context *> &contexts, bool isHostMemory)
    : entry(&entry) {
  for (size_t i = 0; i < contexts.size(); ++i)
    frames.emplace_back(entry, inputs[i], contexts[i], isHostMemory);
  for (Frame &frame : frames)
    pointers.push_back(frame.args());
}

Call::~Call() = default;
Call::Call(Call &&) noexcept = default;

void Call::prepare() {
  for (Frame &frame : frames)
    frame.prepare();
}

void Call::takeResults() {
  for (Frame &frame : frames)
    frame.takeResults();
}

Results Call::results() {
  Results results;
  for (Frame &frame : frames)
    results.push_back(frame.results());
  return results;
}
