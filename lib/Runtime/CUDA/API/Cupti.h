//===- Cupti.h - The activity API of CUPTI ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The declarations of libcupti.so.13 that the engine `cuda` uses: records of
// kernels, copies and fills with their times on the device, and callbacks about
// the nodes of graphs. The layout of a record depends on the version of the
// library.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_API_CUPTI_H
#define BRAID_RUNTIME_CUDA_API_CUPTI_H

#include "CUDA/API/Driver.h"

#include <cstddef>
#include <cstdint>
#include <string>

// The tag is that of cupti_callbacks.h.
struct CUpti_Subscriber_st;

namespace braid::rt::cupti {

using cuda::ContextHandle;
using cuda::GraphNode;
using cuda::Stream;
using Subscriber = CUpti_Subscriber_st *;

enum Result : unsigned {
  Success = 0,
  MaxLimitReached = 12,
  InvalidKind = 21,
  MultipleSubscribers = 39
};

enum ActivityKind : unsigned {
  Memcpy = 1,
  Memset = 2,
  DriverCall = 4,
  RuntimeCall = 5,
  ConcurrentKernel = 10,
  ExternalCorrelation = 39
};

enum ExternalCorrelationKind : unsigned { Custom0 = 3 };

enum CallbackDomain : unsigned { Resources = 3 };

/// Callbacks of the domain Resources.
enum ResourceCallback : unsigned { NodeCreated = 13, NodeCloned = 20 };

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// The first field of all records.
struct Activity {
  ActivityKind kind;
};

/// The fields of CUpti_ActivityKernel10 that the runtime reads.
struct KernelActivity {
  ActivityKind kind;
  uint8_t cacheConfig, sharedMemoryConfig;
  uint16_t registersPerThread;
  uint32_t cachingRequested, cachingExecuted;
  uint64_t start, end, completed;
  uint32_t deviceId, contextId, streamId;
  int32_t grid[3], block[3];
  int32_t staticSharedMemory, dynamicSharedMemory;
  uint32_t localMemoryPerThread, localMemoryTotal;
  uint32_t correlationId;
  int64_t gridId;
  const char *name;
  void *reserved0;
  uint64_t queued, submitted;
  uint8_t launch[4];
  uint32_t sharedMemoryExecuted;
  uint64_t graphNodeId;
};

/// The fields of CUpti_ActivityMemcpy6 that the runtime reads.
struct MemcpyActivity {
  ActivityKind kind;
  uint8_t copyKind, sourceKind, destinationKind, flags;
  uint64_t bytes, start, end;
  uint32_t deviceId, contextId, streamId, correlationId;
  uint32_t runtimeCorrelationId, pad;
  void *reserved0;
  uint64_t graphNodeId;
};

/// The fields of CUpti_ActivityMemset4 that the runtime reads.
struct MemsetActivity {
  ActivityKind kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t deviceId, contextId, streamId, correlationId;
  uint16_t flags, memoryKind;
  uint32_t pad;
  void *reserved0;
  uint64_t graphNodeId;
};

/// CUpti_ActivityExternalCorrelation.
struct CorrelationActivity {
  ActivityKind kind;
  ExternalCorrelationKind externalKind;
  uint64_t externalId;
  uint32_t correlationId, reserved;
};

/// CUpti_ResourceData.
struct ResourceData {
  ContextHandle context;
  Stream stream;
  const void *descriptor;
};

/// The fields of CUpti_GraphData, the descriptor of callbacks about nodes, that
/// the runtime reads.
struct GraphData {
  void *graph, *originalGraph;
  GraphNode node, originalNode;
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

using BufferRequested = void(uint8_t **buffer, size_t *size, size_t *records);
using BufferCompleted = void(ContextHandle, uint32_t stream, uint8_t *buffer,
                             size_t size, size_t validSize);
using Timestamp = uint64_t();
using Callback = void(void *data, CallbackDomain domain, uint32_t callback,
                      const void *callbackData);

/// FUNCTION(member, name, parameters)
#define BRAID_CUPTI_FUNCTIONS(FUNCTION)                                        \
  FUNCTION(getVersion, cuptiGetVersion, (uint32_t *))                          \
  FUNCTION(getResultString, cuptiGetResultString, (Result, const char **))     \
  FUNCTION(subscribe, cuptiSubscribe, (Subscriber *, Callback *, void *))      \
  FUNCTION(enableCallback, cuptiEnableCallback,                                \
           (uint32_t, Subscriber, CallbackDomain, uint32_t))                   \
  FUNCTION(getTimestamp, cuptiGetTimestamp, (uint64_t *))                      \
  FUNCTION(registerTimestamp, cuptiActivityRegisterTimestampCallback,          \
           (Timestamp *))                                                      \
  FUNCTION(registerBuffers, cuptiActivityRegisterCallbacks,                    \
           (BufferRequested *, BufferCompleted *))                             \
  FUNCTION(enable, cuptiActivityEnable, (ActivityKind))                        \
  FUNCTION(disable, cuptiActivityDisable, (ActivityKind))                      \
  FUNCTION(getNextRecord, cuptiActivityGetNextRecord,                          \
           (uint8_t *, size_t, Activity **))                                   \
  FUNCTION(flushAll, cuptiActivityFlushAll, (uint32_t))                        \
  FUNCTION(pushExternalId, cuptiActivityPushExternalCorrelationId,             \
           (ExternalCorrelationKind, uint64_t))                                \
  FUNCTION(popExternalId, cuptiActivityPopExternalCorrelationId,               \
           (ExternalCorrelationKind, uint64_t *))                              \
  FUNCTION(getContextId, cuptiGetContextId, (ContextHandle, uint32_t *))       \
  FUNCTION(getStreamId, cuptiGetStreamIdEx,                                    \
           (ContextHandle, Stream, uint8_t, uint32_t *))                       \
  FUNCTION(getGraphNodeId, cuptiGetGraphNodeId, (GraphNode, uint64_t *))

/// The names of the library.
const LibrarySpec &librarySpec();

/// The library of CUDA 13.0, whose records the structs above describe.
class Cupti : public CheckedLibrary<Cupti> {
public:
  /// Loads the library. Throws an Error that names the missing part (the
  /// library, functions) or the unsupported version.
  Cupti();

#define BRAID_CUPTI_MEMBER(member, name, parameters)                           \
  LibraryFunction<Result parameters> member = {find(#name), #name};
  BRAID_CUPTI_FUNCTIONS(BRAID_CUPTI_MEMBER)
#undef BRAID_CUPTI_MEMBER

  /// Throws an Error unless `result` is Success: `cuptiSubscribe failed:
  /// CUPTI_ERROR_NOT_INITIALIZED`.
  void check(Result result, const char *function) const;

  /// CUPTI_API_VERSION of CUDA 13.0, without the patch.
  static constexpr uint32_t knownVersion = 1300;
};

} // namespace braid::rt::cupti

#endif // BRAID_RUNTIME_CUDA_API_CUPTI_H
