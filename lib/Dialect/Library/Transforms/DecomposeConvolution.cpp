//===- DecomposeConvolution.cpp - Convolutions as matmuls -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Library/Transforms/Decompose.h"

#include "Dialect/Library/IR/Operands.h"
#include "SplitDilations.h"
#include "TensorOps.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

/// Copies of more elements are not made.
static constexpr int64_t kMostCopies = int64_t(1) << 29;

namespace {

/// What a loop of a convolution runs over: rows of the left matrix (the batch
/// and the places of the output), the summed dimension (the features of the
/// input and the places of the kernel), or columns (the features of the
/// output).
enum class Role { Batch, Place, Feature, Tap, Column };

struct Loop {
  Role role;
  unsigned spatial; ///< The spatial dimension of a place or a tap.
  int64_t size;

  bool isRow() const { return role == Role::Batch || role == Role::Place; }
  bool isSummed() const { return role == Role::Feature || role == Role::Tap; }
  bool operator==(const Loop &other) const {
    return role == other.role && spatial == other.spatial;
  }
};

using ConvolutionLoops = SmallVector<Loop, 8>;

} // namespace

/// The loops of an operand in the order of its dimensions.
static ConvolutionLoops getKernelLoops(ConvolutionOp op,
                                       const ConvolutionShape &shape) {
  ConvolutionLoops loops(getSizes(op.getKernel()).size());
  ArrayRef<int64_t> sizes = getSizes(op.getKernel());
  loops[shape.kernelInput] = {Role::Feature, 0, sizes[shape.kernelInput]};
  loops[shape.kernelOutput] = {Role::Column, 0, sizes[shape.kernelOutput]};
  for (auto [number, dim] : llvm::enumerate(shape.spatial))
    loops[dim.kernel] = {Role::Tap, static_cast<unsigned>(number), dim.taps};
  return loops;
}

static ConvolutionLoops getOutputLoops(ConvolutionOp op,
                                       const ConvolutionShape &shape) {
  ConvolutionLoops loops(getSizes(op.getOutput()).size());
  ArrayRef<int64_t> sizes = getSizes(op.getOutput());
  loops[shape.outputBatch] = {Role::Batch, 0, sizes[shape.outputBatch]};
  loops[shape.outputFeature] = {Role::Column, 0, sizes[shape.outputFeature]};
  for (auto [number, dim] : llvm::enumerate(shape.spatial))
    loops[dim.output] = {Role::Place, static_cast<unsigned>(number),
                         dim.outputs};
  return loops;
}

template <typename Predicate>
static ConvolutionLoops filter(ArrayRef<Loop> loops, Predicate predicate) {
  ConvolutionLoops found;
  llvm::copy_if(loops, std::back_inserter(found), predicate);
  return found;
}

static bool isLong(const Loop &loop) { return loop.size != 1; }
static bool isRow(const Loop &loop) { return loop.isRow(); }
static bool isSummed(const Loop &loop) { return loop.isSummed(); }

static int64_t countPoints(ArrayRef<Loop> loops) {
  int64_t count = 1;
  for (const Loop &loop : loops)
    count = static_cast<int64_t>(
        std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(count, loop.size),
                           std::numeric_limits<int64_t>::max()));
  return count;
}

/// The loops that run over the input, in the order of its elements; none if
/// some elements are read more than once, or not at all.
static std::optional<ConvolutionLoops>
getInputLoops(ConvolutionOp op, const ConvolutionShape &shape) {
  ArrayRef<int64_t> sizes = getSizes(op.getInput());
  SmallVector<ConvolutionLoops, 5> parts(sizes.size());
  parts[shape.inputBatch] = {{Role::Batch, 0, sizes[shape.inputBatch]}};
  parts[shape.inputFeature] = {{Role::Feature, 0, sizes[shape.inputFeature]}};
  for (auto [number, dim] : llvm::enumerate(shape.spatial)) {
    Loop place = {Role::Place, static_cast<unsigned>(number), dim.outputs};
    Loop tap = {Role::Tap, static_cast<unsigned>(number), dim.taps};
    bool areWhole = dim.low == 0 && dim.high == 0 && dim.lhsDilation == 1 &&
                    dim.inputs == dim.outputs * dim.taps &&
                    !(dim.isReversed && dim.taps > 1);
    if (areWhole && (dim.taps == 1 || dim.rhsDilation == 1) &&
        (dim.outputs == 1 || dim.stride == dim.taps))
      parts[dim.input] = {place, tap};
    else if (areWhole && (dim.outputs == 1 || dim.stride == 1) &&
             (dim.taps == 1 || dim.rhsDilation == dim.outputs))
      parts[dim.input] = {tap, place};
    else
      return std::nullopt;
  }
  ConvolutionLoops loops;
  for (const ConvolutionLoops &part : parts)
    llvm::append_range(loops, part);
  return filter(loops, isLong);
}

/// The loops of the input as a matrix that the kernel fits to; none if it is
/// not one as it is in memory.
static std::optional<ConvolutionLoops>
getMatrixLoops(ConvolutionOp op, const ConvolutionShape &shape) {
  if (shape.featureGroups > 1 || shape.batchGroups > 1)
    return std::nullopt;
  std::optional<ConvolutionLoops> loops = getInputLoops(op, shape);
  if (!loops)
    return std::nullopt;
  // One kind of loop, then the other one.
  int changes = 0;
  for (size_t i = 1; i < loops->size(); ++i)
    changes += (*loops)[i].isRow() != (*loops)[i - 1].isRow();
  auto agree = [&](ArrayRef<Loop> others, bool (*isKind)(const Loop &)) {
    return filter(*loops, isKind) == filter(filter(others, isLong), isKind);
  };
  if (changes > 1 || !agree(getKernelLoops(op, shape), isSummed) ||
      !agree(getOutputLoops(op, shape), isRow))
    return std::nullopt;
  return loops;
}

/// True if `op` is the gradient of a convolution of patches by its input: each
/// element of the output is the product of one place of the input with one of
/// the kernel.
static bool isGradientOfPatches(const ConvolutionShape &shape) {
  auto isPatch = [](const ConvolutionDim &dim) {
    return dim.stride == 1 && dim.low == dim.taps - 1 && dim.high == dim.low &&
           (dim.lhsDilation == dim.taps || dim.inputs == 1) &&
           (dim.taps == 1 || (dim.rhsDilation == 1 && dim.isReversed));
  };
  return shape.featureGroups == 1 && shape.batchGroups == 1 &&
         llvm::all_of(shape.spatial, isPatch) &&
         llvm::any_of(shape.spatial,
                      [](const ConvolutionDim &dim) { return dim.taps > 1; });
}

bool library::isMatmulInPlace(ConvolutionOp op) {
  return getMatrixLoops(op, op.getShape()).has_value();
}

bool library::isMatmulOfPatches(ConvolutionOp op) {
  ConvolutionShape shape = op.getShape();
  return isGradientOfPatches(shape) ||
         (shape.featureGroups == 1 && shape.batchGroups == 1 &&
          getInputLoops(op, shape).has_value());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

/// Builds the ops in front of a convolution on tensors.
class ConvolutionDecomposer {
public:
  ConvolutionDecomposer(OpBuilder &builder, ConvolutionOp op)
      : builder(builder), op(op), loc(op.getLoc()), shape(op.getShape()),
        element(getElementTypeOrSelf(op.getInput().getType())),
        exact(element.isF64() ? element : builder.getF32Type()),
        kernelLoops(getKernelLoops(op, shape)),
        outputLoops(getOutputLoops(op, shape)) {}

  Value decompose();

private:
  Value constant(Type type) {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  }
  Value zeros(ArrayRef<int64_t> sizes, Type type) {
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, type);
    return linalg::FillOp::create(builder, loc, constant(type), empty)
        .getResult(0);
  }
  Value reshape(Value value, ArrayRef<int64_t> sizes);
  Value transpose(Value value, ArrayRef<int64_t> order, Value init = Value());
  Value round(Value value);
  AffineMap map(ArrayRef<Loop> all, ArrayRef<Loop> selected);
  AffineExpr find(ArrayRef<Loop> all, const Loop &loop);
  AffineMap mapInput(ArrayRef<Loop> loops);
  Value pad();
  Value collect(Value input, ArrayRef<Loop> loops);
  Value multiply(Value left, ArrayRef<Loop> leftLoops);
  Value multiply(Value left, bool isLeftSwapped, Value right,
                 bool isRightSwapped, bool isResultSwapped);
  Value toMatrix(Value value, ArrayRef<Loop> loops, Role role, bool &isFirst);
  Value spreadPatches();
  Value sumInLoops(Value input);
  Value contract(ValueRange inputs, ArrayRef<AffineMap> maps, Value init,
                 ArrayRef<utils::IteratorType> kinds);

  OpBuilder &builder;
  ConvolutionOp op;
  Location loc;
  const ConvolutionShape shape;
  const Type element, exact;
  const ConvolutionLoops kernelLoops, outputLoops;
};

} // namespace

static SmallVector<int64_t> sizesOf(ArrayRef<Loop> loops) {
  return llvm::map_to_vector(loops, [](const Loop &loop) { return loop.size; });
}

Value ConvolutionDecomposer::reshape(Value value, ArrayRef<int64_t> sizes) {
  ArrayRef<int64_t> old = getSizes(value);
  if (old == sizes)
    return value;
  auto all = [](int64_t count) {
    return SmallVector<ReassociationIndices, 1>{
        llvm::to_vector<2>(llvm::seq(count))};
  };
  if (old.size() != 1)
    value =
        tensor::CollapseShapeOp::create(builder, loc, value, all(old.size()));
  if (sizes.size() == 1)
    return value;
  auto type =
      RankedTensorType::get(sizes, getElementTypeOrSelf(value.getType()));
  return tensor::ExpandShapeOp::create(builder, loc, type, value,
                                       all(sizes.size()));
}

Value ConvolutionDecomposer::transpose(Value value, ArrayRef<int64_t> order,
                                       Value init) {
  if (llvm::is_sorted(order))
    return value;
  if (!init) {
    SmallVector<int64_t> sizes = llvm::map_to_vector(
        order, [&](int64_t dim) { return getSizes(value)[dim]; });
    init = tensor::EmptyOp::create(builder, loc, sizes,
                                   getElementTypeOrSelf(value.getType()));
  }
  return linalg::TransposeOp::create(builder, loc, value, init, order)
      ->getResult(0);
}

/// The elements of `value`, rounded to the type of the output.
Value ConvolutionDecomposer::round(Value value) {
  Type type = getElementTypeOrSelf(op.getOutput().getType());
  auto shaped = cast<RankedTensorType>(value.getType());
  if (shaped.getElementType() == type)
    return value;
  Value init = tensor::EmptyOp::create(builder, loc, shaped.getShape(), type);
  return createElementwise(
      builder, loc, init, value,
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        return arith::TruncFOp::create(at, type, arguments[0]);
      });
}

AffineExpr ConvolutionDecomposer::find(ArrayRef<Loop> all, const Loop &loop) {
  const auto *found = llvm::find(all, loop);
  if (found == all.end())
    return builder.getAffineConstantExpr(0);
  return builder.getAffineDimExpr(
      static_cast<unsigned>(std::distance(all.begin(), found)));
}

AffineMap ConvolutionDecomposer::map(ArrayRef<Loop> all,
                                     ArrayRef<Loop> selected) {
  SmallVector<AffineExpr> results;
  for (const Loop &loop : selected)
    results.push_back(find(all, loop));
  return AffineMap::get(all.size(), 0, results, builder.getContext());
}

/// Where `loops` read the input behind its padding and dilation.
AffineMap ConvolutionDecomposer::mapInput(ArrayRef<Loop> loops) {
  SmallVector<AffineExpr> results(getSizes(op.getInput()).size());
  results[shape.inputBatch] = find(loops, {Role::Batch, 0, 0});
  results[shape.inputFeature] = find(loops, {Role::Feature, 0, 0});
  for (auto [index, dim] : llvm::enumerate(shape.spatial)) {
    auto number = static_cast<unsigned>(index);
    AffineExpr place = find(loops, {Role::Place, number, 0});
    AffineExpr tap = find(loops, {Role::Tap, number, 0});
    if (dim.isReversed)
      tap = builder.getAffineConstantExpr(dim.taps - 1) - tap;
    results[dim.input] = place * dim.stride + tap * dim.rhsDilation;
  }
  return AffineMap::get(loops.size(), 0, results, builder.getContext());
}

/// The input behind its padding and dilation.
Value ConvolutionDecomposer::pad() {
  Value input = op.getInput();
  SmallVector<int64_t> whole(getSizes(input)), sizes = whole;
  size_t rank = whole.size();
  SmallVector<int64_t> from(rank, 0), to(rank, 0), steps(rank, 1);
  bool isSame = true;
  for (const ConvolutionDim &dim : shape.spatial) {
    unsigned d = dim.input;
    // A map of the taps alone has to cover what it reads.
    whole[d] = dim.outputs == 1 ? dim.window() : dim.padded();
    isSame &= dim.low == 0 && dim.lhsDilation == 1 && whole[d] == sizes[d];
    steps[d] = dim.lhsDilation;
    // What is in front of the first place is cut off, too.
    if (dim.low < 0)
      from[d] = llvm::divideCeilSigned(-dim.low, dim.lhsDilation);
    to[d] = dim.low + from[d] * dim.lhsDilation;
    int64_t room = llvm::divideCeilSigned(whole[d] - to[d], dim.lhsDilation);
    sizes[d] = std::min(sizes[d] - from[d], room);
  }
  if (isSame)
    return input;
  Value zero = zeros(whole, element);
  if (llvm::any_of(sizes, [](int64_t size) { return size <= 0; }))
    return zero;
  auto attributes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  SmallVector<int64_t> ones(rank, 1);
  if (ArrayRef<int64_t>(sizes) != getSizes(input))
    input =
        tensor::ExtractSliceOp::create(builder, loc, input, attributes(from),
                                       attributes(sizes), attributes(ones));
  return tensor::InsertSliceOp::create(builder, loc, input, zero,
                                       attributes(to), attributes(sizes),
                                       attributes(steps));
}

/// Copies of the elements of the padded input, one for each point of `loops`.
Value ConvolutionDecomposer::collect(Value input, ArrayRef<Loop> loops) {
  // What reads each element once is the same op in both directions of training.
  if (std::optional<ConvolutionLoops> whole = getInputLoops(op, shape)) {
    SmallVector<int64_t> order;
    for (const Loop &loop : loops)
      order.push_back(llvm::find(*whole, loop) - whole->begin());
    return transpose(reshape(input, sizesOf(*whole)), order);
  }
  Value init = tensor::EmptyOp::create(builder, loc, sizesOf(loops), element);
  return createParallel(builder, loc, init, input, mapInput(loops),
                        [](ImplicitLocOpBuilder &, ValueRange arguments) {
                          return arguments[0];
                        });
}

Value ConvolutionDecomposer::contract(ValueRange inputs,
                                      ArrayRef<AffineMap> maps, Value init,
                                      ArrayRef<utils::IteratorType> kinds) {
  auto widen = [&](ImplicitLocOpBuilder &at, Value value) -> Value {
    if (value.getType() == exact)
      return value;
    return arith::ExtFOp::create(at, exact, value);
  };
  Value sum = createGeneric(
      builder, loc, init, inputs, maps, kinds,
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        Value product = arith::MulFOp::create(at, widen(at, arguments[0]),
                                              widen(at, arguments[1]));
        return arith::AddFOp::create(at, arguments[2], product);
      });
  if (Attribute precision = op->getAttr(kPrecisionAttrName))
    sum.getDefiningOp()->setAttr(kPrecisionAttrName, precision);
  return sum;
}

/// The rounded product of matrices of rows and summed places and of summed
/// places and columns, some of them with their dimensions swapped.
Value ConvolutionDecomposer::multiply(Value left, bool isLeftSwapped,
                                      Value right, bool isRightSwapped,
                                      bool isResultSwapped) {
  AffineExpr m, n, k;
  bindDims(builder.getContext(), m, n, k);
  auto matrix = [&](AffineExpr first, AffineExpr second, bool isSwapped) {
    return AffineMap::get(3, 0, {first, second}, builder.getContext())
        .getSubMap(isSwapped ? ArrayRef<unsigned>{1, 0}
                             : ArrayRef<unsigned>{0, 1});
  };
  SmallVector<int64_t> sizes = {getSizes(left)[isLeftSwapped],
                                getSizes(right)[!isRightSwapped]};
  if (isResultSwapped)
    std::swap(sizes[0], sizes[1]);
  return round(
      contract({left, right},
               {matrix(m, k, isLeftSwapped), matrix(k, n, isRightSwapped),
                matrix(m, n, isResultSwapped)},
               zeros(sizes, exact),
               {utils::IteratorType::parallel, utils::IteratorType::parallel,
                utils::IteratorType::reduction}));
}

/// `value`, whose dimensions are `loops`, as a matrix of the loop of `role` and
/// of all others in their order. `isFirst` says whether the loop is the first
/// dimension of the matrix.
Value ConvolutionDecomposer::toMatrix(Value value, ArrayRef<Loop> loops,
                                      Role role, bool &isFirst) {
  auto isIt = [&](const Loop &loop) { return loop.role == role; };
  const Loop *found = llvm::find_if(loops, isIt);
  ConvolutionLoops longs = filter(loops, isLong);
  isFirst = found->size > 1 && isIt(longs.front());
  if (found->size > 1 && !isFirst && !isIt(longs.back())) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(loops.size()));
    order.erase(order.begin() + (found - loops.begin()));
    order.push_back(found - loops.begin());
    value = transpose(value, order);
  }
  int64_t others = countPoints(loops) / found->size;
  return reshape(value, isFirst ? SmallVector<int64_t>{found->size, others}
                                : SmallVector<int64_t>{others, found->size});
}

/// The output, of the input as a matrix of the loops `leftLoops`, whose summed
/// ones have the order of those of the kernel.
Value ConvolutionDecomposer::multiply(Value left, ArrayRef<Loop> leftLoops) {
  ConvolutionLoops rowLoops = filter(outputLoops, isRow);
  int64_t rows = countPoints(rowLoops);
  int64_t summed = countPoints(filter(kernelLoops, isSummed));
  int64_t columns = getSizes(op.getOutput())[shape.outputFeature];
  const auto *first = llvm::find_if(leftLoops, isLong);
  bool areRowsFirst = first == leftLoops.end() || first->isRow();
  left = reshape(left, areRowsFirst ? SmallVector<int64_t>{rows, summed}
                                    : SmallVector<int64_t>{summed, rows});

  bool isColumnFirst = false;
  Value kernel =
      toMatrix(op.getKernel(), kernelLoops, Role::Column, isColumnFirst);
  auto isColumn = [](const Loop &loop) { return loop.role == Role::Column; };

  // The dimension of the features in the product is the last one where it is
  // the last one of the output.
  ConvolutionLoops longOutputs = filter(outputLoops, isLong);
  bool areColumnsLast = columns == 1 || isColumn(longOutputs.back());
  Value sum = multiply(left, !areRowsFirst, kernel, isColumnFirst,
                       /*isResultSwapped=*/!areColumnsLast);
  if (areColumnsLast || isColumn(longOutputs.front()))
    return reshape(sum, getSizes(op.getOutput()));
  SmallVector<int64_t> sizes = {columns}, order;
  llvm::append_range(sizes, sizesOf(rowLoops));
  int64_t next = 1;
  for (const Loop &loop : outputLoops)
    order.push_back(isColumn(loop) ? 0 : next++);
  return transpose(reshape(sum, sizes), order, op.getOutput());
}

/// The output of a gradient of patches: the product has a patch for each place
/// of the input, and a transpose puts the patches next to each other.
Value ConvolutionDecomposer::spreadPatches() {
  ConvolutionLoops inputLoops(getSizes(op.getInput()).size());
  ArrayRef<int64_t> sizes = getSizes(op.getInput());
  inputLoops[shape.inputBatch] = {Role::Batch, 0, sizes[shape.inputBatch]};
  inputLoops[shape.inputFeature] = {Role::Feature, 0,
                                    sizes[shape.inputFeature]};
  for (auto [number, dim] : llvm::enumerate(shape.spatial))
    inputLoops[dim.input] = {Role::Place, static_cast<unsigned>(number),
                             dim.inputs};
  bool isInputSwapped = false, isKernelSwapped = false;
  Value input =
      toMatrix(op.getInput(), inputLoops, Role::Feature, isInputSwapped);
  Value kernel =
      toMatrix(op.getKernel(), kernelLoops, Role::Feature, isKernelSwapped);
  auto isOther = [](const Loop &loop) { return loop.role != Role::Feature; };
  ConvolutionLoops loops = filter(inputLoops, isOther);
  llvm::append_range(loops, filter(kernelLoops, isOther));
  Value sum = multiply(input, isInputSwapped, kernel, !isKernelSwapped,
                       /*isResultSwapped=*/false);
  SmallVector<int64_t> order;
  auto add = [&](Role role, unsigned spatial) {
    order.push_back(llvm::find(loops, Loop{role, spatial, 0}) - loops.begin());
  };
  for (const Loop &loop : outputLoops) {
    add(loop.role, loop.spatial);
    if (loop.role == Role::Place)
      add(Role::Tap, loop.spatial);
  }
  return reshape(transpose(reshape(sum, sizesOf(loops)), order),
                 getSizes(op.getOutput()));
}

/// The output as a sum of products in a nest of loops.
Value ConvolutionDecomposer::sumInLoops(Value input) {
  int64_t groups = std::max(shape.featureGroups, shape.batchGroups);
  bool isBatch = shape.batchGroups > 1;
  // Divides dimension `dim` into groups and what is in a group.
  auto divide = [&](Value value, unsigned dim) -> Value {
    if (groups == 1)
      return value;
    SmallVector<int64_t> sizes(getSizes(value));
    sizes[dim] /= groups;
    sizes.insert(sizes.begin() + dim, groups);
    SmallVector<ReassociationIndices> indices;
    for (int64_t i = 0, next = 0, rank = getSizes(value).size(); i < rank;
         ++i) {
      indices.push_back({next++});
      if (i == dim)
        indices.back().push_back(next++);
    }
    auto type =
        RankedTensorType::get(sizes, getElementTypeOrSelf(value.getType()));
    return tensor::ExpandShapeOp::create(builder, loc, type, value, indices);
  };
  auto mapDivided = [&](AffineMap map, unsigned dim, AffineExpr group) {
    if (groups == 1)
      return map;
    SmallVector<AffineExpr> results(map.getResults());
    results.insert(results.begin() + dim, group);
    return AffineMap::get(map.getNumDims(), 0, results, builder.getContext());
  };
  // Features of the output last, so that the innermost loop runs along rows.
  ConvolutionLoops loops = filter(outputLoops, isRow);
  llvm::append_range(loops, filter(kernelLoops, isSummed));
  AffineExpr group = builder.getAffineDimExpr(loops.size());
  SmallVector<utils::IteratorType> kinds;
  for (const Loop &loop : loops)
    kinds.push_back(loop.isRow() ? utils::IteratorType::parallel
                                 : utils::IteratorType::reduction);
  ConvolutionLoops all = loops;
  if (groups > 1) {
    all.push_back({Role::Batch, ~0U, groups});
    kinds.push_back(utils::IteratorType::parallel);
  }
  all.push_back({Role::Column, 0, 0});
  kinds.push_back(utils::IteratorType::parallel);

  unsigned inputDim = isBatch ? shape.inputBatch : shape.inputFeature;
  unsigned kernelDim =
      shape.hasKernelInputGroups ? shape.kernelInput : shape.kernelOutput;
  SmallVector<AffineMap> maps = {
      mapDivided(mapInput(all), inputDim, group),
      mapDivided(map(all, kernelLoops), kernelDim, group),
      mapDivided(map(all, outputLoops), shape.outputFeature, group)};
  Value kernel = divide(op.getKernel(), kernelDim);
  Value output = divide(op.getOutput(), shape.outputFeature);
  Value sum = round(contract({divide(input, inputDim), kernel}, maps,
                             zeros(getSizes(output), exact), kinds));
  if (groups == 1)
    return sum;
  SmallVector<ReassociationIndices> indices;
  for (int64_t i = 0, next = 0, rank = outputLoops.size(); i < rank; ++i) {
    indices.push_back({next++});
    if (i == shape.outputFeature)
      indices.back().push_back(next++);
  }
  return tensor::CollapseShapeOp::create(builder, loc, sum, indices);
}

Value ConvolutionDecomposer::decompose() {
  if (std::optional<ConvolutionLoops> loops = getMatrixLoops(op, shape))
    return multiply(op.getInput(), *loops);
  if (isGradientOfPatches(shape))
    return spreadPatches();
  Value input = pad();
  ConvolutionLoops rows = filter(outputLoops, isRow);
  ConvolutionLoops summed = filter(kernelLoops, isSummed);
  bool hasGroups = shape.featureGroups > 1 || shape.batchGroups > 1;
  if (hasGroups || llvm::SaturatingMultiply<uint64_t>(
                       countPoints(rows), countPoints(summed)) > kMostCopies)
    return sumInLoops(input);
  // The dimension whose elements are adjacent in the input stays the last one.
  size_t last = getSizes(op.getInput()).size() - 1;
  while (last > 0 && getSizes(op.getInput())[last] == 1)
    --last;
  bool areRowsFirst = last == shape.inputFeature;
  ConvolutionLoops loops = filter(areRowsFirst ? rows : summed, isLong);
  llvm::append_range(loops, filter(areRowsFirst ? summed : rows, isLong));
  if (loops.empty())
    loops.push_back({Role::Batch, 0, 1});
  return multiply(collect(input, loops), loops);
}

void library::decomposeConvolution(RewriterBase &rewriter,
                                   ConvolutionOp given) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(given);
  auto op = cast<ConvolutionOp>(moveToTensors(rewriter, given));
  SmallVector<ConvolutionOp> parts = {op};
  if (!isGradientOfPatches(op.getShape()))
    parts = splitDilations(rewriter, op);
  for (ConvolutionOp part : parts) {
    rewriter.setInsertionPoint(part);
    rewriter.replaceOp(part, ConvolutionDecomposer(rewriter, part).decompose());
  }
}
