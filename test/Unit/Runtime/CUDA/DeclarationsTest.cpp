//===- DeclarationsTest.cpp - Declarations against NVIDIA's headers -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All is compared when this file is compiled, where there are headers.
//
//===----------------------------------------------------------------------===//

#ifdef BRAID_HAS_CUDA_HEADER
#include <cuda.h>
#endif
#ifdef BRAID_HAS_CUBLASLT_HEADER
#include <cublasLt.h>
#endif
#ifdef BRAID_HAS_CUPTI_HEADER
#include <cupti.h>
#endif

#include "../OneInterface.h"
#include "CUDA/API/Blas.h"
#include "CUDA/API/Cupti.h"
#include "CUDA/API/Driver.h"

#include <cstddef>
#include <string_view>
#include <type_traits>

using namespace braid::rt;
using namespace braid::test;

#ifdef BRAID_HAS_CUDA_HEADER

#define TEXT_OF(name) #name
// The name in the library, where cuda.h maps the name in the manual to it.
#define EXPANDED(name) TEXT_OF(name)
#define COMPARE(member, name, suffix, parameters)                              \
  static_assert(HaveOneInterface<decltype(cuda::Driver::member.address),       \
                                 decltype(&name)>::value,                      \
                "the parameters of " #name);                                   \
  static_assert(std::string_view(EXPANDED(name)) == #name #suffix, #name);
BRAID_CUDA_DRIVER_FUNCTIONS(COMPARE)
#undef COMPARE

static_assert(CUDA_VERSION >= 13000, "the header of CUDA 13");
static_assert(sizeof(cuda::DevicePointer) == sizeof(CUdeviceptr));
static_assert(std::is_same_v<cuda::Stream, CUstream>);
static_assert(std::is_same_v<cuda::Event, CUevent>);
static_assert(std::is_same_v<cuda::Function, CUfunction>);
static_assert(std::is_same_v<cuda::Module, CUmodule>);
static_assert(std::is_same_v<cuda::Graph, CUgraph>);
static_assert(std::is_same_v<cuda::GraphNode, CUgraphNode>);
static_assert(std::is_same_v<cuda::GraphExec, CUgraphExec>);
static_assert(std::is_same_v<cuda::ContextHandle, CUcontext>);

#define EQUAL(own, theirs) static_assert(cuda::own == unsigned(theirs))
EQUAL(SUCCESS, CUDA_SUCCESS);
EQUAL(ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
EQUAL(ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
EQUAL(ERROR_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
EQUAL(ERROR_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
EQUAL(ERROR_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
EQUAL(ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE);
EQUAL(ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU);
EQUAL(ERROR_INVALID_PTX, CUDA_ERROR_INVALID_PTX);
EQUAL(ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
EQUAL(ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE);
EQUAL(ERROR_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
EQUAL(ERROR_NOT_READY, CUDA_ERROR_NOT_READY);
EQUAL(ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
EQUAL(ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
EQUAL(ERROR_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
EQUAL(ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
EQUAL(ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
EQUAL(ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
EQUAL(ERROR_STREAM_CAPTURE_UNMATCHED, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
EQUAL(ERROR_STREAM_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
EQUAL(ERROR_STREAM_CAPTURE_ISOLATION, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
EQUAL(ERROR_STREAM_CAPTURE_WRONG_THREAD,
      CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
EQUAL(ERROR_CAPTURED_EVENT, CUDA_ERROR_CAPTURED_EVENT);
EQUAL(DEVICE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
EQUAL(DEVICE_COMPUTE_CAPABILITY_MAJOR,
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
EQUAL(DEVICE_COMPUTE_CAPABILITY_MINOR,
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
EQUAL(FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
EQUAL(STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
EQUAL(EVENT_TIMING, CU_EVENT_DEFAULT);
EQUAL(EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING);
EQUAL(HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
EQUAL(CAPTURE_GLOBAL, CU_STREAM_CAPTURE_MODE_GLOBAL);
EQUAL(CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
EQUAL(CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
EQUAL(CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
EQUAL(CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE);
EQUAL(CAPTURE_INVALIDATED, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
EQUAL(GRAPH_USE_NODE_PRIORITY, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
EQUAL(GRAPH_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);
EQUAL(CONDITIONAL_WHILE, CU_GRAPH_COND_TYPE_WHILE);
EQUAL(CONDITIONAL_SWITCH, CU_GRAPH_COND_TYPE_SWITCH);
static_assert(std::is_same_v<cuda::ConditionHandle, CUgraphConditionalHandle>);
static_assert(sizeof(cuda::ConditionalNode) == sizeof(CUgraphNodeParams));
static_assert(offsetof(cuda::ConditionalNode, handle) ==
              offsetof(CUgraphNodeParams, conditional.handle));
static_assert(offsetof(cuda::ConditionalNode, kind) ==
              offsetof(CUgraphNodeParams, conditional.type));
static_assert(offsetof(cuda::ConditionalNode, size) ==
              offsetof(CUgraphNodeParams, conditional.size));
static_assert(offsetof(cuda::ConditionalNode, bodies) ==
              offsetof(CUgraphNodeParams, conditional.phGraph_out));
static_assert(offsetof(cuda::ConditionalNode, context) ==
              offsetof(CUgraphNodeParams, conditional.ctx));
static_assert(sizeof(cuda::EarlyLaunch) == sizeof(CUlaunchAttribute));
static_assert(cuda::EarlyLaunch().kind ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(offsetof(cuda::EarlyLaunch, isAllowed) ==
              offsetof(CUlaunchAttribute,
                       value.programmaticStreamSerializationAllowed));
static_assert(sizeof(cuda::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(cuda::LaunchConfig, sharedBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(cuda::LaunchConfig, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cuda::LaunchConfig, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(cuda::LaunchConfig, attributeCount) ==
              offsetof(CUlaunchConfig, numAttrs));
EQUAL(JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER);
EQUAL(JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

#endif

#ifdef BRAID_HAS_CUBLASLT_HEADER

#define COMPARE(member, name, parameters)                                      \
  static_assert(HaveOneInterface<decltype(cuda::Blas::member.address),         \
                                 decltype(&name)>::value,                      \
                "the parameters of " #name);
BRAID_CUBLASLT_FUNCTIONS(COMPARE)
#undef COMPARE
static_assert(HaveOneInterface<decltype(cuda::Blas::getStatusName),
                               decltype(&cublasLtGetStatusName)>::value);
static_assert(HaveOneInterface<decltype(cuda::Blas::getStatusString),
                               decltype(&cublasLtGetStatusString)>::value);
static_assert(HaveOneInterface<decltype(cuda::Blas::getVersion),
                               decltype(&cublasLtGetVersion)>::value);

using Heuristic = cuda::MatmulHeuristicResult;
static_assert(sizeof(cuda::MatmulAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, workspaceSize) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Heuristic, state) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(Heuristic, wavesCount) ==
              offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

#define BLAS_EQUAL(own, theirs) static_assert(unsigned(cuda::own) == theirs)
BLAS_EQUAL(BLAS_SUCCESS, CUBLAS_STATUS_SUCCESS);
BLAS_EQUAL(BLAS_NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED);
BLAS_EQUAL(BLAS_ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED);
BLAS_EQUAL(BLAS_INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE);
BLAS_EQUAL(BLAS_ARCH_MISMATCH, CUBLAS_STATUS_ARCH_MISMATCH);
BLAS_EQUAL(BLAS_EXECUTION_FAILED, CUBLAS_STATUS_EXECUTION_FAILED);
BLAS_EQUAL(BLAS_INTERNAL_ERROR, CUBLAS_STATUS_INTERNAL_ERROR);
BLAS_EQUAL(BLAS_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED);
BLAS_EQUAL(R_32F, CUDA_R_32F);
BLAS_EQUAL(R_64F, CUDA_R_64F);
BLAS_EQUAL(R_16F, CUDA_R_16F);
BLAS_EQUAL(C_32F, CUDA_C_32F);
BLAS_EQUAL(C_64F, CUDA_C_64F);
BLAS_EQUAL(R_16BF, CUDA_R_16BF);
BLAS_EQUAL(R_8F_E4M3, CUDA_R_8F_E4M3);
BLAS_EQUAL(R_8F_E5M2, CUDA_R_8F_E5M2);
BLAS_EQUAL(COMPUTE_32F, CUBLAS_COMPUTE_32F);
BLAS_EQUAL(COMPUTE_64F, CUBLAS_COMPUTE_64F);
BLAS_EQUAL(COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
BLAS_EQUAL(OPERATION_N, CUBLAS_OP_N);
BLAS_EQUAL(OPERATION_T, CUBLAS_OP_T);
BLAS_EQUAL(MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA);
BLAS_EQUAL(MATMUL_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB);
BLAS_EQUAL(MATMUL_DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE);
BLAS_EQUAL(MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
BLAS_EQUAL(MATMUL_DESC_SM_COUNT_TARGET, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET);
BLAS_EQUAL(MATMUL_DESC_BIAS_DATA_TYPE, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
BLAS_EQUAL(MATMUL_ALGORITHM_CLUSTER_SHAPE_ID,
           CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
BLAS_EQUAL(MATRIX_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
BLAS_EQUAL(MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
           CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
BLAS_EQUAL(MATMUL_PREF_MAX_WORKSPACE_BYTES,
           CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
BLAS_EQUAL(MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
BLAS_EQUAL(MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
BLAS_EQUAL(MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
BLAS_EQUAL(MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
BLAS_EQUAL(EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_DEFAULT);
BLAS_EQUAL(EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU);
BLAS_EQUAL(EPILOGUE_BIAS, CUBLASLT_EPILOGUE_BIAS);
BLAS_EQUAL(EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU);
BLAS_EQUAL(EPILOGUE_RELU | cuda::EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS);
BLAS_EQUAL(EPILOGUE_GELU | cuda::EPILOGUE_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS);

#endif

#ifdef BRAID_HAS_CUPTI_HEADER

#define COMPARE(member, name, parameters)                                      \
  static_assert(HaveOneInterface<decltype(cupti::Cupti::member.address),       \
                                 decltype(&name)>::value,                      \
                "the parameters of " #name);
BRAID_CUPTI_FUNCTIONS(COMPARE)
#undef COMPARE

static_assert(CUPTI_API_VERSION / 100 == cupti::Cupti::knownVersion);
static_assert(std::is_same_v<cupti::Subscriber, CUpti_SubscriberHandle>);

#define CUPTI_EQUAL(own, theirs) static_assert(cupti::own == unsigned(theirs))
CUPTI_EQUAL(Success, CUPTI_SUCCESS);
CUPTI_EQUAL(MaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
CUPTI_EQUAL(MultipleSubscribers,
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
CUPTI_EQUAL(Memcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
CUPTI_EQUAL(Memset, CUPTI_ACTIVITY_KIND_MEMSET);
CUPTI_EQUAL(DriverCall, CUPTI_ACTIVITY_KIND_DRIVER);
CUPTI_EQUAL(RuntimeCall, CUPTI_ACTIVITY_KIND_RUNTIME);
CUPTI_EQUAL(ConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
CUPTI_EQUAL(ExternalCorrelation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
CUPTI_EQUAL(Custom0, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
CUPTI_EQUAL(Resources, CUPTI_CB_DOMAIN_RESOURCE);
CUPTI_EQUAL(NodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
CUPTI_EQUAL(NodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);

#define ONE_PLACE(own, theirs, field)                                          \
  static_assert(offsetof(cupti::own, field) == offsetof(theirs, field) &&      \
                sizeof(cupti::own::field) == sizeof(theirs::field))
ONE_PLACE(KernelActivity, CUpti_ActivityKernel10, start);
ONE_PLACE(KernelActivity, CUpti_ActivityKernel10, end);
ONE_PLACE(KernelActivity, CUpti_ActivityKernel10, deviceId);
ONE_PLACE(KernelActivity, CUpti_ActivityKernel10, contextId);
ONE_PLACE(KernelActivity, CUpti_ActivityKernel10, streamId);
ONE_PLACE(KernelActivity, CUpti_ActivityKernel10, correlationId);
ONE_PLACE(KernelActivity, CUpti_ActivityKernel10, name);
ONE_PLACE(KernelActivity, CUpti_ActivityKernel10, graphNodeId);
ONE_PLACE(MemcpyActivity, CUpti_ActivityMemcpy6, bytes);
ONE_PLACE(MemcpyActivity, CUpti_ActivityMemcpy6, start);
ONE_PLACE(MemcpyActivity, CUpti_ActivityMemcpy6, end);
ONE_PLACE(MemcpyActivity, CUpti_ActivityMemcpy6, deviceId);
ONE_PLACE(MemcpyActivity, CUpti_ActivityMemcpy6, contextId);
ONE_PLACE(MemcpyActivity, CUpti_ActivityMemcpy6, streamId);
ONE_PLACE(MemcpyActivity, CUpti_ActivityMemcpy6, correlationId);
ONE_PLACE(MemcpyActivity, CUpti_ActivityMemcpy6, graphNodeId);
ONE_PLACE(MemsetActivity, CUpti_ActivityMemset4, bytes);
ONE_PLACE(MemsetActivity, CUpti_ActivityMemset4, start);
ONE_PLACE(MemsetActivity, CUpti_ActivityMemset4, end);
ONE_PLACE(MemsetActivity, CUpti_ActivityMemset4, deviceId);
ONE_PLACE(MemsetActivity, CUpti_ActivityMemset4, contextId);
ONE_PLACE(MemsetActivity, CUpti_ActivityMemset4, streamId);
ONE_PLACE(MemsetActivity, CUpti_ActivityMemset4, correlationId);
ONE_PLACE(MemsetActivity, CUpti_ActivityMemset4, graphNodeId);
ONE_PLACE(CorrelationActivity, CUpti_ActivityExternalCorrelation, externalKind);
ONE_PLACE(CorrelationActivity, CUpti_ActivityExternalCorrelation, externalId);
ONE_PLACE(CorrelationActivity, CUpti_ActivityExternalCorrelation,
          correlationId);
static_assert(offsetof(CUpti_ActivityKernel10, kind) == 0);
static_assert(offsetof(cupti::ResourceData, descriptor) ==
              offsetof(CUpti_ResourceData, resourceDescriptor));
ONE_PLACE(GraphData, CUpti_GraphData, node);
ONE_PLACE(GraphData, CUpti_GraphData, originalNode);

#endif
