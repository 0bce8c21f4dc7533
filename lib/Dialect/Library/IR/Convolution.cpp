//===- Convolution.cpp - Convolutions -------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "braid/Support/MatmulAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace braid;
using namespace braid::library;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

uint64_t ConvolutionDim::countPairs() const {
  // Libraries multiply with the zeros of the padding.
  if (lhsDilation == 1)
    return llvm::SaturatingMultiply(static_cast<uint64_t>(outputs),
                                    static_cast<uint64_t>(taps));
  // Of every `each` places of the output one reads an element, not a gap.
  int64_t each = lhsDilation / std::gcd(lhsDilation, stride);
  int64_t last = (inputs - 1) * lhsDilation;
  uint64_t count = 0;
  for (int64_t tap = 0; tap != taps; ++tap) {
    // stride * p + begin is in [0, last].
    int64_t begin = rhsDilation * tap - low;
    int64_t first = begin >= 0 ? 0 : llvm::divideCeilSigned(-begin, stride);
    int64_t end =
        last < begin ? 0 : std::min(outputs, (last - begin) / stride + 1);
    if (end > first)
      count += llvm::divideCeilSigned(end - first, each);
  }
  return count;
}

bool ConvolutionShape::isGradientByKernel() const {
  return batchGroups > 1 || (featureGroups == 1 && inputFeature < inputBatch);
}

/// The labels of `b01f_01io->b01f`, for the input, the kernel and the output.
static std::array<StringRef, 3> splitLabels(StringRef labels) {
  auto [input, rest] = labels.split('_');
  auto [kernel, output] = rest.split("->");
  return {input, kernel, output};
}

ConvolutionShape ConvolutionOp::getShape() {
  auto [input, kernel, output] = splitLabels(getDimLabels());
  auto find = [](StringRef labels, char label) {
    return static_cast<unsigned>(labels.find(label));
  };
  ConvolutionShape shape;
  shape.inputBatch = find(input, 'b');
  shape.inputFeature = find(input, 'f');
  shape.kernelInput = find(kernel, 'i');
  shape.kernelOutput = find(kernel, 'o');
  shape.outputBatch = find(output, 'b');
  shape.outputFeature = find(output, 'f');
  shape.featureGroups = static_cast<int64_t>(getFeatureGroups());
  shape.batchGroups = static_cast<int64_t>(getBatchGroups());
  shape.hasKernelInputGroups = getKernelInputGroups();
  auto get = [](std::optional<ArrayRef<int64_t>> values, size_t number,
                int64_t otherwise) {
    return values ? (*values)[number] : otherwise;
  };
  for (size_t i = 0, count = input.size() - 2; i != count; ++i) {
    ConvolutionDim &dim = shape.spatial.emplace_back();
    char label = static_cast<char>('0' + i);
    dim.input = find(input, label);
    dim.kernel = find(kernel, label);
    dim.output = find(output, label);
    dim.inputs = getSizes(getInput())[dim.input];
    dim.taps = getSizes(getKernel())[dim.kernel];
    dim.outputs = getSizes(getOutput())[dim.output];
    dim.stride = get(getStrides(), i, 1);
    dim.lhsDilation = get(getLhsDilation(), i, 1);
    dim.rhsDilation = get(getRhsDilation(), i, 1);
    dim.low = get(getPadding(), 2 * i, 0);
    dim.high = get(getPadding(), 2 * i + 1, 0);
    dim.isReversed = getReversed() && (*getReversed())[i];
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

SmallVector<comm::SplitAxis> ConvolutionOp::getSplitAxes() {
  ConvolutionShape shape = getShape();
  SmallVector<comm::SplitAxis> axes;
  if (shape.batchGroups != 1)
    return axes;
  axes.push_back({{shape.inputBatch, std::nullopt, shape.outputBatch},
                  {shape.outputBatch}});
  if (shape.featureGroups == 1)
    axes.push_back({{std::nullopt, shape.kernelOutput, shape.outputFeature},
                    {shape.outputFeature}});
  return axes;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// True if `labels` has each character of `expected` once, and no other one.
static bool isPermutationOf(StringRef labels, std::string expected) {
  std::string sorted = labels.str();
  llvm::sort(sorted);
  llvm::sort(expected);
  return sorted == expected;
}

static LogicalResult verifyLabels(ConvolutionOp op) {
  auto [input, kernel, output] = splitLabels(op.getDimLabels());
  std::string digits;
  for (size_t i = 2; i < input.size(); ++i)
    digits += static_cast<char>('0' + i - 2);
  if (digits.empty() || digits.size() > 3 ||
      !isPermutationOf(input, digits + "bf") ||
      !isPermutationOf(kernel, digits + "io") ||
      !isPermutationOf(output, digits + "bf"))
    return op.emitOpError()
           << "has dim_labels = \"" << op.getDimLabels()
           << "\", expected labels such as \"b01f_01io->b01f\" with 1 to 3 "
              "spatial dimensions";
  return success();
}

/// Checks the number and the least value of the attribute `name`.
template <typename Values>
static LogicalResult verifyArray(ConvolutionOp op, StringRef name,
                                 std::optional<Values> values, size_t count,
                                 std::optional<int64_t> least = {}) {
  if (!values)
    return success();
  if (values->size() != count)
    return op.emitOpError() << "has " << values->size() << " numbers in '"
                            << name << "', expected " << count;
  if (least)
    for (int64_t value : *values)
      if (value < *least || value > std::numeric_limits<int32_t>::max())
        return op.emitOpError() << "has " << value << " in '" << name
                                << "', expected a number of at least " << *least
                                << " that has 32 bits";
  return success();
}

static LogicalResult verifyAttributes(ConvolutionOp op) {
  size_t count = getSizes(op.getInput()).size() - 2;
  if (failed(verifyArray(op, "strides", op.getStrides(), count, 1)) ||
      failed(verifyArray(op, "padding", op.getPadding(), 2 * count,
                         -std::numeric_limits<int32_t>::max())) ||
      failed(verifyArray(op, "lhs_dilation", op.getLhsDilation(), count, 1)) ||
      failed(verifyArray(op, "rhs_dilation", op.getRhsDilation(), count, 1)) ||
      failed(verifyArray(op, "reversed", op.getReversed(), count)))
    return failure();
  auto featureGroups = static_cast<int64_t>(op.getFeatureGroups());
  auto batchGroups = static_cast<int64_t>(op.getBatchGroups());
  if (op.getKernelInputGroups() && batchGroups > 1)
    return op.emitOpError() << "has 'kernel_input_groups' and groups of the "
                               "batch, expected either";
  if (featureGroups < 1 || batchGroups < 1 ||
      (featureGroups > 1 && batchGroups > 1))
    return op.emitOpError() << "has " << featureGroups << " groups of features "
                            << "and " << batchGroups << " of the batch, "
                            << "expected 1 of either and at least 1 of the "
                               "other";
  return success();
}

/// Checks that dimension `number` of operand `value`, which is `name`, has
/// `expected` elements.
static LogicalResult verifySize(ConvolutionOp op, Value value, StringRef name,
                                unsigned number, int64_t expected) {
  if (getSizes(value)[number] == expected)
    return success();
  return op.emitOpError() << "has " << name << " of type " << value.getType()
                          << ", expected " << expected
                          << " elements in dimension " << number
                          << ", by the other operands and the attributes";
}

static LogicalResult verifySizes(ConvolutionOp op) {
  ConvolutionShape shape = op.getShape();
  Value input = op.getInput(), kernel = op.getKernel(), output = op.getOutput();
  int64_t batch = getSizes(input)[shape.inputBatch];
  int64_t features = getSizes(input)[shape.inputFeature];
  int64_t outFeatures = getSizes(output)[shape.outputFeature];
  int64_t groups = std::max(shape.featureGroups, shape.batchGroups);
  bool isInput = shape.hasKernelInputGroups;
  if (batch % shape.batchGroups != 0 || features % shape.featureGroups != 0 ||
      outFeatures % groups != 0)
    return op.emitOpError()
           << "has " << groups << " groups, expected a number "
           << "that divides " << (shape.batchGroups > 1 ? batch : features)
           << " and " << outFeatures;
  if (failed(verifySize(op, kernel, "the kernel", shape.kernelInput,
                        isInput ? features : features / shape.featureGroups)) ||
      failed(verifySize(op, output, "the output", shape.outputBatch,
                        batch / shape.batchGroups)) ||
      failed(verifySize(op, kernel, "the kernel", shape.kernelOutput,
                        isInput ? outFeatures / groups : outFeatures)))
    return failure();
  for (const ConvolutionDim &dim : shape.spatial) {
    int64_t rest = dim.padded() - dim.window();
    int64_t expected = rest < 0 ? 0 : rest / dim.stride + 1;
    if (failed(verifySize(op, output, "the output", dim.output, expected)))
      return failure();
  }
  return success();
}

LogicalResult ConvolutionOp::verify() {
  if (getInputs().size() != 2 || getOutputs().size() != 1)
    return emitOpError() << "has " << getInputs().size() << " inputs and "
                         << getOutputs().size()
                         << " outputs, expected an input, a kernel and an "
                            "output";
  auto isBuffer = llvm::IsaPred<MemRefType>;
  if (!llvm::all_of(getOperandTypes(), isBuffer) &&
      llvm::any_of(getOperandTypes(), isBuffer))
    return emitOpError() << "has tensors and memrefs, expected either";
  if (failed(verifyLabels(*this)))
    return failure();
  size_t rank = splitLabels(getDimLabels())[0].size();
  for (Value operand : getOperands()) {
    auto type = cast<ShapedType>(operand.getType());
    if (type.getShape().size() != rank || !type.hasStaticShape() ||
        llvm::is_contained(type.getShape(), 0))
      return emitOpError() << "has an operand of type " << type << ", expected "
                           << rank << " static sizes of at least 1";
  }
  Type element = getElementTypeOrSelf(getInput().getType());
  Type other = getElementTypeOrSelf(getKernel().getType());
  Type result = getElementTypeOrSelf(getOutput().getType());
  if (!element.isBF16() && !element.isF16() && !element.isF32() &&
      !element.isF64())
    return emitOpError() << "has an input of type " << getInput().getType()
                         << ", expected elements of type bf16, f16, f32 or f64";
  if (other != element)
    return emitOpError() << "has a kernel of type " << getKernel().getType()
                         << ", expected elements of type " << element;
  if (result != element && (!result.isF32() || element.isF64()))
    return emitOpError() << "has an output of type " << getOutput().getType()
                         << ", expected elements of type " << element
                         << (element.isF64() ? "" : " or f32");
  if (failed(verifyAttributes(*this)))
    return failure();
  return verifySizes(*this);
}

//===----------------------------------------------------------------------===//
// Effects, costs and buffers
//===----------------------------------------------------------------------===//

void ConvolutionOp::getEffects(Effects &effects) { addEffects(*this, effects); }

/// The elements of a sum that a library does not divide.
static constexpr uint64_t kPart = 2048;

/// What cuDNN's kernels on tensor cores multiply at once of the features of a
/// place, in bytes. Those for fewer features are made for Ampere, and reach
/// half the peak of an H200, as long as loads for tiles of `kNarrowColumns`
/// take.
static constexpr uint64_t kFeatureBytes = 64;
static constexpr uint64_t kNarrowColumns = 80;

/// The columns of the narrowest tile.
static constexpr uint64_t kLeastColumns = 64;

/// A tensor core of Hopper reads TF32 along the sum alone. In a gradient by the
/// kernel the sum runs over places, which stand outside in both operands:
/// kernels that transpose them on the way take 1.85 times as long (VGG-19,
/// ResNet-50, DenseNet-121 and a VAE on an H200).
static constexpr uint64_t kTransposedTimes = 37, kTransposedParts = 20;

/// What a kernel loads at once. It reads a copy of features that are no
/// multiple, with zeros between the places.
static constexpr uint64_t kAlignedBytes = 16;

/// Adds what it takes that a kernel reads data of `bytes` in a copy: one kernel
/// clears the copy, another fills it, and one does so for the other operand
/// with these features.
static void addCopy(comm::Work &work, uint64_t features, uint64_t bytes,
                    uint64_t elementBytes) {
  uint64_t each = features * elementBytes;
  if (each % kAlignedBytes == 0)
    return;
  work.extraKernels += 3;
  work.extraBytes = llvm::SaturatingAdd(
      work.extraBytes, bytes,
      llvm::SaturatingMultiply(bytes / each,
                               2 * llvm::alignTo(each, kAlignedBytes)));
}

/// Makes of `matmul` what a kernel for few features computes: `kFeatureBytes`
/// at each of `pairs` pairs of places, and as many as for `kTilePlaces` places
/// to fill and empty a tile.
static void padForwardMatmul(comm::Matmul &matmul, uint64_t pairs,
                             uint64_t elementBytes) {
  constexpr uint64_t kTilePlaces = 10;
  uint64_t places =
      llvm::SaturatingMultiplyAdd(kTilePlaces, matmul.rows, pairs);
  matmul.operations =
      llvm::SaturatingMultiply(llvm::SaturatingMultiply(places, matmul.columns),
                               2 * kFeatureBytes / elementBytes);
}

/// Makes of `matmul` what the gradient by a kernel of few features computes:
/// whole tiles, with sums of `summed` elements.
static void padGradientMatmul(comm::Matmul &matmul, uint64_t features,
                              uint64_t summed, uint64_t elementBytes) {
  constexpr uint64_t kTileRows = 256, kTileColumns = 128;
  uint64_t rows = llvm::SaturatingMultiply(
      matmul.rows / features,
      llvm::alignTo(features, kAlignedBytes / elementBytes));
  matmul.rows = llvm::alignTo(rows, kTileRows);
  matmul.operations = llvm::SaturatingMultiply(
      llvm::SaturatingMultiply(matmul.rows,
                               llvm::alignTo(matmul.columns, kTileColumns)),
      llvm::SaturatingMultiply<uint64_t>(2, summed));
}

/// True for a dimension as a gradient by the input has it.
static bool isOfGradient(const ConvolutionDim &dim) {
  return dim.isReversed || dim.lhsDilation != 1;
}

comm::Work ConvolutionOp::getWork(const comm::SizeDefaults &) {
  comm::Work work;
  for (Value input : getInputs())
    work.addBytes(getByteSize(input), 0);
  work.addBytes(0, getByteSize(getOutput()));
  Type element = getElementTypeOrSelf(getInput().getType());
  if (element.isF32() && (*this)->hasAttr(kPrecisionAttrName))
    element = FloatTF32Type::get(getContext());
  ConvolutionShape shape = getShape();
  ArrayRef<int64_t> output = getSizes(getOutput());
  auto batch = static_cast<uint64_t>(output[shape.outputBatch]);
  auto features = static_cast<uint64_t>(output[shape.outputFeature]);
  auto inputFeatures = static_cast<uint64_t>(
      getSizes(getInput())[shape.inputFeature] / shape.featureGroups);
  uint64_t rows = batch, pairs = batch, taps = 1;
  for (const ConvolutionDim &dim : shape.spatial) {
    pairs = llvm::SaturatingMultiply(pairs, dim.countPairs());
    rows = llvm::SaturatingMultiply(rows, static_cast<uint64_t>(dim.outputs));
    taps = llvm::SaturatingMultiply(taps, static_cast<uint64_t>(dim.taps));
  }
  // Libraries compute convolutions as matmuls whose left matrix they collect
  // on the way. They divide long sums, as those of a gradient by the kernel,
  // and add up the parts.
  uint64_t summed = llvm::SaturatingMultiply(
      taps, static_cast<uint64_t>(getSizes(getKernel())[shape.kernelInput]));
  auto groups =
      static_cast<uint64_t>(std::max(shape.featureGroups, shape.batchGroups));
  comm::Matmul matmul = {};
  matmul.elementType = element;
  matmul.rows = rows;
  matmul.columns = features / groups;
  matmul.batch =
      llvm::SaturatingMultiply(groups, std::max<uint64_t>(summed / kPart, 1));
  matmul.operations = llvm::SaturatingMultiply(
      llvm::SaturatingMultiply(pairs, features), 2 * inputFeatures);
  // A gradient by the kernel collects both operands, in square tiles, and adds
  // up parts. A gradient by the input has a kernel for each place in a stride.
  bool isByKernel = shape.isGradientByKernel();
  bool isTF32 = isa<FloatTF32Type>(element);
  bool isByInput = !isByKernel && llvm::any_of(shape.spatial, isOfGradient);
  matmul.collectedColumns = isByKernel ? 128 : 256;
  // Kernels clear the workspace, and a gradient by the input in TF32 also
  // transposes the kernel.
  work.extraKernels = isByKernel ? 2 : isByInput && isTF32 ? 3 : 1;
  for (const ConvolutionDim &dim : shape.spatial)
    work.extraKernels = llvm::SaturatingMultiply(
        work.extraKernels, static_cast<uint64_t>(dim.lhsDilation));
  uint64_t elementBytes =
      getElementTypeOrSelf(getInput().getType()).getIntOrFloatBitWidth() / 8;
  if (groups == 1 && (elementBytes == 2 || isTF32)) {
    // The gradient by a kernel calls the features of x its batch.
    uint64_t read = isByKernel ? batch : inputFeatures;
    // The data has these features, and so has the kernel, which is small.
    addCopy(work, read, getByteSize(getInput()), elementBytes);
    addCopy(work, features, getByteSize(isByKernel ? getKernel() : getOutput()),
            elementBytes);
    if (read * elementBytes < kFeatureBytes) {
      if (isByKernel) {
        padGradientMatmul(matmul, read, summed, elementBytes);
        ++work.extraKernels; // To add up parts takes as long as two.
      } else {
        padForwardMatmul(matmul, pairs, elementBytes);
      }
      matmul.collectedColumns = kNarrowColumns;
    } else if (matmul.columns < kLeastColumns) {
      matmul.operations = llvm::SaturatingMultiply(
          matmul.operations / matmul.columns, kLeastColumns);
    }
    // No tile is narrower.
    matmul.columns = std::max(matmul.columns, kLeastColumns);
    if (isByKernel && isTF32)
      matmul.operations = llvm::SaturatingMultiply(
          matmul.operations / kTransposedParts, kTransposedTimes);
  }
  work.addOperations(element, matmul.operations);
  work.matmuls.push_back(matmul);
  return work;
}
