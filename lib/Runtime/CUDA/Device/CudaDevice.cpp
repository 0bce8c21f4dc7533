//===- CudaDevice.cpp - A rank's GPU as a device --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/CudaDevice.h"
#include "Base/Error.h"
#include "CUDA/Device/BufferPool.h"
#include "CUDA/Device/Commands/CommandBuffers.h"
#include "CUDA/Device/Commands/Descriptions.h"
#include "CUDA/Device/Cudnn/Attentions.h"
#include "CUDA/Device/Cudnn/Convolutions.h"
#include "CUDA/Device/Graphs.h"
#include "CUDA/Device/HostRoutines.h"
#include "CUDA/Device/LinearAlgebra.h"
#include "CUDA/Device/MatmulTypes.h"
#include "CUDA/Device/Matmuls.h"
#include "CUDA/Device/Memory.h"
#include "CUDA/Device/Modules.h"
#include "CUDA/Device/Transforms.h"

#include <algorithm>
#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;

static DevicePointer address(const void *pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}

static void *toPointer(DevicePointer address) {
  return reinterpret_cast<void *>(address);
}

CudaDevice::CudaDevice(const Driver &driver, const Blas &blas, int32_t ordinal,
                       const DeviceOptions &options, DeviceHooks &hooks)
    : blas(blas), gpuState(driver, ordinal, options, hooks),
      chipName("sm_" + std::to_string(gpuState.capability)),
      deviceMemory(std::make_unique<DeviceMemory>(gpuState)),
      buffers(std::make_unique<BufferPool>(gpuState, *deviceMemory)),
      modules(std::make_unique<Modules>(gpuState, *deviceMemory)),
      trials(std::make_unique<Trials>(gpuState)),
      matmuls(
          std::make_unique<Matmuls>(blas, gpuState, *deviceMemory, *trials)),
      cudnn(std::make_unique<CudnnPlans>(gpuState, *deviceMemory)),
      attentions(std::make_unique<Attentions>(gpuState, *cudnn)),
      convolutions(std::make_unique<Convolutions>(gpuState, *cudnn, *trials)),
      transforms(std::make_unique<Transforms>(gpuState, *deviceMemory)),
      linearAlgebra(
          std::make_unique<LinearAlgebra>(gpuState, *deviceMemory, *matmuls)),
      graphs(std::make_unique<Graphs>(gpuState)),
      commands(std::make_unique<CommandBuffers>(gpuState, *deviceMemory)) {
  try {
    for (Event *event :
         {&invocation.begun, &invocation.ended, &earlier.begun, &earlier.ended})
      driver.call(driver.eventCreate, event, EVENT_TIMING);
    driver.call(driver.eventCreate, &callerReached, EVENT_NO_TIMING);
  } catch (const Error &) {
    destroyEvents();
    throw;
  }
}

void CudaDevice::destroyEvents() {
  standIns.insert(standIns.end(), {invocation, earlier});
  for (const Span &span : standIns)
    for (Event event : {span.begun, span.ended})
      if (event)
        gpuState.driver.eventDestroy(event);
  if (callerReached)
    gpuState.driver.eventDestroy(callerReached);
}

CudaDevice::~CudaDevice() {
  gpuState.driver.ctxSetCurrent(gpuState.context);
  if (ahead)
    gpuState.settle(gpuState.stream, int64_t(5) * 1000 * 1000 * 1000);
  graphs.reset();
  commands.reset();
  buffers.reset();
  attentions.reset();
  convolutions.reset();
  transforms.reset();
  linearAlgebra.reset();
  cudnn.reset();
  matmuls.reset();
  trials.reset();
  modules.reset();
  try {
    deviceMemory->free(arenaBase);
  } catch (const Error &) {
    // The process may have lost the device.
  }
  destroyEvents();
  deviceMemory.reset();
}

//===----------------------------------------------------------------------===//
// For the launcher
//===----------------------------------------------------------------------===//

/// `13.1` of 130100, or of 13010 with `scale` 10.
static std::string describeVersion(size_t version, size_t scale) {
  return std::to_string(version / (100 * scale)) + "." +
         std::to_string(version / scale % 100);
}

std::string CudaDevice::property(const std::string &name) const {
  if (name == "gpu")
    return gpuState.model;
  if (name == "multiprocessors")
    return std::to_string(gpuState.multiprocessors);
  if (name == "cublaslt")
    return describeVersion(blas.getVersion(), 100);
  int version = 0;
  if (name == "cuda" && gpuState.driver.driverGetVersion(&version) == SUCCESS)
    return describeVersion(static_cast<size_t>(version), 10);
  return {};
}

void CudaDevice::prepare(const braid_rt_program &program) {
  if (!program.device)
    throw Error("the program brings nothing for a device");
  gpuState.makeCurrent();
  // Recordings refer to kernels and to the arena.
  graphs->forget();
  commands->forget();
  if (gpuState.options.graphs == GraphUse::On)
    Graphs::checkProgram(program);
  for (int64_t i = 0; i < program.entryCount; ++i) {
    const braid_rt_entry &entry = *program.entries[i];
    // Another program may have had an entry there.
    recordable.erase(&entry);
    if (Graphs::canRecord(program, entry))
      recordable[&entry] = static_cast<size_t>(i);
  }
  const braid_rt_device_program &device = *program.device;
  bool grows = device.arenaBytes > arenaBytes;
  deviceMemory->checkAvailable(
      Modules::constantBytes(device) + (grows ? device.arenaBytes : 0) +
          (matmuls->isPrepared() ? 0 : Matmuls::workspaceBytes),
      "the program", grows ? arenaBytes : 0);
  deviceMemory->prepare();
  modules->load(program);
  matmuls->prepare();
  if (grows) {
    deviceMemory->free(arenaBase);
    arenaBase = 0;
    arenaBytes = 0;
    arenaBase =
        deviceMemory->allocate(device.arenaBytes, "the buffers of the program");
    arenaBytes = device.arenaBytes;
  }
  if (device.bufferAllocCount > 0)
    buffers->reserve();
}

void *CudaDevice::allocate(int64_t bytes) {
  gpuState.makeCurrent();
  return toPointer(deviceMemory->allocate(bytes, "an argument"));
}

void CudaDevice::free(void *pointer) {
  gpuState.makeCurrent();
  if (buffers->reclaim(address(pointer)))
    return;
  // Recordings may also refer to windows of communicators on the memory.
  graphs->forget();
  deviceMemory->free(address(pointer));
}

void CudaDevice::copyToDevice(void *device, const void *host, int64_t bytes) {
  gpuState.makeCurrent();
  deviceMemory->toDevice(address(device), host, bytes);
}

void CudaDevice::copyFromDevice(void *host, const void *device, int64_t bytes) {
  gpuState.makeCurrent();
  deviceMemory->toHost(host, address(device), bytes);
}

//===----------------------------------------------------------------------===//
// Invocations
//===----------------------------------------------------------------------===//

void CudaDevice::record(Event event) const {
  gpuState.driver.call(gpuState.driver.eventRecord, event, gpuState.stream);
}

std::optional<size_t>
CudaDevice::findRecordable(const braid_rt_entry &entry) const {
  auto found = recordable.find(&entry);
  return found == recordable.end() ? std::nullopt
                                   : std::optional<size_t>(found->second);
}

bool CudaDevice::mayRecord(const braid_rt_entry &entry) const {
  // Without CUPTI a trace has no operations of graphs.
  bool isTraced = !gpuState.timeline || gpuState.options.activities;
  return gpuState.options.graphs == GraphUse::Auto && isTraced &&
         !sharesStream && recordable.count(&entry) > 0;
}

Graphs::State CudaDevice::stateOfGraph(uint64_t number) const {
  return graphs->stateOf({number});
}

void CudaDevice::forgetGraph(uint64_t number) {
  gpuState.driver.ctxSetCurrent(gpuState.context);
  graphs->forget({number});
}

bool CudaDevice::willRecord() const {
  return nextGraph && stateOfGraph(nextGraph) == Graphs::State::HasRun;
}

bool CudaDevice::recordsOnTrial() const {
  return gpuState.options.graphs == GraphUse::Auto &&
         (gpuState.capturing || !beginProblem.empty());
}

std::string CudaDevice::completeRecording() {
  try {
    graphs->finish();
  } catch (const Error &error) {
    return error.what();
  }
  hasRecorded = true;
  return "";
}

void CudaDevice::restartInvocation() {
  graphs->forget();
  beginProblem.clear();
  hasRecorded = false;
  beginRun();
}

void CudaDevice::submit() { commands->flush(); }

void CudaDevice::submitAll() {
  if (commands->isInBlock())
    throw Error("control flow of the GPU has work that a graph cannot do");
  submit();
}

/// Begins an invocation that is no graph.
void CudaDevice::beginRun() {
  standInCount = 0;
  record(invocation.begun);
  if (gpuState.timeline)
    gpuState.timeline->begin(invocation.begun);
}

bool CudaDevice::follow(void *stream) {
  // A trace has the times of one invocation.
  if (gpuState.timeline)
    return false;
  nextCaller = static_cast<Stream>(stream);
  return true;
}

void CudaDevice::keepReturned() {
  hasEarlier = ahead.exchange(false);
  if (hasEarlier)
    std::swap(invocation, earlier);
}

std::vector<Event> CudaDevice::returned(bool isRunning) const {
  std::vector<Event> ends;
  if (hasEarlier)
    ends.push_back(earlier.ended);
  if (ahead && !isRunning)
    ends.push_back(invocation.ended);
  return ends;
}

bool CudaDevice::beginInvocation(const braid_rt_entry &entry, void **args) {
  gpuState.makeCurrent();
  ahead = false;
  caller = std::exchange(nextCaller, nullptr);
  if (caller) {
    gpuState.driver.call(gpuState.driver.eventRecord, callerReached, caller);
    gpuState.driver.call(gpuState.driver.streamWaitEvent, gpuState.stream,
                         callerReached, 0);
  }
  key.clear();
  commands->collect(mayCollect && !gpuState.timeline && !sharesStream &&
                    !recordable.count(&entry));
  if (gpuState.options.graphs == GraphUse::On) {
    key.push_back(reinterpret_cast<uintptr_t>(&entry));
    Graphs::describe(entry, args, key);
  } else if (nextGraph && args == nextArguments) {
    key.push_back(nextGraph);
  }
  nextGraph = 0;
  beginProblem.clear();
  Graphs::Mode mode = Graphs::Mode::Run;
  try {
    if (!key.empty())
      mode = graphs->begin(key);
  } catch (const Error &error) {
    if (gpuState.options.graphs == GraphUse::On)
      throw;
    beginProblem = error.what();
    return false;
  }
  Timeline *timeline = gpuState.timeline.get();
  if (mode == Graphs::Mode::Record) {
    if (timeline)
      timeline->begin(nullptr);
    return false;
  }
  if (mode == Graphs::Mode::Run) {
    beginRun();
    return false;
  }
  record(invocation.begun);
  if (timeline) {
    timeline->begin(invocation.begun);
    if (graphs->spans())
      timeline->replay(*graphs->spans());
  }
  gpuState.replaying = true;
  graphs->launch();
  return true;
}

int64_t CudaDevice::elapsedNs(const Span &span) const {
  float milliseconds = 0;
  gpuState.driver.call(gpuState.driver.eventElapsedTime, &milliseconds,
                       span.begun, span.ended);
  return static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}

void CudaDevice::endInvocation() {
  submitAll();
  if (gpuState.capturing) {
    graphs->finish();
    hasRecorded = true;
  }
  if (hasRecorded) {
    hasRecorded = false;
    record(invocation.begun);
    gpuState.replaying = true;
    graphs->launch();
  }
  record(invocation.ended);
  if (caller) {
    gpuState.driver.call(gpuState.driver.streamWaitEvent, caller,
                         invocation.ended, 0);
    gpuState.replaying = false;
    ahead = true;
    return;
  }
  awaitEnd();
}

void CudaDevice::awaitEnd() {
  gpuState.waitOnHost(invocation.ended, gpuState.stream, "the program");
  ahead = false;
  standInNs = 0;
  for (size_t i = 0; i < standInCount; ++i)
    standInNs += elapsedNs(standIns[i]);
  lastNs = std::max<int64_t>(0, elapsedNs(invocation) - standInNs);
  if (gpuState.timeline)
    gpuState.timeline->collect();
  gpuState.replaying = false;
}

int64_t CudaDevice::deviceNs() {
  if (ahead) {
    gpuState.makeCurrent();
    awaitEnd();
  }
  return lastNs;
}

void CudaDevice::failInvocation() {
  graphs->forget();
  commands->forget();
  hasRecorded = false;
  gpuState.replaying = false;
  standInCount = 0;
  // Waits for work that uses the rank's memory, if the device still runs.
  gpuState.settle(gpuState.stream, int64_t(5) * 1000 * 1000 * 1000);
  lastNs = 0;
}

void CudaDevice::forgetGraphs() {
  gpuState.makeCurrent();
  graphs->forget();
}

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

template <typename Body>
void CudaDevice::traced(const DeviceEvent &event, Body body) {
  submitAll();
  TimelineSpan span(gpuState.timeline.get(), gpuState.stream, event);
  body();
  span.close();
}

std::vector<DeviceEvent> CudaDevice::takeEvents() {
  return gpuState.timeline ? gpuState.timeline->take()
                           : std::vector<DeviceEvent>();
}

//===----------------------------------------------------------------------===//
// Calls of programs
//===----------------------------------------------------------------------===//

void *CudaDevice::arena(int64_t bytes) {
  if (bytes > arenaBytes)
    throw Error("the program asks for an arena of " + std::to_string(bytes) +
                " bytes, but " + std::to_string(arenaBytes) +
                " bytes have been prepared for it");
  return toPointer(arenaBase);
}

void *CudaDevice::allocateBuffer(int64_t bytes) {
  submitAll();
  return toPointer(buffers->allocate(bytes));
}

void CudaDevice::freeBuffer(void *buffer) {
  submitAll();
  buffers->free(address(buffer));
}

bool CudaDevice::detachBuffer(void *buffer) {
  return buffers->detach(address(buffer));
}

int64_t CudaDevice::releaseBuffers() {
  return hostMemory.releaseAll() + buffers->releaseAll();
}

void *CudaDevice::constant(const braid_rt_constant &constant) {
  return toPointer(modules->constant(constant));
}

void *CudaDevice::computeStream() {
  // The caller may use the stream at any time.
  sharesStream = true;
  submit();
  commands->collect(false);
  return gpuState.stream;
}

void CudaDevice::launch(const braid_rt_kernel &kernel, const LaunchSize &size,
                        void **arguments, int64_t argumentCount) {
  if (commands->collects()) {
    std::vector<uint64_t> &described = commands->describe();
    described.push_back(KernelCommand);
    if (modules->describe(kernel, size, arguments, argumentCount, described))
      return commands->add(
          [this, &kernel, size](const uint64_t *words) {
            modules->launch(kernel, size, words + 1);
          },
          /*isLibrary=*/false);
  }
  traced({BRAID_RT_EVENT_KERNEL, kernel.name},
         [&]() { modules->launch(kernel, size, arguments, argumentCount); });
}

void CudaDevice::multiply(const Matmul &matmul, const void *a, const void *b,
                          void *c) {
  auto run = [this, matmul, a, b, c](const uint64_t *) {
    matmuls->multiply(matmul, a, b, c);
  };
  if (commands->collects()) {
    describe(matmul, a, b, c, commands->describe());
    return commands->add(run, /*isLibrary=*/true);
  }
  traced({BRAID_RT_EVENT_KERNEL, nameMatmul(matmul)}, [&]() { run(nullptr); });
}

void CudaDevice::callRoutine(const RoutineCall &call) {
  if (!call.isTransform() && !linearAlgebra->canRun(call)) {
    submitAll();
    return cuda::callRoutineOnHost(call, gpuState, *deviceMemory);
  }
  auto run = [this](const RoutineCall &call) {
    if (call.isTransform())
      transforms->transform(call);
    else
      linearAlgebra->run(call);
  };
  // No recording has a routine for which the host waits.
  if (commands->collects() && call.place() == RoutinePlace::Device) {
    describe(call, commands->describe());
    auto kept = std::make_shared<KeptRoutineCall>(call);
    return commands->add([run, kept](const uint64_t *) { run(kept->call); },
                         /*isLibrary=*/true);
  }
  traced({BRAID_RT_EVENT_KERNEL, call.name()}, [&]() { run(call); });
}

template <typename Call, typename Run>
void CudaDevice::enqueueCall(const Call &call, Run run) {
  if (commands->collects()) {
    describe(call, commands->describe());
    return commands->add([call, run](const uint64_t *) { run(call); },
                         /*isLibrary=*/true);
  }
  traced({BRAID_RT_EVENT_KERNEL, call.describe()}, [&]() { run(call); });
}

void CudaDevice::attend(const Attention &attention) {
  enqueueCall(attention,
              [this](const Attention &call) { attentions->attend(call); });
}

void CudaDevice::convolve(const Convolution &convolution) {
  enqueueCall(convolution, [this](const Convolution &call) {
    convolutions->convolve(call);
  });
}

void CudaDevice::copy(void *destination, const void *source, int64_t bytes) {
  if (commands->collects()) {
    std::vector<uint64_t> &words = commands->describe();
    words.insert(words.end(), {CopyCommand, address(destination),
                               address(source), static_cast<uint64_t>(bytes)});
    return commands->add(
        [this, destination, source, bytes](const uint64_t *) {
          deviceMemory->copy(address(destination), address(source), bytes);
        },
        /*isLibrary=*/false);
  }
  traced({BRAID_RT_EVENT_COPY, "Memcpy DtoD", 0, 0, bytes}, [&]() {
    deviceMemory->copy(address(destination), address(source), bytes);
  });
}

CudaDevice::Span &CudaDevice::nextStandIn() {
  if (standInCount == standIns.size()) {
    Span &span = standIns.emplace_back();
    for (Event *event : {&span.begun, &span.ended})
      gpuState.driver.call(gpuState.driver.eventCreate, event, EVENT_TIMING);
  }
  return standIns[standInCount++];
}

void CudaDevice::standIn(void *result, int64_t resultBytes, const void *operand,
                         int64_t operandBytes) {
  if (operandBytes <= 0)
    return;
  submitAll();
  Span *span = gpuState.capturing ? nullptr : &nextStandIn();
  if (span)
    record(span->begun);
  for (int64_t begin = 0; begin < resultBytes; begin += operandBytes) {
    DevicePointer part = address(result) + static_cast<uint64_t>(begin);
    // The operand may be the rank's part of the result.
    if (part != address(operand))
      deviceMemory->copy(part, address(operand),
                         std::min(operandBytes, resultBytes - begin));
  }
  if (span)
    record(span->ended);
}

void CudaDevice::read(void *host, const void *device, int64_t bytes) {
  traced({BRAID_RT_EVENT_COPY, "Memcpy DtoH", 0, 0, bytes},
         [&]() { deviceMemory->read(host, address(device), bytes); });
}

bool CudaDevice::repeat(const void *condition, int64_t loop, bool &hasRead) {
  hasRead = !commands->canDecide();
  return hasRead ? Device::repeat(condition, loop, hasRead)
                 : commands->repeat(address(condition), loop);
}

int64_t CudaDevice::choose(const void *selector, int32_t bytes, int32_t cases) {
  Selector number = {address(selector), bytes, cases};
  if (!commands->canDecide())
    return number.choose(
        number.read([&](void *to) { read(to, selector, int64_t(bytes)); }));
  commands->beginChoice(number);
  return allCases;
}

void CudaDevice::nextCase() { commands->nextCase(); }

void CudaDevice::endChoice() { commands->endChoice(); }

void CudaDevice::write(void *device, const void *host, int64_t bytes) {
  traced({BRAID_RT_EVENT_COPY, "Memset", 0, 0, bytes},
         [&]() { deviceMemory->write(address(device), host, bytes); });
}
