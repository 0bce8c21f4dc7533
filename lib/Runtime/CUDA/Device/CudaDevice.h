//===- CudaDevice.h - A rank's GPU as a device ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_CUDADEVICE_H
#define BRAID_RUNTIME_CUDA_DEVICE_CUDADEVICE_H

#include "CUDA/API/Blas.h"
#include "CUDA/Device/Graphs.h"
#include "Engine/Device.h"
#include "Engine/Memory.h"

#include <atomic>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace braid::rt {

namespace cuda {
class Attentions;
class Convolutions;
class CudnnPlans;
class BufferPool;
class CommandBuffers;
class DeviceMemory;
class LinearAlgebra;
class Modules;
class Matmuls;
class Transforms;
class Trials;
} // namespace cuda

/// One GPU of a rank. Functions for the launcher make the device's primary
/// context current on their thread, beginInvocation on the rank's.
class CudaDevice final : public Device {
public:
  /// `driver`, `blas` and `hooks` must outlive the device. Throws an Error if
  /// the machine has no such device.
  CudaDevice(const cuda::Driver &driver, const cuda::Blas &blas,
             int32_t ordinal, const cuda::DeviceOptions &options,
             cuda::DeviceHooks &hooks);
  ~CudaDevice() override;

  /// The GPU, with its context, its compute stream and its recording state.
  const cuda::Gpu &gpu() const { return gpuState; }

  //===--- For the engine -------------------------------------------------===//

  // What `cuda-graph=auto` needs. Ranks give equal invocations equal numbers.

  /// The place of an entry in its prepared program; none if nothing can record
  /// it.
  std::optional<size_t> findRecordable(const braid_rt_entry &entry) const;
  /// True if the device may record the entry of a prepared program.
  bool mayRecord(const braid_rt_entry &entry) const;
  /// How often the device has dropped all recordings.
  int64_t timesForgotten() const { return graphs->timesForgotten(); }
  /// How far the invocations with a number are; also those of other entries.
  cuda::Graphs::State stateOfGraph(uint64_t number) const;
  void forgetGraph(uint64_t number);
  /// The number of the invocation with `args`; 0: it does not become a graph.
  void numberInvocation(uint64_t number, void **args) {
    nextGraph = number;
    nextArguments = args;
  }
  /// True if the next invocation will be recorded.
  bool willRecord() const;
  /// True while an invocation is recorded that can run without the recording.
  bool recordsOnTrial() const;
  /// Completes such a recording. Returns the reason if that fails; else empty.
  std::string completeRecording();
  /// Drops the recording, of which nothing has run, and begins the invocation
  /// again.
  void restartInvocation();

  /// A run of all ranks begins: `returned` keeps what has returned before.
  void keepReturned();
  /// The events at the ends of invocations that have returned before these: of
  /// the last one, unless a run is going on, and of the one before.
  std::vector<cuda::Event> returned(bool isRunning) const;

  /// Whether invocations that are no graph as a whole may have graphs of parts.
  void allowCommandBuffers(bool allowed) { mayCollect = allowed; }
  /// Enqueues what the rank's thread has asked for. Others that use the compute
  /// stream call this function before.
  void submit();

  //===--- Device ---------------------------------------------------------===//

  const char *chip() const override { return chipName.c_str(); }
  std::string property(const std::string &name) const override;
  void prepare(const braid_rt_program &program) override;
  void *allocate(int64_t bytes) override;
  void free(void *pointer) override;
  void copyToDevice(void *device, const void *host, int64_t bytes) override;
  void copyFromDevice(void *host, const void *device, int64_t bytes) override;

  bool beginInvocation(const braid_rt_entry &entry, void **args) override;
  const std::string *recordingProblem() const override {
    return beginProblem.empty() ? nullptr : &beginProblem;
  }
  void endInvocation() override;
  void failInvocation() override;
  void forgetGraphs() override;
  std::vector<DeviceEvent> takeEvents() override;
  bool follow(void *stream) override;
  bool isAhead() const override { return ahead; }
  int64_t deviceNs() override;
  MemoryPool &memory() override { return hostMemory; }
  bool detachBuffer(void *buffer) override;
  int64_t releaseBuffers() override;
  void *computeStream() override;
  void multiply(const Matmul &matmul, const void *a, const void *b,
                void *c) override;
  void callRoutine(const RoutineCall &call) override;
  void attend(const Attention &attention) override;
  void convolve(const Convolution &convolution) override;
  void *arena(int64_t bytes) override;
  void *allocateBuffer(int64_t bytes) override;
  void freeBuffer(void *buffer) override;
  void *constant(const braid_rt_constant &constant) override;
  void launch(const braid_rt_kernel &kernel, const LaunchSize &size,
              void **arguments, int64_t argumentCount) override;
  void copy(void *destination, const void *source, int64_t bytes) override;
  void standIn(void *result, int64_t resultBytes, const void *operand,
               int64_t operandBytes) override;
  void read(void *host, const void *device, int64_t bytes) override;
  bool repeat(const void *condition, int64_t loop, bool &hasRead) override;
  int64_t choose(const void *selector, int32_t bytes, int32_t cases) override;
  void nextCase() override;
  void endChoice() override;
  void write(void *device, const void *host, int64_t bytes) override;

private:
  /// The same as `submit`; nothing is left, which work outside of graphs needs.
  void submitAll();
  /// Runs `body`, which enqueues `event` on the compute stream, behind what has
  /// been collected.
  template <typename Body> void traced(const DeviceEvent &event, Body body);
  /// Collects `run(call)`, or traces it.
  template <typename Call, typename Run>
  void enqueueCall(const Call &call, Run run);

  void beginRun();
  void record(cuda::Event event) const;
  /// Waits for the last invocation and reads its time.
  void awaitEnd();
  void destroyEvents();

  /// Events before and after work that `deviceNs` leaves out.
  struct Span {
    cuda::Event begun = nullptr, ended = nullptr;
  };
  Span &nextStandIn();
  int64_t elapsedNs(const Span &span) const;

  const cuda::Blas &blas;
  cuda::Gpu gpuState;
  const std::string chipName;
  MemoryPool hostMemory;
  std::unique_ptr<cuda::DeviceMemory> deviceMemory;
  std::unique_ptr<cuda::BufferPool> buffers;
  std::unique_ptr<cuda::Modules> modules;
  std::unique_ptr<cuda::Trials> trials;
  std::unique_ptr<cuda::Matmuls> matmuls;
  std::unique_ptr<cuda::CudnnPlans> cudnn;
  std::unique_ptr<cuda::Attentions> attentions;
  std::unique_ptr<cuda::Convolutions> convolutions;
  std::unique_ptr<cuda::Transforms> transforms;
  std::unique_ptr<cuda::LinearAlgebra> linearAlgebra;
  std::unique_ptr<cuda::Graphs> graphs;
  std::unique_ptr<cuda::CommandBuffers> commands;
  std::vector<uint64_t> key; ///< Of graphs.
  std::unordered_map<const braid_rt_entry *, size_t> recordable;
  uint64_t nextGraph = 0;
  void **nextArguments = nullptr;
  std::string beginProblem; ///< Why this invocation is not recorded.
  bool hasRecorded = false; ///< This invocation; it has not been launched.
  bool mayCollect = false;
  /// Code outside of the device has had the compute stream.
  bool sharesStream = false;
  cuda::DevicePointer arenaBase = 0;
  int64_t arenaBytes = 0;
  Span invocation; ///< The last one.
  /// Of the invocation before, which may not have ended if `hasEarlier`.
  Span earlier;
  bool hasEarlier = false;
  /// Of the caller, which the next and the present invocation follow.
  cuda::Stream nextCaller = nullptr, caller = nullptr;
  cuda::Event callerReached = nullptr;
  std::atomic<bool> ahead{false};
  /// The copies that stood in for collectives of the last invocation that was
  /// not a graph, and events left from others. A graph has no times inside, so
  /// its copies count with those of the invocation before its recording.
  std::vector<Span> standIns;
  size_t standInCount = 0;
  int64_t standInNs = 0;
  int64_t lastNs = 0;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_CUDA_DEVICE_CUDADEVICE_H
