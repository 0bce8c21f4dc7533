//===- ControlGraph.h - Graphs with control flow of the GPU -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_CONTROLGRAPH_H
#define BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_CONTROLGRAPH_H

#include "CUDA/Device/Gpu.h"

#include <functional>
#include <vector>

namespace braid::rt::cuda {

/// A number in device memory that decides what a graph does.
struct Selector {
  DevicePointer address = 0;
  int32_t bytes = 1; ///< 1, 4 or 8.
  /// The number of cases; 0: of a loop, which goes on while the number is not
  /// 0.
  int32_t cases = 0;

  /// The number; `read` copies its bytes.
  template <typename Read> int64_t read(Read read) const {
    uint8_t byte = 0;
    int32_t word = 0;
    int64_t number = 0;
    if (bytes == 8)
      read(&number);
    else if (bytes == 4)
      read(&word);
    else
      read(&byte);
    return number + word + byte;
  }
  /// The case that `number` chooses: itself, or the last one for all others.
  int64_t choose(int64_t number) const {
    return number >= 0 && number < cases ? number : cases - 1;
  }
};

/// The kernel that passes such a number to a conditional node. The driver
/// compiles the kernel when it is first used.
class SelectorKernel {
public:
  explicit SelectorKernel(const Gpu &gpu) : gpu(gpu) {}
  ~SelectorKernel();
  SelectorKernel(const SelectorKernel &) = delete;
  SelectorKernel &operator=(const SelectorKernel &) = delete;

  /// Loads the kernel. Throws an Error if the driver cannot.
  void load();
  /// Enqueues the kernel on the compute stream, for the node of `handle`.
  void launch(ConditionHandle handle, Selector selector) const;

private:
  const Gpu &gpu;
  Module module = nullptr;
  Function function = nullptr;
};

/// A graph under construction: a sequence of recordings of the compute stream,
/// of loops and of choices between cases, whose bodies are such sequences. The
/// GPU decides by numbers in its memory, for which no host waits. All functions
/// throw an Error if the driver refuses.
class ControlGraph {
public:
  ControlGraph(Gpu &gpu, const SelectorKernel &kernel);
  ~ControlGraph();
  ControlGraph(const ControlGraph &) = delete;
  ControlGraph &operator=(const ControlGraph &) = delete;

  /// Records what `enqueue` enqueues, behind all before.
  void record(const std::function<void()> &enqueue);
  /// Adds a loop, whose body `add` adds.
  void addLoop(Selector selector, const std::function<void()> &add);
  /// Adds a choice; `add` adds the case with a number.
  void addChoice(Selector selector, const std::function<void(int32_t)> &add);

  /// The executable graph.
  GraphExec instantiate() const;

private:
  /// The graph as a whole, or a body.
  struct Sequence {
    Graph graph = nullptr;
    std::vector<GraphNode> last = {}; ///< What the next recording follows.
  };
  struct Node {
    ConditionHandle handle;
    std::vector<Graph> bodies;
  };

  Node addNode(Selector selector);

  Gpu &gpu;
  const SelectorKernel &kernel;
  /// The innermost one last.
  std::vector<Sequence> open;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_CONTROLGRAPH_H
