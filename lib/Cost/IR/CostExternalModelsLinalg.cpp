//===- CostExternalModelsLinalg.cpp - Costs of structured ops -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/IR/CostExternalModels.h"

#include "Analysis/Memory/TransparentOps.h"
#include "Analysis/Memory/TypeSize.h"
#include "Roofline.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/MatmulAttributes.h"
#include "braid/Support/RowLength.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace braid;
using namespace mlir;
using comm::DefaultCostOpInterface;
using comm::Matmul;
using comm::SizeDefaults;
using comm::Work;

namespace {
/// The loops over rows and along them.
struct Rows {
  SmallVector<int64_t> sizes;
  unsigned numLoops = 0;
};
} // namespace

/// The rows that `op` reduces, if registers hold them. A matmul has no operand
/// with an element for each iteration, and no rows.
static std::optional<Rows> getReducedRows(linalg::LinalgOp op) {
  auto isOfAllLoops = [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops();
  };
  if (op.getNumReductionLoops() == 0 ||
      llvm::none_of(op.getDpsInputOperands(), isOfAllLoops))
    return std::nullopt;
  Rows rows{op.getStaticLoopRanges(), 0};
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  while (iterators[rows.numLoops] == utils::IteratorType::parallel)
    ++rows.numLoops;
  int64_t length = 1;
  for (unsigned loop = rows.numLoops; loop < iterators.size(); ++loop)
    if (iterators[loop] != utils::IteratorType::reduction ||
        ShapedType::isDynamic(rows.sizes[loop]) ||
        (length *= rows.sizes[loop]) > kMaxRowLength)
      return std::nullopt;
  if (rows.numLoops == 0)
    return std::nullopt;
  return rows;
}

/// True if `op` computes one value for each of the rows.
static bool isOneForEach(linalg::LinalgOp op, const Rows &rows) {
  return op.getNumLoops() == rows.numLoops && op.getNumReductionLoops() == 0 &&
         ArrayRef(op.getStaticLoopRanges()) ==
             ArrayRef(rows.sizes).take_front(rows.numLoops);
}

/// True if a kernel of `rows` may contain `op`, or if `op` needs no kernel. An
/// order may move starts and waits, so that costs do not depend on their
/// places.
static bool isPassable(Operation *op, const Rows &rows) {
  if (isa<comm::AsyncStartOpInterface, comm::WaitOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || isa<linalg::FillOp>(op))
    return linalgOp || isTransparentOp(op);
  return isOneForEach(linalgOp, rows) ||
         (linalgOp.getStaticLoopRanges() == rows.sizes &&
          (linalgOp.getNumReductionLoops() == 0 || getReducedRows(linalgOp)));
}

/// True if `op` has `map` as that of the input `value`.
static bool reads(linalg::LinalgOp op, Value value, AffineMap map) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return input->get() == value && op.getMatchingIndexingMap(input) == map;
  });
}

/// True if a neighbour of `op`, whose loops are the same, reads `value` by
/// `map` later, or has computed it by `map`.
static bool isInRegisters(linalg::LinalgOp op, const Rows &rows, Value value,
                          AffineMap map) {
  for (Operation *next = op->getNextNode(); next && isPassable(next, rows);
       next = next->getNextNode())
    if (auto other = dyn_cast<linalg::LinalgOp>(next);
        other && other.getNumLoops() == rows.sizes.size() &&
        reads(other, value, map))
      return true;
  auto producer = value.getDefiningOp<linalg::LinalgOp>();
  if (!producer || producer->getBlock() != op->getBlock() ||
      producer.getStaticLoopRanges() != rows.sizes)
    return false;
  for (Operation *before = op->getPrevNode();
       before && isPassable(before, rows); before = before->getPrevNode())
    if (before == producer)
      return producer.getIndexingMapMatchingResult(cast<OpResult>(value)) ==
             map;
  return false;
}

static bool isFreeReduction(linalg::LinalgOp op, const Rows &rows) {
  bool readsElements = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() <= rows.numLoops)
      continue;
    readsElements = true;
    if (!isInRegisters(op, rows, input->get(), map))
      return false;
  }
  return readsElements;
}

/// True if `op` sums many elements that ops right before it compute or read,
/// whose kernel sums them, too (lib/Conversion/LinalgToGPU/SplitProducers.cpp).
static bool isFreeSum(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (op.getNumReductionLoops() != op.getNumLoops() ||
      ShapedType::isDynamicShape(sizes) ||
      ShapedType::getNumElements(sizes) < kLeastSplitElements)
    return false;
  auto isOf = [&](linalg::LinalgOp before, OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    auto result = dyn_cast<OpResult>(input->get());
    return reads(before, input->get(), map) ||
           (result && result.getOwner() == before &&
            before.getIndexingMapMatchingResult(result) == map);
  };
  llvm::SmallPtrSet<OpOperand *, 4> known;
  bool isComputed = false;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    auto producer = dyn_cast<linalg::LinalgOp>(before);
    if (isa<linalg::FillOp>(before) || (!producer && isTransparentOp(before)))
      continue;
    if (!producer || producer.getNumReductionLoops() != 0 ||
        producer.getStaticLoopRanges() != sizes ||
        !isCheapInRows(std::distance(producer.getBlock()->begin(),
                                     producer.getBlock()->end()),
                       ShapedType::getNumElements(sizes)))
      break;
    for (OpOperand *input : op.getDpsInputOperands()) {
      isComputed |= input->get().getDefiningOp() == before;
      if (isOf(producer, input))
        known.insert(input);
    }
  }
  return isComputed &&
         llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *input) { return known.contains(input); });
}

/// True if `op` adds nothing to the time of the kernel of rows that computes it
/// (lib/Conversion/LinalgToGPU/Runs/RowRun.h): a reduction of rows whose
/// elements a neighbour in the block reads or computes too, or one value for
/// each row from such a reduction.
static bool isFreeInRowKernel(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || isa<linalg::FillOp>(op.getOperation()))
    return false;
  if (std::optional<Rows> rows = getReducedRows(op))
    return isFreeReduction(op, *rows);
  if (op.getNumReductionLoops() != 0)
    return isFreeSum(op);
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    auto reduction = input->get().getDefiningOp<linalg::LinalgOp>();
    if (!reduction || reduction->getBlock() != op->getBlock())
      return false;
    std::optional<Rows> rows = getReducedRows(reduction);
    if (!rows || !isOneForEach(op, *rows))
      return false;
    Operation *before = op->getPrevNode();
    while (before != reduction && before && isPassable(before, *rows))
      before = before->getPrevNode();
    return before == reduction;
  });
}

/// The number of real operations of one op of a payload. Conversions and
/// indices are free; an op on complex numbers has several real operations.
static uint64_t getPayloadOperations(Operation &op) {
  if (!op.hasTrait<OpTrait::Elementwise>() || op.getNumOperands() == 0 ||
      op.getNumResults() != 1 || isa<CastOpInterface>(op) ||
      op.getResult(0).getType().isIndex())
    return 0;
  if (!isa<ComplexType>(op.getOperand(0).getType()))
    return 1;
  return isa<complex::MulOp>(op) ? 6 : 2;
}

/// The type in which `op`, with `numInputs` inputs and a payload of type
/// `payloadType`, computes. A contraction or convolution computes in the wider
/// type of its operands, because on a matrix unit the type of the accumulator
/// does not matter.
static Type getOperationType(linalg::LinalgOp op, unsigned numInputs,
                             Type payloadType, const SizeDefaults &sizes) {
  if (numInputs < 2)
    return payloadType;
  Type lhs = getElementTypeOrSelf(op->getOperand(0).getType());
  Type rhs = getElementTypeOrSelf(op->getOperand(1).getType());
  Type wider =
      getElementBytes(rhs, sizes) > getElementBytes(lhs, sizes) ? rhs : lhs;
  // The checks below take far longer than the rest, so avoid them if possible.
  if (wider == payloadType)
    return payloadType;
  bool isMultiplication = op->hasAttr(kBiasAttrName) ||
                          linalg::isaContractionOpInterface(op) ||
                          linalg::isaConvolutionOpInterface(op);
  return isMultiplication ? wider : payloadType;
}

/// The sizes of the matmul `op` with `numInputs` inputs, if it is a contraction
/// of two inputs: each loop runs over both inputs but not the result, over the
/// result and one input, or over all three (batches). None for a matrix times a
/// vector, and for sums over several loops, which are not computed in tiles.
static std::optional<Matmul> getMatmul(linalg::LinalgOp op, unsigned numInputs,
                                       int64_t dynamicSize) {
  // The third input, a bias, is not part of the matmul.
  bool hasBias = op->hasAttr(kBiasAttrName);
  if (numInputs != (hasBias ? 3 : 2) || op->getNumOperands() != numInputs + 1)
    return std::nullopt;
  // The operands of each loop.
  SmallVector<unsigned> users;
  SmallVector<int64_t> sizes;
  // The loop that runs over the last dimension of each operand.
  std::array<unsigned, 3> lastLoops = {};
  bool hasUnalignedRows = false;
  for (auto [number, attribute, type] :
       llvm::enumerate(op.getIndexingMaps(), op->getOperandTypes())) {
    if (hasBias && number == 2)
      continue;
    AffineMap map = cast<AffineMapAttr>(attribute).getValue();
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !map.isProjectedPermutation())
      return std::nullopt;
    unsigned bit = number < 2 ? number : 2;
    users.resize(map.getNumDims());
    sizes.resize(map.getNumDims());
    for (auto [result, size] :
         llvm::zip_equal(map.getResults(), shaped.getShape())) {
      auto loop = cast<AffineDimExpr>(result);
      users[loop.getPosition()] |= 1u << bit;
      lastLoops[bit] = loop.getPosition();
      sizes[loop.getPosition()] =
          ShapedType::isDynamic(size) ? dynamicSize : size;
    }
    constexpr int64_t vectorBits = 128;
    if (ArrayRef<int64_t> shape = shaped.getShape();
        !shape.empty() && !ShapedType::isDynamic(shape.back()) &&
        shaped.getElementType().isIntOrFloat())
      hasUnalignedRows |= shape.back() % vectorBits *
                              shaped.getElementTypeBitWidth() % vectorBits !=
                          0;
  }
  // By users: 0b011 is the depth, 0b101 rows, 0b110 columns, 0b111 batches.
  constexpr unsigned depth = 0b011, rows = 0b101, columns = 0b110;
  std::array<uint64_t, 8> counts;
  counts.fill(1);
  unsigned kinds = 0, numSums = 0;
  for (auto [loopUsers, size] : llvm::zip_equal(users, sizes)) {
    numSums += loopUsers == depth;
    counts[loopUsers] = llvm::SaturatingMultiply(counts[loopUsers],
                                                 static_cast<uint64_t>(size));
    kinds |= 1u << loopUsers;
  }
  constexpr unsigned needed = 1u << depth | 1u << rows | 1u << columns;
  if ((kinds & needed) != needed || (kinds & ~(needed | 1u << 0b111)) != 0)
    return std::nullopt;
  Matmul matmul{Type(), counts[rows], counts[columns], counts[0b111], 0};
  if (std::min(matmul.rows, matmul.columns) < 2 || matmul.batch == 0 ||
      numSums > 1)
    return std::nullopt;
  matmul.isLeftTransposed = users[lastLoops[0]] == rows;
  matmul.isRightTransposed = users[lastLoops[1]] == depth;
  matmul.hasUnalignedRows = hasUnalignedRows;
  return matmul;
}

/// The number of points of the iteration space of `op`: the product of
/// `getStaticLoopRanges`, but without building affine maps.
static uint64_t getNumPoints(linalg::LinalgOp op, int64_t dynamicSize) {
  uint64_t numPoints = 1;
  auto multiply = [&](int64_t size) {
    numPoints = llvm::SaturatingMultiply(
        numPoints, static_cast<uint64_t>(
                       ShapedType::isDynamic(size) ? dynamicSize : size));
  };
  // The size of a loop is that of the first dimension indexed by this loop
  // alone.
  llvm::SmallBitVector isKnown;
  for (auto [attribute, type] :
       llvm::zip_equal(op.getIndexingMaps(), op->getOperandTypes())) {
    AffineMap map = cast<AffineMapAttr>(attribute).getValue();
    isKnown.resize(map.getNumDims());
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped)
      continue;
    for (auto [result, size] :
         llvm::zip_equal(map.getResults(), shaped.getShape())) {
      auto loop = dyn_cast<AffineDimExpr>(result);
      if (!loop || isKnown.test(loop.getPosition()))
        continue;
      isKnown.set(loop.getPosition());
      multiply(size);
    }
  }
  if (isKnown.all())
    return numPoints;
  numPoints = 1;
  llvm::for_each(op.getStaticLoopRanges(), multiply);
  return numPoints;
}

/// True if the op loads `init` from memory. Accumulators that start from a fill
/// are initialized in registers.
static bool isInitLoaded(linalg::LinalgOp op, OpOperand &init) {
  return op.payloadUsesValueFromOperand(&init) &&
         !isa_and_present<linalg::FillOp, tensor::EmptyOp>(
             init.get().getDefiningOp());
}

/// True if `op` fills what other structured ops start from.
static bool isFilledInRegisters(Operation *op) {
  return isFoldedFill(op) ||
         (isa<linalg::FillOp>(op) && op->getNumResults() == 1 &&
          !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
            auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
            return user && user.isDpsInit(&use);
          }));
}

/// The bytes that the body of `op` loads from tensors and buffers that are not
/// in `read`: an element at each of `numPoints` points, at most all elements.
static uint64_t getGatheredBytes(linalg::LinalgOp op, ArrayRef<Value> read,
                                 uint64_t numPoints,
                                 const SizeDefaults &defaults) {
  llvm::MapVector<Value, uint64_t> numReads;
  op.getBlock()->walk([&](Operation *inner) {
    if (isa<tensor::ExtractOp, memref::LoadOp>(inner) &&
        !llvm::is_contained(read, inner->getOperand(0)))
      ++numReads[inner->getOperand(0)];
  });
  uint64_t bytes = 0;
  for (auto [source, reads] : numReads) {
    auto type = cast<ShapedType>(source.getType());
    uint64_t whole = getDistinctBytes(source, defaults);
    uint64_t elements = 1;
    for (int64_t size : type.getShape())
      elements = llvm::SaturatingMultiply(
          elements, static_cast<uint64_t>(ShapedType::isDynamic(size)
                                              ? defaults.dynamicSize
                                              : size));
    uint64_t element = elements == 0 ? 0 : whole / elements;
    bytes = llvm::SaturatingAdd(
        bytes, std::min(whole, llvm::SaturatingMultiply(
                                   llvm::SaturatingMultiply(numPoints, reads),
                                   element)));
  }
  return bytes;
}

namespace {
/// The model of structured ops: the payload runs once for each point of the
/// iteration space, and every operand is loaded once. The model covers
/// contractions, convolutions of any rank (also transposed and depthwise ones),
/// reductions and pointwise ops, because all of them are loops around a
/// payload.
template <typename OpTy>
struct StructuredOpModel
    : public DefaultCostOpInterface::ExternalModel<StructuredOpModel<OpTy>,
                                                   OpTy> {
  Work getWork(Operation *op, const SizeDefaults &defaults) const {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    if (isFilledInRegisters(op) || isFreeInRowKernel(linalgOp))
      return Work();
    uint64_t numPoints = getNumPoints(linalgOp, defaults.dynamicSize);
    // Inputs come first. Query their number once, because each query builds an
    // attribute.
    unsigned numInputs = linalgOp.getNumDpsInputs();

    bool hasBias = op->hasAttr(kBiasAttrName);

    Work work;
    uint64_t operationsPerPoint = 0;
    for (Operation &payloadOp : linalgOp.getBlock()->without_terminator()) {
      uint64_t count = getPayloadOperations(payloadOp);
      // The selection of the bias runs once for each element of the result.
      if (count == 0 ||
          (hasBias && isa<arith::CmpIOp, arith::SelectOp>(payloadOp)))
        continue;
      operationsPerPoint += count;
      Type payloadType =
          getElementTypeOrSelf(payloadOp.getOperand(0).getType());
      work.addOperations(
          getOperationType(linalgOp, numInputs, payloadType, defaults),
          llvm::SaturatingMultiply(numPoints, count));
    }
    // A matmul has a multiplication and an addition.
    if (operationsPerPoint >= 2 && work.operations.size() == 1)
      if (std::optional<Matmul> matmul =
              getMatmul(linalgOp, numInputs, defaults.dynamicSize)) {
        Type &element = work.operations.front().elementType;
        if (element.isF32() && linalgOp->hasAttr(kPrecisionAttrName))
          element = FloatTF32Type::get(op->getContext());
        matmul->elementType = element;
        matmul->operations = work.operations.front().count;
        work.matmuls.push_back(*matmul);
      }

    SmallVector<Value> read, written;
    for (OpOperand &operand : op->getOpOperands()) {
      bool isInit = operand.getOperandNumber() >= numInputs;
      if (isInit ? isInitLoaded(linalgOp, operand)
                 : linalgOp.payloadUsesValueFromOperand(&operand))
        read.push_back(operand.get());
      if (isInit)
        written.push_back(operand.get());
    }
    // Results on tensors are distinct, though they may start from one init.
    if (op->getNumResults() != 0)
      written.assign(op->result_begin(), op->result_end());
    work.addBytes(llvm::SaturatingAdd(
                      getDistinctBytes(read, defaults),
                      getGatheredBytes(linalgOp, read, numPoints, defaults)),
                  getDistinctBytes(written, defaults));
    return work;
  }
};
} // namespace

template <typename... OpTys>
static void attachStructured(MLIRContext *context) {
  (OpTys::template attachInterface<StructuredOpModel<OpTys>>(*context), ...);
}

void braid::registerLinalgCostModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachStructured<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
}
