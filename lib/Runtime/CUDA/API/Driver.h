//===- Driver.h - The CUDA driver's functions -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The declarations of libcuda.so.1, CUDA 13, that the engine `cuda` uses. The
// runtime includes no header of CUDA, so it can be built on any machine. A unit
// test compares these declarations with cuda.h, if the header is installed.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_API_DRIVER_H
#define BRAID_RUNTIME_CUDA_API_DRIVER_H

#include "Base/Library.h"

#include <cstddef>
#include <cstdint>

// The tags are those of cuda.h.
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphEdgeData_st;
struct CUgraphExec_st;
struct CUgraphNodeParams_st;
struct CUgraphNode_st;
struct CUlaunchConfig_st;
struct CUmod_st;
struct CUstream_st;

namespace braid::rt::cuda {

using ContextHandle = CUctx_st *;
using Event = CUevent_st *;
using Function = CUfunc_st *;
using Graph = CUgraph_st *;
using GraphExec = CUgraphExec_st *;
using GraphEdge = CUgraphEdgeData_st;
using GraphNode = CUgraphNode_st *;
/// The condition of a conditional node.
using ConditionHandle = uint64_t;
using Module = CUmod_st *;
using Stream = CUstream_st *;
using DeviceHandle = int;
using DevicePointer = unsigned long long;

/// The results of all functions, as far as the runtime distinguishes them.
enum Result : unsigned {
  SUCCESS = 0,
  ERROR_INVALID_VALUE = 1,
  ERROR_OUT_OF_MEMORY = 2,
  ERROR_STUB_LIBRARY = 34,
  ERROR_NO_DEVICE = 100,
  ERROR_INVALID_DEVICE = 101,
  ERROR_INVALID_IMAGE = 200,
  ERROR_NO_BINARY_FOR_GPU = 209,
  ERROR_INVALID_PTX = 218,
  ERROR_UNSUPPORTED_PTX_VERSION = 222,
  ERROR_INVALID_HANDLE = 400,
  ERROR_NOT_FOUND = 500,
  ERROR_NOT_READY = 600,
  ERROR_ILLEGAL_ADDRESS = 700,
  ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  ERROR_NOT_SUPPORTED = 801,
  ERROR_SYSTEM_DRIVER_MISMATCH = 803,
  ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  ERROR_STREAM_CAPTURE_UNMATCHED = 903,
  ERROR_STREAM_CAPTURE_UNJOINED = 904,
  ERROR_STREAM_CAPTURE_ISOLATION = 905,
  ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
  ERROR_CAPTURED_EVENT = 907
};

enum DeviceAttribute : unsigned {
  DEVICE_MULTIPROCESSOR_COUNT = 16,
  DEVICE_COMPUTE_CAPABILITY_MAJOR = 75,
  DEVICE_COMPUTE_CAPABILITY_MINOR = 76
};

enum FunctionAttribute : unsigned {
  FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

enum StreamFlags : unsigned { STREAM_NON_BLOCKING = 1 };
enum class StreamPriority { Lowest, Highest };
enum EventFlags : unsigned { EVENT_TIMING = 0, EVENT_NO_TIMING = 2 };
enum HostAllocFlags : unsigned { HOST_PORTABLE = 1 };

enum CaptureMode : unsigned {
  CAPTURE_GLOBAL = 0,
  CAPTURE_THREAD_LOCAL = 1,
  CAPTURE_RELAXED = 2
};
enum CaptureStatus : unsigned {
  CAPTURE_NONE = 0,
  CAPTURE_ACTIVE = 1,
  CAPTURE_INVALIDATED = 2
};
enum GraphInstantiateFlags : unsigned { GRAPH_USE_NODE_PRIORITY = 8 };
enum GraphNodeType : unsigned { GRAPH_NODE_CONDITIONAL = 13 };
enum ConditionalType : unsigned {
  CONDITIONAL_WHILE = 1,
  CONDITIONAL_SWITCH = 2
};

/// CUgraphNodeParams of a conditional node.
struct ConditionalNode {
  GraphNodeType type = GRAPH_NODE_CONDITIONAL;
  int reserved[3] = {};
  ConditionHandle handle = 0;
  ConditionalType kind = CONDITIONAL_WHILE;
  unsigned size = 1;       ///< The number of bodies.
  Graph *bodies = nullptr; ///< Set by the driver.
  ContextHandle context = nullptr;
  long long rest[26] = {};
};

/// CUlaunchAttribute that lets a kernel start before the end of the one before.
struct EarlyLaunch {
  unsigned kind = 6; ///< Programmatic stream serialization.
  char padding[4] = {};
  int isAllowed = 1;
  char rest[60] = {};
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  Stream stream;
  const EarlyLaunch *attributes;
  unsigned attributeCount;
};

enum JitOption : unsigned {
  JIT_ERROR_LOG_BUFFER = 5,
  JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

/// FUNCTION(member, name in cuda.h, what a symbol has behind it, parameters).
#define BRAID_CUDA_DRIVER_FUNCTIONS(FUNCTION)                                  \
  FUNCTION(init, cuInit, , (unsigned))                                         \
  FUNCTION(driverGetVersion, cuDriverGetVersion, , (int *))                    \
  FUNCTION(getErrorName, cuGetErrorName, , (Result, const char **))            \
  FUNCTION(getErrorString, cuGetErrorString, , (Result, const char **))        \
  /* Devices and contexts */                                                   \
  FUNCTION(deviceGetCount, cuDeviceGetCount, , (int *))                        \
  FUNCTION(deviceGet, cuDeviceGet, , (DeviceHandle *, int))                    \
  FUNCTION(deviceGetName, cuDeviceGetName, , (char *, int, DeviceHandle))      \
  FUNCTION(deviceGetAttribute, cuDeviceGetAttribute, ,                         \
           (int *, DeviceAttribute, DeviceHandle))                             \
  FUNCTION(devicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, ,                 \
           (ContextHandle *, DeviceHandle))                                    \
  FUNCTION(devicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, _v2,            \
           (DeviceHandle))                                                     \
  FUNCTION(ctxSetCurrent, cuCtxSetCurrent, , (ContextHandle))                  \
  FUNCTION(ctxSynchronize, cuCtxSynchronize, , ())                             \
  FUNCTION(ctxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, ,           \
           (int *, int *))                                                     \
  /* Streams and events */                                                     \
  FUNCTION(streamCreateWithPriority, cuStreamCreateWithPriority, ,             \
           (Stream *, unsigned, int))                                          \
  FUNCTION(streamDestroy, cuStreamDestroy, _v2, (Stream))                      \
  FUNCTION(streamSynchronize, cuStreamSynchronize, , (Stream))                 \
  FUNCTION(streamQuery, cuStreamQuery, , (Stream))                             \
  FUNCTION(streamWaitEvent, cuStreamWaitEvent, , (Stream, Event, unsigned))    \
  FUNCTION(eventCreate, cuEventCreate, , (Event *, unsigned))                  \
  FUNCTION(eventDestroy, cuEventDestroy, _v2, (Event))                         \
  FUNCTION(eventRecord, cuEventRecord, , (Event, Stream))                      \
  FUNCTION(eventQuery, cuEventQuery, , (Event))                                \
  FUNCTION(eventSynchronize, cuEventSynchronize, , (Event))                    \
  FUNCTION(eventElapsedTime, cuEventElapsedTime, _v2, (float *, Event, Event)) \
  /* Capture and graphs */                                                     \
  FUNCTION(streamBeginCapture, cuStreamBeginCapture, _v2,                      \
           (Stream, CaptureMode))                                              \
  FUNCTION(streamEndCapture, cuStreamEndCapture, , (Stream, Graph *))          \
  FUNCTION(streamIsCapturing, cuStreamIsCapturing, ,                           \
           (Stream, CaptureStatus *))                                          \
  FUNCTION(streamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, ,           \
           (Stream, Graph, const GraphNode *, const GraphEdge *, size_t,       \
            CaptureMode))                                                      \
  FUNCTION(streamGetCaptureInfo, cuStreamGetCaptureInfo, _v3,                  \
           (Stream, CaptureStatus *, uint64_t *, Graph *, const GraphNode **,  \
            const GraphEdge **, size_t *))                                     \
  FUNCTION(graphCreate, cuGraphCreate, , (Graph *, unsigned))                  \
  FUNCTION(graphConditionalHandleCreate, cuGraphConditionalHandleCreate, ,     \
           (ConditionHandle *, Graph, ContextHandle, unsigned, unsigned))      \
  FUNCTION(graphAddNode, cuGraphAddNode, _v2,                                  \
           (GraphNode *, Graph, const GraphNode *, const GraphEdge *, size_t,  \
            CUgraphNodeParams_st *))                                           \
  FUNCTION(graphGetNodes, cuGraphGetNodes, , (Graph, GraphNode *, size_t *))   \
  FUNCTION(graphDestroy, cuGraphDestroy, , (Graph))                            \
  FUNCTION(graphInstantiate, cuGraphInstantiate, WithFlags,                    \
           (GraphExec *, Graph, unsigned long long))                           \
  FUNCTION(graphLaunch, cuGraphLaunch, , (GraphExec, Stream))                  \
  FUNCTION(graphExecDestroy, cuGraphExecDestroy, , (GraphExec))                \
  /* Memory */                                                                 \
  FUNCTION(memGetInfo, cuMemGetInfo, _v2, (size_t *, size_t *))                \
  FUNCTION(memAlloc, cuMemAlloc, _v2, (DevicePointer *, size_t))               \
  FUNCTION(memFree, cuMemFree, _v2, (DevicePointer))                           \
  FUNCTION(memAllocAsync, cuMemAllocAsync, ,                                   \
           (DevicePointer *, size_t, Stream))                                  \
  FUNCTION(memFreeAsync, cuMemFreeAsync, , (DevicePointer, Stream))            \
  FUNCTION(memHostAlloc, cuMemHostAlloc, , (void **, size_t, unsigned))        \
  FUNCTION(memFreeHost, cuMemFreeHost, , (void *))                             \
  FUNCTION(memcpyHtoDAsync, cuMemcpyHtoDAsync, _v2,                            \
           (DevicePointer, const void *, size_t, Stream))                      \
  FUNCTION(memcpyDtoHAsync, cuMemcpyDtoHAsync, _v2,                            \
           (void *, DevicePointer, size_t, Stream))                            \
  FUNCTION(memcpyDtoDAsync, cuMemcpyDtoDAsync, _v2,                            \
           (DevicePointer, DevicePointer, size_t, Stream))                     \
  FUNCTION(memsetD8Async, cuMemsetD8Async, ,                                   \
           (DevicePointer, unsigned char, size_t, Stream))                     \
  FUNCTION(memsetD16Async, cuMemsetD16Async, ,                                 \
           (DevicePointer, unsigned short, size_t, Stream))                    \
  FUNCTION(memsetD32Async, cuMemsetD32Async, ,                                 \
           (DevicePointer, unsigned, size_t, Stream))                          \
  FUNCTION(memsetD2D8Async, cuMemsetD2D8Async, ,                               \
           (DevicePointer, size_t, unsigned char, size_t, size_t, Stream))     \
  /* Modules and kernels */                                                    \
  FUNCTION(moduleLoadDataEx, cuModuleLoadDataEx, ,                             \
           (Module *, const void *, unsigned, JitOption *, void **))           \
  FUNCTION(moduleUnload, cuModuleUnload, , (Module))                           \
  FUNCTION(moduleGetFunction, cuModuleGetFunction, ,                           \
           (Function *, Module, const char *))                                 \
  FUNCTION(moduleGetGlobal, cuModuleGetGlobal, _v2,                            \
           (DevicePointer *, size_t *, Module, const char *))                  \
  FUNCTION(moduleGetFunctionCount, cuModuleGetFunctionCount, ,                 \
           (unsigned *, Module))                                               \
  FUNCTION(moduleEnumerateFunctions, cuModuleEnumerateFunctions, ,             \
           (Function *, unsigned, Module))                                     \
  FUNCTION(funcGetName, cuFuncGetName, , (const char **, Function))            \
  FUNCTION(funcGetParamInfo, cuFuncGetParamInfo, ,                             \
           (Function, size_t, size_t *, size_t *))                             \
  FUNCTION(funcLoad, cuFuncLoad, , (Function))                                 \
  FUNCTION(funcGetAttribute, cuFuncGetAttribute, ,                             \
           (int *, FunctionAttribute, Function))                               \
  FUNCTION(funcSetAttribute, cuFuncSetAttribute, ,                             \
           (Function, FunctionAttribute, int))                                 \
  FUNCTION(launchKernel, cuLaunchKernel, ,                                     \
           (Function, unsigned, unsigned, unsigned, unsigned, unsigned,        \
            unsigned, unsigned, Stream, void **, void **))                     \
  FUNCTION(launchKernelEx, cuLaunchKernelEx, ,                                 \
           (const CUlaunchConfig_st *, Function, void **, void **))

/// The names of the library.
const LibrarySpec &driverSpec();

/// The functions, by their names without `cu`.
class Driver : public CheckedLibrary<Driver> {
public:
  /// Loads and initializes the library. Throws an Error that names the missing
  /// part: the library, functions, a GPU.
  Driver();

#define BRAID_CUDA_MEMBER(member, name, suffix, parameters)                    \
  LibraryFunction<Result parameters> member = {find(#name #suffix), #name};
  BRAID_CUDA_DRIVER_FUNCTIONS(BRAID_CUDA_MEMBER)
#undef BRAID_CUDA_MEMBER

  /// Throws an Error unless `result` is SUCCESS: `cuMemAlloc failed:
  /// CUDA_ERROR_OUT_OF_MEMORY (out of memory)`.
  void check(Result result, const char *function) const {
    if (result != SUCCESS)
      fail(result, function);
  }
  [[noreturn]] void fail(Result result, const char *function) const;

  /// `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`.
  std::string describe(Result result) const;

  /// The number of GPUs that the process sees.
  int deviceCount() const;

  /// A new stream of the current context, which the legacy stream does not
  /// synchronize. Throws an Error if there cannot be one.
  Stream createStream(StreamPriority priority) const;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_API_DRIVER_H
