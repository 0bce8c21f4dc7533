//===- Cudnn.h - The functions of cuDNN -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The declarations of libcudnn.so.9 that the engine `cuda` uses. A unit test
// compares them with cudnn.h, if the header is installed.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_API_CUDNN_H
#define BRAID_RUNTIME_CUDA_API_CUDNN_H

#include "CUDA/API/Driver.h"

// The tag is that of cudnn.h.
struct cudnnContext;

namespace braid::rt::cuda::cudnn {

using Handle = cudnnContext *;
/// A descriptor of the library, opaque.
using Descriptor = void *;

enum Status : unsigned { STATUS_SUCCESS = 0, STATUS_NOT_SUPPORTED = 3000 };

enum DescriptorType : unsigned {
  POINTWISE_DESCRIPTOR = 0,
  CONVOLUTION_DESCRIPTOR = 1,
  ENGINE_DESCRIPTOR = 2,
  ENGINECFG_DESCRIPTOR = 3,
  ENGINEHEUR_DESCRIPTOR = 4,
  EXECUTION_PLAN_DESCRIPTOR = 5,
  OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR = 10,
  OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR = 11,
  OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR = 12,
  OPERATION_POINTWISE_DESCRIPTOR = 13,
  OPERATIONGRAPH_DESCRIPTOR = 15,
  VARIANT_PACK_DESCRIPTOR = 16,
  TENSOR_DESCRIPTOR = 17,
  MATMUL_DESCRIPTOR = 18,
  OPERATION_MATMUL_DESCRIPTOR = 19,
  REDUCTION_DESCRIPTOR = 21,
  OPERATION_REDUCTION_DESCRIPTOR = 22,
  OPERATION_RESHAPE_DESCRIPTOR = 31
};

enum AttributeName : unsigned {
  POINTWISE_MODE = 0,
  POINTWISE_MATH_PREC = 1,
  POINTWISE_AXIS = 9,
  CONVOLUTION_COMP_TYPE = 100,
  CONVOLUTION_CONV_MODE = 101,
  CONVOLUTION_DILATIONS = 102,
  CONVOLUTION_FILTER_STRIDES = 103,
  CONVOLUTION_POST_PADDINGS = 104,
  CONVOLUTION_PRE_PADDINGS = 105,
  CONVOLUTION_SPATIAL_DIMS = 106,
  ENGINEHEUR_MODE = 200,
  ENGINEHEUR_OPERATION_GRAPH = 201,
  ENGINEHEUR_RESULTS = 202,
  ENGINECFG_ENGINE = 300,
  EXECUTION_PLAN_HANDLE = 400,
  EXECUTION_PLAN_ENGINE_CONFIG = 401,
  EXECUTION_PLAN_WORKSPACE_SIZE = 402,
  OPERATION_CONVOLUTION_FORWARD_ALPHA = 700,
  OPERATION_CONVOLUTION_FORWARD_BETA = 701,
  OPERATION_CONVOLUTION_FORWARD_CONV_DESC = 702,
  OPERATION_CONVOLUTION_FORWARD_W = 703,
  OPERATION_CONVOLUTION_FORWARD_X = 704,
  OPERATION_CONVOLUTION_FORWARD_Y = 705,
  OPERATION_CONVOLUTION_BWD_DATA_ALPHA = 706,
  OPERATION_CONVOLUTION_BWD_DATA_BETA = 707,
  OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC = 708,
  OPERATION_CONVOLUTION_BWD_DATA_W = 709,
  OPERATION_CONVOLUTION_BWD_DATA_DX = 710,
  OPERATION_CONVOLUTION_BWD_DATA_DY = 711,
  OPERATION_CONVOLUTION_BWD_FILTER_ALPHA = 712,
  OPERATION_CONVOLUTION_BWD_FILTER_BETA = 713,
  OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC = 714,
  OPERATION_CONVOLUTION_BWD_FILTER_DW = 715,
  OPERATION_CONVOLUTION_BWD_FILTER_X = 716,
  OPERATION_CONVOLUTION_BWD_FILTER_DY = 717,
  OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
  OPERATION_POINTWISE_XDESC = 751,
  OPERATION_POINTWISE_BDESC = 752,
  OPERATION_POINTWISE_YDESC = 753,
  OPERATION_POINTWISE_ALPHA1 = 754,
  OPERATION_POINTWISE_ALPHA2 = 755,
  OPERATION_POINTWISE_TDESC = 758,
  OPERATIONGRAPH_HANDLE = 800,
  OPERATIONGRAPH_OPS = 801,
  TENSOR_BYTE_ALIGNMENT = 900,
  TENSOR_DATA_TYPE = 901,
  TENSOR_DIMENSIONS = 902,
  TENSOR_STRIDES = 903,
  TENSOR_UNIQUE_ID = 906,
  TENSOR_IS_VIRTUAL = 907,
  TENSOR_IS_BY_VALUE = 908,
  VARIANT_PACK_UNIQUE_IDS = 1000,
  VARIANT_PACK_DATA_POINTERS = 1001,
  VARIANT_PACK_WORKSPACE = 1003,
  ENGINE_NUMERICAL_NOTE = 1303,
  MATMUL_COMP_TYPE = 1500,
  OPERATION_MATMUL_ADESC = 1520,
  OPERATION_MATMUL_BDESC = 1521,
  OPERATION_MATMUL_CDESC = 1522,
  OPERATION_MATMUL_DESC = 1523,
  REDUCTION_OPERATOR = 1600,
  REDUCTION_COMP_TYPE = 1601,
  OPERATION_REDUCTION_XDESC = 1610,
  OPERATION_REDUCTION_YDESC = 1611,
  OPERATION_REDUCTION_DESC = 1612,
  OPERATION_RESHAPE_XDESC = 2200,
  OPERATION_RESHAPE_YDESC = 2201
};

enum AttributeType : unsigned {
  TYPE_HANDLE = 0,
  TYPE_DATA_TYPE = 1,
  TYPE_BOOLEAN = 2,
  TYPE_INT64 = 3,
  TYPE_FLOAT = 4,
  TYPE_VOID_PTR = 6,
  TYPE_CONVOLUTION_MODE = 7,
  TYPE_HEUR_MODE = 8,
  TYPE_NUMERICAL_NOTE = 11,
  TYPE_POINTWISE_MODE = 14,
  TYPE_BACKEND_DESCRIPTOR = 15,
  TYPE_REDUCTION_OPERATOR_TYPE = 18
};

enum ElementType : unsigned {
  DATA_FLOAT = 0,
  DATA_HALF = 2,
  DATA_INT32 = 4,
  DATA_BFLOAT16 = 9,
  DATA_BOOLEAN = 11
};

enum PointwiseMode : unsigned {
  POINTWISE_ADD = 0,
  POINTWISE_MUL = 1,
  POINTWISE_DIV = 6,
  POINTWISE_SUB = 9,
  POINTWISE_EXP = 13,
  POINTWISE_LOG = 15,
  POINTWISE_IDENTITY = 21,
  POINTWISE_CMP_GT = 302,
  POINTWISE_CMP_GE = 303,
  POINTWISE_GEN_INDEX = 501,
  POINTWISE_BINARY_SELECT = 601
};

enum ReductionOperator : unsigned { REDUCE_ADD = 0, REDUCE_MAX = 3 };

enum HeuristicMode : unsigned {
  HEUR_MODE_B = 1,
  HEUR_MODE_FALLBACK = 2,
  HEUR_MODE_A = 3
};

enum ConvolutionMode : unsigned { CROSS_CORRELATION = 1 };

enum NumericalNote : unsigned {
  NUMERICAL_NOTE_TENSOR_CORE = 0,
  NUMERICAL_NOTE_DOWN_CONVERT_INPUTS = 1,
  NUMERICAL_NOTE_NONDETERMINISTIC = 4
};

/// FUNCTION(member, symbol, parameters); all return a Status.
#define BRAID_CUDNN_FUNCTIONS(FUNCTION)                                        \
  FUNCTION(create, cudnnCreate, (Handle *))                                    \
  FUNCTION(destroy, cudnnDestroy, (Handle))                                    \
  FUNCTION(setStream, cudnnSetStream, (Handle, Stream))                        \
  FUNCTION(createDescriptor, cudnnBackendCreateDescriptor,                     \
           (DescriptorType, Descriptor *))                                     \
  FUNCTION(destroyDescriptor, cudnnBackendDestroyDescriptor, (Descriptor))     \
  FUNCTION(finalize, cudnnBackendFinalize, (Descriptor))                       \
  FUNCTION(setAttribute, cudnnBackendSetAttribute,                             \
           (Descriptor, AttributeName, AttributeType, int64_t, const void *))  \
  FUNCTION(                                                                    \
      getAttribute, cudnnBackendGetAttribute,                                  \
      (Descriptor, AttributeName, AttributeType, int64_t, int64_t *, void *))  \
  FUNCTION(execute, cudnnBackendExecute, (Handle, Descriptor, Descriptor))

/// The names of the library.
const LibrarySpec &librarySpec();

/// The functions, by their names without `cudnn` and `cudnnBackend`.
class Cudnn : public CheckedLibrary<Cudnn> {
public:
  /// Loads the library. Throws an Error that names the missing part.
  Cudnn();

#define BRAID_CUDNN_MEMBER(member, symbol, parameters)                         \
  LibraryFunction<Status parameters> member = {find(#symbol), #symbol};
  BRAID_CUDNN_FUNCTIONS(BRAID_CUDNN_MEMBER)
#undef BRAID_CUDNN_MEMBER
  size_t (*getVersion)() = find("cudnnGetVersion");
  const char *(*getErrorString)(Status) = find("cudnnGetErrorString");
  void (*getLastErrorString)(char *, size_t) = find("cudnnGetLastErrorString");

  /// Throws an Error unless `status` is STATUS_SUCCESS.
  void check(Status status, const char *function) const {
    if (status != STATUS_SUCCESS)
      fail(status, function);
  }
  [[noreturn]] void fail(Status status, const char *function) const;
};

} // namespace braid::rt::cuda::cudnn

#endif // BRAID_RUNTIME_CUDA_API_CUDNN_H
