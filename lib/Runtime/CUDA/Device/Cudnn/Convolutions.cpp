//===- Convolutions.cpp - Convolutions with cuDNN -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Cudnn/Convolutions.h"
#include "Base/Error.h"

#include <algorithm>

using namespace braid::rt;
using namespace braid::rt::cuda;
using namespace braid::rt::cuda::cudnn;

/// The bytes that the address of an operand is a multiple of, up to what the
/// library makes use of.
static int64_t addressAlignment(const void *data) {
  int64_t alignment = 16;
  while (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment))
    alignment /= 2;
  return alignment;
}

static ElementType elementType(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_F32:
    return DATA_FLOAT;
  case BRAID_RT_F16:
    return DATA_HALF;
  case BRAID_RT_BF16:
    return DATA_BFLOAT16;
  default:
    throw Error("cuDNN has no convolutions of these elements, expected f32, "
                "f16 or bf16");
  }
}

/// cuDNN has no convolutions along one dimension: a dimension of one place
/// stands in front of it.
static Convolution withTwoDims(const Convolution &given) {
  Convolution convolution = given;
  if (given.spatialDims != 1)
    return convolution;
  convolution.spatialDims = 2;
  convolution.window[1] = given.window[0];
  convolution.window[0] = {1, 1, 0, 0};
  for (Convolution::Operand &operand : convolution.operands) {
    operand.sizes[3] = operand.sizes[2];
    operand.strides[3] = operand.strides[2];
    operand.sizes[2] = 1;
    operand.strides[2] = operand.sizes[3] * operand.strides[3];
  }
  return convolution;
}

static Descriptor createTensor(Descriptors &owner,
                               const Convolution &convolution, int32_t role) {
  const Convolution::Operand &operand = convolution.operand(role);
  auto rank = static_cast<int64_t>(convolution.rank());
  Descriptor tensor = owner.create(TENSOR_DESCRIPTOR);
  owner.set(tensor, TENSOR_DATA_TYPE, TYPE_DATA_TYPE,
            elementType(convolution.dtype));
  owner.set(tensor, TENSOR_DIMENSIONS, TYPE_INT64, rank, operand.sizes.data());
  owner.set(tensor, TENSOR_STRIDES, TYPE_INT64, rank, operand.strides.data());
  owner.set(tensor, TENSOR_UNIQUE_ID, TYPE_INT64,
            static_cast<int64_t>(role) + 1);
  owner.set(tensor, TENSOR_BYTE_ALIGNMENT, TYPE_INT64,
            addressAlignment(operand.data));
  owner.finalize(tensor);
  return tensor;
}

static Descriptor createWindow(Descriptors &owner,
                               const Convolution &convolution) {
  std::vector<int64_t> strides, dilations, low, high;
  for (size_t i = 0; i + 2 != convolution.rank(); ++i) {
    const Convolution::Dim &dim = convolution.window[i];
    strides.push_back(dim.stride);
    dilations.push_back(dim.dilation);
    low.push_back(dim.low);
    high.push_back(dim.high);
  }
  int64_t count = convolution.spatialDims;
  Descriptor window = owner.create(CONVOLUTION_DESCRIPTOR);
  owner.set(window, CONVOLUTION_COMP_TYPE, TYPE_DATA_TYPE, DATA_FLOAT);
  owner.set(window, CONVOLUTION_CONV_MODE, TYPE_CONVOLUTION_MODE,
            CROSS_CORRELATION);
  owner.set(window, CONVOLUTION_SPATIAL_DIMS, TYPE_INT64, count);
  owner.set(window, CONVOLUTION_DILATIONS, TYPE_INT64, count, dilations.data());
  owner.set(window, CONVOLUTION_FILTER_STRIDES, TYPE_INT64, count,
            strides.data());
  owner.set(window, CONVOLUTION_PRE_PADDINGS, TYPE_INT64, count, low.data());
  owner.set(window, CONVOLUTION_POST_PADDINGS, TYPE_INT64, count, high.data());
  owner.finalize(window);
  return window;
}

namespace {
/// The names of an operation and its attributes.
struct OperationNames {
  DescriptorType type;
  AttributeName window, alpha, beta;
  AttributeName operands[BRAID_RT_CONVOLUTION_OPERANDS]; ///< x, w, y.
};
} // namespace

/// By braid_rt_convolution_kind.
static constexpr OperationNames operations[] = {
    {OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     OPERATION_CONVOLUTION_FORWARD_ALPHA,
     OPERATION_CONVOLUTION_FORWARD_BETA,
     {OPERATION_CONVOLUTION_FORWARD_X, OPERATION_CONVOLUTION_FORWARD_W,
      OPERATION_CONVOLUTION_FORWARD_Y}},
    {OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     OPERATION_CONVOLUTION_BWD_DATA_BETA,
     {OPERATION_CONVOLUTION_BWD_DATA_DX, OPERATION_CONVOLUTION_BWD_DATA_W,
      OPERATION_CONVOLUTION_BWD_DATA_DY}},
    {OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     OPERATION_CONVOLUTION_BWD_FILTER_BETA,
     {OPERATION_CONVOLUTION_BWD_FILTER_X, OPERATION_CONVOLUTION_BWD_FILTER_DW,
      OPERATION_CONVOLUTION_BWD_FILTER_DY}}};

/// A graph of one operation.
static Descriptor createGraph(Descriptors &owner, Handle handle,
                              const Convolution &convolution) {
  const OperationNames &names =
      operations[static_cast<size_t>(convolution.kind)];
  Descriptor window = createWindow(owner, convolution);
  std::array<Descriptor, BRAID_RT_CONVOLUTION_OPERANDS> tensors;
  for (int32_t role = 0; role != BRAID_RT_CONVOLUTION_OPERANDS; ++role)
    tensors[static_cast<size_t>(role)] = createTensor(owner, convolution, role);
  Descriptor operation = owner.create(names.type);
  owner.set(operation, names.window, TYPE_BACKEND_DESCRIPTOR, window);
  for (size_t role = 0; role != BRAID_RT_CONVOLUTION_OPERANDS; ++role)
    owner.set(operation, names.operands[role], TYPE_BACKEND_DESCRIPTOR,
              tensors[role]);
  owner.set(operation, names.alpha, TYPE_FLOAT, 1.0F);
  owner.set(operation, names.beta, TYPE_FLOAT, 0.0F);
  owner.finalize(operation);
  return owner.createGraph(handle, {operation});
}

/// True if no operand of f32 may be rounded to TF32.
bool Convolutions::isExact(const Convolution &convolution) const {
  return convolution.dtype == BRAID_RT_F32 &&
         convolution.precision == BRAID_RT_PRECISION_F32 && !gpu.options.tf32;
}

/// The bytes from the first element of an operand to the last one, a multiple
/// of 256.
static int64_t bytesOf(const Convolution &convolution,
                       const Convolution::Operand &operand) {
  int64_t elements = 1;
  for (size_t dim = 0; dim != convolution.rank(); ++dim)
    elements += (operand.sizes[dim] - 1) * operand.strides[dim];
  return (elements * braid_rt_dtype_size(convolution.dtype) + 255) / 256 * 256;
}

/// The number of the fastest of `candidates`, some of which have no plan.
size_t
Convolutions::findFastest(const Convolution &given,
                          const std::vector<CudnnPlan> &candidates) const {
  int64_t bytes = 0, workspaceBytes = 0;
  for (const Convolution::Operand &operand : given.operands)
    bytes += bytesOf(given, operand);
  for (const CudnnPlan &candidate : candidates)
    workspaceBytes = std::max(workspaceBytes, candidate.workspaceBytes);
  trials.open();
  Scratch scratch(gpu.driver, trials.stream(), bytes + workspaceBytes);
  if (!scratch.address)
    return 0;
  trials.fill(scratch.address, bytes, given.dtype);
  Convolution convolution = given;
  char *next = reinterpret_cast<char *>(scratch.address);
  for (Convolution::Operand &operand : convolution.operands) {
    operand.data = next;
    next += bytesOf(given, operand);
  }
  std::vector<float> times;
  cudnn.useStream(trials.stream(), [&]() {
    times = trials.timeAll(candidates.size(), [&](size_t i) {
      if (!candidates[i].plan)
        throw Error("cuDNN cannot build the plan");
      run(candidates[i], convolution,
          scratch.address + static_cast<DevicePointer>(bytes));
    });
  });
  return Trials::findFastest(times);
}

Convolutions::Plan Convolutions::build(const Convolution &given,
                                       const Key &key) const {
  Convolution convolution = withTwoDims(given);
  Plan plan;
  plan.graph = std::make_unique<Descriptors>(cudnn.cudnn());
  Descriptor graph = createGraph(*plan.graph, cudnn.handle(), convolution);
  CudnnTrial trial = {"convolution", [&](const auto &candidates) {
                        return findFastest(given, candidates);
                      }};
  for (int64_t value : key)
    trial.graph += ' ' + std::to_string(value);
  auto takes = [&](const CudnnPlans::Notes &notes) {
    auto has = [&](NumericalNote note) {
      return std::count(notes.begin(), notes.end(), note) != 0;
    };
    // Tensor cores round operands of f32 to TF32.
    return !(convolution.dtype == BRAID_RT_F32 &&
             has(NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)) &&
           !(isExact(convolution) && has(NUMERICAL_NOTE_TENSOR_CORE));
  };
  // Mode B is slower than A, and knows convolutions better: its first proposals
  // are among the fastest also where A begins with slow ones.
  plan.plan = cudnn.build(graph, {HEUR_MODE_B, HEUR_MODE_A, HEUR_MODE_FALLBACK},
                          takes, &trial);
  if (!plan.plan.plan)
    throw Error("cuDNN " + std::to_string(cudnn.cudnn().getVersion()) +
                " does not support this convolution; compile the program with "
                "--convolution=decompose");
  return plan;
}

Convolutions::Key Convolutions::keyOf(const Convolution &convolution) const {
  Key key = {convolution.kind, convolution.spatialDims, convolution.dtype,
             isExact(convolution) ? 1 : 0, convolution.groups};
  for (const Convolution::Dim &dim : convolution.window)
    key.insert(key.end(), {dim.stride, dim.dilation, dim.low, dim.high});
  for (const Convolution::Operand &operand : convolution.operands) {
    key.insert(key.end(), operand.sizes.begin(), operand.sizes.end());
    key.insert(key.end(), operand.strides.begin(), operand.strides.end());
    key.push_back(addressAlignment(operand.data));
  }
  return key;
}

Convolutions::Plan &Convolutions::find(const Convolution &convolution) {
  Key key = keyOf(convolution);
  auto found = plans.find(key);
  if (found != plans.end())
    return found->second;
  Plan plan = build(convolution, key);
  plan.workspace = cudnn.reserve(plan.plan.workspaceBytes);
  return plans.emplace(std::move(key), std::move(plan)).first->second;
}

void Convolutions::run(const CudnnPlan &plan, const Convolution &convolution,
                       DevicePointer workspace) const {
  std::vector<int64_t> ids;
  std::vector<void *> pointers;
  for (const Convolution::Operand &operand : convolution.operands) {
    ids.push_back(static_cast<int64_t>(ids.size()) + 1);
    pointers.push_back(operand.data);
  }
  cudnn.run(plan, ids, pointers, workspace);
}

void Convolutions::convolve(const Convolution &convolution) {
  gpu.hooks.enqueues();
  try {
    cudnn.open();
    const Plan &plan = find(convolution);
    run(plan.plan, convolution, plan.workspace);
  } catch (const Error &error) {
    throw Error(convolution.describe() + " on " + gpu.name + ": " +
                error.what());
  }
  gpu.checkCapture("a convolution");
}
