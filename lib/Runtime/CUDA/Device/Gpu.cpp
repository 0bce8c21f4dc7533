//===- Gpu.cpp - A GPU, its context and compute stream --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Gpu.h"
#include "Base/Error.h"
#include "CUDA/Trace/ActivityTimeline.h"
#include "Engine/EngineOptions.h"
#include "Operations/Messages.h"

#include <chrono>
#include <cstdlib>
#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;

//===----------------------------------------------------------------------===//
// Hooks and options
//===----------------------------------------------------------------------===//

DeviceHooks::~DeviceHooks() = default;

DevicePointer DeviceHooks::allocate(const Driver &driver, int64_t bytes) {
  DevicePointer pointer = 0;
  Result result = driver.memAlloc(&pointer, static_cast<size_t>(bytes));
  if (result == ERROR_OUT_OF_MEMORY)
    return 0;
  driver.check(result, "cuMemAlloc");
  return pointer;
}

void DeviceHooks::free(const Driver &driver, DevicePointer pointer) {
  driver.call(driver.memFree, pointer);
}

int32_t DeviceHooks::chooseAlgorithm(const std::string &,
                                     const std::function<int32_t()> &) {
  return 0;
}

std::vector<std::string> DeviceOptions::names() {
  return {"attention-gradients", "cuda-graph", "matmul-multiprocessors",
          "matmul-precision", "matmul-tuning"};
}

/// The option, or else the variable of the environment, or else `auto`.
static GraphUse readGraphUse(const Environment &environment) {
  const char *variable = std::getenv("BRAID_CUDA_GRAPH");
  std::string value = getEngineOption(environment, "cuda-graph", "");
  std::string where = "option 'cuda-graph' of engine " + environment.engineName;
  if (value.empty() && variable && *variable) {
    value = variable;
    where = "BRAID_CUDA_GRAPH";
  }
  if (value.empty() || value == "auto")
    return GraphUse::Auto;
  if (value != "0" && value != "1")
    throw Error(where + " is '" + value + "', expected auto, 0 or 1");
  return value == "1" ? GraphUse::On : GraphUse::Off;
}

DeviceOptions DeviceOptions::read(const Environment &environment) {
  DeviceOptions options;
  options.graphs = readGraphUse(environment);
  options.fastAttentionGradients = !isFirstChoice(
      environment, "attention-gradients", "deterministic", "fast");
  options.tf32 = !isFirstChoice(environment, "matmul-precision", "f32", "tf32");
  options.measureAlgorithms =
      isFirstChoice(environment, "matmul-tuning", "measure", "heuristic");
  options.matmulMultiprocessors = static_cast<int32_t>(
      getEngineNumber(environment, "matmul-multiprocessors", 0, 0, 4096));
  options.timeoutNs = environment.config.timeoutNs;
  options.trace = environment.config.trace;
  options.createdNs = environment.createdNs;
  return options;
}

//===----------------------------------------------------------------------===//
// Gpu
//===----------------------------------------------------------------------===//

Gpu::Gpu(const Driver &driver, int32_t ordinal, const DeviceOptions &options,
         DeviceHooks &hooks)
    : driver(driver), options(options), hooks(hooks), ordinal(ordinal) {
  int count = driver.deviceCount();
  if (ordinal < 0 || ordinal >= count)
    throw Error("there is no device " + std::to_string(ordinal) +
                ": the CUDA driver finds " + std::to_string(count) +
                (count == 1 ? " GPU" : " GPUs"));
  driver.call(driver.deviceGet, &device, ordinal);
  char text[256] = {};
  driver.call(driver.deviceGetName, text, sizeof(text), device);
  model = text;
  name = "device " + std::to_string(ordinal) + " (" + model + ")";
  multiprocessors = attribute(DEVICE_MULTIPROCESSOR_COUNT);
  capability = 10 * attribute(DEVICE_COMPUTE_CAPABILITY_MAJOR) +
               attribute(DEVICE_COMPUTE_CAPABILITY_MINOR);
  try {
    openStream();
  } catch (const Error &caught) {
    close();
    throw Error(name + ": " + caught.what());
  }
}

Gpu::~Gpu() { close(); }

int Gpu::attribute(DeviceAttribute which) const {
  int value = 0;
  driver.call(driver.deviceGetAttribute, &value, which, device);
  return value;
}

void Gpu::openStream() {
  driver.call(driver.devicePrimaryCtxRetain, &context, device);
  makeCurrent();
  stream = driver.createStream(StreamPriority::Lowest);
  driver.call(driver.eventCreate, &reached, EVENT_NO_TIMING);
  if (options.trace && options.activities)
    timeline = std::make_unique<ActivityTimeline>(*options.activities, context,
                                                  options.createdNs);
  else if (options.trace)
    timeline = std::make_unique<EventTimeline>(driver, options.createdNs);
}

/// Ignores errors, which the caller cannot handle.
void Gpu::close() {
  if (!context)
    return;
  driver.ctxSetCurrent(context);
  timeline.reset();
  if (reached)
    driver.eventDestroy(reached);
  if (stream)
    driver.streamDestroy(stream);
  driver.ctxSetCurrent(nullptr);
  driver.devicePrimaryCtxRelease(device);
}

void Gpu::makeCurrent() const { driver.call(driver.ctxSetCurrent, context); }

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

namespace {
/// Tells the hooks that a wait has ended, however it ends.
class WaitEnd {
public:
  explicit WaitEnd(DeviceHooks &hooks) : hooks(hooks) {}
  ~WaitEnd() { hooks.endWait(); }
  WaitEnd(const WaitEnd &) = delete;
  WaitEnd &operator=(const WaitEnd &) = delete;

private:
  DeviceHooks &hooks;
};
} // namespace

void Gpu::waitOnHost(Event event, Stream stream, const char *what) const {
  WaitEnd end(hooks);
  pollEvent(event, stream, what);
}

void Gpu::pollEvent(Event event, Stream stream, const char *what) const {
  constexpr int64_t spinNs = 1000000;
  constexpr std::chrono::microseconds pause(20);
  for (int64_t begin = monotonicNs();;) {
    Result result = driver.eventQuery(event);
    if (result == SUCCESS) {
      repeats = false;
      return;
    }
    if (result != ERROR_NOT_READY)
      throw Error(name + " failed while it worked on " + what + ": " +
                  driver.describe(result) +
                  "; with CUDA_LAUNCH_BLOCKING=1 in the environment the "
                  "message names the kernel");
    int64_t waited = monotonicNs() - begin;
    if (waited < spinNs) {
      std::this_thread::yield();
      continue;
    }
    hooks.waitsFor(stream);
    if (options.timeoutNs && !repeats && waited > options.timeoutNs)
      throw Error(describeTimeout(options.timeoutNs) + name +
                  " has not finished " + what);
    std::this_thread::sleep_for(pause);
  }
}

void Gpu::synchronize(const char *what) const {
  driver.call(driver.eventRecord, reached, stream);
  waitOnHost(reached, stream, what);
}

void Gpu::settle(Stream which, int64_t limitNs) const {
  for (int64_t begin = monotonicNs();
       driver.streamQuery(which) == ERROR_NOT_READY &&
       monotonicNs() - begin < limitNs;)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void Gpu::beginCapture() {
  driver.call(driver.streamBeginCapture, stream, CAPTURE_THREAD_LOCAL);
  capturing = true;
}

void Gpu::beginCapture(Graph graph, const std::vector<GraphNode> &last) {
  driver.call(driver.streamBeginCaptureToGraph, stream, graph, last.data(),
              nullptr, last.size(), CAPTURE_THREAD_LOCAL);
  capturing = true;
}

Result Gpu::findLastCaptured(std::vector<GraphNode> &last) const {
  CaptureStatus status = CAPTURE_NONE;
  const GraphNode *nodes = nullptr;
  const GraphEdge *edges = nullptr;
  size_t count = 0;
  Result result = driver.streamGetCaptureInfo(stream, &status, nullptr, nullptr,
                                              &nodes, &edges, &count);
  if (result == SUCCESS)
    last.assign(nodes, nodes + count);
  return result;
}

Result Gpu::endCapture(Graph &graph) {
  capturing = false;
  return driver.streamEndCapture(stream, &graph);
}

void Gpu::checkActiveCapture(const char *what) const {
  CaptureStatus status = CAPTURE_NONE;
  driver.call(driver.streamIsCapturing, stream, &status);
  if (status == CAPTURE_INVALIDATED)
    throw Error(std::string(what) +
                " cannot be recorded in a graph: it broke the recording of "
                "the compute stream (run without cuda-graph)");
}
