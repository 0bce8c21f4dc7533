//===- ConvolutionKinds.cpp - What cuDNN calls a convolution --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionKinds.h"

#include "Dialect/Library/IR/Operands.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace braid;
using library::ConvolutionDim;
using library::ConvolutionOp;
using library::ConvolutionShape;
using Dim = LibraryConvolution::Dim;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// The window of a convolution whose kernel moves over the input; `stride` and
/// `dilation` are those of y = conv(x, w).
static Dim matchWindow(const ConvolutionDim &dim, int64_t stride,
                       int64_t dilation) {
  Dim found = {stride, dilation, std::max<int64_t>(dim.low, 0),
               0,      0,        dim.inputs};
  found.begin = std::min(std::max<int64_t>(-dim.low, 0), dim.inputs - 1);
  // What is read ends here.
  int64_t end = dim.stride * (dim.outputs - 1) +
                dim.rhsDilation * (dim.taps - 1) + 1 - dim.low;
  found.high = std::max<int64_t>(end - dim.inputs, 0);
  // Fewer elements than a stride may remain.
  if (dim.inputs - end >= stride)
    found.end = std::max(end, found.begin + 1);
  return found;
}

/// Matches the gradient by x, whose input is dilated by the stride. Fails if
/// the padding is not that of a gradient.
static FailureOr<Dim> matchDataGradient(const ConvolutionDim &dim) {
  int64_t reach = dim.rhsDilation * (dim.taps - 1);
  int64_t rest = std::max<int64_t>(dim.high - reach, 0);
  Dim found = {dim.lhsDilation,
               dim.rhsDilation,
               reach - dim.low,
               reach - dim.high + rest,
               0,
               dim.inputs};
  if (dim.stride != 1 || found.low < 0 || rest >= dim.lhsDilation)
    return failure();
  return found;
}

/// Finds the kind and the window.
static LogicalResult matchKind(const ConvolutionShape &shape,
                               LibraryConvolution &match,
                               std::string &obstacle) {
  bool isDilated = llvm::any_of(shape.spatial, [](const ConvolutionDim &dim) {
    return dim.lhsDilation != 1;
  });
  bool isReversed = llvm::all_of(shape.spatial, [](const ConvolutionDim &dim) {
    return dim.isReversed || dim.taps == 1;
  });
  bool isPoint = llvm::all_of(
      shape.spatial, [](const ConvolutionDim &dim) { return dim.taps == 1; });
  if (!isDilated && shape.isGradientByKernel()) {
    match.kind = BRAID_RT_CONVOLUTION_BACKWARD_FILTER;
    for (const ConvolutionDim &dim : shape.spatial)
      match.spatial.push_back(matchWindow(dim, dim.rhsDilation, dim.stride));
    return success();
  }
  if ((isDilated || (isReversed && !isPoint)) && shape.batchGroups == 1) {
    match.kind = BRAID_RT_CONVOLUTION_BACKWARD_DATA;
    for (const ConvolutionDim &dim : shape.spatial) {
      FailureOr<Dim> found = matchDataGradient(dim);
      if (failed(found))
        break;
      match.spatial.push_back(*found);
    }
    if (match.spatial.size() == shape.spatial.size())
      return success();
    match.spatial.clear();
  }
  if (isDilated) {
    obstacle = "a dilated input, expected strides of 1 and the padding of a "
               "gradient, and no groups of the batch";
    return failure();
  }
  match.kind = BRAID_RT_CONVOLUTION_FORWARD;
  for (const ConvolutionDim &dim : shape.spatial)
    match.spatial.push_back(matchWindow(dim, dim.stride, dim.rhsDilation));
  return success();
}

std::optional<LibraryConvolution>
braid::matchLibraryConvolution(ConvolutionOp op, std::string &obstacle) {
  Type element = getElementTypeOrSelf(op.getInput().getType());
  Type result = getElementTypeOrSelf(op.getOutput().getType());
  llvm::raw_string_ostream stream(obstacle);
  if (element.isF64() || element != result) {
    stream << "elements of type " << element << " and a result of type "
           << result << ", expected one of bf16, f16 and f32 for both";
    return std::nullopt;
  }
  ConvolutionShape shape = op.getShape();
  LibraryConvolution match;
  match.groups = std::max(shape.featureGroups, shape.batchGroups);
  if (failed(matchKind(shape, match, obstacle)))
    return std::nullopt;
  match.isKernelReversed = match.kind == BRAID_RT_CONVOLUTION_BACKWARD_DATA;
  switch (match.kind) {
  case BRAID_RT_CONVOLUTION_FORWARD:
    llvm::copy(ArrayRef<unsigned>{0, 1, 2}, match.roles);
    match.dims[0] = {shape.inputBatch, shape.inputFeature};
    match.dims[1] = {shape.kernelOutput, shape.kernelInput};
    match.dims[2] = {shape.outputBatch, shape.outputFeature};
    break;
  case BRAID_RT_CONVOLUTION_BACKWARD_DATA:
    llvm::copy(ArrayRef<unsigned>{2, 1, 0}, match.roles);
    match.dims[0] = {shape.inputBatch, shape.inputFeature};
    match.dims[1] = {shape.kernelInput, shape.kernelOutput};
    match.dims[2] = {shape.outputBatch, shape.outputFeature};
    break;
  case BRAID_RT_CONVOLUTION_BACKWARD_FILTER:
    llvm::copy(ArrayRef<unsigned>{0, 2, 1}, match.roles);
    match.dims[0] = {shape.inputFeature, shape.inputBatch};
    match.dims[1] = {shape.kernelInput, shape.kernelOutput};
    match.dims[2] = {shape.outputFeature, shape.outputBatch};
    break;
  }
  for (const ConvolutionDim &dim : shape.spatial) {
    match.dims[0].push_back(dim.input);
    match.dims[1].push_back(dim.kernel);
    match.dims[2].push_back(dim.output);
  }
  return match;
}

//===----------------------------------------------------------------------===//
// Order of dimensions
//===----------------------------------------------------------------------===//

namespace {

/// Makes the op in the order of the library.
class Arranger {
public:
  Arranger(RewriterBase &rewriter, ConvolutionOp op, LibraryConvolution match)
      : rewriter(rewriter), op(op), loc(op.getLoc()), shape(op.getShape()),
        match(std::move(match)) {}

  void arrange();

private:
  Value trim(SmallVectorImpl<int64_t> &padding);
  Value reverse(Value kernel);
  Value regroup(Value kernel);
  Value transpose(Value value, ArrayRef<int64_t> order, Value init = Value());
  SmallVector<int64_t> getOrder(unsigned operand, bool areFeaturesFirst);
  bool hasFeaturesFirst(unsigned operand) {
    return llvm::is_sorted(match.dims[operand]);
  }
  Value empty(ArrayRef<int64_t> sizes) {
    return tensor::EmptyOp::create(rewriter, loc, sizes,
                                   getElementTypeOrSelf(op.getInput()));
  }

  RewriterBase &rewriter;
  ConvolutionOp op;
  Location loc;
  const ConvolutionShape shape;
  const LibraryConvolution match;
};

} // namespace

/// The elements of the input that are read; changes `padding` to what is then
/// around them.
Value Arranger::trim(SmallVectorImpl<int64_t> &padding) {
  Value input = op.getInput();
  SmallVector<int64_t> from(library::getSizes(input).size(), 0),
      sizes(library::getSizes(input));
  for (auto [number, pair] :
       llvm::enumerate(llvm::zip_equal(shape.spatial, match.spatial))) {
    auto &[dim, found] = pair;
    padding.append({dim.low, dim.high});
    if (found.begin == 0 && found.end == dim.inputs)
      continue;
    from[dim.input] = found.begin;
    sizes[dim.input] = found.end - found.begin;
    padding[2 * number] = dim.low + found.begin;
    padding[2 * number + 1] = dim.high + dim.inputs - found.end;
  }
  if (ArrayRef<int64_t>(sizes) == library::getSizes(input))
    return input;
  auto attributes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(rewriter.getContext(), values);
  };
  return tensor::ExtractSliceOp::create(
      rewriter, loc, input, attributes(from), attributes(sizes),
      attributes(SmallVector<int64_t>(sizes.size(), 1)));
}

/// The kernel in the direction that the kind of the convolution has.
Value Arranger::reverse(Value kernel) {
  ArrayRef<int64_t> sizes = library::getSizes(kernel);
  AffineMap same = rewriter.getMultiDimIdentityMap(sizes.size());
  SmallVector<AffineExpr> places(same.getResults());
  for (const ConvolutionDim &dim : shape.spatial)
    if (dim.isReversed != match.isKernelReversed && dim.taps > 1)
      places[dim.kernel] =
          rewriter.getAffineConstantExpr(dim.taps - 1) - places[dim.kernel];
  AffineMap map =
      AffineMap::get(sizes.size(), 0, places, rewriter.getContext());
  if (map == same)
    return kernel;
  return createParallel(
      rewriter, loc, empty(sizes), kernel, map,
      [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
}

Value Arranger::transpose(Value value, ArrayRef<int64_t> order, Value init) {
  if (llvm::is_sorted(order))
    return value;
  if (!init) {
    SmallVector<int64_t> sizes;
    for (int64_t dim : order)
      sizes.push_back(library::getSizes(value)[dim]);
    init = empty(sizes);
  }
  return linalg::TransposeOp::create(rewriter, loc, value, init, order)
      ->getResult(0);
}

/// The kernel with its groups in the features of y, as the library has them.
Value Arranger::regroup(Value kernel) {
  bool isInput = match.kind == BRAID_RT_CONVOLUTION_BACKWARD_DATA;
  if (match.groups == 1 || shape.hasKernelInputGroups == isInput)
    return kernel;
  unsigned from = isInput ? shape.kernelOutput : shape.kernelInput;
  unsigned to = isInput ? shape.kernelInput : shape.kernelOutput;
  SmallVector<int64_t> divided(library::getSizes(kernel)), joined = divided,
                                                           order;
  divided[from] /= match.groups;
  divided.insert(divided.begin() + from, match.groups);
  SmallVector<ReassociationIndices> parts, whole;
  int64_t rank = joined.size();
  for (int64_t i = 0, next = 0; i < rank; ++i) {
    parts.push_back({next++});
    if (i == from)
      parts.back().push_back(next++);
  }
  for (int64_t i = 0, next = 0; i < rank; ++i) {
    whole.push_back({next++});
    if (i == to) {
      order.push_back(from);
      whole.back().push_back(next++);
    }
    order.push_back(i >= from ? i + 1 : i);
  }
  Value expanded = tensor::ExpandShapeOp::create(
      rewriter, loc,
      RankedTensorType::get(divided, getElementTypeOrSelf(kernel.getType())),
      kernel, parts);
  return tensor::CollapseShapeOp::create(rewriter, loc,
                                         transpose(expanded, order), whole);
}

/// The dimensions of an operand in the order of the library.
SmallVector<int64_t> Arranger::getOrder(unsigned operand,
                                        bool areFeaturesFirst) {
  SmallVector<int64_t> order(match.dims[operand].begin(),
                             match.dims[operand].end());
  if (!areFeaturesFirst)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

void Arranger::arrange() {
  unsigned other = match.kind == BRAID_RT_CONVOLUTION_BACKWARD_FILTER ? 1 : 2;
  bool areFeaturesFirst = hasFeaturesFirst(0) && hasFeaturesFirst(other);
  SmallVector<int64_t> orders[3];
  for (unsigned operand : {0, 1, 2})
    orders[operand] = getOrder(operand, areFeaturesFirst);
  SmallVector<int64_t> padding;
  Value input = trim(padding);
  Value kernel = regroup(reverse(op.getKernel()));
  if (input == op.getInput() && kernel == op.getKernel() &&
      llvm::all_of(orders, [](ArrayRef<int64_t> order) {
        return llvm::is_sorted(order);
      }))
    return;

  auto [inputLabels, rest] = op.getDimLabels().split('_');
  auto [kernelLabels, outputLabels] = rest.split("->");
  std::string labels;
  auto addLabels = [&](StringRef old, ArrayRef<int64_t> order, StringRef end) {
    for (int64_t dim : order)
      labels += old[dim];
    labels += end;
  };
  addLabels(inputLabels, orders[0], "_");
  addLabels(kernelLabels, orders[1], "->");
  addLabels(outputLabels, orders[2], "");
  SmallVector<int64_t> sizes;
  for (int64_t dim : orders[2])
    sizes.push_back(library::getSizes(op.getOutput())[dim]);
  bool isOutputMoved = !llvm::is_sorted(orders[2]);
  Value init = isOutputMoved ? empty(sizes) : op.getOutput();
  SmallVector<bool> reversed(shape.spatial.size(), true);
  auto arranged = ConvolutionOp::create(
      rewriter, loc, TypeRange(init.getType()), op.getDimLabelsAttr(),
      op.getStridesAttr(), rewriter.getDenseI64ArrayAttr(padding),
      op.getLhsDilationAttr(), op.getRhsDilationAttr(),
      match.isKernelReversed ? rewriter.getDenseBoolArrayAttr(reversed)
                             : DenseBoolArrayAttr(),
      op.getFeatureGroupsAttr(), op.getBatchGroupsAttr(),
      op.getKernelInputGroupsAttr(),
      ValueRange{transpose(input, orders[0]), transpose(kernel, orders[1])},
      init);
  arranged.setDimLabels(labels);
  if (kernel != op.getKernel() && match.groups > 1)
    arranged.setKernelInputGroups(match.isKernelReversed);
  arranged->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Value result = arranged.getResult(0);
  if (isOutputMoved) {
    SmallVector<int64_t> back(orders[2].size());
    for (auto [number, dim] : llvm::enumerate(orders[2]))
      back[dim] = static_cast<int64_t>(number);
    result = transpose(result, back, op.getOutput());
  }
  rewriter.replaceOp(op, result);
}

void braid::arrangeForLibrary(RewriterBase &rewriter, ConvolutionOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  std::string obstacle;
  Arranger(rewriter, op, *matchLibraryConvolution(op, obstacle)).arrange();
}
