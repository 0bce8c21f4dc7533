//===- Cudnn.cpp - A cuDNN that runs operations as loops ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudnnGraph.h"
#include "FakeCUDA.h"
#include "FakeCudnn.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

using namespace fakecudnn;
using braid::rt::cuda::Stream;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

struct cudnnContext {
  int device;
  Stream stream = nullptr;
};

namespace {
constexpr auto badParam = static_cast<Status>(2000);

struct Attribute {
  AttributeType type;
  int64_t count;
  std::vector<char> bytes;
};

struct FakeDescriptor {
  DescriptorType type;
  std::map<AttributeName, Attribute> attributes;
  bool isFinal = false;
  fake_cudnn_engine engine = FAKE_CUDNN_DETERMINISTIC;
  int number = 0; ///< Of the engine.
};

struct Fake {
  std::mutex mutex;
  size_t version = 92000;
  int64_t workspace = 1024;
  std::vector<fake_cudnn_engine> engines = {FAKE_CUDNN_DETERMINISTIC},
                                 enginesOfB = engines, fallbacks;
  std::vector<int64_t> costs;
  std::map<std::string, std::pair<unsigned, int>> failures;
  std::set<const void *> live;
  int plans = 0;
};
} // namespace

static Fake &fake() {
  static auto *instance = new Fake;
  return *instance;
}

static bool isInjected(const char *function, Status &status) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  auto found = fake().failures.find(function);
  if (found == fake().failures.end() || found->second.second-- > 0)
    return false;
  status = static_cast<Status>(found->second.first);
  fake().failures.erase(found);
  return true;
}
#define FAKE_CUDNN_ENTER(function)                                             \
  if (Status injected; isInjected(function, injected))                         \
    return injected;

static FakeDescriptor &look(const char *function, const void *descriptor) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  if (!fake().live.count(descriptor))
    fake_cuda_abort(function, "a descriptor does not exist, or was destroyed");
  return *static_cast<FakeDescriptor *>(const_cast<void *>(descriptor));
}

/// The values of an attribute, which must be there.
template <typename Value>
static std::vector<Value> get(const FakeDescriptor &descriptor,
                              AttributeName name) {
  auto found = descriptor.attributes.find(name);
  if (found == descriptor.attributes.end())
    fake_cuda_abort("cudnnBackendFinalize",
                    ("attribute " + std::to_string(name) + " is missing of a " +
                     "descriptor of type " + std::to_string(descriptor.type))
                        .c_str());
  std::vector<Value> values(static_cast<size_t>(found->second.count));
  if (found->second.bytes.size() != values.size() * sizeof(Value))
    fake_cuda_abort("cudnnBackendSetAttribute", "a value of another type");
  std::memcpy(values.data(), found->second.bytes.data(),
              found->second.bytes.size());
  return values;
}

template <typename Value>
static Value getOne(const FakeDescriptor &descriptor, AttributeName name) {
  return get<Value>(descriptor, name).at(0);
}

static bool isSet(const FakeDescriptor &descriptor, AttributeName name) {
  return descriptor.attributes.count(name) &&
         getOne<char>(descriptor, name) != 0;
}

static bool has(const FakeDescriptor &descriptor, AttributeName name) {
  return descriptor.attributes.count(name) != 0;
}

static const FakeDescriptor &getFinal(const FakeDescriptor &descriptor,
                                      AttributeName name) {
  FakeDescriptor &found =
      look("cudnnBackendFinalize", getOne<const void *>(descriptor, name));
  if (!found.isFinal)
    fake_cuda_abort("cudnnBackendFinalize", "a descriptor is not finalized");
  return found;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static Tensor readTensor(const FakeDescriptor &owner, AttributeName name) {
  const FakeDescriptor &descriptor = getFinal(owner, name);
  Tensor tensor = {};
  tensor.type = getOne<ElementType>(descriptor, TENSOR_DATA_TYPE);
  std::vector<int64_t> sizes = get<int64_t>(descriptor, TENSOR_DIMENSIONS);
  std::vector<int64_t> strides = get<int64_t>(descriptor, TENSOR_STRIDES);
  if (sizes.size() < 4 || sizes.size() > 5 || strides.size() != sizes.size())
    fake_cuda_abort("cudnnBackendFinalize",
                    "a tensor without 4 or 5 dimensions");
  tensor.sizes[4] = 1;
  std::copy(sizes.begin(), sizes.end(), tensor.sizes.begin());
  std::copy(strides.begin(), strides.end(), tensor.strides.begin());
  tensor.id = getOne<int64_t>(descriptor, TENSOR_UNIQUE_ID);
  tensor.alignment = getOne<int64_t>(descriptor, TENSOR_BYTE_ALIGNMENT);
  tensor.isVirtual = isSet(descriptor, TENSOR_IS_VIRTUAL);
  tensor.isValue = isSet(descriptor, TENSOR_IS_BY_VALUE);
  return tensor;
}

/// Reads the window of a convolution, and compares the sizes of the operands.
static void readWindow(const FakeDescriptor &window, Operation &operation) {
  auto [data, filter, result] = operation.roles();
  auto read = [&](AttributeName name, std::array<int64_t, 3> &numbers) {
    std::vector<int64_t> values = get<int64_t>(window, name);
    if (static_cast<int64_t>(values.size()) !=
        getOne<int64_t>(window, CONVOLUTION_SPATIAL_DIMS))
      fake_cuda_abort("cudnnBackendFinalize", "a window of other dimensions");
    std::copy(values.begin(), values.end(), numbers.begin());
  };
  read(CONVOLUTION_FILTER_STRIDES, operation.strides);
  read(CONVOLUTION_DILATIONS, operation.dilations);
  read(CONVOLUTION_PRE_PADDINGS, operation.low);
  read(CONVOLUTION_POST_PADDINGS, operation.high);
  bool fits =
      getOne<ElementType>(window, CONVOLUTION_COMP_TYPE) == DATA_FLOAT &&
      getOne<ConvolutionMode>(window, CONVOLUTION_CONV_MODE) ==
          CROSS_CORRELATION &&
      data->sizes[0] == result->sizes[0] &&
      data->sizes[1] % filter->sizes[1] == 0 &&
      filter->sizes[0] == result->sizes[1];
  for (size_t i = 0; i != 3; ++i)
    fits &= (data->sizes[2 + i] + operation.low[i] + operation.high[i] - 1 -
             operation.dilations[i] * (filter->sizes[2 + i] - 1)) /
                    operation.strides[i] +
                1 ==
            result->sizes[2 + i];
  if (!fits)
    fake_cuda_abort("cudnnBackendFinalize",
                    "operands of a convolution do not fit each other");
}

/// Reads a convolution: the first two attributes are inputs.
static void readConvolution(const FakeDescriptor &descriptor,
                            const AttributeName (&operands)[3],
                            AttributeName window, AttributeName alpha,
                            AttributeName beta, Operation &operation) {
  operation.x = readTensor(descriptor, operands[0]);
  operation.b = readTensor(descriptor, operands[1]);
  operation.y = readTensor(descriptor, operands[2]);
  operation.hasB = true;
  readWindow(getFinal(descriptor, window), operation);
  if (getOne<float>(descriptor, alpha) != 1 ||
      getOne<float>(descriptor, beta) != 0)
    fake_cuda_abort("cudnnBackendFinalize", "a convolution that is scaled");
}

static Operation readOperation(const FakeDescriptor &descriptor) {
  Operation operation = {};
  operation.kind = descriptor.type;
  auto readSecond = [&](AttributeName name, bool &isThere, Tensor &tensor) {
    isThere = has(descriptor, name);
    if (isThere)
      tensor = readTensor(descriptor, name);
  };
  switch (descriptor.type) {
  case OPERATION_MATMUL_DESCRIPTOR:
    getFinal(descriptor, OPERATION_MATMUL_DESC);
    operation.x = readTensor(descriptor, OPERATION_MATMUL_ADESC);
    readSecond(OPERATION_MATMUL_BDESC, operation.hasB, operation.b);
    operation.y = readTensor(descriptor, OPERATION_MATMUL_CDESC);
    break;
  case OPERATION_REDUCTION_DESCRIPTOR:
    operation.mode = static_cast<int>(getOne<ReductionOperator>(
        getFinal(descriptor, OPERATION_REDUCTION_DESC), REDUCTION_OPERATOR));
    operation.x = readTensor(descriptor, OPERATION_REDUCTION_XDESC);
    operation.y = readTensor(descriptor, OPERATION_REDUCTION_YDESC);
    break;
  case OPERATION_RESHAPE_DESCRIPTOR:
    operation.x = readTensor(descriptor, OPERATION_RESHAPE_XDESC);
    operation.y = readTensor(descriptor, OPERATION_RESHAPE_YDESC);
    break;
  case OPERATION_POINTWISE_DESCRIPTOR: {
    const FakeDescriptor &kind =
        getFinal(descriptor, OPERATION_POINTWISE_PW_DESCRIPTOR);
    operation.mode =
        static_cast<int>(getOne<PointwiseMode>(kind, POINTWISE_MODE));
    if (operation.mode == POINTWISE_GEN_INDEX)
      operation.axis = getOne<int64_t>(kind, POINTWISE_AXIS);
    operation.x = readTensor(descriptor, OPERATION_POINTWISE_XDESC);
    operation.y = readTensor(descriptor, OPERATION_POINTWISE_YDESC);
    readSecond(OPERATION_POINTWISE_BDESC, operation.hasB, operation.b);
    readSecond(OPERATION_POINTWISE_TDESC, operation.hasT, operation.t);
    break;
  }
  case OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    readConvolution(descriptor,
                    {OPERATION_CONVOLUTION_FORWARD_X,
                     OPERATION_CONVOLUTION_FORWARD_W,
                     OPERATION_CONVOLUTION_FORWARD_Y},
                    OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                    OPERATION_CONVOLUTION_FORWARD_ALPHA,
                    OPERATION_CONVOLUTION_FORWARD_BETA, operation);
    break;
  case OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    readConvolution(descriptor,
                    {OPERATION_CONVOLUTION_BWD_DATA_DY,
                     OPERATION_CONVOLUTION_BWD_DATA_W,
                     OPERATION_CONVOLUTION_BWD_DATA_DX},
                    OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                    OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                    OPERATION_CONVOLUTION_BWD_DATA_BETA, operation);
    break;
  case OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    readConvolution(descriptor,
                    {OPERATION_CONVOLUTION_BWD_FILTER_X,
                     OPERATION_CONVOLUTION_BWD_FILTER_DY,
                     OPERATION_CONVOLUTION_BWD_FILTER_DW},
                    OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                    OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                    OPERATION_CONVOLUTION_BWD_FILTER_BETA, operation);
    break;
  default:
    fake_cuda_abort("cudnnBackendFinalize", "an unknown kind of operation");
  }
  return operation;
}

static std::vector<Operation> readGraph(const FakeDescriptor &graph) {
  std::vector<Operation> operations;
  for (const void *operation : get<const void *>(graph, OPERATIONGRAPH_OPS))
    operations.push_back(
        readOperation(look("cudnnBackendFinalize", operation)));
  return operations;
}

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

extern "C" {
void fake_cudnn_reset() {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().version = 92000;
  fake().workspace = 1024;
  fake().engines = fake().enginesOfB = {FAKE_CUDNN_DETERMINISTIC};
  fake().fallbacks.clear();
  fake().costs.clear();
  fake().failures.clear();
  fake().plans = 0;
}

void fake_cudnn_set_version(size_t version) { fake().version = version; }
void fake_cudnn_set_workspace(int64_t bytes) { fake().workspace = bytes; }

void fake_cudnn_set_engines(const fake_cudnn_engine *engines, int count) {
  fake().engines.assign(engines, engines + count);
  fake().enginesOfB = fake().engines;
}

void fake_cudnn_set_engines_of_mode_b(const fake_cudnn_engine *engines,
                                      int count) {
  fake().enginesOfB.assign(engines, engines + count);
}

void fake_cudnn_set_fallbacks(const fake_cudnn_engine *engines, int count) {
  fake().fallbacks.assign(engines, engines + count);
}

void fake_cudnn_set_costs(const int64_t *costs, int count) {
  fake().costs.assign(costs, costs + count);
}

void fake_cudnn_fail(const char *function, unsigned status, int skipped) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().failures[function] = {status, skipped};
}

int fake_cudnn_plans() { return fake().plans; }
int fake_cudnn_leaks() { return static_cast<int>(fake().live.size()); }

//===----------------------------------------------------------------------===//
// cuDNN
//===----------------------------------------------------------------------===//

size_t cudnnGetVersion() { return fake().version; }

const char *cudnnGetErrorString(Status status) {
  return status == STATUS_SUCCESS         ? "CUDNN_STATUS_SUCCESS"
         : status == STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
                                          : "CUDNN_STATUS_BAD_PARAM";
}

void cudnnGetLastErrorString(char *message, size_t size) {
  std::strncpy(message, "fake detail", size);
}

Status cudnnCreate(Handle *handle) {
  FAKE_CUDNN_ENTER("cudnnCreate")
  auto *created = new cudnnContext{fake_cuda_current_device("cudnnCreate")};
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().live.insert(created);
  *handle = created;
  return STATUS_SUCCESS;
}

Status cudnnDestroy(Handle handle) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().live.erase(handle);
  delete handle;
  return STATUS_SUCCESS;
}

Status cudnnSetStream(Handle handle, Stream stream) {
  FAKE_CUDNN_ENTER("cudnnSetStream")
  if (handle->device != fake_cuda_stream_device("cudnnSetStream", stream))
    fake_cuda_abort("cudnnSetStream",
                    "handle and stream belong to different devices");
  handle->stream = stream;
  return STATUS_SUCCESS;
}

Status cudnnBackendCreateDescriptor(DescriptorType type,
                                    Descriptor *descriptor) {
  FAKE_CUDNN_ENTER("cudnnBackendCreateDescriptor")
  auto *created = new FakeDescriptor{type, {}};
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().live.insert(created);
  *descriptor = created;
  return STATUS_SUCCESS;
}

Status cudnnBackendDestroyDescriptor(Descriptor descriptor) {
  FakeDescriptor &found = look("cudnnBackendDestroyDescriptor", descriptor);
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().live.erase(descriptor);
  delete &found;
  return STATUS_SUCCESS;
}

Status cudnnBackendSetAttribute(Descriptor descriptor, AttributeName name,
                                AttributeType type, int64_t count,
                                const void *values) {
  FAKE_CUDNN_ENTER("cudnnBackendSetAttribute")
  FakeDescriptor &found = look("cudnnBackendSetAttribute", descriptor);
  if (found.isFinal)
    return badParam;
  size_t size = type == TYPE_BOOLEAN ? 1
                : type == TYPE_HANDLE || type == TYPE_INT64 ||
                        type == TYPE_VOID_PTR || type == TYPE_BACKEND_DESCRIPTOR
                    ? 8
                    : 4;
  const char *begin = static_cast<const char *>(values);
  found.attributes[name] = {
      type, count, {begin, begin + size * static_cast<size_t>(count)}};
  return STATUS_SUCCESS;
}

Status cudnnBackendFinalize(Descriptor descriptor) {
  FAKE_CUDNN_ENTER("cudnnBackendFinalize")
  FakeDescriptor &found = look("cudnnBackendFinalize", descriptor);
  if (found.isFinal)
    return badParam;
  if (found.type == OPERATIONGRAPH_DESCRIPTOR)
    readGraph(found);
  if (found.type == EXECUTION_PLAN_DESCRIPTOR) {
    const FakeDescriptor &engine =
        getFinal(found, EXECUTION_PLAN_ENGINE_CONFIG);
    if (engine.engine == FAKE_CUDNN_UNSUPPORTED)
      return STATUS_NOT_SUPPORTED;
    found.number = engine.number;
    found.attributes[OPERATIONGRAPH_OPS] =
        engine.attributes.at(OPERATIONGRAPH_OPS);
    ++fake().plans;
  }
  found.isFinal = true;
  return STATUS_SUCCESS;
}

/// Writes at most `room` of the engines that a heuristic proposes.
static void propose(const FakeDescriptor &heuristics, int64_t room,
                    int64_t *count, Descriptor *results) {
  auto mode = getOne<HeuristicMode>(heuristics, ENGINEHEUR_MODE);
  const std::vector<fake_cudnn_engine> &engines =
      mode == HEUR_MODE_FALLBACK ? fake().fallbacks
      : mode == HEUR_MODE_B      ? fake().enginesOfB
                                 : fake().engines;
  const FakeDescriptor &graph =
      getFinal(heuristics, ENGINEHEUR_OPERATION_GRAPH);
  *count = static_cast<int64_t>(engines.size());
  for (int64_t i = 0; i < std::min(room, *count); ++i) {
    FakeDescriptor &result = look("cudnnBackendGetAttribute", results[i]);
    result.engine = engines[static_cast<size_t>(i)];
    result.number = static_cast<int>(i);
    result.attributes[OPERATIONGRAPH_OPS] =
        graph.attributes.at(OPERATIONGRAPH_OPS);
    result.isFinal = true;
  }
}

Status cudnnBackendGetAttribute(Descriptor descriptor, AttributeName name,
                                AttributeType type, int64_t room,
                                int64_t *count, void *values) {
  FAKE_CUDNN_ENTER("cudnnBackendGetAttribute")
  FakeDescriptor &found = look("cudnnBackendGetAttribute", descriptor);
  *count = 1;
  switch (name) {
  case ENGINEHEUR_RESULTS:
    propose(found, room, count, static_cast<Descriptor *>(values));
    return STATUS_SUCCESS;
  case ENGINECFG_ENGINE:
    look("cudnnBackendGetAttribute", *static_cast<Descriptor *>(values))
        .engine = found.engine;
    return STATUS_SUCCESS;
  case ENGINE_NUMERICAL_NOTE:
    *count = found.engine != FAKE_CUDNN_DETERMINISTIC;
    *static_cast<NumericalNote *>(values) =
        found.engine == FAKE_CUDNN_NONDETERMINISTIC
            ? NUMERICAL_NOTE_NONDETERMINISTIC
        : found.engine == FAKE_CUDNN_DOWN_CONVERTING
            ? NUMERICAL_NOTE_DOWN_CONVERT_INPUTS
            : NUMERICAL_NOTE_TENSOR_CORE;
    return STATUS_SUCCESS;
  case EXECUTION_PLAN_WORKSPACE_SIZE:
    *static_cast<int64_t *>(values) = fake().workspace;
    return STATUS_SUCCESS;
  default:
    return badParam;
  }
}

Status cudnnBackendExecute(Handle handle, Descriptor plan, Descriptor pack) {
  FAKE_CUDNN_ENTER("cudnnBackendExecute")
  const FakeDescriptor &found = look("cudnnBackendExecute", plan);
  const FakeDescriptor &given = look("cudnnBackendExecute", pack);
  if (!found.isFinal || !given.isFinal)
    fake_cuda_abort("cudnnBackendExecute", "a descriptor is not finalized");
  auto number = static_cast<size_t>(found.number);
  int64_t cost = number < fake().costs.size() ? fake().costs[number] : 1000;
  if (cost < 0)
    return STATUS_NOT_SUPPORTED;
  auto *run = new Run(readGraph(found));
  std::vector<int64_t> ids = get<int64_t>(given, VARIANT_PACK_UNIQUE_IDS);
  std::vector<void *> data = get<void *>(given, VARIANT_PACK_DATA_POINTERS);
  for (size_t i = 0; i != ids.size(); ++i)
    run->pointers[ids[i]] = data.at(i);
  std::vector<fake_cuda_access> accesses;
  void *workspace = getOne<void *>(given, VARIANT_PACK_WORKSPACE);
  if (fake().workspace > 0)
    accesses.push_back({workspace, static_cast<size_t>(fake().workspace), 1});
  std::set<int64_t> written;
  for (const Operation &operation : run->operations) {
    for (const Tensor *tensor :
         {&operation.x, &operation.b, &operation.t, &operation.y}) {
      bool isThere = (tensor != &operation.b || operation.hasB) &&
                     (tensor != &operation.t || operation.hasT);
      if (!isThere || tensor->isVirtual)
        continue;
      auto pointer = run->pointers.find(tensor->id);
      if (pointer == run->pointers.end())
        fake_cuda_abort("cudnnBackendExecute", "a tensor has no memory");
      if (tensor->isValue) {
        run->values[tensor->id] = *static_cast<const float *>(pointer->second);
        continue;
      }
      if (reinterpret_cast<uintptr_t>(pointer->second) %
          static_cast<uintptr_t>(tensor->alignment))
        fake_cuda_abort("cudnnBackendExecute",
                        "an operand is less aligned than the graph says");
      if (tensor == &operation.y)
        written.insert(tensor->id);
      accesses.push_back({pointer->second, static_cast<size_t>(tensor->bytes()),
                          written.count(tensor->id) != 0});
    }
  }
  std::string what =
      (run->operations[0].isConvolution() ? "convolution" : "attention") +
      std::string(" engine ") + std::to_string(found.number) + " of " +
      std::to_string(run->operations.size()) + " operations";
  return fake_cuda_enqueue(
             handle->stream, what.c_str(), accesses.data(),
             static_cast<int>(accesses.size()), cost,
             [](void *data) { static_cast<Run *>(data)->run(); },
             [](void *data) { delete static_cast<Run *>(data); }, run) == 0
             ? STATUS_SUCCESS
             : badParam;
}
} // extern "C"
